package roster

import (
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"

	"muster/host/room/nickname"
	"muster/host/room/people"
	"muster/host/room/roomtime"
)

// State is what a saved room keeps of a roster.
type State struct {
	Keys
	// Locked says that nobody new comes in.
	Locked bool `json:"locked,omitempty"`
	// Players and Guests are each in the order of their coming.
	Players []*person `json:"players,omitempty"`
	Guests  []*person `json:"guests,omitempty"`
	// Former are people who have left, the newest last. Came counts all who have ever come.
	Former []former `json:"former,omitempty"`
	Came   int      `json:"came"`
}

// former is somebody who has left. By any of the owners ([OwnerOf]) the roster knows them again.
type former struct {
	ID     people.ID `json:"id"`
	Name   string    `json:"name"`
	Owners []string  `json:"owners,omitempty"`
	// Played says that the person has been a player.
	Played bool `json:"played,omitempty"`
}

// person is somebody in the room: a player, or a guest with only a page. Fields in small letters
// are not saved.
type person struct {
	ID   people.ID `json:"id"`
	Name string    `json:"name"`
	// Arrival is the first place that was free when the person came. Pages give each place a colour.
	Arrival int `json:"arrival,omitempty"`
	// Somewhere says that the others do not hear the person's country.
	Somewhere bool `json:"somewhere,omitempty"`
	// Organiser says that the person decides for the room. They came with the organiser's secret,
	// or an organiser appointed them.
	Organiser bool `json:"organiser,omitempty"`
	// Regular says that the person has played here, and keeps place and name in a standing room.
	Regular bool `json:"regular,omitempty"`
	// Page is the credential of the pages that act for this person. It stands in the personal link.
	// mark is its [MarkOf].
	Page string `json:"page"`
	mark string
	// renamed is when the person took another name last.
	renamed roomtime.Time

	// Token is that of the person's program. A guest who played before may come back with it.
	Token string `json:"token,omitempty"`
	// ticket is the one with which the player's program came although no guest had it: a stranger's
	// page made it. That page becomes the player's, and soon asks for the player's own credential.
	ticket string
	// program and line are those of a player's newest hello. asks says that the program asks for
	// the player's vote at a terminal. Every hello says all that.
	program string
	line    int
	asks    bool

	// From is a guest's address, shown to nobody. It is the zero value if many people share it.
	// Seen is when one of the guest's pages was there last.
	From netip.Addr    `json:"from,omitzero"`
	Seen roomtime.Time `json:"seen,omitzero"`
}

// State returns the state, for a room that is saved or restored.
func (r *Roster) State() *State { return &r.state }

// Validate returns what is wrong with a restored roster, or nil. It adds what is not saved, because
// it follows from the rest.
func (s *State) Validate() error {
	ids := map[people.ID]bool{}
	isOwn := func(id people.ID) bool {
		is := id != "" && id.Number() <= s.Came && !ids[id]
		ids[id] = true
		return is
	}
	for p := range s.everyone() {
		switch {
		case p == nil || p.Name == "":
			return errors.New("somebody without a name")
		case !isOwn(p.ID):
			return fmt.Errorf("%q has the ID %q of %d", p.Name, p.ID, s.Came)
		}
		if first, _ := s.called(p.Name); first != p {
			return fmt.Errorf("two people called %q", p.Name)
		}
		p.mark = MarkOf(p.Page)
	}
	for _, f := range s.Former {
		if !isOwn(f.ID) {
			return fmt.Errorf("%q had the ID %q of %d", f.Name, f.ID, s.Came)
		}
	}
	s.separateArrivals()
	return nil
}

// everyone yields the players, then the guests, each with whether it is a player.
func (s *State) everyone() iter.Seq2[*person, bool] {
	return func(yield func(*person, bool) bool) {
		for _, p := range s.Players {
			if !yield(p, true) {
				return
			}
		}
		for _, g := range s.Guests {
			if !yield(g, false) {
				return
			}
		}
	}
}

// find returns somebody, or nil.
func (s *State) find(id people.ID) (one *person, isPlayer bool) {
	return s.first(func(p *person) bool { return p.ID == id })
}

// called returns the person of a name, letter case apart, or nil.
func (s *State) called(name string) (one *person, isPlayer bool) {
	return s.first(func(p *person) bool { return strings.EqualFold(p.Name, name) })
}

func (s *State) first(is func(*person) bool) (one *person, isPlayer bool) {
	for p, isPlayer := range s.everyone() {
		if is(p) {
			return p, isPlayer
		}
	}
	return nil, false
}

// Organiser returns the organiser, empty without one.
func (r *Roster) Organiser() people.ID {
	for p := range r.state.everyone() {
		if p.Organiser {
			return p.ID
		}
	}
	return ""
}

// newcomer returns somebody who comes with the credential of a page: a person who has left and
// comes back, or a new one.
func (r *Roster) newcomer(page string) *person {
	r.names = nil
	p := &person{Arrival: r.state.freeArrival(), Page: page, mark: MarkOf(page)}
	if at := r.state.indexOfFormer(page); at >= 0 {
		p.ID = r.state.Former[at].ID
		r.state.Former = slices.Delete(r.state.Former, at, at+1)
		return p
	}
	r.state.Came++
	p.ID = people.Nth(r.state.Came)
	return p
}

// indexOfFormer returns the place of the person with a page's credential among those who have left, or
// -1.
func (s *State) indexOfFormer(page string) int {
	owner := OwnerOf(page)
	return slices.IndexFunc(s.Former, func(f former) bool { return owner != "" && slices.Contains(f.Owners, owner) })
}

// remember keeps the name of somebody who has left. If there are too many, the roster forgets the
// first who never played, because anybody can come and go as a guest.
func (r *Roster) remember(p *person) {
	r.names = nil
	f := former{ID: p.ID, Name: p.Name, Owners: []string{OwnerOf(p.Page)}, Played: p.Token != ""}
	if f.Played {
		f.Owners = append(f.Owners, OwnerOf(PageOf(p.Token)))
	}
	s := &r.state
	if s.Former = append(s.Former, f); len(s.Former) > mostFormer {
		at := max(0, slices.IndexFunc(s.Former, func(f former) bool { return !f.Played }))
		s.Former = slices.Delete(s.Former, at, at+1)
	}
}

// Forget forgets somebody who has left.
func (r *Roster) Forget(id people.ID) {
	r.names = nil
	r.state.Former = slices.DeleteFunc(r.state.Former, func(f former) bool { return f.ID == id })
}

// appoint makes one person the only organiser.
func (s *State) appoint(one *person) {
	for p := range s.everyone() {
		p.Organiser = p == one
	}
}

// freeArrival returns the first free place in the order of arrival.
func (s *State) freeArrival() int {
	taken := map[int]bool{}
	for p := range s.everyone() {
		taken[p.Arrival] = true
	}
	place := 0
	for taken[place] {
		place++
	}
	return place
}

// isTaken reports whether somebody else has a name that looks like this one.
func (s *State) isTaken(name string, by *person) bool {
	for p := range s.everyone() {
		if p != by && nickname.Alike(p.Name, name) {
			return true
		}
	}
	return false
}

// rename gives a person another name.
func (r *Roster) rename(p *person, name string, now roomtime.Time) Event {
	from := p.Name
	p.Name, p.renamed, r.names = name, now, nil
	return tell("room.is-now", "player", from, "name", p.ID)
}

// makeWay lets a guest give up a name to the player who comes with it: people know players by their
// names.
func (r *Roster) makeWay(g *person, now roomtime.Time) Event {
	mark := " (guest)"
	for i := 2; ; i++ {
		kept := g.Name[:min(len(g.Name), nickname.MaxBytes-len(mark))]
		name := strings.TrimSpace(strings.ToValidUTF8(kept, "")) + mark
		if !r.state.isTaken(name, g) {
			return r.rename(g, name, now)
		}
		mark = fmt.Sprintf(" (guest %d)", i)
	}
}

// Drop forgets guests.
func (r *Roster) Drop(guests ...people.ID) []Event {
	return r.drop(func(g *person) bool { return slices.Contains(guests, g.ID) })
}

func (r *Roster) drop(which func(*person) bool) (events []Event) {
	r.state.Guests = slices.DeleteFunc(r.state.Guests, func(g *person) bool {
		gone := which(g)
		if gone {
			r.remember(g)
			events = append(events, Left{g.ID, false})
		}
		return gone
	})
	return events
}

// Keep makes players regulars.
func (r *Roster) Keep(players ...people.ID) {
	for _, p := range r.state.Players {
		p.Regular = p.Regular || slices.Contains(players, p.ID)
	}
}

// StopKeeping stops keeping a player's place while the player is away.
func (r *Roster) StopKeeping(player people.ID) {
	if p, isPlayer := r.state.find(player); isPlayer {
		p.Regular = false
	}
}

// lookalike returns the player with a name that people would take for this one, or nobody.
func (s *State) lookalike(name string) people.ID {
	for _, p := range s.Players {
		if nickname.Alike(p.Name, name) {
			return p.ID
		}
	}
	return ""
}

// isReserved reports whether a name is the organiser's or a regular's. Other guests give way to
// players.
func (s *State) isReserved(name string, before *person) bool {
	for p := range s.everyone() {
		isKept := (p.Organiser || p.Regular) && nickname.Alike(p.Name, name)
		if p != before && isKept {
			return true
		}
	}
	return false
}

// Tokens returns the tokens that open players' places, those of regulars who are away too.
func (r *Roster) Tokens() (tokens []string) {
	for p, isPlayer := range r.state.everyone() {
		if isPlayer || p.Regular {
			tokens = append(tokens, p.Token)
		}
	}
	return tokens
}

// PageOf returns the credential of a person's pages; empty if the person is not in the room.
func (r *Roster) PageOf(id people.ID) string {
	if p, _ := r.state.find(id); p != nil {
		return p.Page
	}
	return ""
}

// separateArrivals gives everybody a place of their own in the order of arrival, whatever was saved.
func (s *State) separateArrivals() {
	taken := map[int]bool{}
	for p := range s.everyone() {
		if p.Arrival < 0 || taken[p.Arrival] {
			p.Arrival = s.freeArrival()
		}
		taken[p.Arrival] = true
	}
}
