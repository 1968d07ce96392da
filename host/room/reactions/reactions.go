// Package reactions knows the small signs that people send each other while they wait: a hello, a
// heart, a drink. A sign carries no text of its own, so no stranger's text reaches anybody.
//
//	React ─▶ last: person, sign, time ─▶ View: the signs of the last two seconds
//
// Signs are neither saved nor queued. Each person's flood of signs is refused.
package reactions

import (
	"slices"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

const (
	// Every is how often a person may react, and how long the room shows a reaction.
	Every = 2 * time.Second
	// most bounds the reactions that a room shows at once. A room lets fewer people in, but they come
	// and go.
	most = 64
)

// Signs are the reactions that there are, in the order of a page's buttons.
var Signs = []string{"hello", "yes", "heart", "go", "moment", "drink"}

// Board has each person's last reaction. The zero value has none.
type Board struct {
	last []reaction
}

type reaction struct {
	by   people.ID
	sign string
	at   roomtime.Clocks
}

// React shows a person's reaction to everybody, unless the person has just sent another one.
func (b *Board) React(person people.ID, sign string, now roomtime.Clocks) error {
	if !slices.Contains(Signs, sign) {
		return wire.Refuse(wire.ReasonMalformed, "refused.no-reaction")
	}
	b.last = slices.DeleteFunc(b.last, func(r reaction) bool { return now.Room.Sub(r.at.Room) >= Every })
	if len(b.last) >= most || slices.ContainsFunc(b.last, func(r reaction) bool { return r.by == person }) {
		return wire.Refuse(wire.ReasonAction, "refused.react-often", "for", Every)
	}
	b.last = append(b.last, reaction{person, sign, now})
	return nil
}

// View returns the reactions that are new, the oldest first.
func (b *Board) View(now roomtime.Time, names *people.Names) []wire.Reaction {
	shown := []wire.Reaction{}
	for _, r := range b.last {
		if now.Sub(r.at.Room) < Every {
			shown = append(shown, wire.Reaction{Name: names.Of(r.by), Sign: r.sign, At: r.at.Wall})
		}
	}
	return shown
}
