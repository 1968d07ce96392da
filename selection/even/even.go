// Package even says which delays make the pings of a match even.
//
//	the sides even    the faster side's average rises to the slower side's: each of its players
//	                  adds the difference of the averages
//	all even          each player rises to the slowest one
//
// Both are the least that does it. Of all ways to raise an average by a time, every one adds that
// time in sum, and the same time for each keeps the differences within the side.
//
// While people play, [Correct] goes on from what the game's server says of their pings. A game's ping
// is longer than a round trip, by the frames of both ends, and some games tell half of it; only the
// difference between the sides counts.
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

// MaxAdded is the most that a player adds, in ms. ezQuake's own delay ends there, and so does that of
// servers for Warcraft III (w3champions/flo).
const MaxAdded = 150

const (
	// maxRise is the most that a delay grows at once, in ms: a player who aims feels more.
	maxRise = 10
	// closeMS is a difference of the sides that stays, in ms. A status tells whole ms, and its averages
	// move by one or two between two minutes.
	closeMS = 2
)

// Playing is a player of a side in the game. DelayMS is what the player adds now. StatusMS is the ping
// that the game's server tells, with the delay in it, 0 if it tells none.
type Playing struct {
	Side              rules.Side
	DelayMS, StatusMS int
	// CanAdd says that the player's delay can change. Only players of the side that was nearer before
	// the match have a way to delay their packets.
	CanAdd bool
}

// Correct returns the players' next delays in ms, in their order. If the nearer side's average is
// still below the other's, its delays rise, by maxRise at most; if it is above, they fall at once by
// what is too much. Players whose pings the server does not tell keep their delays, and so does everybody if
// it tells none of a side.
func Correct(players []Playing) []int {
	var total, count [rules.SideB + 1]float64
	for _, p := range players {
		if p.StatusMS > 0 {
			total[p.Side] += float64(p.StatusMS)
			count[p.Side]++
		}
	}
	delays := make([]int, len(players))
	for i, p := range players {
		delays[i] = p.DelayMS
		other := rules.SideA + rules.SideB - p.Side
		if !p.CanAdd || p.Side == rules.Neither || p.StatusMS == 0 || count[other] == 0 {
			continue
		}
		ahead := total[other]/count[other] - total[p.Side]/count[p.Side]
		if math.Abs(ahead) > closeMS {
			delays[i] = min(max(0, p.DelayMS+min(whole(ahead), maxRise)), MaxAdded)
		}
	}
	return delays
}
