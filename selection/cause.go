package selection

import (
	"fmt"
	"math/bits"
)

// Cause is why a server was culled.
type Cause uint8

// The causes, in the order in which they are looked for: a server with several
// counts under the first. What is known without measuring comes first, then
// MUSST's order: reachable, seats, options (§3.2), and at last the rule's limit.
const (
	// Hygiene: the list entry is spam or no address one can play on.
	Hygiene Cause = iota
	// Blacklisted: the group does not play there.
	Blacklisted
	// Vetoed: a player refuses the server or its map.
	Vetoed
	// Hidden: a player never wants to play there again.
	Hidden
	// Unreachable: lost or refused for a player.
	Unreachable
	// Unmeasured: not unreachable, but some player never asked it.
	Unmeasured
	// Unknown: the criteria ask what the server never told.
	Unknown
	// Full: not enough free seats for the group.
	Full
	// Filtered: another map, mode or mod, or not the wanted tags.
	Filtered
	// Passworded: it wants a password.
	Passworded
	// WrongVersion: another version of the game than is wanted, or than a player has.
	WrongVersion
	// PingLimits: a player's RTT is outside what the server lets in.
	PingLimits
	// OverThreshold: a player's RTT is over the limit.
	OverThreshold

	none // survived
)

var causeWords = [none]string{
	"hygiene", "blacklisted", "vetoed", "hidden", "unreachable", "unmeasured", "unknown", "full",
	"filtered", "password", "version", "ping_limits", "over_threshold",
}

func (c Cause) String() string {
	if c < none {
		return causeWords[c]
	}
	return fmt.Sprintf("cause(%d)", uint8(c))
}

// MarshalText is the word that documents use.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the word that documents use.
func (c *Cause) UnmarshalText(text []byte) error {
	for i, word := range causeWords {
		if word == string(text) {
			*c = Cause(i)
			return nil
		}
	}
	return fmt.Errorf("selection: unknown cause %q", text)
}

// causes is a set of causes.
type causes uint16

func (c *causes) add(cause Cause) { *c |= 1 << cause }

func (c causes) has(cause Cause) bool { return c&(1<<cause) != 0 }

// first is the cause under which a server counts, or none.
func (c causes) first() Cause { return min(Cause(bits.TrailingZeros16(uint16(c))), none) }
