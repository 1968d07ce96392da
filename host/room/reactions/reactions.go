// Package reactions knows the small signs that people send each other while they wait: a hello, a
// heart, a drink. A sign says nothing but itself, so no stranger's text gets around by it.
//
//	React ─▶ last: name ─▶ sign, time ─▶ View: those of the last two seconds
//
// Nothing of it is saved, and nothing is queued: a flood of signs is refused, person by person.
package reactions

import (
	"slices"
	"time"

	"muster/host/wire"
)

const (
	// Every is how often a person may react, and how long the room shows a reaction.
	Every = 2 * time.Second
	// most bounds the reactions that a room shows at once. It is more than the people that a room
	// lets in, but names change.
	most = 64
)

// Signs are the reactions that there are, in the order of a page's buttons.
var Signs = []string{"hello", "yes", "heart", "go", "moment", "drink"}

// Board has each person's last reaction. The zero value has none.
type Board struct {
	// last is never changed in place: [Board.View] gives it away.
	last []wire.Reaction
}

// React shows a person's reaction to everybody, unless the person has just sent another one.
func (b *Board) React(name, sign string, now time.Time) error {
	if !slices.Contains(Signs, sign) {
		return wire.Refuse(wire.ReasonMalformed, "refused.no-reaction")
	}
	shown := b.View(now)
	if len(shown) >= most || slices.ContainsFunc(shown, func(r wire.Reaction) bool { return r.Name == name }) {
		return wire.Refuse(wire.ReasonAction, "refused.react-often", "for", Every)
	}
	b.last = append(shown, wire.Reaction{Name: name, Sign: sign, At: now})
	return nil
}

// View returns the reactions that are new, the oldest first. A time in the future comes from a clock
// that was set back, and is not new.
func (b *Board) View(now time.Time) []wire.Reaction {
	shown := []wire.Reaction{}
	for _, r := range b.last {
		if age := now.Sub(r.At); age >= 0 && age < Every {
			shown = append(shown, r)
		}
	}
	return shown
}
