package law

import (
	"cmp"
	"slices"
	"time"

	"muster/discovery/sentence"
)

// Server is a server with everybody's ping to it. Place is the code of its country, if known.
type Server struct {
	Name, Place string
	Players     []Player
}

// offered is how many servers a blind veto is about.
const offered = 3

// Decide puts servers in the law's own order, as indexes with the preferred one first, and says what
// the law says of it. The order decides where no server keeps the law, or where the law has no limit.
// Servers that are as good keep their places.
func (l *Law) Decide(servers []Server) (order []int, said []sentence.Sentence) {
	order, key, says, way := l.order(servers), "law.nothing-left", l.Order.Says, l.Disagreement.Way
	if len(l.Rules) == 0 {
		key = "law.no-limit"
	}
	if way == InPlaces {
		says = l.Disagreement.Says
		rank := func(server int) uint { // places that the law does not name, −1, are the last
			return uint(slices.Index(l.Disagreement.Places, servers[server].Place))
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rank(i), rank(j)) })
	}
	said = append(said, sentence.Of(key, "league", l.League, "says", says))
	var names []string
	for _, server := range order[:min(offered, len(order))] {
		names = append(names, servers[server].Name)
	}
	switch {
	case way == ByAdmin, way == Alternate:
		said = append(said, sentence.Of("law.way."+string(way)))
	case way == Home && len(names) > 1:
		said = append(said, sentence.Of("law.way.home", "server", names[0], "other", names[1]))
	case way == Veto && len(names) > 1:
		said = append(said, sentence.Of("law.way.veto", "servers", names))
	}
	return order, said
}

// order returns the servers by the law's steps. Servers that tie with the best need not tie with each
// other, so each place goes to the best of those that are left.
func (l *Law) order(servers []Server) (order []int) {
	figures, left := make([][]time.Duration, len(l.Order.By)), []int{}
	for i, s := range servers {
		left = append(left, i)
		for at, step := range l.Order.By {
			figures[at] = append(figures[at], l.Figure(step.Least, s.Players))
		}
	}
	for len(left) > 0 {
		best := left
		for at, step := range l.Order.By {
			of := figures[at]
			least := of[slices.MinFunc(best, func(i, j int) int { return cmp.Compare(of[i], of[j]) })]
			best = slices.DeleteFunc(slices.Clone(best), func(i int) bool { return of[i] > least+time.Duration(step.Tie) })
		}
		order = append(order, best[0])
		left = slices.DeleteFunc(left, func(i int) bool { return i == best[0] })
	}
	return order
}
