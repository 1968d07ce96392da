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

// State is the saved state of a roster.
type State struct {
	Keys
	// Locked says that no new people may come in.
	Locked bool `json:"locked,omitempty"`
	// Players and Guests are in the order of arrival.
	Players []*person `json:"players,omitempty"`
	Guests  []*person `json:"guests,omitempty"`
	// Former are the people who have left, the newest last. Came counts all people who have ever
	// come.
	Former []former `json:"former,omitempty"`
	Came   int      `json:"came"`
}

// former is somebody who has left. The roster recognises the person by any of the owners
// ([OwnerOf]).
type former struct {
	ID     people.ID `json:"id"`
	Name   string    `json:"name"`
	Owners []string  `json:"owners,omitempty"`
	// Played says that the person has been a player.
	Played bool `json:"played,omitempty"`
}

// person is somebody in the room: a player, or a guest with only a page. Unexported fields are not
// saved.
type person struct {
	ID   people.ID `json:"id"`
	Name string    `json:"name"`
	// Arrival is the lowest number that was free when the person came. Pages give each number a
	// colour.
	Arrival int `json:"arrival,omitempty"`
	// Somewhere says that the room does not tell others the person's country.
	Somewhere bool `json:"somewhere,omitempty"`
	// Organiser says that the person is the organiser.
	Organiser bool `json:"organiser,omitempty"`
	// Regular says that the person has played in a standing room, and keeps place and name there.
	Regular bool `json:"regular,omitempty"`
	// Page is the credential of the pages that act for this person. It stands in the personal link.
	// mark is its [MarkOf].
	Page string `json:"page"`
	mark string
	// renamed is when the person took another name last.
	renamed roomtime.Time

	// Token is the token of the person's program. A guest who played before may come back with it.
	Token string `json:"token,omitempty"`
	// ticket is the ticket with which the player's program came, if it is no guest's but that of an
	// unknown page. That page becomes the player's, and soon asks for the player's own credential.
	ticket string
	// Program is the player's newest program, and Before the one before it, which may still have a
	// hello on its way: through a host that stood, it takes as long as that stands.
	Program string `json:"program,omitempty"`
	Before  string `json:"before,omitempty"`
	// line is from the program's newest hello. asks says that the program asks for the player's vote
	// at a terminal. They are not saved, because every hello has them.
	line int
	asks bool
	// Browser says that the player measures with the page, and has no program.
	Browser bool `json:"browser,omitempty"`

	// From is a guest's address, shown to nobody. It is the zero value if many people share it.
	// Seen is when one of the guest's pages was last open.
	From netip.Addr    `json:"from,omitzero"`
	Seen roomtime.Time `json:"seen,omitzero"`
}

// State returns the state, to save or restore it.
func (r *Roster) State() *State { return &r.state }

// Validate returns the first fault of a restored roster, or nil. It also sets the unsaved fields
// that follow from the saved ones.
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

// everyone yields the players, then the guests, and says of each whether it is a player.
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

// called returns the person with a name, in any letter case, or nil.
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

// newcomer returns a person for the credential of a page: a returning one, or a new one.
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

// indexOfFormer returns the index in Former of the person with a page's credential, or -1.
func (s *State) indexOfFormer(page string) int {
	owner := OwnerOf(page)
	return slices.IndexFunc(s.Former, func(f former) bool { return owner != "" && slices.Contains(f.Owners, owner) })
}

// remember keeps the name of somebody who has left. If there are too many names it forgets the
// oldest guest's, because anybody can come and go as a guest.
func (r *Roster) remember(p *person) {
	r.names = nil
	f := former{ID: p.ID, Name: p.Name, Owners: []string{OwnerOf(p.Page)}, Played: p.Token != ""}
	if f.Played {
		f.Owners = append(f.Owners, OwnerOf(PageOf(p.Token)))
	}
	s := &r.state
	if s.Former = append(s.Former, f); len(s.Former) > maxFormer {
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

// freeArrival returns the lowest free number of arrival.
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

// isTaken reports whether another person than by has a name that looks like this one.
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

// makeWay renames a guest whose name a new player takes, because people know players by their
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

// Drop takes guests out of the room.
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

// Keep makes players regulars, who keep their places while away.
func (r *Roster) Keep(players ...people.ID) {
	for _, p := range r.state.Players {
		p.Regular = p.Regular || slices.Contains(players, p.ID)
	}
}

// StopKeeping makes a player no regular.
func (r *Roster) StopKeeping(player people.ID) {
	if p, isPlayer := r.state.find(player); isPlayer {
		p.Regular = false
	}
}

// lookalike returns the player with a name that people could mistake for this one, or nobody.
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

// Tokens returns the tokens of players, and of regulars who are away.
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

// separateArrivals gives each person another number of arrival, whatever was saved.
func (s *State) separateArrivals() {
	taken := map[int]bool{}
	for p := range s.everyone() {
		if p.Arrival < 0 || taken[p.Arrival] {
			p.Arrival = s.freeArrival()
		}
		taken[p.Arrival] = true
	}
}
