package history

import "time"

// Allowed difference between the RTT of one packet pair and its network's memory, as a
// constant and as a share. The servers' own lines differ, and RTTs vary from minute to
// minute. A nearer RTT is believed sooner than a farther one, because a near server
// must not be missed.
const (
	nearerBy, nearerShare   = 10 * time.Millisecond, 20 // 5 %
	fartherBy, fartherShare = 15 * time.Millisecond, 8  // 12.5 %
)

// Agree reports whether an RTT matches the one remembered of its network.
func Agree(remembered, rtt time.Duration) bool {
	return remembered-nearerBy-remembered/nearerShare <= rtt && rtt <= remembered+fartherBy+remembered/fartherShare
}

// Trial compares fresh measurements with remembered ones, in groups of servers that one
// changed route moves together. A group counts once, however many of its servers were
// asked. The zero value is ready for use.
type Trial[Group comparable] struct {
	scores       map[Group]int
	right, wrong int // groups
}

// Note adds one comparison to its group, and returns the group's score.
func (t *Trial[Group]) Note(group Group, agrees bool) (score int) {
	if t.scores == nil {
		t.scores = make(map[Group]int)
	}
	count := func(groups int) {
		switch {
		case score > 0:
			t.right += groups
		case score < 0:
			t.wrong += groups
		}
	}
	score = t.scores[group]
	count(-1)
	if score--; agrees {
		score += 2
	}
	t.scores[group] = score
	count(1)
	return score
}

// Score returns how many more comparisons of a group agreed than not.
func (t *Trial[Group]) Score(group Group) int { return t.scores[group] }

const (
	// A memory is refuted if at least fewestWrong groups are wrong, and more than are
	// right.
	fewestWrong = 6
	// A memory is trusted if at least fewestRight groups are right, and trustedOdds
	// times as many as are wrong.
	fewestRight = 16
	trustedOdds = 4
)

// Refuted reports whether most memories are wrong.
func (t *Trial[Group]) Refuted() bool { return t.wrong >= fewestWrong && t.wrong > t.right }

// Trusted reports whether memories proved right, and seldom wrong.
func (t *Trial[Group]) Trusted() bool {
	return t.right >= fewestRight && t.right > trustedOdds*t.wrong
}
