package seats

import (
	"testing"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
)

var eight = roomtime.Opening

func words(free ...int) (words []word) {
	for i, f := range free {
		words = append(words, word{people.ID(rune('a' + i)), f})
	}
	return words
}

// TestJudge checks that at least two players have to have seen the seats if several can look, and
// more than have not.
func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		name   string
		free   []int // the players' words in order, -1 for nothing
		others int   // the number of further players who could look
		want   verdict
	}{
		{"too few", []int{4}, 4, shut},
		{"nothing heard", []int{-1}, 4, shut},
		{"seats, unchecked", []int{5}, 4, check},
		{"seats, checked", []int{5, 6}, 3, open},
		{"seats, denied", []int{5, 4}, 3, check},
		{"seats, denied by two", []int{5, 4, 0}, 2, shut},
		{"seats, denied by one of three", []int{5, 4, 5}, 2, open},
		{"seats, the checker hears nothing", []int{5, -1}, 3, check},
		{"seats, only one of all hears anything", []int{5, -1, -1}, 0, shut},
		{"one who is alone", []int{5}, 0, open},
		{"one who is alone, too few", []int{4}, 0, shut},
		{"of two one denies it", []int{5, 4}, 0, shut},
		{"of two both say so", []int{9, 5}, 0, open},
		{"undecided to the end", []int{5, 4, 5, 4}, 0, shut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := judge(words(tt.free...), 5, tt.others); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// TestSettles checks that the looks count, and that a server that is silent, or was checked, has
// peace for longer.
func TestSettles(t *testing.T) {
	s := watched{Free: -1}
	for _, tt := range []struct {
		free           []int
		since          int
		next           time.Duration
		now, most      int
		from, to       int
		dropped, known bool
	}{
		{[]int{0}, 1, 10 * time.Second, 0, 0, 0, 0, false, true},
		{[]int{3}, 1, 10 * time.Second, 3, 3, 0, 3, false, true},
		{[]int{1}, 1, 10 * time.Second, 1, 3, 0, 3, false, true},
		{[]int{9, 1, 1}, 3, 30 * time.Second, 1, 3, 1, 1, false, true}, // the contradicted word does not count
		{[]int{-1}, 1, 20 * time.Second, -1, 3, 1, 1, false, false},
		{[]int{-1}, 1, 40 * time.Second, -1, 3, 1, 1, false, false},
		{[]int{-1}, 1, 80 * time.Second, -1, 3, 1, 1, false, false},
		{[]int{-1}, 1, 2 * time.Minute, -1, 3, 1, 1, false, false},
		{[]int{-1}, 1, 2 * time.Minute, -1, 3, 1, 1, false, false},
		{[]int{-1}, 1, 2 * time.Minute, -1, 3, 1, 1, true, false},
	} {
		s.Words, s.Since = words(tt.free...), tt.since
		s.settle(eight, 0)
		most, from, to := s.mostFree()
		if s.Next.Sub(eight) != tt.next || s.Free != tt.now || most != tt.most || from != tt.from || to != tt.to ||
			(!s.Dropped.IsZero()) != tt.dropped {
			t.Errorf("after %v: next in %v, %d free, at most %d, mostly %d to %d, dropped: %q", tt.free,
				s.Next.Sub(eight), s.Free, most, from, to, s.Dropped)
		}
	}
}
