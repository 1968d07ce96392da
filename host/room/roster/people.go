package roster

import (
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"

	"muster/host/room/nickname"
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
}

// person is somebody in the room: a player, or a guest with only a page. Fields in small letters
// are not saved.
type person struct {
	Name string `json:"name"`
	// Arrival is the person's own place in the order of arrival. By it the others know the person
	// again, under any name.
	Arrival int `json:"arrival,omitempty"`
	// Somewhere says that the others do not hear the person's country.
	Somewhere bool `json:"somewhere,omitempty"`
	// Becomes is a player's name from the next round on, or empty.
	Becomes string `json:"becomes,omitempty"`
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
	for p := range s.everyone() {
		switch {
		case p == nil || p.Name == "":
			return errors.New("somebody without a name")
		case s.isTwice(p):
			return fmt.Errorf("two people called %q", p.Name)
		}
		p.mark = MarkOf(p.Page)
	}
	s.arriveApart()
	return nil
}

// isTwice reports whether a person before this one has the same name.
func (s *State) isTwice(p *person) bool {
	first, _ := s.find(p.Name)
	return first != p
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

// find returns the person of a name, letter case apart, or nil.
func (s *State) find(name string) (one *person, isPlayer bool) {
	for p, isPlayer := range s.everyone() {
		if strings.EqualFold(p.Name, name) {
			return p, isPlayer
		}
	}
	return nil, false
}

// Organiser returns the organiser's name, empty without one.
func (r *Roster) Organiser() string {
	for p := range r.state.everyone() {
		if p.Organiser {
			return p.Name
		}
	}
	return ""
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

// isTaken reports whether somebody else has or will have a name that looks like this one.
func (s *State) isTaken(name string, by *person) bool {
	for p := range s.everyone() {
		if p != by && (nickname.Alike(p.Name, name) || nickname.Alike(p.Becomes, name)) {
			return true
		}
	}
	return false
}

// rename gives a person another name.
func (s *State) rename(p *person, isPlayer bool, name string, now roomtime.Time) []Event {
	from := p.Name
	p.Name, p.Becomes, p.renamed = name, "", now
	return []Event{Renamed{from, name, isPlayer}, tell("room.is-now", "player", from, "name", name)}
}

// makeWay lets a guest give up a name to the player who comes with it: the others know players by
// their names.
func (s *State) makeWay(g *person, now roomtime.Time) []Event {
	mark := " (guest)"
	for i := 2; ; i++ {
		kept := g.Name[:min(len(g.Name), nickname.MaxBytes-len(mark))]
		name := strings.TrimSpace(strings.ToValidUTF8(kept, "")) + mark
		if !s.isTaken(name, g) {
			return s.rename(g, false, name, now)
		}
		mark = fmt.Sprintf(" (guest %d)", i)
	}
}

// Drop forgets guests.
func (r *Roster) Drop(names ...string) []Event {
	return r.drop(func(g *person) bool { return slices.Contains(names, g.Name) })
}

func (r *Roster) drop(which func(*person) bool) (events []Event) {
	r.state.Guests = slices.DeleteFunc(r.state.Guests, func(g *person) bool {
		gone := which(g)
		if gone {
			owners := []string{OwnerOf(g.Page)}
			if g.Token != "" {
				owners = append(owners, OwnerOf(PageOf(g.Token)))
			}
			events = append(events, Left{g.Name, owners, false})
		}
		return gone
	})
	return events
}

// NextRound gives players the names that they wanted while the round went on.
func (r *Roster) NextRound(now roomtime.Time) (events []Event) {
	for _, p := range r.state.Players {
		if p.Becomes != "" {
			events = append(events, r.state.rename(p, true, p.Becomes, now)...)
		}
	}
	return events
}

// Sleep gives those who had a place the names that they wanted.
func (r *Roster) Sleep(now roomtime.Time) (events []Event) {
	for _, g := range r.state.Guests {
		if g.Becomes != "" {
			events = append(events, r.state.rename(g, false, g.Becomes, now)...)
		}
	}
	return events
}

// Keep makes players regulars.
func (r *Roster) Keep(names ...string) {
	for _, p := range r.state.Players {
		p.Regular = p.Regular || slices.Contains(names, p.Name)
	}
}

// LetGo stops keeping a player's place while the player is away.
func (r *Roster) LetGo(name string) {
	if p, isPlayer := r.state.find(name); isPlayer {
		p.Regular = false
	}
}

// lookalike returns the player with a name that people would take for this one, or nothing.
func (s *State) lookalike(name string) string {
	for _, p := range s.Players {
		if nickname.Alike(p.Name, name) {
			return p.Name
		}
	}
	return ""
}

// isReserved reports whether a name is the organiser's or a regular's, or will be a player's.
// Other guests give way to players.
func (s *State) isReserved(name string, before *person) bool {
	for p := range s.everyone() {
		isKept := (p.Organiser || p.Regular) && nickname.Alike(p.Name, name)
		if p != before && (isKept || nickname.Alike(p.Becomes, name)) {
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

// PageOf returns the credential of a person's pages; empty if nobody has the name.
func (r *Roster) PageOf(name string) string {
	if p, _ := r.state.find(name); p != nil {
		return p.Page
	}
	return ""
}

// arriveApart gives everybody a place of their own in the order of arrival, whatever was saved.
func (s *State) arriveApart() {
	taken := map[int]bool{}
	for p := range s.everyone() {
		if p.Arrival < 0 || taken[p.Arrival] {
			p.Arrival = s.freeArrival()
		}
		taken[p.Arrival] = true
	}
}
