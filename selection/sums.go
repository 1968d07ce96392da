package selection

import "math"

// sums is what the rules need to know of one server's RTTs, all in
// microseconds. It is kept up to date cell by cell, in whole numbers, so that
// the order in which reports come in leaves no trace.
type sums struct {
	total, squares   uint64
	worst, second    cell
	answered, failed int32
}

// replace exchanges one player's cell. It is false if the two highest RTTs have
// to be looked for again.
func (s *sums) replace(was, now cell) bool {
	known := true
	switch {
	case was.answered():
		s.subtract(was)
		known = was < s.second
	case was.failed():
		s.failed--
	}
	switch {
	case now.answered():
		s.add(now)
	case now.failed():
		s.failed++
	}
	return known
}

func (s *sums) add(c cell) {
	s.answered++
	s.total += uint64(c)
	s.squares += uint64(c) * uint64(c)
	s.raise(c)
}

func (s *sums) subtract(c cell) {
	s.answered--
	s.total -= uint64(c)
	s.squares -= uint64(c) * uint64(c)
}

func (s *sums) raise(c cell) {
	if c > s.worst {
		s.worst, s.second = c, s.worst
	} else if c > s.second {
		s.second = c
	}
}

// drop makes the sums as if a player with that cell had never been there. The
// second highest RTT is lost by it.
func (s *sums) drop(c cell) {
	switch {
	case c.answered():
		s.subtract(c)
		if c == s.worst {
			s.worst = s.second
		}
	case c.failed():
		s.failed--
	}
}

// mean is the average RTT in microseconds.
func (s *sums) mean() float64 { return float64(s.total) / float64(s.answered) }

// deviation is the sample standard deviation in microseconds, as in MUSST's
// Table 2: squares divided by n−1. One player alone deviates from nobody.
func (s *sums) deviation() float64 {
	n := float64(s.answered)
	if n < 2 {
		return 0
	}
	total, squares := float64(s.total), float64(s.squares)
	return math.Sqrt(max(0, n*squares-total*total) / (n * (n - 1)))
}
