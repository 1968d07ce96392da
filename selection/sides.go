package selection

import (
	"maps"
	"math"
	"slices"

	"muster/discovery/sentence"
	"muster/selection/rules"
)

// Sides lists the players of the two sides, by name.
type Sides struct {
	A []string `json:"a"`
	B []string `json:"b"`
}

// SideMeans are the mean RTTs of the two sides, in milliseconds.
type SideMeans struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// Excess is how far a player's RTTs are too long: by MS milliseconds each, or by a factor if Times
// is above 1. The zero value is no excess.
type Excess struct{ MS, Times float64 }

// Off returns an RTT without the excess, in the RTT's unit. ms is how much of it a millisecond is.
func (e Excess) Off(rtt, ms float64) float64 {
	if e.Times > 1 {
		return rtt / e.Times
	}
	return max(rtt-e.MS*ms, min(rtt, ms))
}

// excessAt returns by how many ms the players' RTTs to a server exceed what counts between the sides.
// It is nil if nobody has any.
func (v *view) excessAt(server int) map[string]float64 {
	if v.excess == nil {
		return nil
	}
	excess := map[string]float64{}
	for i, player := range v.players {
		c := v.table.cell(player, server)
		if ms := millis(float64(c) - v.confirmed(i, c)); ms > 0 {
			excess[v.table.players[player]] = ms
		}
	}
	return excess
}

// ExcessSentences returns which players' pings exceed what their lines suggest.
func (s Selection) ExcessSentences() (all []sentence.Sentence) {
	for _, name := range slices.Sorted(maps.Keys(s.Excess)) {
		all = append(all, sentence.Of("why.excess", "player", name, "over", int(math.Round(s.Excess[name]))))
	}
	return all
}

// sidesOf returns the sides of these players, nil if nobody is on one.
func (c Criteria) sidesOf(players []string) []Side {
	sides, some := make([]Side, len(players)), false
	for i, name := range players {
		sides[i] = c.Sides[name]
		some = some || sides[i] != Neither
	}
	if !some {
		return nil
	}
	return sides
}

// sides lists who is on which side, nil if nobody is on one.
func (v *view) sides() *Sides {
	if v.objective.sides == nil {
		return nil
	}
	s := &Sides{A: []string{}, B: []string{}}
	for i, player := range v.players {
		switch name := v.table.players[player]; v.objective.sides[i] {
		case SideA:
			s.A = append(s.A, name)
		case SideB:
			s.B = append(s.B, name)
		}
	}
	return s
}

// SidesOf returns the sides of players in a selection, nil if nobody is on one.
func (s *Selection) SidesOf(players []string) []Side {
	if s.Sides == nil {
		return nil
	}
	sides := make([]Side, len(players))
	for i, name := range players {
		switch {
		case slices.Contains(s.Sides.A, name):
			sides[i] = SideA
		case slices.Contains(s.Sides.B, name):
			sides[i] = SideB
		}
	}
	return sides
}

// sideMeans returns the sides' mean RTTs to a server that everyone measured, nil unless both sides
// have players. Weights do not count.
func (v *view) sideMeans(server int) *SideMeans {
	var total, players [SideB + 1]float64
	if !slices.Contains(v.objective.sides, SideA) || !slices.Contains(v.objective.sides, SideB) {
		return nil
	}
	for i, player := range v.players {
		side := v.objective.sides[i]
		total[side] += v.confirmed(i, v.table.cell(player, server))
		players[side]++
	}
	return &SideMeans{A: millis(total[SideA] / players[SideA]), B: millis(total[SideB] / players[SideB])}
}

// confirmed returns the part of a player's RTT that counts between the sides, in microseconds.
func (v *view) confirmed(i int, c cell) float64 {
	if v.excess == nil {
		return float64(c)
	}
	return v.excess[i].Off(float64(c), microseconds)
}

// raises returns for each player in view whether a higher RTT to a server moves the sides apart, 1,
// or together, -1. It is 0 for players on neither side.
func (v *view) raises(server int) []float64 {
	if !v.objective.rule.Sides {
		return nil
	}
	raises := v.objective.Lean(v.rtts(v.objective.rule, server))
	for i, lean := range raises {
		switch {
		case lean > 0:
			raises[i] = 1
		case lean < 0:
			raises[i] = -1
		}
	}
	return raises
}

// losesSide reports whether a round for fewer players has lost a side, so that another rule decides,
// or no law.
func (r *round) losesSide(rest *round) bool {
	return r.view.objective.rule.Sides && !rest.view.objective.rule.Sides || r.law.Law != nil && rest.law.Law == nil
}

// sideSentences returns what the two sides have at the chosen server if they should be even, or why
// another rule decided.
func (s Selection) sideSentences() []sentence.Sentence {
	if !rules.Of(s.By).Sides {
		return nil
	}
	means := s.Chosen.SideMeanMS
	if means == nil || !rules.Of(s.decision().Measure).Sides {
		return one("why.no-sides")
	}
	return one("why.sides", "a", rules.Exact(means.A), "b", rules.Exact(means.B))
}

// isCloser reports whether a rival's sides are closer together than the chosen server's, but not by
// enough to make up for its average.
func (s Selection) isCloser(rival Rival) bool {
	rule := rules.Of(s.decision().Measure)
	return rule.Sides && isLess(rival.Figure(rule.Name), s.Chosen.Figure(rule.Name)) && isLess(s.Chosen.MeanMS, rival.MeanMS)
}
