// Package rules has the rules for choosing a group's server. A rule is a value in a file of its
// own, and stands in one list. Selection, planner, room, flags, page, simulator and documentation
// take from the value what they need of a rule, and name none themselves.
package rules

import (
	"slices"
	"time"
)

// Name is a rule's name on command lines, in documents and on the wire.
type Name string

// Rule scores a server by the group's RTTs; lower is better.
type Rule struct {
	Name Name
	// Measure is the rule with the same score and no ladder of limits, usually the rule itself.
	Measure Name
	// Alone is the rule that replaces it for a single player. Empty is none.
	Alone Name

	// NeedsLimit says that the rule tries the limits one after the other, from the strictest, and
	// means nothing without one. Other rules take the loosest as a cap.
	NeedsLimit bool
	// Ladder says that the rule tries the limits from the strictest if there are any.
	Ladder bool
	// OwnBests says that a player's RTT counts from the player's lowest RTT to a server that suits
	// everyone.
	OwnBests bool
	// Sides says that the rule compares two sides. Alone replaces it until each has a player with a
	// say.
	Sides bool
	// Deviates says that scores are deviations. An amount that all RTTs have in common does not
	// change them.
	Deviates bool
	// Multiplies says that a player of weight 2 counts like two players. In other rules the weight
	// is a factor of the player's RTT.
	Multiplies bool
	// Averages says that one wrong RTT hardly moves the score, and that no limit depends on it.
	Averages bool
	// Estimates is the largest usual error of a guest's estimated RTTs at which it still improves
	// the choice to count them (bench/experiments/guest-estimates.md).
	Estimates time.Duration

	// Score is the rule's figure for one server, in the unit of the RTTs.
	Score func(Pings) float64
	// Rank turns a score into the figure that orders servers, given their mean RTT and how much of
	// the unit a millisecond is. It is nil if the score orders them.
	Rank func(score, mean, ms float64) float64
	// Limit returns the limit that holds for a group without one, given the lowest worst RTT of a
	// server and how much of the unit a millisecond is. It is nil if there is none.
	Limit func(lowestWorst, ms float64) float64
	// Lean returns how much the score changes with each RTT, up to a common factor. Only a rule that
	// deviates has it.
	Lean func(Pings) []float64
	// Sum returns the score from sums, without weights. It is nil if sums do not tell it.
	Sum func(Sums) float64
	// Bound is the lowest possible score once the missing RTTs are known.
	Bound func(Pings) float64

	Docs Docs
}

// Pings are the players' RTTs to one server. An RTT of 0 is missing, and a player of weight 0 has
// no say.
type Pings struct {
	RTT, Weight []float64
	// Own are the players' own bests that RTTs count from. nil is from nothing.
	Own []float64
	// Side are the players' sides. nil is no sides.
	Side []Side
}

// Side is the side that a player plays on.
type Side int8

// A player is on one of two sides, or on neither.
const (
	Neither Side = iota
	SideA
	SideB
)

// Equal returns the pings of players with equal weights. RTTs and own bests (nil for none) are by
// player, in one unit, which is the score's, too.
func Equal(rtts, own []float64) Pings {
	return Pings{RTT: rtts, Weight: slices.Repeat([]float64{1}, len(rtts)), Own: own}
}

// count reports whether a player's RTT counts, and with which weight.
func (p *Pings) count(player int) (weight float64, counts bool) {
	weight = p.Weight[player]
	return weight, p.RTT[player] > 0 && weight > 0
}

// Sums are the sums of the RTTs to a server that all players have measured, in whole microseconds.
type Sums struct {
	Players        int
	Total, Squares uint64
	// Worst and Second are the two highest RTTs. Second is 0 for one player.
	Worst, Second uint32
}

// all are the rules in the order in which people read them, the plainest first. None ever changes.
var all = [...]*Rule{&mean, &threshold, &fairness, &fairThreshold, &minimax, &leastSacrifice, &pairwise, &evenSides}

// Names lists the rules' names.
func Names() (names []Name) {
	for _, rule := range all {
		names = append(names, rule.Name)
	}
	return names
}

// Find returns the rule of a name, nil if there is none.
func Find(name Name) *Rule {
	for _, rule := range all {
		if rule.Name == name {
			return rule
		}
	}
	return nil
}

// Of returns the rule of a name. An empty name is the average's. Documents of newer versions may
// name a rule that this one lacks. It gets a score by the average, and words that say so.
func Of(name Name) *Rule {
	if name == "" {
		return &mean
	}
	if rule := Find(name); rule != nil {
		return rule
	}
	return unknown(name)
}

// Plain returns the rule whose name is the measure of this rule.
func (r *Rule) Plain() *Rule { return Of(r.Measure) }

// For returns the rule that scores servers for so many players.
func (r *Rule) For(players int) *Rule {
	plain := r.Plain()
	if players < 2 && plain.Alone != "" {
		return Of(plain.Alone)
	}
	return plain
}

// HasLadder reports whether the rule tries the limits one after the other.
func (r *Rule) HasLadder() bool { return r.NeedsLimit || r.Ladder }

// Order returns the figure that orders servers, lower is better, given a server's score and mean RTT,
// and how much of their unit a millisecond is.
func (r *Rule) Order(score, mean, ms float64) float64 {
	if r.Rank == nil {
		return score
	}
	return r.Rank(score, mean, ms)
}

// unknown returns a rule that this version of the program does not have.
func unknown(name Name) *Rule {
	rule := mean
	rule.Name, rule.Measure = name, name
	return &rule
}
