package sim

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/selection"
	"muster/selection/rules"
)

// Group is several players who look at one list of servers.
type Group struct {
	Players []string
	// Homes are the addresses that the players come from. Without any, each player has an own one.
	Homes []netip.Addr
	// Vantages are the players' views. They share the list and the infos, in the order that rooms
	// use.
	Vantages []*Vantage
}

// NewGroup returns the group of players with these vantages, which must list the same servers, in
// any order. The servers' facts come from the first vantage.
func NewGroup(vantages ...*Vantage) (*Group, error) {
	if len(vantages) == 0 {
		return nil, errors.New("sim: a group needs at least one vantage")
	}
	g, list := &Group{}, room.Shared(vantages[0].Servers, nil)
	for _, v := range vantages {
		order, err := v.places(list, vantages[0].Name)
		if err != nil {
			return nil, err
		}
		same := v.Part(order, func(int) float64 { return 1 })
		if len(g.Vantages) > 0 {
			same.Infos, same.Tree = g.Vantages[0].Infos, g.Vantages[0].Tree
		} else {
			same.Tree = sync.OnceValue(func() *topology.Tree { return topology.New(list) })
		}
		same.Servers = list
		name := v.Name
		for n := 2; slices.Contains(g.Players, name); n++ {
			name = fmt.Sprintf("%s %d", v.Name, n)
		}
		g.Players, g.Vantages = append(g.Players, name), append(g.Vantages, same)
	}
	return g, nil
}

// places returns the indexes in a vantage of the servers of another's list.
func (v *Vantage) places(list []discovery.Server, another string) ([]int, error) {
	at := make(map[netip.AddrPort]int, len(v.Servers))
	for i, s := range v.Servers {
		at[s.Addr] = i
	}
	order := make([]int, len(list))
	for i, s := range list {
		its, ok := at[s.Addr]
		if !ok {
			return nil, fmt.Errorf("sim: %s and %s do not list the same servers: %v is only in %s", another, v.Name, s.Addr, another)
		}
		order[i] = its
		delete(at, s.Addr)
	}
	for addr := range at {
		return nil, fmt.Errorf("sim: %s and %s do not list the same servers: %v is only in %s", another, v.Name, addr, v.Name)
	}
	return order, nil
}

// Everybody returns the group of players at all places of the world.
func (w *World) Everybody() (*Group, error) { return NewGroup(w.Vantages()...) }

// GroupTruth is the best server for the group, known from every RTT without jitter and every
// server's facts.
type GroupTruth struct {
	*Group
	Criteria selection.Criteria
	doc      selection.Selection
	Found    bool
	Best     selection.Ranked
	// order is the figure of the best by which servers are ordered.
	order float64
	Limit float64 // ms; 0 is none
}

func (g *Group) Truth(criteria selection.Criteria) GroupTruth {
	criteria.Top = 1
	doc := g.Selection(criteria)
	t := GroupTruth{Group: g, Criteria: criteria, doc: doc, Found: doc.Chosen != nil, Limit: doc.LimitMS}
	if t.Found {
		t.Best = *doc.Chosen
		if t.order = t.Best.Score; rules.Of(criteria.By).Sides {
			t.order = t.objective().Order(t.rtts(t.Best.Server), 1)
		}
	}
	return t
}

// Selection ranks the servers by every true RTT, as if everybody had measured everything.
func (g *Group) Selection(criteria selection.Criteria) selection.Selection {
	criteria.Reasons = -1
	servers := selection.Servers{List: g.Vantages[0].Servers, Infos: map[int]*discovery.Info{}}
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
	return selection.NewFilter(servers, criteria).Select(table)
}

// Regret returns how much worse each server truly is than the best that meets the criteria, in ms.
// See [GroupSimulation].
func (g *Group) Regret(c selection.Criteria) func(server int) float64 {
	truth := g.Truth(c)
	return func(server int) float64 {
		_, regret := truth.Regret(server)
		return regret
	}
}

func (t GroupTruth) objective() *selection.Objective {
	return t.doc.Above(t.Criteria.Objective(t.Players), t.Players)
}

// rtts returns the players' RTTs to a server, in ms, to the microsecond as tables keep them.
func (t GroupTruth) rtts(server int) (rtts []float64) {
	for _, v := range t.Vantages {
		rtts = append(rtts, max(float64(v.RTT[server].Microseconds()), 1)/1000)
	}
	return rtts
}

// Regret returns a server's score, and how much worse the server is than the best, in ms. The
// regret includes how far the server exceeds the limit that the best keeps. Exceeding a limit that
// the rule itself sets is no loss, because the group did not ask for it.
func (t GroupTruth) Regret(server int) (score, regret float64) {
	rtts, objective := t.rtts(server), t.objective()
	score = objective.Score(rtts)
	regret = max(0, objective.Order(rtts, 1)-t.order)
	if t.Limit > 0 && !objective.LimitsItself() {
		regret += max(0, slices.Max(rtts)-t.Limit)
	}
	return score, regret
}
