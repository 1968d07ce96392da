package room

import (
	"errors"

	"muster/host/room/estimates"
)

// Count counts a guest in by an estimate of their pings, which only the organiser may order,
// or no longer, which the guest may, too: nobody knows better that the address is a VPN's.
type Count struct {
	Name    string `json:"name"`
	Counted bool   `json:"counted"`
}

func (a Count) do(r *Room, by caller) error {
	g := r.roster.Person(a.Name)
	switch {
	case !by.IsOrganiser && (a.Counted || g.Name == "" || g.Name != by.Name):
		return errOrganiserOnly
	case g.Name == "" || g.IsPlayer:
		return errors.New("nobody of that name has only the page")
	case r.estimates.IsCounted(g.Name) == a.Counted:
		return nil
	}
	note, err := "", error(nil)
	if a.Counted {
		note, err = r.estimates.Count(r.round.placed([]string{g.Name})[0], r.whereabouts())
	} else {
		note = r.estimates.Uncount(g.Name)
	}
	if err != nil {
		return err
	}
	r.note("%s", note)
	if _, coordinating := r.phase.(*Coordinating); coordinating {
		r.round.search = nil // it looked for others
	}
	if r.isVoting() {
		switch selected := r.selectFor(r.round.chosenFor()); {
		case selected.Chosen == nil:
		case selected.Chosen.Server == r.round.choice.Newest().Chosen.Server: // and no vote is lost
			r.round.choice.Take(selected)
			r.round.choice.Weigh(r.basisFor(r.round.chosenFor()))
		default:
			r.rechoose(selected)
		}
	}
	return nil
}

// placed returns people with their places, for estimates.
func (r *round) placed(names []string) []estimates.Person {
	all := make([]estimates.Person, len(names))
	for i, name := range names {
		all[i] = estimates.Person{Name: name, At: r.origins.Place(name)}
	}
	return all
}

// counted returns the guests who are counted in and can be.
func (r *Room) counted() estimates.Counted { return r.estimates.Counted(r.whereabouts()) }

// whereabouts returns what estimates depend on.
func (r *Room) whereabouts() estimates.Scene {
	var guests []string
	for p := range r.roster.People() {
		if !p.IsPlayer {
			guests = append(guests, p.Name)
		}
	}
	return estimates.Scene{
		Players: r.round.placed(names(r.round.active())), Guests: r.round.placed(guests), Rule: r.settings.By,
	}
}
