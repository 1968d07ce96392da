// Package faults compares what players saw while machines failed with the promises of Muster.
//
//	seed ─▶ Schedule ─▶ faults on hosts, NATS servers and lines ─┐
//	                    rooms of scripted players, by a proxy ───┴─▶ history ─▶ Check ─▶ findings
//
// The schedule and the checker are pure. The other tests of this package drive real programs.
package faults

import "time"

// Kind is the kind of an event.
type Kind string

// These are the kinds of events.
const (
	// Opened means that the room's creation was acknowledged.
	Opened Kind = "opened"
	// Dialled means that somebody begins a connection. Line counts it.
	Dialled Kind = "dialled"
	// Lost means that that connection has ended.
	Lost Kind = "lost"
	// Welcomed means that the player has entered the room, under the name in Text.
	Welcomed Kind = "welcomed"
	// Refused means that the player is turned away, for the reason in Text.
	Refused Kind = "refused"
	// Launched means that the player is sent to the address in Text, in Round.
	Launched Kind = "launched"
	// Saw means that the player or page has another state of the room: Round, Stage, Value, People,
	// and in Text the server that everyone is sent to.
	Saw Kind = "saw"
	// Ordered means that the organiser gives an order, Text, with a Value or for a Round. Kept
	// means that it was acknowledged, and Rejected that Text was answered.
	Ordered  Kind = "ordered"
	Kept     Kind = "kept"
	Rejected Kind = "rejected"
	// Struck means that the fault in Text begins on Who. Healed means that it is over.
	Struck Kind = "struck"
	Healed Kind = "healed"
	// Calm means that no more faults strike, and that all are healed.
	Calm Kind = "calm"
)

// These are an organiser's orders. SetLimit gives each room's ping limit a value that only grows.
// Go starts the next round after the one in Round.
const (
	SetLimit = "limit"
	Go       = "go"
)

// Event is one thing that somebody saw or did. Names are unique within a room only.
type Event struct {
	// At is its time since the history began.
	At   time.Duration `json:"at"`
	Kind Kind          `json:"kind"`
	Room string        `json:"room,omitempty"`
	Who  string        `json:"who,omitempty"`
	// Page says that Who is a page, and no player.
	Page bool `json:"page,omitempty"`
	// Line numbers the connection that it came by among Who's own, from 1.
	Line   int      `json:"line,omitempty"`
	Epoch  uint64   `json:"epoch,omitempty"`
	Round  int      `json:"round,omitempty"`
	Stage  string   `json:"stage,omitempty"`
	Value  int      `json:"value,omitempty"`
	Text   string   `json:"text,omitempty"`
	People []string `json:"people,omitempty"`
}
