package roster

import (
	"iter"
	"net/netip"
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

const (
	// mostGuests bounds the guests. They take no player's place.
	mostGuests = 64
	// guestsByAddress bounds the guests of one address. guestsUnknown bounds those of unknown
	// addresses, as behind a tunnel: the whole room may come that way.
	guestsByAddress = 8
	guestsUnknown   = 32
	// guestGone is how long a nickname is kept for somebody without an open page.
	guestGone = 30 * time.Minute
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
}

// Event is a change of somebody's name, for all parts that know people by it.
type Event interface{ isEvent() }

// The events.
type (
	// Came says that somebody is new, or that the former guest Was plays now. Owner is the
	// credential that identifies them in the lists.
	Came struct{ Name, Was, Owner string }
	// Renamed says that somebody has another name.
	Renamed struct {
		From, To string
		IsPlayer bool
	}
	// Left says that somebody is gone. Owners are all credentials that may bring that person back.
	Left struct {
		Name     string
		Owners   []string
		IsPlayer bool
	}
	// Removed says that the things somebody brought go, too.
	Removed struct{ Name string }
	// Note is for the log.
	Note struct{ Says sentence.Sentence }
)

func (Came) isEvent()    {}
func (Renamed) isEvent() {}
func (Left) isEvent()    {}
func (Removed) isEvent() {}
func (Note) isEvent()    {}

func tell(key string, pairs ...any) Event { return Note{sentence.Of(key, pairs...)} }

// New returns a roster with nobody on it.
func New(keys Keys) *Roster { return &Roster{state: State{Keys: keys}, pages: map[string]int{}} }

// Keys returns the keys that let people in.
func (r *Roster) Keys() Keys { return r.state.Keys }

// Person is somebody in the room, as the room sees them.
type Person struct {
	Name string
	// Mark is the person's [MarkOf].
	Mark string
	// Arrival is the person's own place in the order of arrival.
	Arrival int
	// IsPlayer says that the person has a place. All others are guests with only a page.
	IsPlayer, IsOrganiser, IsRegular bool
	// IsSomewhere says that the others do not hear the person's country.
	IsSomewhere bool
	// HasPage says that any page of the person is open. IsAsked says that the person's program asks
	// at a terminal.
	HasPage, IsAsked bool
	// From is a guest's address, the zero value if many people share it. Seen is when one of the
	// guest's pages was there last.
	From netip.Addr
	Seen roomtime.Time
}

// IsAway reports whether somebody keeps a place while away. Such people are no onlookers.
func (p Person) IsAway() bool { return !p.IsPlayer && p.IsRegular && !p.IsOrganiser && !p.HasPage }

// view returns a person as the room sees them.
func (r *Roster) view(p *person, isPlayer bool) Person {
	return Person{
		Name: p.Name, Mark: p.mark, Arrival: p.Arrival, IsPlayer: isPlayer, IsOrganiser: p.Organiser,
		IsRegular: p.Regular, IsSomewhere: p.Somewhere, HasPage: r.isWatching(p), IsAsked: p.asks,
		From: p.From, Seen: p.Seen,
	}
}

// People yields the players, then those with only a page. The roster must not change meanwhile.
func (r *Roster) People() iter.Seq[Person] {
	return func(yield func(Person) bool) {
		for p, isPlayer := range r.state.everyone() {
			if !yield(r.view(p, isPlayer)) {
				return
			}
		}
	}
}

// Person returns the person of a name, letter case apart; without a name if nobody has it.
func (r *Roster) Person(name string) Person {
	if p, isPlayer := r.state.find(name); p != nil {
		return r.view(p, isPlayer)
	}
	return Person{}
}

// Unseat takes a player's place away. The person becomes a guest if they stay, are the organiser
// or keep their name as a regular.
func (r *Roster) Unseat(name string, stays bool, now roomtime.Time) []Event {
	p, isPlayer := r.state.find(name)
	if !isPlayer {
		return nil
	}
	r.state.Players = slices.DeleteFunc(r.state.Players, func(other *person) bool { return other == p })
	if stays || p.Organiser || p.Regular {
		p.Seen, p.From, p.program, p.line, p.asks = now, netip.Addr{}, "", 0, false
		r.state.Guests = append(r.state.Guests, p)
		return nil
	}
	return []Event{Left{p.Name, []string{OwnerOf(p.Page), OwnerOf(PageOf(p.Token))}, true}}
}

// gone returns when the roster forgets a guest's nickname, if it ever does. Awaited guests stay.
func (r *Roster) gone(g *person, awaited []string) (at roomtime.Time, ever bool) {
	stays := r.isWatching(g) || g.Organiser || g.Regular || slices.Contains(awaited, g.Name)
	return g.Seen.Add(guestGone), !stays
}

// Expire forgets the guests who are away for long.
func (r *Roster) Expire(awaited []string, now roomtime.Time) []Event {
	return r.drop(func(g *person) bool {
		at, ever := r.gone(g, awaited)
		return ever && now.After(at)
	})
}

// Next returns when the next guest will have been away for long, or zero if none will.
func (r *Roster) Next(awaited []string) (next roomtime.Time) {
	for _, g := range r.state.Guests {
		if at, ever := r.gone(g, awaited); ever && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// IsLocked reports whether the room takes nobody new.
func (r *Roster) IsLocked() bool { return r.state.Locked }

// lockedOut returns the message for people who do not get into a locked room.
func lockedOut() *wire.Refusal {
	return wire.Refuse(wire.ReasonLocked, "refused.locked").Advising("refused.locked-hint")
}
