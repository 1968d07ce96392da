package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"muster/discovery"
	"muster/discovery/report"
	"muster/discovery/report/qstat"
)

// format is how a report is written.
type format string

const (
	formatTable format = "table"
	formatJSON  format = "json"
	formatCSV   format = "csv"
	formatQStat format = "qstat-xml"
)

var formats = []format{formatTable, formatJSON, formatCSV, formatQStat}

// write writes the report to standard output. kind is QStat's type of the
// game's servers.
func (d *discover) write(r report.Report, kind string) error {
	switch d.format {
	case formatJSON:
		return r.WriteJSON(d.streams.Out)
	case formatCSV:
		return r.WriteCSV(d.streams.Out)
	case formatQStat:
		return qstat.WriteXML(d.streams.Out, kind, r)
	}
	near := answering(r)
	if len(near) > 0 {
		serverTable(near[:d.shown(len(near))]).write(d.streams.Out, width(d.streams.Out))
	}
	return nil
}

// answering are the servers that answered, the nearest first.
func answering(r report.Report) []report.Measurement {
	near := slices.DeleteFunc(slices.Clone(r.Servers), func(m report.Measurement) bool { return !isAnswered(m) })
	slices.SortFunc(near, byRTT)
	return near
}

// wholeScreen is the number of rows that leaves a terminal full.
const wholeScreen = -1

// shown is how many of so many servers the table shows: as many as were asked
// for, or else the nearest ones that a terminal has room for.
func (d *discover) shown(servers int) int {
	switch nearest := d.options.Nearest; {
	case d.top > 0:
		return min(servers, d.top)
	case nearest > 0:
		return min(servers, nearest)
	case d.top == wholeScreen && isTerminal(d.streams.Out):
		_, rows := size(d.streams.Out)
		return min(servers, max(10, rows-6)) // below are the title, the summary and the prompt
	}
	return servers
}

func byRTT(a, b report.Measurement) int {
	return cmp.Or(cmp.Compare(a.RTT, b.RTT), discovery.CompareAddr(a.Server(), b.Server()))
}

// serverTable shows servers in the given order.
func serverTable(servers []report.Measurement) *table {
	t := &table{columns: []column{
		{"RTT", right}, {"PLAYERS", right}, {"BOTS", right}, {"PW", whole}, {"NAME", left}, {"MAP", left}, {"MODE", left}, {"IN", whole}, {"ADDRESS", whole},
	}, spare: []string{"BOTS", "MODE", "PW", "IN", "MAP", "NAME", "PLAYERS"}}
	for _, m := range servers {
		bots, password := "", ""
		if m.Bots > 0 {
			bots = strconv.Itoa(m.Bots)
		}
		if m.Password {
			password = "pw"
		}
		t.add(fmt.Sprintf("%.1f ms", float64(m.RTT)/1e6), fmt.Sprintf("%d/%d", m.Players, m.MaxPlayers), bots, password,
			m.Name, m.Map, m.Mode, m.Country, m.Addr.String())
	}
	return t
}
