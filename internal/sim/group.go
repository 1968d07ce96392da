package sim

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/selection"
)

// Group is several players who look at one list of servers.
type Group struct {
	Players []string
	// Vantages are what each player sees; they share the list and the infos.
	Vantages []*Vantage
}

// Group are the players of a world at these of its places.
func (w *World) Group(places ...int) *Group {
	g := &Group{}
	var first *Vantage
	for _, place := range places {
		if first == nil {
			first = w.Vantage(place)
		}
		v := &Vantage{Name: w.Places[place].Name, Servers: first.Servers, Infos: first.Infos, tree: first.tree}
		v.pair = func(server int, n uint64) (time.Duration, bool) { return w.Sample(place, server, n) }
		for i, s := range w.Servers {
			rtt := w.RTT(place, i)
			if s.Silent || s.Refusing {
				rtt = silent
			}
			v.RTT = append(v.RTT, rtt)
		}
		g.add(v)
	}
	return g
}

// add gives a vantage's player a name of its own.
func (g *Group) add(v *Vantage) {
	name := v.Name
	for n := 2; slices.Contains(g.Players, name); n++ {
		name = fmt.Sprintf("%s %d", v.Name, n)
	}
	g.Players = append(g.Players, name)
	g.Vantages = append(g.Vantages, v)
}

// NewGroup is the group of players who see these vantages, which must list the
// same servers, in whichever order. What servers say of themselves is what they
// said to the first.
func NewGroup(vantages ...*Vantage) (*Group, error) {
	if len(vantages) == 0 {
		return nil, errors.New("sim: a group needs at least one vantage")
	}
	g, first := &Group{}, vantages[0]
	for _, v := range vantages {
		same, err := v.like(first)
		if err != nil {
			return nil, err
		}
		g.add(same)
	}
	return g, nil
}

// like is the vantage with its servers in the order of another's.
func (v *Vantage) like(first *Vantage) (*Vantage, error) {
	at := make(map[netip.AddrPort]int, len(v.Servers))
	for i, s := range v.Servers {
		at[s.Addr] = i
	}
	order := make([]int, len(first.Servers))
	for i, s := range first.Servers {
		its, ok := at[s.Addr]
		if !ok {
			return nil, fmt.Errorf("sim: %s and %s do not list the same servers: %v is only in %s", first.Name, v.Name, s.Addr, first.Name)
		}
		order[i] = its
		delete(at, s.Addr)
	}
	for addr := range at {
		return nil, fmt.Errorf("sim: %s and %s do not list the same servers: %v is only in %s", first.Name, v.Name, addr, v.Name)
	}
	same := v.part(order, func(int) float64 { return 1 })
	same.Servers, same.Infos, same.tree, same.tell = first.Servers, first.Infos, first.tree, v.tell
	return same, nil
}

// servers are the group's list, without what they say of themselves.
func (g *Group) servers() selection.Servers {
	list := g.Vantages[0].Servers
	return selection.Servers{List: list, Infos: make([]*discovery.Info, len(list))}
}

// truth is the best server for the group, by somebody who knows every RTT without
// jitter and every server's word.
type groupTruth struct {
	*Group
	wish  selection.Criteria
	found bool
	best  selection.Ranked
	limit float64 // ms; 0 is none
}

func (g *Group) truth(wish selection.Criteria) groupTruth {
	wish.Top, wish.Reasons = 1, -1
	servers := g.servers()
	for i := range g.Vantages[0].Infos {
		servers.Infos[i] = &g.Vantages[0].Infos[i]
	}
	table := selection.NewTable(g.Players, len(servers.List))
	for player, v := range g.Vantages {
		for server, rtt := range v.RTT {
			state := discovery.Answered
			if rtt < 0 {
				state = discovery.Lost
			}
			table.Set(player, server, state, rtt)
		}
	}
	doc := selection.NewFilter(servers, wish).Select(table)
	t := groupTruth{Group: g, wish: wish, found: doc.Chosen != nil, limit: doc.LimitMS}
	if t.found {
		t.best = *doc.Chosen
	}
	return t
}

// regret is how much worse a server is than the best, in ms: by the score, and by
// how far it is over the limit that the best keeps.
func (t groupTruth) regret(server int) (score, regret float64) {
	wish := selection.Criteria{By: t.wish.By, Weights: t.wish.Weights, Top: 1, Reasons: -1}
	table := selection.NewTable(t.Players, 1)
	for player, v := range t.Vantages {
		table.Set(player, 0, discovery.Answered, v.RTT[server])
	}
	one := selection.Servers{List: t.Vantages[0].Servers[server : server+1]}
	chosen := selection.NewFilter(one, wish).Select(table).Chosen
	regret = max(0, chosen.Score-t.best.Score)
	if t.limit > 0 {
		regret += max(0, chosen.MaxMS-t.limit)
	}
	return chosen.Score, regret
}
