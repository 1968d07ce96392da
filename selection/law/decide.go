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

// Offered is how many servers a blind veto is about.
const Offered = 3

// maxTied is more places than people look at.
const maxTied = 100

// Decide returns the first servers of the law's own order, as indexes with the preferred one first,
// and says what the law says of it. Most is how many, 0 is all. The order decides where no server
// keeps the law, or where the law has no limit. Servers that are as good keep their places.
func (l *Law) Decide(servers []Server, most int) (order []int, said []sentence.Sentence) {
	key, says, way := "law.nothing-left", l.Order.Says, l.Disagreement.Way
	if len(l.Rules) == 0 {
		key = "law.no-limit"
	}
	if way == InPlaces {
		says = l.Disagreement.Says
	}
	order = l.order(servers, cmp.Or(most, len(servers)))
	said = append(said, sentence.Of(key, "league", l.League, "says", says))
	var names []string
	for _, server := range order[:min(Offered, len(order))] {
		names = append(names, servers[server].Name)
	}
	switch {
	case way == ByAdmin, way == Alternate:
		said = append(said, sentence.Of("law.way."+string(way)))
	case way == Home && len(names) > 1:
		said = append(said, sentence.Of("law.way.home", "server", names[0], "other", names[1]))
	case way == Veto && len(names) == Offered:
		said = append(said, sentence.Of("law.way.veto", "servers", names))
	}
	return order, said
}

// order returns the servers by the law's places, if those decide, and by its steps. Servers that tie
// with the best need not tie with each other, so each place goes to the best of those that are left.
// After the first maxTied places, which take time, ties do not count.
func (l *Law) order(servers []Server, most int) (order []int) {
	ties, places := []time.Duration{0}, l.Disagreement.Places
	for _, step := range l.Order.By {
		ties = append(ties, time.Duration(step.Tie))
	}
	figures, left := make([][]time.Duration, len(ties)), []int{}
	for i, s := range servers {
		place := slices.Index(places, s.Place)
		if place < 0 {
			place = len(places) // places that the law does not name are the last
		}
		left, figures[0] = append(left, i), append(figures[0], time.Duration(place))
		for at, step := range l.Order.By {
			figures[1+at] = append(figures[1+at], l.Figure(step.Least, s.Players))
		}
	}
	for len(left) > 0 && len(order) < min(most, maxTied) {
		best := left
		for at, tie := range ties {
			of := figures[at]
			least := of[slices.MinFunc(best, func(i, j int) int { return cmp.Compare(of[i], of[j]) })]
			best = slices.DeleteFunc(slices.Clone(best), func(i int) bool { return of[i] > least+tie })
		}
		order = append(order, best[0])
		left = slices.DeleteFunc(left, func(i int) bool { return i == best[0] })
	}
	slices.SortStableFunc(left, func(i, j int) (by int) {
		for _, of := range figures {
			by = cmp.Or(by, cmp.Compare(of[i], of[j]))
		}
		return by
	})
	return append(order, left[:min(len(left), most-len(order))]...)
}
