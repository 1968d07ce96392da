package room

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/choice"
	"muster/host/room/evidence"
	"muster/host/room/finals"
	"muster/host/room/launch"
	"muster/host/room/listing"
	"muster/host/room/nearby"
	"muster/host/room/origin"
	"muster/host/room/podium"
	"muster/host/room/search"
	"muster/host/room/trust"
	"muster/host/wire"
	"muster/selection"
)

// round is what a new round forgets.
type round struct {
	number  int
	players []*player
	// attendance is who is here, and whom the round counts on.
	attendance attendance.Register
	// list is the round's list, and servers what it and they say of themselves.
	list    listing.List
	servers selection.Servers
	// hearsay is what each player heard of the servers, from which those Infos are.
	hearsay evidence.Hearsay
	// nearby is what is on the host's networks and the players'. A new round forgets the list's.
	nearby nearby.Networks
	// launches are who can start the game, and who is on the way.
	launches launch.Roll
	// measuring is when everybody was told to measure.
	measuring time.Time
	// gap is how long a server of the list needs peace before it answers an address again, 0
	// if that is not known. A restored room knows it no more.
	gap time.Duration
	// turns is the wait for each [Turn]; not saved, as the room asks for another.
	turns search.Turns
	// search leads the coordinated measuring while it goes on. It can be made anew
	// from what was measured at any time, and so is not saved.
	search *search.Search
	podium podium.Podium
	choice choice.Choice
	// broken: somebody's connection was lost, and what was measured may tell more of a
	// line than of servers.
	broken bool
	looks  finals.Looks
	ballot ballot.Box
	// origins are where people come from.
	origins origin.Book
	// trust is what speaks against players and servers.
	trust trust.Doubts
	// budget is how many servers each player may be asked for.
	budget search.Budget
	// waitable is what a wait for seats could be for.
	waitable waitable
}

func newRound(number int) round { return round{number: number} }

// next is the round after this one, with the same players.
func (r *round) next(now time.Time) round {
	next := newRound(r.number + 1)
	next.trust, next.choice = r.trust.Next(), r.choice.Next()
	next.origins = r.origins
	next.nearby, next.launches, next.turns = r.nearby.Next(), r.launches.Next(), r.turns
	next.turns.Begin()
	next.attendance = r.attendance
	next.attendance.Begin(now)
	for _, p := range r.players {
		next.players = append(next.players, &player{member: p.member})
	}
	return next
}

// player is a member in a round: what was measured and how far things are.
type player struct {
	*member
	witness evidence.Witness
	// shares: the player measures its part of the list, and the NAT group's others
	// the rest.
	shares bool
}

// player is who has the name, letter case apart: Ann and ann would be mistaken
// for each other.
func (r *round) player(name string) *player {
	for _, p := range r.players {
		if strings.EqualFold(p.name, name) {
			return p
		}
	}
	return nil
}

// mark returns a player's attendance.
func (r *round) mark(p *player) attendance.Mark { return r.attendance.Of(p.name) }

// active are the players whom the round counts on.
func (r *round) active() []*player {
	return filtered(r.players, func(p *player) bool { return r.mark(p).Out == "" })
}

// present are the players whom a search counts on now.
func (r *round) present() []*player {
	return filtered(r.active(), func(p *player) bool { return r.mark(p).Here })
}

// chosenFor are the players for whom the choice was made.
func (r *round) chosenFor() []*player {
	return filtered(r.active(), func(p *player) bool { return slices.Contains(r.choice.Newest().Players, p.name) })
}

// hasMeasured reports whether there is anything to choose from for a player.
func (r *round) hasMeasured(p *player) bool {
	return slices.ContainsFunc(r.natGroupOf(p), func(mate *player) bool {
		probed, _ := mate.witness.Progress()
		return probed > 0
	})
}

// filtered are those of some players who fulfil a condition.
func filtered(players []*player, is func(*player) bool) []*player {
	var some []*player
	for _, p := range players {
		if is(p) {
			some = append(some, p)
		}
	}
	return some
}

func names(players []*player) []string {
	names := make([]string, len(players))
	for i, p := range players {
		names[i] = p.name
	}
	return names
}

// indexOf is where a server stands in the list that people, or a file, name by its
// address; -1 if it is not listed.
func (r *round) indexOf(addr netip.AddrPort) int {
	return slices.IndexFunc(r.servers.List, func(s discovery.Server) bool { return s.Addr == addr })
}

// announced is a server as outsiders hear of it: by its name.
func (r *round) announced(server int) *wire.AnnouncedServer {
	card := cardOf(r.servers, server)
	return &wire.AnnouncedServer{Name: card.Name, Map: card.Map}
}

func (r *round) vetoedName(addr netip.AddrPort) string {
	if server := r.indexOf(addr); server >= 0 {
		return r.servers.Called(server)
	}
	return addr.String()
}

func cardOf(servers selection.Servers, server int) wire.ServerCard {
	if server < 0 {
		return wire.ServerCard{}
	}
	return wire.CardOf(servers.List[server], servers.Info(server))
}

// knowledge is what a player and the player's NAT group measured.
func (r *round) knowledge(p *player) evidence.Knowledge {
	return evidence.KnowledgeOf(&p.witness, witnesses(r.natGroupOf(p)))
}

// table returns what players measured, for a choice among them.
func (r *round) table(group []*player) *selection.Table {
	columns := make([]evidence.Column, len(group))
	for i, p := range group {
		columns[i] = evidence.Column{Name: p.name, Knowledge: r.knowledge(p), Raised: r.trust.Raised(p.name), Hidden: r.nearby.HiddenFrom(p.name)}
	}
	return evidence.Table(len(r.servers.List), columns)
}
