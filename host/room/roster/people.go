package roster

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"

	"muster/host/room/nickname"
	"muster/host/room/roomtime"
)

// people are the players and the guests, each in the order of their coming.
type people struct{ players, guests []*person }

// person is somebody in the room: a player, or a guest with only a page.
type person struct {
	name string
	// arrival is the person's own place in the order of arrival. By it the others know the person
	// again, under any name.
	arrival int
	// somewhere says that the others do not hear the person's country.
	somewhere bool
	// becomes is a player's name from the next round on, or empty.
	becomes string
	// organiser says that the person decides for the room. They came with the organiser's secret,
	// or an organiser appointed them.
	organiser bool
	// regular says that the person has played here, and keeps place and name in a standing room.
	regular bool
	// page is the credential of the pages that act for this person. It stands in the personal link.
	// mark is its [MarkOf].
	page, mark string
	// renamed is when the person took another name last.
	renamed roomtime.Time

	// token is that of the person's program. A guest who played before may come back with it.
	token string
	// ticket is the one with which the player's program came although no guest had it: a stranger's
	// page made it. That page becomes the player's. It is not saved, because the page soon asks for
	// the player's own credential.
	ticket string
	// program and line are those of a player's newest hello. asks says that the program asks for
	// the player's vote at a terminal. Every hello says all that, so it is not saved.
	program string
	line    int
	asks    bool

	// from is a guest's address, shown to nobody. It is the zero value if many people share it.
	// seen is when one of the guest's pages was there last.
	from netip.Addr
	seen roomtime.Time
}

// everyone yields the players, then the guests, each with whether it is a player.
func (r *people) everyone() iter.Seq2[*person, bool] {
	return func(yield func(*person, bool) bool) {
		for _, p := range r.players {
			if !yield(p, true) {
				return
			}
		}
		for _, g := range r.guests {
			if !yield(g, false) {
				return
			}
		}
	}
}

// find returns the person of a name, letter case apart, or nil.
func (r *people) find(name string) (one *person, isPlayer bool) {
	for p, isPlayer := range r.everyone() {
		if strings.EqualFold(p.name, name) {
			return p, isPlayer
		}
	}
	return nil, false
}

// Organiser returns the organiser's name, empty without one.
func (r *people) Organiser() string {
	for p := range r.everyone() {
		if p.organiser {
			return p.name
		}
	}
	return ""
}

// appoint makes one person the only organiser.
func (r *people) appoint(one *person) {
	for p := range r.everyone() {
		p.organiser = p == one
	}
}

// freeArrival returns the first free place in the order of arrival.
func (r *people) freeArrival() int {
	taken := map[int]bool{}
	for p := range r.everyone() {
		taken[p.arrival] = true
	}
	place := 0
	for taken[place] {
		place++
	}
	return place
}

// isTaken reports whether somebody else has or will have a name that looks like this one.
func (r *people) isTaken(name string, by *person) bool {
	for p := range r.everyone() {
		if p != by && (nickname.Alike(p.name, name) || nickname.Alike(p.becomes, name)) {
			return true
		}
	}
	return false
}

// rename gives a person another name.
func (r *people) rename(p *person, isPlayer bool, name string, now roomtime.Time) []Event {
	from := p.name
	p.name, p.becomes, p.renamed = name, "", now
	return []Event{Renamed{from, name, isPlayer}, tell("room.is-now", "player", from, "name", name)}
}

// makeWay lets a guest give up a name to the player who comes with it: the others know players by
// their names.
func (r *people) makeWay(g *person, now roomtime.Time) []Event {
	mark := " (guest)"
	for i := 2; ; i++ {
		kept := g.name[:min(len(g.name), nickname.MaxBytes-len(mark))]
		name := strings.TrimSpace(strings.ToValidUTF8(kept, "")) + mark
		if !r.isTaken(name, g) {
			return r.rename(g, false, name, now)
		}
		mark = fmt.Sprintf(" (guest %d)", i)
	}
}

// Drop forgets guests.
func (r *people) Drop(names ...string) []Event {
	return r.drop(func(g *person) bool { return slices.Contains(names, g.name) })
}

func (r *people) drop(which func(*person) bool) (events []Event) {
	r.guests = slices.DeleteFunc(r.guests, func(g *person) bool {
		gone := which(g)
		if gone {
			owners := []string{OwnerOf(g.page)}
			if g.token != "" {
				owners = append(owners, OwnerOf(PageOf(g.token)))
			}
			events = append(events, Left{g.name, owners, false})
		}
		return gone
	})
	return events
}

// NextRound gives players the names that they wanted while the round went on.
func (r *people) NextRound(now roomtime.Time) (events []Event) {
	for _, p := range r.players {
		if p.becomes != "" {
			events = append(events, r.rename(p, true, p.becomes, now)...)
		}
	}
	return events
}

// Sleep gives those who had a place the names that they wanted.
func (r *people) Sleep(now roomtime.Time) (events []Event) {
	for _, g := range r.guests {
		if g.becomes != "" {
			events = append(events, r.rename(g, false, g.becomes, now)...)
		}
	}
	return events
}

// Keep makes players regulars.
func (r *people) Keep(names ...string) {
	for _, p := range r.players {
		p.regular = p.regular || slices.Contains(names, p.name)
	}
}

// LetGo stops keeping a player's place while the player is away.
func (r *people) LetGo(name string) {
	if p, isPlayer := r.find(name); isPlayer {
		p.regular = false
	}
}

// lookalike returns the player with a name that people would take for this one, or nothing.
func (r *people) lookalike(name string) string {
	for _, p := range r.players {
		if nickname.Alike(p.name, name) {
			return p.name
		}
	}
	return ""
}

// isReserved reports whether a name is the organiser's or a regular's, or will be a player's.
// Other guests give way to players.
func (r *people) isReserved(name string, before *person) bool {
	for p := range r.everyone() {
		isKept := (p.organiser || p.regular) && nickname.Alike(p.name, name)
		if p != before && (isKept || nickname.Alike(p.becomes, name)) {
			return true
		}
	}
	return false
}

// Tokens returns the tokens that open players' places, those of regulars who are away too.
func (r *people) Tokens() (tokens []string) {
	for p, isPlayer := range r.everyone() {
		if isPlayer || p.regular {
			tokens = append(tokens, p.token)
		}
	}
	return tokens
}

// PageOf returns the credential of a person's pages; empty if nobody has the name.
func (r *people) PageOf(name string) string {
	if p, _ := r.find(name); p != nil {
		return p.page
	}
	return ""
}

// arriveApart gives everybody a place of their own in the order of arrival, whatever was saved.
func (r *people) arriveApart() {
	taken := map[int]bool{}
	for p := range r.everyone() {
		if p.arrival < 0 || taken[p.arrival] {
			p.arrival = r.freeArrival()
		}
		taken[p.arrival] = true
	}
}
