package room

import (
	"errors"

	"muster/host/room/decision"
)

// Count counts a guest in by an estimate of their pings, which only the organiser may order,
// or no longer, which the guest may, too: nobody knows better that the address is a VPN's.
type Count struct {
	Name    string `json:"name"`
	Counted bool   `json:"counted"`
}

func (a Count) do(r *Room, by caller) error {
	g := r.group.Roster.Person(a.Name)
	switch {
	case !by.IsOrganiser && (a.Counted || g.Name == "" || g.Name != by.Name):
		return errOrganiserOnly
	case g.Name == "" || g.IsPlayer:
		return errors.New("nobody of that name has only the page")
	case r.group.Estimates.IsCounted(g.Name) == a.Counted:
		return nil
	}
	note, err := r.group.Count(g.Name, a.Counted)
	if err != nil {
		return err
	}
	r.note("%s", note)
	r.searchAnew() // for the group that it is now
	if r.isVoting() {
		if other := decision.Recount(&r.group); other != nil {
			r.rechoose(*other)
		}
	}
	return nil
}
