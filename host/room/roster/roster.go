package roster

import (
	"iter"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

const (
	// maxGuests bounds the guests. They take no player's place.
	maxGuests = 64
	// guestsByAddress bounds the guests of one address. guestsUnknown bounds the guests of unknown
	// address, which is higher because a whole room may come through a tunnel.
	guestsByAddress = 8
	guestsUnknown   = 32
	// guestGone is how long a guest without an open page keeps the nickname.
	guestGone = 30 * time.Minute
	// maxFormer bounds the people whom the roster remembers after they have left.
	maxFormer = 128
	// renameEvery is how often a person may take another name, because everyone hears of it.
	renameEvery = 5 * time.Second
)

// Roster has the people of a room.
type Roster struct {
	state State
	// pages counts the open pages by the credential that they show.
	pages map[string]int
	// onlookers counts the open pages without a credential.
	onlookers int
	// pageClosed is when a page was closed last, zero once [Roster.TakeClosed] has told. It is not
	// saved, because no page outlives the host.
	pageClosed roomtime.Time
	// names are people's names, nil if they have changed.
	names *people.Names
}

// Event is a change of the people in the room.
type Event interface{ isEvent() }

// The events.
type (
	// Came says that somebody is new, or that somebody who was a guest plays now.
	Came struct {
		ID       people.ID
		WasGuest bool
	}
	// Left says that somebody has left.
	Left struct {
		ID       people.ID
		IsPlayer bool
	}
	// Removed says that the organiser has removed somebody, so that their lists go, too.
	Removed struct{ ID people.ID }
	// Note is for the log.
	Note struct{ Says sentence.Sentence }
)

func (Came) isEvent()    {}
func (Left) isEvent()    {}
func (Removed) isEvent() {}
func (Note) isEvent()    {}

func tell(key string, pairs ...any) Event { return Note{sentence.Of(key, pairs...)} }

// New returns a roster with nobody on it.
func New(keys Keys) *Roster { return &Roster{state: State{Keys: keys}, pages: map[string]int{}} }

// Keys returns the keys that let people in.
func (r *Roster) Keys() Keys { return r.state.Keys }

// Names returns the names of people, including remembered ones who have left. If several people
// have had a name it stands for the last of them.
func (r *Roster) Names() *people.Names {
	if r.names != nil {
		return r.names
	}
	names, taken := map[people.ID]string{}, map[string]bool{}
	for p := range r.state.everyone() {
		names[p.ID], taken[strings.ToLower(p.Name)] = p.Name, true
	}
	for _, f := range slices.Backward(r.state.Former) {
		if folded := strings.ToLower(f.Name); !taken[folded] {
			names[f.ID], taken[folded] = f.Name, true
		}
	}
	r.names = people.NewNames(names)
	return r.names
}

// view returns a person with the facts that the roster knows.
func (r *Roster) view(p *person, isPlayer bool) people.Person {
	return people.Person{
		ID: p.ID, Name: p.Name, Mark: p.mark, Arrival: p.Arrival, IsPlayer: isPlayer, IsOrganiser: p.Organiser,
		IsRegular: p.Regular, HidesCountry: p.Somewhere, HasPage: r.isWatching(p), IsAsked: p.asks,
		From: p.From, Seen: p.Seen,
	}
}

// People yields the players, then the guests. The roster must not change meanwhile.
func (r *Roster) People() iter.Seq[people.Person] {
	return func(yield func(people.Person) bool) {
		for p, isPlayer := range r.state.everyone() {
			if !yield(r.view(p, isPlayer)) {
				return
			}
		}
	}
}

// Person returns somebody in the room, or nobody.
func (r *Roster) Person(id people.ID) people.Person {
	if p, isPlayer := r.state.find(id); p != nil {
		return r.view(p, isPlayer)
	}
	return people.Person{}
}

// Called returns the person with a name, in any letter case, or nobody.
func (r *Roster) Called(name string) people.Person {
	if p, isPlayer := r.state.called(name); p != nil {
		return r.view(p, isPlayer)
	}
	return people.Person{}
}

// Player returns the player with a name, in any letter case; empty if no player has it.
func (r *Roster) Player(name string) people.ID {
	if p, isPlayer := r.state.called(name); isPlayer {
		return p.ID
	}
	return ""
}

// Unseat takes a player's place away. The person becomes a guest if they stay, are the organiser
// or keep their name as a regular.
func (r *Roster) Unseat(id people.ID, stays bool, now roomtime.Time) []Event {
	p, isPlayer := r.state.find(id)
	if !isPlayer {
		return nil
	}
	r.state.Players = slices.DeleteFunc(r.state.Players, func(other *person) bool { return other == p })
	if stays || p.Organiser || p.Regular {
		p.Seen, p.From, p.Program, p.Before, p.line, p.asks = now, netip.Addr{}, "", "", 0, false
		r.state.Guests = append(r.state.Guests, p)
		return nil
	}
	r.remember(p)
	return []Event{Left{p.ID, true}}
}

// expiry returns when the roster forgets a guest, if ever. Awaited guests stay.
func (r *Roster) expiry(g *person, awaited []people.ID) (at roomtime.Time, ever bool) {
	stays := r.isWatching(g) || g.Organiser || g.Regular || slices.Contains(awaited, g.ID)
	return g.Seen.Add(guestGone), !stays
}

// Expire takes out the guests who have been away for long.
func (r *Roster) Expire(awaited []people.ID, now roomtime.Time) []Event {
	return r.drop(func(g *person) bool {
		at, ever := r.expiry(g, awaited)
		return ever && now.After(at)
	})
}

// Next returns when the next guest will have been away for long, or zero if none will.
func (r *Roster) Next(awaited []people.ID) (next roomtime.Time) {
	for _, g := range r.state.Guests {
		if at, ever := r.expiry(g, awaited); ever && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// IsLocked reports whether the room is closed to new people.
func (r *Roster) IsLocked() bool { return r.state.Locked }

// lockedOut returns the refusal for people who try to enter a locked room.
func lockedOut() *wire.Refusal {
	return wire.Refuse(wire.ReasonLocked, "refused.locked").Advising("refused.locked-hint")
}

// IsBrowser reports whether a player measures with the page, and has no program.
func (r *Roster) IsBrowser(player people.ID) bool {
	p, _ := r.state.find(player)
	return p != nil && p.Browser
}
