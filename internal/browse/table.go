package browse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/discovery/report"
	"muster/internal/hint"
	"muster/internal/term"
)

// minName is how many columns a server's name keeps. With fewer, the servers of one clan or hoster look alike.
const minName = 16

// Table shows servers in the given order, each with the number that --connect takes.
func Table(servers []report.Measurement) *term.Table {
	t := &term.Table{Columns: []term.Column{
		term.Right("#"), term.Right("PING"), term.Right("PLAYERS"), term.Right("BOTS"), term.Whole("PW"), term.Left("NAME").AtLeast(minName),
		term.Left("MAP"), term.Left("MODE"), term.Left("MOD"), term.Left("VERSION"), term.Whole("IN"), term.Whole("ADDRESS"),
	}, Spare: []string{"BOTS", "MOD", "MODE", "VERSION", "MAP", "IN", "#"}, Below: "ADDRESS"}
	// A value that all servers share tells nothing, nor does a mod that is also the mode's name.
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
		switch { // without both numbers nobody counts the players
		case m.MaxPlayers > 0:
			players = fmt.Sprintf("%d/%d", m.Players, m.MaxPlayers)
		case m.Players > 0:
			players = fmt.Sprint(m.Players)
		}
		if m.AsListed {
			players += "*" // see [Look.Summary]
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

// WholeScreen is the Top that fills a terminal.
const WholeScreen = -1

// Room is how many servers a table shows.
type Room struct {
	// Top is how many rows the player asked for: 0 means all, [WholeScreen] what fits the terminal.
	Top int
	// Nearest is how many servers the player looks for; 0 means any number.
	Nearest int
	// Rows are the terminal's, 0 without a terminal.
	Rows int
}

// For returns how many of so many servers the table shows.
func (r Room) For(servers int) int {
	const (
		least   = 10
		besides = 6 // rows for the titles, the summary and the prompt
	)
	switch {
	case r.Top > 0:
		return min(servers, r.Top)
	case r.Nearest > 0:
		return min(servers, r.Nearest)
	case r.Top == WholeScreen && r.Rows > 0:
		return min(servers, max(least, r.Rows-besides))
	}
	return servers
}

// MaxLive is more rows than any terminal shows.
const MaxLive = 200

// View is the display while servers are asked.
type View struct {
	Filter *Filter
	// Servers are the list's. Near is the ping below which a server is near.
	Servers []discovery.Server
	Near    time.Duration
	// Live is a growing table; nil shows a bar instead.
	Live   *term.Live
	Screen *term.Screen

	asked, answered, near int
	nearest               []report.Measurement // in the table's order, no more than it can show
}

// Add takes a result.
func (v *View) Add(r discovery.Result) {
	v.asked++
	if r.State == discovery.Answered {
		v.answered++
		v.rank(r)
	}
	if v.Live == nil {
		v.Screen.Moves("probing", v.asked, len(v.Servers), fmt.Sprintf("%d answered", v.answered))
		return
	}
	v.Live.Draw(func() (*term.Table, string) {
		return Table(v.nearest), fmt.Sprintf("%d of %d asked, %d answered, %d under %s", v.asked, len(v.Servers), v.answered,
			v.near, WholeMS(v.Near))
	})
}

// rank inserts a server that answered into the nearest.
func (v *View) rank(r discovery.Result) {
	m := report.New(report.Report{}, v.Servers, []discovery.Result{r}).Servers[0]
	if !v.Filter.Keeps(&m) {
		return
	}
	if r.RTT < v.Near {
		v.near++
	}
	if at, _ := slices.BinarySearchFunc(v.nearest, m, v.Filter.Sort.compare); at < MaxLive {
		v.nearest = slices.Insert(v.nearest, at, m)
		v.nearest = v.nearest[:min(len(v.nearest), MaxLive)]
	}
}

// End frees the terminal for the result.
func (v *View) End() {
	if v.Live != nil {
		v.Live.Erase()
	}
	v.Screen.Rests()
}

// WholeMS returns a ping in whole milliseconds.
func WholeMS(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }

// Label returns what to call a server.
func Label(m report.Measurement) string { return cmp.Or(m.Name, m.Addr.String()) }

// playersWait is how long a server may take to say who plays.
const playersWait = 4 * time.Second

// Players asks a server who plays there. The engine's protocol is that of a [discovery.Roll].
func Players(ctx context.Context, engine *prober.Prober, at netip.AddrPort) ([]discovery.Player, error) {
	ctx, cancel := context.WithTimeout(ctx, playersWait)
	defer cancel()
	var people *discovery.Roster
	err := engine.Run(ctx, []discovery.Server{{Addr: at}}, discovery.NewConventional(1), func(r discovery.Result) {
		if r.Info != nil {
			people = r.Info.Roster
		}
	})
	switch {
	case people != nil:
		return people.Players, nil
	case err == nil || errors.Is(err, context.DeadlineExceeded):
		return nil, hint.Say("find.who-untold-there")
	}
	return nil, err
}
