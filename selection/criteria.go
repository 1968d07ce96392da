package selection

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/selection/law"
	"muster/selection/rules"
)

// Rule is the name of a rule for choosing the group's server.
type Rule = rules.Name

// Side is the side that a player plays on.
type Side = rules.Side

// A player is on one of two sides, or on neither.
const (
	Neither = rules.Neither
	SideA   = rules.SideA
	SideB   = rules.SideB
)

// These are the rules that other packages name.
const (
	Mean           = rules.Mean
	Threshold      = rules.Threshold
	Fairness       = rules.Fairness
	Minimax        = rules.Minimax
	FairThreshold  = rules.FairThreshold
	LeastSacrifice = rules.LeastSacrifice
	EvenSides      = rules.EvenSides
)

// Rules lists all rules, the plainest first.
func Rules() []Rule { return rules.Names() }

// Criteria are the group's demands on its server.
type Criteria struct {
	By Rule
	// Limits are the RTTs that no player may exceed, tried from the strictest. Rules without a
	// threshold take the loosest as a cap if there is one.
	Limits []time.Duration
	// Seats is how many free seats the group needs. 0 asks for none.
	Seats int
	// Spare is how much worse a server's score may be if it has a free seat left with the group on
	// it. It then precedes a better one that the group would fill, where somebody else may soon
	// take a seat. 0 is nothing.
	Spare time.Duration
	// Wishes are the demands on the facts that the server reports.
	Wishes
	// Editions are the players' editions of the game, where known. A server is culled if it does
	// not let a player in with such an edition.
	Editions []Edition
	// Blacklist lists the addresses where the group does not play.
	Blacklist []netip.Prefix
	// Vetoes are single players' refusals. Hidden are the servers and maps that players never want
	// again: those stay from round to round.
	Vetoes, Hidden []Veto
	// Ours are the group's own servers. The best of them is chosen unless another's score is lower
	// by more than Allowed.
	Ours    []netip.AddrPort
	Allowed time.Duration
	// Weights are the weights of players, if not 1. A player counts like that many players, or the
	// weight is a factor of the player's RTT, depending on the rule (see [rules.Rule]). With 0 a
	// player must still reach the server, but has no say.
	Weights map[string]float64
	// Sides are the sides of players who are on one. Players who are not named are on neither.
	Sides map[string]Side
	// Law is a league's law on the pings of the two sides, nil for none. Without players on both sides
	// it does not count. Best are players' lowest RTTs to any server, if they are lower than the
	// table's.
	Law  *law.Law
	Best map[string]time.Duration
	// Excess is the part of players' RTTs that does not count between the sides, by player: see
	// package excess.
	Excess map[string]Excess
	// Top is how many servers the ranking holds. 0 is all.
	Top int
	// Differing adds to the end of the ranking the servers that [Alternatives] may want.
	Differing bool
	// Reasons is how many of the culled servers are listed, those that got furthest first. 0 is
	// all, below 0 is none.
	Reasons int
	// Charitable culls no server for facts that only one of several players heard.
	Charitable bool
	// Keep is the server of the last round. It stays unless another is worth the move. The zero
	// value keeps nothing.
	Keep netip.AddrPort
}

// Edition is one player's edition of the game.
type Edition struct {
	Player string
	discovery.Edition
}

// Veto is one player's refusal of a server or of a map, whichever is set.
type Veto struct {
	Player string
	Server netip.AddrPort
	Map    string
}

// Servers is the list that a table's rows stand for, and the known facts of each server.
type Servers struct {
	List []discovery.Server
	// Infos are the facts that servers reported, where anybody heard them.
	Infos map[int]*discovery.Info
	// Lone are the servers that only one of several players heard from. Causes that rest on such a
	// report may be false.
	Lone map[int]bool
	// Said holds the list's facts about servers, for those that they do not tell themselves. If it
	// is Dated, it is too old to be a reason to leave any out.
	Said  discovery.Said
	Dated bool
}

// Info returns the known facts of a server. The list's facts fill in for facts that the server does
// not tell. The result is nil if nothing is known.
func (s *Servers) Info(server int) *discovery.Info {
	return s.Infos[server].Completed(s.Said.Infos[s.List[server].Addr])
}

// Connect returns the address that players connect to: the game's port may not be the one that
// answers queries.
func (s *Servers) Connect(server int) netip.AddrPort {
	return s.Info(server).Connect(s.List[server].Addr)
}

// Called returns the name that people know a server by.
func (s *Servers) Called(server int) string {
	addr, info := s.Connect(server), s.Info(server)
	switch {
	case info == nil || info.Name == "":
		return hostport.Text(addr)
	case discovery.IsPlaceholder(addr.Addr()):
		return info.Name
	}
	return fmt.Sprintf("%s (%s)", info.Name, hostport.Text(addr))
}

// Check returns an error if the criteria make no sense for these players. [Select] itself takes an
// unknown rule for the mean, an invalid weight for 1, and weights that are all 0 for equal ones.
func (c Criteria) Check(players []string) error {
	if rules.Find(c.By) == nil {
		return fmt.Errorf("selection: unknown rule %q, want one of %v", c.By, Rules())
	}
	for _, limit := range c.Limits {
		if limit <= 0 {
			return fmt.Errorf("selection: a limit of %v lets nobody play", limit)
		}
	}
	for name, weight := range c.Weights {
		if !slices.Contains(players, name) {
			return fmt.Errorf("selection: a weight for %q, who is no player here", name)
		}
		if !ValidWeight(weight) {
			return fmt.Errorf("selection: weight %v of %q is neither 0 nor from %v to %d", weight, name, MinWeight, MaxWeight)
		}
	}
	for name, side := range c.Sides {
		if !slices.Contains(players, name) {
			return fmt.Errorf("selection: a side for %q, who is no player here", name)
		}
		if side != Neither && side != SideA && side != SideB {
			return fmt.Errorf("selection: the side %d of %q is neither %d nor %d", side, name, SideA, SideB)
		}
	}
	return nil
}

// MinWeight and MaxWeight are the least weight that is not 0, and the largest. Beside a larger
// weight nobody else counts, and smaller differences between scores vanish in a microsecond. The
// squares of RTTs with far larger or smaller weights do not fit a float64.
const MinWeight, MaxWeight = 0.001, 1000

// ValidWeight reports whether a player may have this weight.
func ValidWeight(w float64) bool { return w == 0 || w >= MinWeight && w <= MaxWeight }

// compare orders servers by address, and by their index in the list if that is the same.
func (s Servers) compare(a, b int) int {
	return cmp.Or(discovery.CompareAddr(s.List[a], s.List[b]), cmp.Compare(a, b))
}
