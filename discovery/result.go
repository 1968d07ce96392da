package discovery

import (
	"fmt"
	"slices"
	"time"
)

// State is what a player knows of a server.
type State uint8

// The states are never mixed up: only Lost and Refused mean that the server is
// unreachable for the player.
const (
	// Unprobed: never asked.
	Unprobed State = iota
	// Answered: a reply came, its RTT is known.
	Answered
	// Lost: asked, with retries spaced apart, and silent.
	Lost
	// Refused: an ICMP message said that nobody listens there.
	Refused
	// Forbidden: never asked, because the player's program may not: the address is
	// none that a stranger's list may have it ask, or was asked often enough. It says
	// nothing of the server.
	Forbidden
)

var stateNames = [...]string{"unprobed", "answered", "lost", "refused", "forbidden"}

// Asked reports whether the server was asked, whatever came of it.
func (s State) Asked() bool { return s != Unprobed && s != Forbidden }

func (s State) String() string { return nameOf(stateNames[:], int(s)) }

// MarshalText is the word that reports use.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word that reports use.
func (s *State) UnmarshalText(text []byte) error {
	i, err := indexOf(stateNames[:], "state", string(text))
	*s = State(i)
	return err
}

// Phase is why a plan has a server probed.
type Phase uint8

const (
	// Ordered: it is the server's turn.
	Ordered Phase = iota
	// Calibration: to learn how far a cluster is.
	Calibration
	// Refining: it could still be the group's best.
	Refining
)

var phaseNames = [...]string{"ordered", "calibration", "refining"}

func (p Phase) String() string { return nameOf(phaseNames[:], int(p)) }

// MarshalText is the word that reports use.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the word that reports use.
func (p *Phase) UnmarshalText(text []byte) error {
	i, err := indexOf(phaseNames[:], "phase", string(text))
	*p = Phase(i)
	return err
}

// Result is what came of probing one server.
type Result struct {
	// Server is the index in the list that was probed.
	Server int
	// Order counts the probed servers from 1, in the order of first sending.
	Order int
	Phase Phase
	State State
	// RTT is the round-trip time of one packet pair, if State is Answered.
	RTT time.Duration
	// At is when the result was known, since the measuring began; 0 if nobody
	// noted it.
	At time.Duration
	// Info is nil if the server said nothing of itself.
	Info *Info
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

func indexOf(names []string, kind, word string) (int, error) {
	if i := slices.Index(names, word); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("discovery: unknown %s %q", kind, word)
}
