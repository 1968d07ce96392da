package selection

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/selection/rules"
)

// Rule is the name of a rule by which the group's server is chosen.
type Rule = rules.Name

// The rules that others name.
const (
	Mean           = rules.Mean
	Threshold      = rules.Threshold
	Fairness       = rules.Fairness
	Minimax        = rules.Minimax
	FairThreshold  = rules.FairThreshold
	LeastSacrifice = rules.LeastSacrifice
)

// Rules lists all rules, the plainest first.
func Rules() []Rule { return rules.Names() }

// Criteria are what the group wants of its server.
type Criteria struct {
	By Rule
	// Limits are the RTTs that nobody may be over, tried from the strictest.
	// Rules without a threshold take the loosest as a cap if there is one.
	Limits []time.Duration
	// Seats is how many free seats the group needs; 0 asks for none.
	Seats int
	// Spare is how much worse a server may score that has more free seats than
	// that, to be preferred to one that the group would fill: somebody else soon
	// takes a seat there. 0 is nothing.
	Spare time.Duration
	// Map, Mode and Mod, if not empty, must be the server's, letter case apart, and
	// Version one that it is of (see [discovery.Info.IsOfVersion]). Tags are words that
	// it must have, or must not (see [discovery.Tags.Meets]).
	Map, Mode, Mod, Version, Tags string
	// Editions are what players have of the game, as far as they say: servers are culled
	// that do not let them in with it.
	Editions []Edition
	// NoPassword: the group knows no password.
	NoPassword bool
	// MaxBots is how many bots may play on the server; nil is any number.
	MaxBots *int
	// Blacklist is where the group does not play.
	Blacklist []netip.Prefix
	// Vetoes are what single players refuse to play, and Hidden what players never want to
	// play again: that stays from round to round.
	Vetoes, Hidden []Veto
	// Ours are the group's own servers. The best of them is chosen unless another's score
	// is lower by more than Allowed.
	Ours    []netip.AddrPort
	Allowed time.Duration
	// Weights of players who count for more or less than 1: like that many players,
	// or as a factor of what the rule takes of their RTT (see [rules.Rule]).
	// With 0 a player must still reach the server, but has no say.
	Weights map[string]float64
	// Top is how many servers the ranking holds; 0 is all.
	Top int
	// Reasons is how many of the culled servers are listed, those that got
	// furthest first; 0 is all, below 0 is none.
	Reasons int
	// Charitable culls no server for what one of several players alone heard of it.
	Charitable bool
	// Keep is the server of the last round: it stays unless another is worth
	// the move. The zero value keeps nothing.
	Keep netip.AddrPort
}

// Edition is what one player has of the game.
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

// Servers is the list a table's rows stand for, and what is known of each.
type Servers struct {
	List []discovery.Server
	// Infos are what servers say of themselves, as far as anybody heard.
	Infos map[int]*discovery.Info
	// Lone are the servers of which only one of several players heard anything: what
	// that culls may not be so.
	Lone map[int]bool
	// Said is what the list says of servers, for what these do not tell themselves. If
	// it is Dated, which is too old for that, it is no reason to leave any out.
	Said  discovery.Said
	Dated bool
}

// Info is what is known of a server: its own words, and the list's for what it does not
// tell; nil is nothing.
func (s *Servers) Info(server int) *discovery.Info {
	return s.Infos[server].Completed(s.Said.Infos[s.List[server].Addr])
}

// Connect returns where players connect to: the game's port, which need not be the one that
// answers queries.
func (s *Servers) Connect(server int) netip.AddrPort {
	return s.Info(server).Connect(s.List[server].Addr)
}

// Called returns what people call a server.
func (s *Servers) Called(server int) string {
	addr := s.Connect(server).String()
	if info := s.Info(server); info != nil && info.Name != "" {
		return fmt.Sprintf("%s (%s)", info.Name, addr)
	}
	return addr
}

// Check says what of the criteria makes no sense for these players. [Select] itself
// takes an unknown rule for the mean, a weight that is none for 1,
// and weights that are all 0 for equal ones.
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
	return nil
}

// MinWeight and MaxWeight are the least weight that is not 0, and the largest. Next to
// more nobody else counts, and scores by less are all the same to a microsecond; squares of
// RTTs by far more, or less, are none that a float64 holds.
const MinWeight, MaxWeight = 0.001, 1000

// ValidWeight reports whether a player may count for so much.
func ValidWeight(w float64) bool { return w == 0 || w >= MinWeight && w <= MaxWeight }

// compare orders servers by address, and by their place in the list if that is
// the same.
func (s Servers) compare(a, b int) int {
	return cmp.Or(discovery.CompareAddr(s.List[a], s.List[b]), cmp.Compare(a, b))
}
