package cli

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/report"
	"muster/discovery/sentence"
	"muster/selection"
	"muster/selection/law"
)

// ruled is a choice under a law: a muster.selection/1 document that says more.
type ruled struct {
	selection.Selection
	Chosen  *ruledServer `json:"chosen"`
	LeftOut []leftOut    `json:"left_out"`
	// said is what the law says, in place of other reasons if it decided.
	said []sentence.Sentence
}

// ruledServer is the chosen server, and what the law says of it.
type ruledServer struct {
	selection.Ranked
	Law verdict `json:"law"`
}

// verdict says what a server breaks of a law, and whether the law's own order chose it.
type verdict struct {
	Name    string      `json:"name"`
	Holds   bool        `json:"holds"`
	Breaks  []law.Break `json:"breaks"`
	Decides bool        `json:"decides"`
}

// leftOut is a server that breaks the law.
type leftOut struct {
	Addr   hostport.AddrPort `json:"addr"`
	Breaks []law.Break       `json:"breaks"`
}

// sentences returns what people read of the choice.
func (r *ruled) sentences() []sentence.Sentence {
	if r.Chosen == nil || !r.Chosen.Law.Decides {
		return append(r.Explain(), r.said...)
	}
	for _, found := range r.Doubts {
		r.said = append(r.said, sentence.Of("why.doubt", "doubt", found.Sentence()))
	}
	return r.said
}

// underLaw returns the law that the flags name, nil if they name none.
func (c *choice) underLaw() (*law.Law, error) {
	sides := slices.Collect(maps.Values(c.criteria.Sides))
	switch {
	case c.law == "":
		return nil, nil
	case !slices.Contains(sides, selection.SideA) || !slices.Contains(sides, selection.SideB):
		return nil, usagef("--law needs players on both sides: --sides ann=a,ben=b")
	}
	return c.program.law(c.law)
}

// maxBreaks is how many of the servers that were left out people read of.
const maxBreaks = 3

// selectUnder chooses among the servers that keep a law. If none of them suits, or if the law has no
// limit, the law's own order decides among all that suit. It returns the list that the choice is of.
func (c *choice) selectUnder(l *law.Law, all []report.Report, servers selection.Servers, table *selection.Table) (ruled, selection.Servers, error) {
	r, out := ruled{LeftOut: []leftOut{}}, map[netip.AddrPort]bool{}
	judged := pingsOf(servers, table, c.criteria.Sides)
	for i, server := range judged {
		if addr, breaks := servers.List[i].Addr, l.Judge(server.Players); len(breaks) > 0 {
			r.LeftOut, out[addr] = append(r.LeftOut, leftOut{hostport.At(addr), breaks}), true
		}
	}
	kept := slices.Clone(all)
	for i := range kept {
		kept[i].Servers = slices.DeleteFunc(slices.Clone(kept[i].Servers), func(m report.Measurement) bool {
			return out[discovery.Canonical(m.Addr.AddrPort)]
		})
	}
	left, few, err := selection.Merge(kept)
	if err != nil {
		return r, servers, err
	}
	if r.Selection = selection.Select(left, few, c.criteria); r.Selection.Chosen == nil || len(l.Rules) == 0 {
		criteria := c.criteria
		criteria.Top = 0
		return decide(l, judged, selection.Select(servers, table, criteria), c.criteria.Top), servers, nil
	}
	r.Chosen = &ruledServer{*r.Selection.Chosen, verdict{Name: l.Name, Holds: true, Breaks: []law.Break{}}}
	r.said = append(r.said, sentence.Of("law.kept", "server", r.Chosen.Addr, "league", l.League, "n", len(r.LeftOut)))
	for _, out := range r.LeftOut[:min(maxBreaks, len(r.LeftOut))] {
		r.said = append(r.said, out.Breaks[0].Sentence(l.League, out.Addr.String()))
	}
	return r, left, nil
}

// decide chooses by the law's own order among the servers of a ranking, of which top are shown.
func decide(l *law.Law, judged []law.Server, s selection.Selection, top int) ruled {
	r := ruled{Selection: s, LeftOut: []leftOut{}}
	if s.Chosen == nil {
		return r
	}
	var suit []law.Server
	for _, ranked := range s.Ranking {
		suit = append(suit, judged[ranked.Server])
	}
	order, said := l.Decide(suit)
	r.Ranking, r.Decided, r.Why, r.said = nil, nil, nil, said
	for _, at := range order[:min(len(order), cmp.Or(top, len(order)))] {
		r.Ranking = append(r.Ranking, s.Ranking[at])
	}
	chosen, breaks := &r.Ranking[0], l.Judge(suit[order[0]].Players)
	r.Selection.Chosen, r.Chosen = chosen, &ruledServer{*chosen, verdict{l.Name, len(breaks) == 0, breaks, true}}
	for _, b := range breaks {
		r.said = append(r.said, b.Sentence(l.League, chosen.Addr.String()))
	}
	return r
}

// pingsOf returns the servers with everybody's pings, for a law. Those that somebody lacks have none.
func pingsOf(servers selection.Servers, table *selection.Table, sides map[string]selection.Side) []law.Server {
	all, best := make([]law.Server, len(servers.List)), map[string]time.Duration{}
	for i, server := range servers.List {
		all[i] = law.Server{Name: hostport.Text(server.Addr), Place: server.Country}
		for player, name := range table.Players() {
			if state, rtt := table.At(player, i); state == discovery.Answered {
				all[i].Players = append(all[i].Players, law.Player{Name: name, Side: sides[name], Ping: rtt})
				best[name] = min(rtt, cmp.Or(best[name], rtt))
			}
		}
	}
	for i := range all {
		if len(all[i].Players) < len(table.Players()) {
			all[i].Players = nil
		}
		for p := range all[i].Players {
			all[i].Players[p].Best = best[all[i].Players[p].Name]
		}
	}
	return all
}
