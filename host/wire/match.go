package wire

import "time"

// Side is one of a match's two sides, [SideA] or [SideB]. It is empty for people on neither, such
// as casters and referees.
type Side string

// The sides of a match.
const (
	SideA Side = "a"
	SideB Side = "b"
)

// Other returns the opposite side.
func (s Side) Other() Side {
	switch s {
	case SideA:
		return SideB
	case SideB:
		return SideA
	}
	return ""
}

// Match is what everyone sees of a match: its sides, and how they come to a server and to maps. The
// sides' captains ban and pick in turn:
//
//	order      ban  ban  ban  ban  pick
//	captain     a    b    a    b    a     ─▶ one server, then the maps in the same way
//
// Until the server is decided, a player sees their own pings and the sides' averages, and nobody
// else's pings; see [Own].
type Match struct {
	// BestOf is how many maps the match has at most: 1, 3 or 5.
	BestOf int `json:"best_of"`
	// Camps are the two sides, a first.
	Camps [2]Camp `json:"camps"`
	// Turn is the move that the room waits for; nil if it waits for none.
	Turn *Turn `json:"turn,omitempty"`
	// Moves are the moves that were made, the oldest first.
	Moves []Move `json:"moves"`
	// Servers are the finalists, in an order that stays while captains move.
	Servers []MatchServer `json:"servers"`
	// Maps are the maps of the match's pool. It is empty if captains decide no maps.
	Maps []MatchMap `json:"maps"`
	// Decided says that all moves are made. Server is then where the match is, and Play are its maps
	// in the order in which they are played.
	Decided bool     `json:"decided,omitempty"`
	Server  string   `json:"server,omitempty"`
	Play    []string `json:"play,omitempty"`
}

// Camp is one side of a match.
type Camp struct {
	Side Side `json:"side"`
	// Name is what the side is called; it is empty if nobody has said it.
	Name string `json:"name"`
	// Captain moves for the side. It is empty while the side has no players.
	Captain string   `json:"captain,omitempty"`
	Players []string `json:"players"`
	// Asks says that the side has asked for a long look at the finalists before it moves.
	Asks bool `json:"asks,omitempty"`
}

// The kinds of a move, and of what it is about.
const (
	Ban      = "ban"
	Pick     = "pick"
	OfServer = "server"
	OfMap    = "map"
)

// Turn is the move that the room waits for.
type Turn struct {
	// Number is the move's place among all moves, from 1. A captain names it, so that a late press
	// is no move of the next turn.
	Number int `json:"number"`
	// Kind is [Ban] or [Pick], and Of is [OfServer] or [OfMap].
	Kind string `json:"kind"`
	Of   string `json:"of"`
	Side Side   `json:"side"`
	// Captain is the person who moves.
	Captain string `json:"captain"`
	// Nth is the place among moves of the kind about the same thing, from 1, and Total how many
	// these are: the third ban of four.
	Nth   int `json:"nth"`
	Total int `json:"total"`
	// Until is when the room moves for the captain.
	Until time.Time `json:"until"`
}

// Move is a move that was made.
type Move struct {
	Number int    `json:"number"`
	Kind   string `json:"kind"`
	Of     string `json:"of"`
	Side   Side   `json:"side"`
	// By is the captain who moved. It is empty if the clock ran out and the room moved.
	By string `json:"by,omitempty"`
	// What is the server's address, or the map.
	What string    `json:"what"`
	At   time.Time `json:"at"`
}

// MatchServer is a server that captains decide about. MeansMS are the sides' average pings, a's
// first; 0 is unknown. Gone is the number of the move that banned it, 0 for none.
type MatchServer struct {
	Addr string `json:"addr"`
	ServerCard
	MeansMS [2]float64 `json:"means_ms"`
	Gone    int        `json:"gone,omitempty"`
}

// MatchMap is a map of a match's pool. Gone is the number of the move that banned it, Picked that
// of the move that picked it, 0 for none.
type MatchMap struct {
	Name   string `json:"name"`
	Gone   int    `json:"gone,omitempty"`
	Picked int    `json:"picked,omitempty"`
}

// Own are a player's own pings, in ms by server address. In a match nobody else is shown them until
// the server is decided.
type Own map[string]float64
