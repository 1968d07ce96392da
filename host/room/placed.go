package room

import (
	"math"
	"net/netip"
	"slices"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/candidates"
	"muster/host/room/decision"
	"muster/host/room/facts"
	"muster/host/room/listing"
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

// started remembers the server, and lets everyone who has a program measure it. Where all have only a page, they
// just go.
func (p *Placed) started(r *Room, at netip.AddrPort, note sentence.Sentence) {
	own := listing.Own{Place: r.parts.Candidates.View(p.Server).Name, Addr: at, For: r.marks(r.facts.ChosenFor())}
	r.source.Remember(own)
	if r.hasProgram() {
		p.base.started(r, at, note)
		return
	}
	p.Address, r.out.mustSave = hostport.At(at), true
	r.out.say(sentence.Of("room.place-ready", "server", p.Address.String()))
}

// hasProgram reports whether anybody here could measure a server first.
func (r *Room) hasProgram() bool {
	return slices.ContainsFunc(r.parts.Attendance.Present(), func(player people.ID) bool { return !r.parts.Roster.IsBrowser(player) })
}

// marks returns what the roster knows players by, from one session to the next.
func (r *Room) marks(players []people.ID) (marks []string) {
	for _, player := range players {
		marks = append(marks, r.facts.Person(player).Mark)
	}
	return marks
}

// goesBack reports whether the group goes back to its own server, because nobody is here for whom the place was not
// chosen. Otherwise the group looks again, and moves only if that is worth it.
func (r *Room) goesBack() bool {
	own := r.source.State().Own
	switch {
	case own.IsFor(r.marks(r.facts.Active())) && r.hasProgram():
		r.source.Again()
		r.out.say(sentence.Of("room.own-again", "place", own.Place))
		return true
	case own.Place != "":
		if r.parts.Choice.State().Previous = candidates.Key(own.Place); !own.IsFor(r.marks(r.facts.Active())) {
			r.out.say(sentence.Of("room.own-others", "place", own.Place))
		}
	}
	return false
}

// begin tells people the place, and writes it down. If their server stands there already, they go on to it.
func (p *Placed) begin(r *Room) {
	r.enter(p)
	r.parts.FoundNone = false // the next round looks for a server again, where people would rather have one
	place, own, stays := r.parts.Candidates.View(p.Server), r.source.State().Own, r.parts.Choice.Newest().Keep
	trip, post := r.arrive(p.Server, wire.Played{Server: place.Name, Connect: place.At, IsPlace: true})
	ms, worst := math.RoundToEven(post.Server.MeanMS), math.RoundToEven(post.Server.MaxMS)
	switch {
	case own.Place == place.Name:
		r.source.Again()
		p.started(r, own.Addr, sentence.Of("room.own-stays", "place", place.Name, "ms", ms, "worst", worst))
		return
	case own.Place != "" && stays != nil && stays.Gain > 0:
		r.out.say(sentence.Of("room.own-moves", "from", own.Place, "place", place.Name, "gain", math.Ceil(float64(stays.Gain)), "ms", ms, "worst", worst))
	case place.IsHome:
		r.out.say(sentence.Of("room.place-home", "place", place.Name, "ms", ms, "worst", worst))
	default:
		r.out.say(sentence.Of("room.place", "place", place.Name, "ms", ms, "worst", worst))
	}
	if trip.IsNew {
		r.follow(r.calendar.Announce(post, r.dates(r.wall))...)
	}
}
