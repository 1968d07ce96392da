package room

import (
	"errors"

	"muster/discovery"
	"muster/host/room/estimates"
	"muster/selection/estimate"
)

// Count counts a guest in by an estimate of their pings, which only the organiser may order,
// or no longer, which the guest may, too: nobody knows better that the address is a VPN's.
type Count struct {
	Name    string `json:"name"`
	Counted bool   `json:"counted"`
}

func (a Count) do(r *Room, by caller) error {
	g := r.guests.named(a.Name)
	isSelf := g != nil && by.Name == g.name
	switch {
	case !by.IsOrganiser && (a.Counted || !isSelf):
		return errOrganiserOnly
	case g == nil:
		return errors.New("nobody of that name has only the page")
	case r.estimates.IsCounted(g.name) == a.Counted:
		return nil
	}
	note, err := "", error(nil)
	if a.Counted {
		note, err = r.estimates.Count(g.placed(), r.whereabouts())
	} else {
		note = r.estimates.Uncount(g.name)
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
		case selected.Chosen.Server == r.round.selection.Chosen.Server: // and no vote is lost
			r.round.selection, r.round.whatIf = &selected, nil
			r.weigh()
		default:
			r.rechoose(selected)
		}
	}
	return nil
}

// place is where an origin is, for estimates. Those at home have the host's public
// address in common, and its place is not known.
func (o Origin) place() estimate.Place {
	p := estimate.Place{Country: o.Country, ASN: o.ASN}
	switch {
	case o.Home:
		p.Addr = behindHost
	case discovery.ReachOf(o.Addr) == discovery.InternetReach:
		p.Addr = o.Addr
	}
	return p
}

// placed returns a guest with the place, for estimates.
func (g *guest) placed() estimates.Person {
	return estimates.Person{Name: g.name, At: g.origin.place()}
}

// placed returns players with their places. A player who turned out to sit elsewhere than the
// address says is nowhere.
func placed(players []*player) []estimates.Person {
	all := make([]estimates.Person, len(players))
	for i, p := range players {
		all[i].Name = p.name
		if !p.apart {
			all[i].At = p.origin.place()
		}
	}
	return all
}

// counted returns the guests who are counted in and can be.
func (r *Room) counted() estimates.Counted { return r.estimates.Counted(r.whereabouts()) }

// whereabouts returns what estimates depend on.
func (r *Room) whereabouts() estimates.Scene {
	s := estimates.Scene{Players: placed(r.round.active()), Rule: r.settings.By}
	for _, g := range r.guests {
		s.Guests = append(s.Guests, g.placed())
	}
	return s
}
