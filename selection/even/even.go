// Package even says which delays would make the pings of a match even. It is advice: nothing applies
// them.
//
//	the sides even    the faster side's average rises to the slower side's: each of its players
//	                  adds the difference of the averages
//	all even          each player rises to the slowest one
//
// Both are the least that does it. Of all ways to raise an average by a time, every one adds that
// time in sum, and the same time for each keeps the differences within the side.
package even

import (
	"math"

	"muster/selection/rules"
)

// Player is a player's ping to the server in ms, and the player's side.
type Player struct {
	PingMS float64
	Side   rules.Side
}

// Delay is the time in whole ms that a player would add. Sides is for even sides, and All for even
// players.
type Delay struct {
	Sides, All int
}

// Delays returns the players' delays, in their order. Only players on a side count. If one side has
// no players, no delay makes the sides even, and Sides is 0.
func Delays(players []Player) []Delay {
	var total, count [rules.SideB + 1]float64
	slowest := 0.0
	for _, p := range players {
		total[p.Side] += p.PingMS
		count[p.Side]++
		if p.Side != rules.Neither {
			slowest = max(slowest, p.PingMS)
		}
	}
	var raised [rules.SideB + 1]float64
	if count[rules.SideA] > 0 && count[rules.SideB] > 0 {
		ahead := total[rules.SideB]/count[rules.SideB] - total[rules.SideA]/count[rules.SideA]
		raised[rules.SideA], raised[rules.SideB] = max(0, ahead), max(0, -ahead)
	}
	delays := make([]Delay, len(players))
	for i, p := range players {
		if p.Side != rules.Neither {
			delays[i] = Delay{Sides: whole(raised[p.Side]), All: whole(slowest - p.PingMS)}
		}
	}
	return delays
}

func whole(ms float64) int { return int(math.Round(ms)) }
