package history

import "time"

// What the RTT of one packet pair may differ by from the one remembered of its
// network, in all and by share of it: the servers' own lines, and what varies
// from minute to minute. What came nearer is believed sooner than what went away:
// it must not be missed.
const (
	nearerBy, nearerShare   = 10 * time.Millisecond, 20 // 5 %
	fartherBy, fartherShare = 15 * time.Millisecond, 8  // 12.5 %
)

// Agree reports whether an RTT is what was remembered of its network.
func Agree(remembered, rtt time.Duration) bool {
	return remembered-nearerBy-remembered/nearerShare <= rtt && rtt <= remembered+fartherBy+remembered/fartherShare
}

// Trial compares fresh measurements with remembered ones in groups of servers
// that one changed route moves together. A group counts once, however many of its
// servers were asked. The zero value is ready for use.
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

// Score is how many more comparisons of a group agreed than not.
func (t *Trial[Group]) Score(group Group) int { return t.scores[group] }

const (
	// fewestWrong groups, and more than are right, refute a memory.
	fewestWrong = 6
	// fewestRight groups, and trustedOdds times as many as are wrong, make one
	// trustworthy.
	fewestRight = 16
	trustedOdds = 4
)

// Refuted reports whether most of what was remembered is wrong.
func (t *Trial[Group]) Refuted() bool { return t.wrong >= fewestWrong && t.wrong > t.right }

// Trusted reports whether memories proved right, and seldom wrong.
func (t *Trial[Group]) Trusted() bool {
	return t.right >= fewestRight && t.right > trustedOdds*t.wrong
}
