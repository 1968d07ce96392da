package discovery

import (
	"fmt"
	"slices"
	"time"
)

// State is what a player knows about a server.
type State uint8

// The states are never mixed up: only Lost and Refused mean that the player cannot
// reach the server.
const (
	// Unprobed: never asked.
	Unprobed State = iota
	// Answered: a reply came, and its RTT is known.
	Answered
	// Lost means that the server was asked, with retries some time apart, and stayed silent.
	Lost
	// Refused: an ICMP message said that the port is closed.
	Refused
	// Forbidden: the player's program may not ask. A stranger's list may not name this
	// address, or it was asked often enough. The state says nothing about the server.
	Forbidden
)

var stateNames = [...]string{"unprobed", "answered", "lost", "refused", "forbidden"}

// Asked reports whether the server was asked, with any outcome.
func (s State) Asked() bool { return s != Unprobed && s != Forbidden }

func (s State) String() string { return nameOf(stateNames[:], int(s)) }

// MarshalText returns the word that reports use.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word that reports use.
func (s *State) UnmarshalText(text []byte) error {
	i, err := indexOf(stateNames[:], "state", string(text))
	*s = State(i)
	return err
}

// Phase is the reason why a plan probes a server.
type Phase uint8

const (
	// Ordered: the server's turn has come.
	Ordered Phase = iota
	// Calibration: the plan learns how far away a cluster is.
	Calibration
	// Refining: the server could still be the group's best.
	Refining
)

var phaseNames = [...]string{"ordered", "calibration", "refining"}

func (p Phase) String() string { return nameOf(phaseNames[:], int(p)) }

// MarshalText returns the word that reports use.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the word that reports use.
func (p *Phase) UnmarshalText(text []byte) error {
	i, err := indexOf(phaseNames[:], "phase", string(text))
	*p = Phase(i)
	return err
}

// Result is the outcome of probing one server.
type Result struct {
	// Server is the index of the probed server in the list.
	Server int
	// Order counts the probed servers from 1, in the order of first sending.
	Order int
	Phase Phase
	State State
	// RTT is the round-trip time of one packet pair, if State is Answered.
	RTT time.Duration
	// At is when the result was known, since measuring began; 0 if it was not noted.
	At time.Duration
	// Info is nil if the server said nothing about itself.
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
