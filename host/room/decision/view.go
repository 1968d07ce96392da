package decision

import (
	"net/netip"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/choice"
	"muster/host/room/facts"
	"muster/host/room/people"
	"muster/host/room/probing"
	"muster/host/room/seats"
	"muster/host/wire"
	"muster/selection"
)

// Showing says how far the room has come when it shows its choice.
type Showing struct {
	// IsOpen says that the choice can still change. IsVoting says that people vote on it.
	IsOpen, IsVoting bool
	// Target is the server that people go to, or -1 before the launch.
	Target int
}

// View returns the choice and the what-if as people see them. They are nil before there is a
// choice.
func (d *Decision) View(g facts.Facts, p *probing.Probing, s Showing) (view, whatIf *wire.Choice) {
	if g.Newest() == nil {
		return nil, nil
	}
	f := d.choiceFacts(g, p, s)
	view, whatIf = d.choice.View(f), d.choice.ViewWhatIf(f)
	view.Over = viewOverLimit(g, f.Target)
	if miss := view.Miss; miss != nil {
		server := slices.IndexFunc(g.Servers().List, func(s discovery.Server) bool { return hostport.Text(s.Addr) == miss.Addr })
		for _, player := range g.ChosenFor() {
			if result := g.Knowledge(player).At(server); result.State == discovery.Answered {
				miss.RTT[g.Names().Of(player)] = discovery.MS(result.RTT)
			}
		}
	}
	return view, whatIf
}

// ViewVote returns the vote as people see it.
func (d *Decision) ViewVote(g facts.Facts, isOpen bool) wire.Voting {
	names := g.Names()
	v := d.ballot.View(isOpen, d.Options(g), names)
	for i := range v.Choices {
		if one := &v.Choices[i]; one.Gone {
			card := g.Card(one.Server)
			one.Addr, one.Name = hostport.At(g.Servers().List[one.Server].Addr), card.Name
			one.By = names.Text(vetoedBy(d.ballot.Vetoes(), one.Addr.AddrPort, card.Map))
		}
	}
	v.Vetoes = g.ViewVetoes()
	return v
}

// vetoedBy returns the person who has vetoed a server, or else its map.
func vetoedBy(vetoes []selection.Veto, server netip.AddrPort, itsMap string) (by string) {
	for _, v := range vetoes {
		switch {
		case v.Server == server:
			return v.Player
		case v.Map != "" && strings.EqualFold(v.Map, itsMap):
			by = v.Player
		}
	}
	return by
}

func (d *Decision) choiceFacts(g facts.Facts, p *probing.Probing, s Showing) choice.Facts {
	f := choice.Facts{
		Servers: *g.Servers(), Editions: g.NamedEditions(), Players: g.Players(),
		Names: g.Names(), Limits: g.Settings().Limits, IsOpen: s.IsOpen, Stands: *g.Newest(), Target: -1,
	}
	if f.Stands.Chosen != nil {
		if f.Target = s.Target; f.Target < 0 {
			f.Target = d.ballot.Favourite(d.Options(g))
		}
		f.Stands = d.ballot.Decide(f.Stands, f.Target, s.IsVoting)
	}
	if most, is := d.trust.Weightiest(g.Newest()); is {
		f.Weightiest = most
	}
	if !s.IsOpen {
		return f
	}
	f.Others = slices.Concat(d.limitAdvice(g), d.adviseWait(g), p.Offer(g, s.IsVoting))
	return f
}

// WorthWaiting returns the full servers that are worth a wait, best first.
func WorthWaiting(g facts.Facts) []selection.Ranked {
	return seats.Worth(Suitable(g), *g.Servers(), g.SeatsFor(g.ChosenFor()))
}

// Suitable returns the servers that would suit everyone if they had seats, best first.
func Suitable(g facts.Facts) []selection.Ranked {
	return seats.Suitable(g.BasisWithGuests(g.ChosenFor()))
}

// waitable caches the servers that are worth a wait, for one choice, because every viewer of the
// room gets it.
type waitable struct {
	of      *selection.Selection
	servers []selection.Ranked
	need    int
}

// adviseWait advises a wait for seats, if a server is worth it.
func (d *Decision) adviseWait(g facts.Facts) []wire.Advice {
	if newest := g.Newest(); d.waitable.of != newest {
		d.waitable = waitable{newest, WorthWaiting(g), g.SeatsFor(g.ChosenFor())}
	}
	full := d.waitable.servers
	if len(full) == 0 {
		return nil
	}
	return []wire.Advice{{Action: "await", Servers: len(full), Addr: full[0].Addr.String(), Seats: d.waitable.need}}
}

// ChooseServer makes a server that has seats again the newest choice, if the server suits everyone.
// Otherwise it returns the reason.
func (d *Decision) ChooseServer(g facts.Facts, server int) (why sentence.Sentence, suits bool) {
	players := g.ChosenFor()
	if d.choice.Go(server, g.SeatsFor(players), g.BasisWithGuests(players)) {
		return why, true
	}
	if cause := g.CauseAgainst(server, players); cause != nil {
		return sentence.Of("seats.unsuitable", "why", because(*cause)), false
	}
	return sentence.Of("seats.unsuitable-now"), false
}

// because returns a cause for "turned out to be …".
func because(c selection.Cause) sentence.Sentence {
	return sentence.Of("cause." + c.String() + ".turned")
}

// SeatFacts returns the facts about the group for a watch of full servers.
func SeatFacts(g facts.Facts, w *seats.Watch) seats.Facts {
	present := g.Present()
	f := seats.Facts{Need: w.Need(g.SeatsFor(g.ChosenFor())), Present: len(present), Servers: map[int]seats.Fact{}}
	for _, server := range w.Servers() {
		f.Servers[server] = seats.Fact{Name: g.Servers().Called(server), Lookers: people.Filtered(present, func(player people.ID) bool {
			return g.IsBelieved(player) && !g.IsHidden(player, server) && g.Results(player).CanShow(server)
		})}
	}
	return f
}
