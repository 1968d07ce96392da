package selection

import "slices"

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

// sideMeans returns the sides' mean RTTs to a server that everyone measured, nil unless both sides
// have players. Weights do not count.
func (v *view) sideMeans(server int) *SideMeans {
	var total, players [SideB + 1]float64
	if !slices.Contains(v.objective.sides, SideA) || !slices.Contains(v.objective.sides, SideB) {
		return nil
	}
	for i, player := range v.players {
		side := v.objective.sides[i]
		total[side] += float64(v.table.cell(player, server))
		players[side]++
	}
	return &SideMeans{A: millis(total[SideA] / players[SideA]), B: millis(total[SideB] / players[SideB])}
}
