package selection

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"muster/discovery/hostport"
)

// Cause is the reason why a server was culled.
type Cause uint8

// These are the causes, in the order of their checks. A server with several counts under the first.
// Facts known without measuring come first, then MUSST's order: reachable, seats, options (§3.2),
// and at last the rule's limit.
const (
	// Hygiene means that the list entry is spam, or no address that one can play on.
	Hygiene Cause = iota
	// Blacklisted means that the group does not play there.
	Blacklisted
	// Vetoed means that a player refuses the server or its map.
	Vetoed
	// Hidden means that a player never wants to play there again.
	Hidden
	// Unreachable means that the server was lost or refused for a player.
	Unreachable
	// Unmeasured means that some player never asked the server, and that it is not unreachable.
	Unmeasured
	// Unknown means that the criteria demand a fact that the server never told.
	Unknown
	// Full means that it has too few free seats for the group.
	Full
	// Filtered means another map, mode or mod, or not the wanted tags.
	Filtered
	// Passworded means that the server wants a password.
	Passworded
	// WrongVersion means that the server's version of the game is not the wanted one, or not a
	// player's.
	WrongVersion
	// PingLimits means that a player's RTT is outside the limits of the server.
	PingLimits
	// Lawless means that the server breaks the law of the criteria.
	Lawless
	// OverThreshold means that a player's RTT is over the limit.
	OverThreshold

	none // survived
)

var causeWords = [none]string{
	"hygiene", "blacklisted", "vetoed", "hidden", "unreachable", "unmeasured", "unknown", "full",
	"filtered", "password", "version", "ping_limits", "law", "over_threshold",
}

func (c Cause) String() string {
	if c < none {
		return causeWords[c]
	}
	return fmt.Sprintf("cause(%d)", uint8(c))
}

// MarshalText returns the word that documents use.
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

// first returns the cause that a server counts under, or none.
func (c causes) first() Cause { return min(Cause(bits.TrailingZeros16(uint16(c))), none) }

// reasons returns those of the culled servers, the ones that got furthest first, then by address.
func (r *round) reasons() []Reason {
	reasons := []Reason{}
	if r.criteria.Reasons < 0 {
		return reasons
	}
	furthest := top[int]{limit: r.criteria.Reasons, compare: func(a, b int) int {
		if r.fates[a] != r.fates[b] {
			return cmp.Compare(r.fates[b], r.fates[a])
		}
		return r.servers.compare(a, b)
	}}
	for server := range r.fates {
		if !r.suits(server) {
			furthest.add(server)
		}
	}
	for _, server := range furthest.sorted() {
		cause := r.fates[server]
		reason := Reason{Server: server, Addr: hostport.At(r.servers.List[server].Addr), Cause: cause, Players: r.concerned(server, cause)}
		if cause == Lawless {
			reason.Breaks = r.judge(server)
		}
		reasons = append(reasons, reason)
	}
	return reasons
}

// concerned returns the players who have a cause against a server.
func (r *round) concerned(server int, cause Cause) []string {
	so := func(cell) bool { return false }
	switch cause {
	case Unreachable:
		so = cell.failed
	case Unmeasured:
		so = func(c cell) bool { return c == unprobed || c == forbidden }
	case OverThreshold:
		so = func(c cell) bool { return c.answered() && c > r.limit }
	case PingLimits:
		so = pingLimitsOf(r.servers.Infos[server]).shuts
	case WrongVersion:
		return r.criteria.shutOut(r.servers.Info(server))
	case Hidden:
		return r.refusing(r.criteria.Hidden, server)
	case Vetoed:
		return r.refusing(r.criteria.Vetoes, server)
	}
	return r.view.names(r.view.playersWhere(server, so))
}

// refusing returns, by name, the players who refuse a server or its map.
func (r *round) refusing(vetoes []Veto, server int) (names []string) {
	for i := range vetoes {
		if v := &vetoes[i]; v.Server == r.servers.List[server].Addr || v.hitsMap(r.servers.Info(server)) {
			names = append(names, v.Player)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
