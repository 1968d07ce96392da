package roster

import (
	"errors"
	"fmt"
	"net/netip"

	"muster/host/room/roomtime"
)

// Saved is the section of the saved room.
type Saved struct {
	Code    string        `json:"code"`
	Link    string        `json:"link"`
	Secret  string        `json:"secret"`
	Locked  bool          `json:"locked,omitempty"`
	Players []SavedPerson `json:"players,omitempty"`
	Guests  []SavedPerson `json:"guests,omitempty"`
}

// SavedPerson is a person at rest.
type SavedPerson struct {
	Name      string `json:"name"`
	Arrival   int    `json:"arrival,omitempty"`
	Somewhere bool   `json:"somewhere,omitempty"`
	Becomes   string `json:"becomes,omitempty"`
	Organiser bool   `json:"organiser,omitempty"`
	Regular   bool   `json:"regular,omitempty"`
	Page      string `json:"page"`
	Token     string `json:"token,omitempty"`
	// From and Seen are a guest's.
	From netip.Addr    `json:"from,omitzero"`
	Seen roomtime.Time `json:"seen,omitzero"`
}

// Save returns the section of the saved room.
func (r *Roster) Save() Saved {
	s := Saved{Code: r.keys.Code, Link: r.keys.Link, Secret: r.keys.Secret, Locked: r.locked}
	for p, isPlayer := range r.everyone() {
		saved := SavedPerson{
			p.name, p.arrival, p.somewhere, p.becomes, p.organiser, p.regular, p.page, p.token, p.from, p.seen,
		}
		if isPlayer {
			s.Players = append(s.Players, saved)
		} else {
			s.Guests = append(s.Guests, saved)
		}
	}
	return s
}

// Restore returns the roster that was saved. Any bytes are safe: nonsense is an error.
func Restore(s Saved) (*Roster, error) {
	r := New(Keys{s.Code, s.Link, s.Secret})
	r.locked = s.Locked
	for i, saved := range append(s.Players[:len(s.Players):len(s.Players)], s.Guests...) {
		p := &person{
			name: saved.Name, arrival: saved.Arrival, somewhere: saved.Somewhere, becomes: saved.Becomes,
			organiser: saved.Organiser, regular: saved.Regular, page: saved.Page, mark: MarkOf(saved.Page),
			token: saved.Token, from: saved.From, seen: saved.Seen,
		}
		if p.name == "" {
			return nil, errors.New("somebody without a name")
		}
		if other, _ := r.find(p.name); other != nil {
			return nil, fmt.Errorf("two people called %q", p.name)
		}
		if i < len(s.Players) {
			r.players = append(r.players, p)
		} else {
			r.guests = append(r.guests, p)
		}
	}
	r.arriveApart()
	return r, nil
}
