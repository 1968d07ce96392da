package room

import (
	"math"
	"net/netip"
	"slices"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/decision"
	"muster/host/room/facts"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/room/sides"
	"muster/host/wire"
)

// Placed is the end of a round that has found a place. Somebody gets a server ready there, and gives its
// address ([Started]); then a round of its own measures that server, and everybody goes.
type Placed struct {
	base
	Server int `json:"server"`
	// Address is the server that stands there by now, if nobody here has a program that could measure it first.
	Address hostport.AddrPort `json:"address,omitzero"`
}

func (*Placed) traits() traits {
	return traits{name: wire.PhaseLaunching, saved: "placed", sides: sides.Afterwards, isBetween: true, canReopen: true}
}

func (*Placed) next(*Room) (roomtime.Time, bool) { return noDeadline, true }

func (p *Placed) isValid(g *facts.Parts) bool {
	return hasChoice(g) && p.Server >= 0 && p.Server < len(g.Candidates.All())
}

func (*Placed) joined(*Room, people.ID) {}

// proceed looks for a place once more.
func (*Placed) proceed(r *Room) error {
	r.nextRound()
	return nil
}

func (p *Placed) view(r *Room, s *wire.Snapshot, showing *decision.Showing) {
	place := r.parts.Candidates.View(p.Server)
	if s.Way = (&wire.Way{Server: place.Name, Place: &place}); p.Address.IsValid() {
		s.Way.Connect = p.Address.String()
	}
	showing.Target = p.Server
}

// started lets everyone who has a program measure the server. Where all have only a page, they just go.
func (p *Placed) started(r *Room, at netip.AddrPort, note sentence.Sentence) {
	if slices.ContainsFunc(r.parts.Attendance.Present(), func(player people.ID) bool { return !r.parts.Roster.IsBrowser(player) }) {
		p.base.started(r, at, note)
		return
	}
	p.Address, r.out.mustSave = hostport.At(at), true
	r.out.say(sentence.Of("room.place-ready", "server", p.Address.String()))
}

// begin tells people the place, and writes it down.
func (p *Placed) begin(r *Room) {
	r.enter(p)
	r.parts.FoundNone = false // the next round looks for a server again, where people would rather have one
	place := r.parts.Candidates.View(p.Server)
	trip, post := r.arrive(p.Server, wire.Played{Server: place.Name, Connect: place.At, IsPlace: true})
	r.out.say(sentence.Of("room.place", "place", place.Name,
		"ms", math.RoundToEven(post.Server.MeanMS), "worst", math.RoundToEven(post.Server.MaxMS)))
	if trip.IsNew {
		r.follow(r.calendar.Announce(post, r.dates(r.wall))...)
	}
}
