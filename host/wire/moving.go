package wire

import (
	"time"

	"muster/discovery/sentence"
)

// Moving says where the people of a launch are since they began to move on, and what the room
// proposes to them.
type Moving struct {
	// Proposal is the open proposal, nil without one.
	Proposal *MoveProposal `json:"proposal,omitempty"`
	// Places are the servers where people are; none if all are on the room's.
	Places []MovePlace `json:"places"`
}

// MoveProposal is a proposal to go on to a better server.
type MoveProposal struct {
	// Why says what is better there, and for how many.
	Why sentence.Sentence `json:"why"`
	// Addr is the server's address, for the answer.
	Addr   string     `json:"addr"`
	Server ServerCard `json:"server"`
	At     time.Time  `json:"at"`
	// Asked are the players whom it is for, and Answers what they have said. Who has moved is in
	// [Moving.Places].
	Asked   []string              `json:"asked"`
	Answers map[string]MoveAnswer `json:"answers"`
	// TellsMap says that the present server tells its map, so that one can move after it.
	TellsMap bool `json:"tells_map,omitempty"`
}

// MovePlace is a server, and the players who are there.
type MovePlace struct {
	Way     Way      `json:"way"`
	Players []string `json:"players"`
}

// MoveAnswer is a player's answer to a proposal; empty for none.
type MoveAnswer string

// The answers. With MoveAfterMap the player moves when the player's program next hears of another
// map.
const (
	MoveNow      MoveAnswer = "now"
	MoveAfterMap MoveAnswer = "after-map"
	MoveNo       MoveAnswer = "no"
)

// IsValid reports whether it is one of the answers, or none.
func (a MoveAnswer) IsValid() bool {
	return a == "" || a == MoveNow || a == MoveAfterMap || a == MoveNo
}
