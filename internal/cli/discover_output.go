package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/qstat"
)

const formatNames = "table, json, csv, qstat-xml"

// reportWriter writes a report to standard output.
type reportWriter func(d *discover, r discovery.Report) error

func writerOf(format string) (reportWriter, error) {
	switch format {
	case "table":
		return writeTable, nil
	case "json":
		return func(d *discover, r discovery.Report) error { return r.WriteJSON(d.streams.Out) }, nil
	case "csv":
		return func(d *discover, r discovery.Report) error { return r.WriteCSV(d.streams.Out) }, nil
	case "qstat-xml":
		return func(d *discover, r discovery.Report) error { return qstat.WriteXML(d.streams.Out, d.kind, r) }, nil
	}
	return nil, hinted(usagef("unknown format %q", format), "the formats are "+formatNames)
}

// keeps tells whether the player wants to see a server. Servers that did not
// answer are neither full nor empty: they stay.
func (f *filter) keeps(m *discovery.Measurement) bool {
	if m.State != discovery.Answered {
		return true
	}
	switch {
	case f.mapName != "" && !strings.EqualFold(f.mapName, m.Map),
		f.mode != "" && !strings.EqualFold(f.mode, m.Mode),
		f.notFull && m.Players >= m.MaxPlayers,
		f.notEmpty && m.Players <= m.Bots,
		f.noPassword && m.Password:
		return false
	}
	return true
}

// writeTable shows the servers that answered, the nearest first.
func writeTable(d *discover, r discovery.Report) error {
	near := slices.DeleteFunc(slices.Clone(r.Servers), func(m discovery.Measurement) bool { return !isAnswered(m) })
	slices.SortStableFunc(near, func(a, b discovery.Measurement) int {
		return cmp.Or(cmp.Compare(a.RTT, b.RTT), discovery.CompareAddr(a.Server(), b.Server()))
	})
	shown := near
	if d.top > 0 && len(near) > d.top {
		shown = near[:d.top]
	}
	t := table{columns: []column{{"RTT", right}, {"PLAYERS", right}, {"NAME", left}, {"MAP", left}, {"MODE", left}, {"ADDRESS", left}}}
	for _, m := range shown {
		t.add(fmt.Sprintf("%.1f ms", float64(m.RTT)/1e6), seats(m), m.Name, m.Map, m.Mode, m.Addr.String())
	}
	t.write(d.streams.Out, width(d.streams.Out))
	s := r.Summary
	fmt.Fprintf(d.streams.Err, "%d of %d servers asked in %.1f s: %d answered, %d lost, %d refused\n",
		s.Probed, s.Listed, float64(s.ElapsedMS)/1000, s.Answered, s.Lost, s.Refused)
	return nil
}

func seats(m discovery.Measurement) string {
	text := fmt.Sprintf("%d/%d", m.Players, m.MaxPlayers)
	if m.Bots > 0 {
		text += fmt.Sprintf(" (%d bots)", m.Bots)
	}
	return text
}
