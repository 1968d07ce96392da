package choice

import (
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
)

// This file shows people a choice, and advises the organiser.

// named is a selection with the players' names. It is kept, because it is large, and pages show it
// again and again.
type named struct {
	of        *selection.Selection
	names     *people.Names
	selection selection.Selection
}

// get returns a selection with names. It makes a new one if the selection or a name has changed.
func (n *named) get(of *selection.Selection, names *people.Names) selection.Selection {
	if n.of != of || n.names != names {
		*n = named{of, names, of.Named(names.Text)}
	}
	return n.selection
}

// Facts are other facts about the room. Editions and Others contain names already. All other fields
// contain IDs.
type Facts struct {
	Servers selection.Servers
	Names   *people.Names
	// Editions are the players' versions of the game, and Players are all players.
	Editions []selection.Edition
	Players  []people.ID
	Limits   []time.Duration
	// Stands is the newest choice as it stands, by the rule or by votes. Target is the server that
	// people go to, or would; -1 is none.
	Stands selection.Selection
	Target int
	// IsOpen says that the organiser can make the room choose again.
	IsOpen bool
	// Weightiest is the player whose numbers alone decide the choice, if that costs the others a
	// lot.
	Weightiest selection.Influence
	// Others is other advice, which comes last.
	Others []wire.Advice
}

// View returns the newest choice as everyone sees it, nil before there is one. If nothing suits
// everyone, it names the server that came nearest, and advises the organiser: first a higher limit,
// then players to leave out. If the choice hangs on one player's numbers, it says how to choose
// without that player. The room adds the pings of the server that came nearest.
func (c *Choice) View(f Facts) *wire.Choice {
	if c.state.Newest == nil {
		return nil
	}
	s := c.shown.get(c.state.Newest, f.Names)
	stands := s
	if d := f.Stands.Decided; d != nil && d != s.Decided { // decided by votes
		stands = s.Voted(f.Stands.Chosen.Server, d.Votes, d.Of, d.Open)
	}
	v := f.view(s, stands)
	if f.IsOpen {
		f.advise(v, c.state.Newest)
		if player := people.ID(f.Weightiest.Player); slices.Contains(f.Players, player) {
			v.Advice = append(v.Advice, wire.Advice{
				Action: "without", Argument: wire.Argument{Name: f.Names.Of(player)}, Addr: f.Weightiest.Addr.String(),
			})
		}
	}
	for _, advice := range f.Others {
		v.Advice = append(v.Advice, advice)
		if addr, err := hostport.Parse(advice.Addr); err == nil {
			f.show(v, f.find(addr))
		}
	}
	if f.Target >= 0 {
		v.Target = hostport.Text(f.Servers.List[f.Target].Addr)
	}
	return v
}

// ViewWhatIf returns the what-if as everyone sees it, nil without one.
func (c *Choice) ViewWhatIf(f Facts) *wire.Choice {
	if c.state.WhatIf == nil {
		return nil
	}
	s := c.shownIf.get(&c.state.WhatIf.Selection, f.Names)
	v := f.view(s, s)
	v.Player = f.Names.Of(c.state.WhatIf.Player)
	return v
}

// view returns a selection that has names, with its servers' cards. In its explanation, names replace
// the servers' addresses.
func (f *Facts) view(s, stands selection.Selection) *wire.Choice {
	v := &wire.Choice{Selection: s, Explain: stands.Explain(), Decided: stands.Decided, Servers: map[string]wire.ServerCard{}}
	for _, ranked := range s.Ranking {
		f.show(v, ranked.Server)
	}
	if s.Why != nil {
		for _, i := range s.Why.Influences {
			f.show(v, i.Server)
		}
		for _, rival := range s.Why.Rivals {
			f.show(v, rival.Ranked.Server)
		}
	}
	for i, said := range v.Explain {
		v.Explain[i] = said.Replace(func(name, text string) any {
			if name != "server" {
				return text
			}
			return f.called(v, text)
		})
	}
	return v
}

// called returns a server's name with its address, or the address alone if the name is unknown. It
// looks into the view first, because a search of the list takes longer.
func (f *Facts) called(v *wire.Choice, address string) any {
	addr, err := hostport.Parse(address)
	if err != nil {
		return address
	}
	card, shown := v.Servers[address]
	if !shown {
		if server := f.find(addr); server >= 0 {
			card = cardOf(&f.Servers, server)
		}
	}
	switch {
	case card.Name == "":
		return address
	case discovery.IsPlaceholder(addr.Addr()):
		return card.Name
	}
	return sentence.Of("server.at", "name", card.Name, "address", address)
}

// show adds the card of a server, with the players who have another version; -1 is no server.
func (f *Facts) show(v *wire.Choice, server int) {
	if server < 0 {
		return
	}
	addr := hostport.Text(f.Servers.List[server].Addr)
	if _, known := v.Servers[addr]; known {
		return
	}
	card := cardOf(&f.Servers, server)
	card.Mark(f.Servers.Info(server), f.Editions)
	v.Servers[addr] = card
}

// find returns the index of a server in the list, or -1.
func (f *Facts) find(addr netip.AddrPort) int {
	return slices.IndexFunc(f.Servers.List, func(s discovery.Server) bool { return s.Addr == addr })
}

// advise returns the requirements to give up if nothing suits everyone.
func (f *Facts) advise(v *wire.Choice, s *selection.Selection) {
	if s.Chosen != nil || s.Why == nil {
		return
	}
	for _, way := range s.Why.Relax {
		advice := wire.Advice{Servers: way.Frees, Addr: way.Addr.String()}
		server, player := f.find(way.Addr.AddrPort), people.ID(way.Player)
		switch {
		case server < 0:
			continue
		case player != "" && way.Give != selection.Unmeasured && len(s.Players) > 1 && slices.Contains(f.Players, player):
			advice.Action, advice.Argument.Name = "without", f.Names.Of(player)
			if !slices.ContainsFunc(v.Advice, func(a wire.Advice) bool { return a.Argument.Name == advice.Argument.Name }) {
				v.Advice = append(v.Advice, advice)
			}
		case player == "" && way.Give == selection.OverThreshold && way.LimitMS <= maxAllowed:
			limit := int(math.Ceil(way.LimitMS))
			advice.Action, advice.Argument.LimitMS = "allow", limit
			v.Advice = slices.Insert(v.Advice, 0, advice)
			v.Miss = &wire.Miss{Addr: advice.Addr, RTT: map[string]float64{}}
			if n := len(f.Limits); n > 0 {
				v.Miss.LimitMS = discovery.MS(f.Limits[n-1])
			}
		default:
			continue
		}
		f.show(v, server)
	}
}
