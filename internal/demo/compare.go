package demo

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/internal/catalogue"
	"muster/internal/term"
	"muster/selection"
)

// everything is all that the demo could have measured: the world's own round trips, without jitter. The players saw a
// part of them, with jitter.
type everything struct {
	players []string
	servers selection.Servers
	table   *selection.Table
}

func (n *Session) everything() everything {
	e := everything{players: names[:n.Players], servers: selection.Servers{List: n.fleet.Servers(), Infos: map[int]*discovery.Info{}}}
	e.table = selection.NewTable(e.players, len(n.world.Servers))
	for server := range n.world.Servers {
		s := &n.world.Servers[server]
		e.servers.Infos[server] = &s.Info
		state := discovery.Answered
		if s.Silent || s.Refusing {
			state = discovery.Lost
		}
		for place := range e.players {
			e.table.Set(place, server, state, n.world.RTT(place, server))
		}
	}
	return e
}

// criteria returns what makes a server good when people choose.
func (e everything) criteria() selection.Criteria {
	return selection.Criteria{By: selection.Mean, Seats: len(e.players), Wishes: selection.Wishes{NoPassword: true}, Top: 1}
}

// elsewhere compares the chosen server with each player's favourite, the server that would be chosen if only that
// player counted.
func (e everything) elsewhere(l *catalogue.Language, chosen netip.AddrPort) *term.Table {
	t := &term.Table{Columns: []term.Column{term.Left(l.Words("term.column-ping-at"))}}
	for _, name := range e.players {
		t.Columns = append(t.Columns, term.Right(name))
	}
	t.Columns = append(t.Columns, term.Right(l.Words("term.demo-average")))
	add := func(title string, server netip.AddrPort) {
		row := []any{title}
		rtts := e.rtts(server)
		for _, rtt := range append(rtts, mean(rtts)) {
			row = append(row, fmt.Sprintf("%.0f", rtt))
		}
		t.Add(row...)
	}
	add(l.Words("term.demo-chosen"), chosen)
	for _, name := range e.players {
		criteria := e.criteria()
		criteria.Weights = make(map[string]float64)
		for _, other := range e.players {
			criteria.Weights[other] = 0
		}
		criteria.Weights[name] = 1
		var favourite netip.AddrPort
		if best := selection.Select(e.servers, e.table, criteria).Chosen; best != nil {
			favourite = best.Addr.AddrPort
		}
		add(l.Words("term.demo-favourite", "player", name), favourite)
	}
	return t
}

// rtts returns the players' RTTs to a server in milliseconds.
func (e everything) rtts(server netip.AddrPort) []float64 {
	at := slices.IndexFunc(e.servers.List, func(s discovery.Server) bool { return s.Addr == server })
	rtts := make([]float64, len(e.players))
	for player := range rtts {
		if at >= 0 {
			_, rtt := e.table.At(player, at)
			rtts[player] = float64(rtt) / 1e6
		}
	}
	return rtts
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// topChoices is how many servers each player proposes; see [selection.ManualFirst].
const topChoices = 20

// byHand reproduces Table 3 of MUSST: people look servers up themselves, one a second each.
func (e everything) byHand(l *catalogue.Language, chosen netip.AddrPort, took time.Duration) *term.Table {
	t := &term.Table{Columns: []term.Column{term.Left(l.Words("term.column-chosen")), term.Right(l.Words("term.column-average")),
		term.Right(l.Words("term.column-time"))}}
	seconds := func(d time.Duration) string { return l.Words("unit.s", "n", math.Round(d.Seconds())) }
	ms := func(ms float64) string { return l.Words("unit.ms", "n", math.Round(ms)) }
	t.Add(l.Words("term.demo-by-muster"), ms(mean(e.rtts(chosen))), seconds(took))
	for _, by := range []struct {
		how    string
		people selection.Manual
	}{
		{l.Words("term.demo-by-hand"), selection.ManualBest(e.servers, e.table, e.criteria())},
		{l.Words("term.demo-by-hand-near", "n", topChoices), selection.ManualFirst(e.servers, e.table, e.criteria(), topChoices)},
	} {
		average := l.Words("term.demo-none")
		if by.people.Chosen != nil {
			average = ms(by.people.Chosen.MeanMS)
		}
		t.Add(by.how, average, seconds(by.people.Time))
	}
	return t
}
