package cli

import (
	"fmt"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/report"
	"muster/internal/term"
)

// leastName is how many columns a server's name keeps: with fewer, the servers of one
// clan or hoster look alike.
const leastName = 16

// serverTable shows servers in the given order, with the number by which --connect goes
// there.
func serverTable(servers []report.Measurement) *term.Table {
	t := &term.Table{Columns: []term.Column{
		term.Right("#"), term.Right("PING"), term.Right("PLAYERS"), term.Right("BOTS"), term.Whole("PW"), term.Left("NAME").AtLeast(leastName),
		term.Left("MAP"), term.Left("MODE"), term.Left("MOD"), term.Left("VERSION"), term.Whole("IN"), term.Whole("ADDRESS"),
	}, Spare: []string{"BOTS", "MOD", "MODE", "VERSION", "MAP", "IN", "#"}, Below: "ADDRESS"}
	// What all have alike tells nothing of one, nor does a mod that is the mode's name, too.
	differ := func(of func(*report.Measurement) string) bool {
		return slices.ContainsFunc(servers, func(m report.Measurement) bool { return of(&m) != of(&servers[0]) })
	}
	versions := differ(func(m *report.Measurement) string { return m.Version })
	mods := differ(func(m *report.Measurement) string { return strings.TrimPrefix(m.Mod, m.Mode) })
	for i, m := range servers {
		version, mod := "", ""
		if versions {
			version = m.Version
		}
		if mods {
			mod = m.Mod
		}
		bots, password, players := "", "", ""
		if m.Players > 0 || m.MaxPlayers > 0 { // or nobody counts
			players = fmt.Sprintf("%d/%d", m.Players, m.MaxPlayers)
		}
		if m.AsListed {
			players += "*" // see discover.summary
		}
		if m.Bots > 0 {
			bots = fmt.Sprint(m.Bots)
		}
		if m.Password {
			password = "pw"
		}
		t.Add(i+1, fmt.Sprintf("%.1f ms", float64(m.RTT)/1e6), players, bots, password,
			m.Name, m.Map, m.Mode, mod, version, m.Country, m.Connect())
	}
	return t
}

// view is what people look at while servers are asked.
type view struct {
	*discover
	servers []discovery.Server
	live    *term.Live // nil without one

	asked, answered, near int
	nearest               []report.Measurement // in the table's order, as many as may be shown
}

// mostLive is more rows than any terminal shows.
const mostLive = 200

// view is a live table if the result will be a table on the same terminal, and
// else a bar or lines.
func (d *discover) view(servers []discovery.Server) *view {
	v := &view{discover: d, servers: servers}
	if d.format == formatTable && d.screen.IsAnimated && d.out.IsTerminal {
		v.live = &term.Live{Terminal: d.screen.Terminal, Most: d.shown(mostLive)}
	}
	return v
}

// add takes a result.
func (v *view) add(r discovery.Result) {
	if v.home != nil {
		for _, m := range report.New(report.Report{}, v.servers, []discovery.Result{r}).Servers { // none if it may not be asked
			v.home.Found(m)
		}
		return
	}
	v.asked++
	if r.State == discovery.Answered {
		v.answered++
		v.rank(r)
	}
	if v.live == nil {
		v.screen.Moves("probing", v.asked, len(v.servers), fmt.Sprintf("%d answered", v.answered))
		return
	}
	v.live.Draw(func() (*term.Table, string) {
		return serverTable(v.nearest), fmt.Sprintf("%d of %d asked, %d answered, %d under %s", v.asked, len(v.servers), v.answered, v.near, wholeMS(v.options.MaxRTT))
	})
}

// rank puts a server that answered to its place among the nearest.
func (v *view) rank(r discovery.Result) {
	m := report.New(report.Report{}, v.servers, []discovery.Result{r}).Servers[0]
	if !v.keeps(&m) {
		return
	}
	if r.RTT < v.options.MaxRTT {
		v.near++
	}
	if at, _ := slices.BinarySearchFunc(v.nearest, m, v.sort.compare); at < mostLive {
		v.nearest = slices.Insert(v.nearest, at, m)
		v.nearest = v.nearest[:min(len(v.nearest), mostLive)]
	}
}

// end leaves the terminal to the result.
func (v *view) end() {
	if v.live != nil {
		v.live.Erase()
	}
	v.screen.Rests()
}
