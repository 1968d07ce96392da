// Package faults holds what players saw while machines failed against what Muster
// promises.
//
//	seed ─▶ Schedule ─▶ faults on hosts, NATS servers and lines ─┐
//	                    rooms of scripted players, by a proxy ───┴─▶ history ─▶ Check ─▶ findings
//
// The schedule and the checker are pure. What drives real programs lies in the
// end-to-end tests of this package.
package faults

import "time"

// Kind is what an event tells of.
type Kind string

// The kinds of events.
const (
	// Opened: the room was acknowledged to whoever opened it.
	Opened Kind = "opened"
	// Dialled: somebody begins a connection; Line counts it.
	Dialled Kind = "dialled"
	// Lost: that connection has ended.
	Lost Kind = "lost"
	// Welcomed: the player is in, under the name in Text.
	Welcomed Kind = "welcomed"
	// Refused: the player is turned away, for the reason in Text.
	Refused Kind = "refused"
	// Launched: the player is sent to the address in Text, in Round.
	Launched Kind = "launched"
	// Saw: the player or page has another state of the room: Round, Stage, Value,
	// People, and in Text where everyone is sent.
	Saw Kind = "saw"
	// Ordered: the organiser gives an order, Text, with a Value or for a Round. Kept: it
	// was acknowledged.
	Ordered Kind = "ordered"
	Kept    Kind = "kept"
	// Struck: the fault in Text begins on Who. Healed: it is over.
	Struck Kind = "struck"
	Healed Kind = "healed"
	// Calm: no more faults strike, and all are healed.
	Calm Kind = "calm"
)

// The orders of an organiser. SetLimit gives each room's ping limit a value that only
// grows, Go has the next round begin after the one in Round.
const (
	SetLimit = "limit"
	Go       = "go"
)

// Event is one thing that somebody saw or did. Those who are in one room have the
// names of their room apart.
type Event struct {
	// At is when, since the history began.
	At   time.Duration `json:"at"`
	Kind Kind          `json:"kind"`
	Room string        `json:"room,omitempty"`
	Who  string        `json:"who,omitempty"`
	// Page: who is a page, and no player.
	Page bool `json:"page,omitempty"`
	// Line is which of one's connections it came by, from 1.
	Line   int      `json:"line,omitempty"`
	Epoch  uint64   `json:"epoch,omitempty"`
	Round  int      `json:"round,omitempty"`
	Stage  string   `json:"stage,omitempty"`
	Value  int      `json:"value,omitempty"`
	Text   string   `json:"text,omitempty"`
	People []string `json:"people,omitempty"`
}
