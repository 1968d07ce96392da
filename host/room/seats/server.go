package seats

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
)

// This file knows the free seats of one server, and how often players ask for them.

const (
	// longestGap is the longest time between two looks at a silent server. After maxSilent
	// silences in a row, some four minutes, the room gives it up.
	longestGap = 2 * time.Minute
	maxSilent  = 6
	// maxMisses bounds how often a server may fill up in the last moment, because the room called
	// everybody each time. missRest is the rest after the first time, and grows.
	maxMisses = 3
	missRest  = 30 * time.Second
	// countedSeats is the largest number of free seats that has its own count, because the largest
	// groups want so many seats.
	countedSeats = wire.MaxPlayers
)

// gapAfter returns how long a server rests after a look. The gap grows with the time that the room
// has waited. XQF asks every 5 s for a single player. People who have waited for a quarter of an
// hour can wait 20 s more.
func gapAfter(waited time.Duration) time.Duration {
	const first, later, last = 10 * time.Second, 20 * time.Second, 30 * time.Second
	switch {
	case waited < 5*time.Minute:
		return first
	case waited < 15*time.Minute:
		return later
	}
	return last
}

// Demand counts the rooms of a host that wait for seats on one server. Place is the position of
// this room among them, from 0.
type Demand struct{ Rooms, Place int }

// turnGap is how long a server rests between the looks of different rooms of the host. In a round
// each of these rooms looks once, at its turn. No round is longer than longestGap, so that nobody
// who opens hundreds of rooms keeps the others from their seats.
const turnGap = time.Second

func (d Demand) round() time.Duration {
	return min(time.Duration(d.Rooms)*turnGap, longestGap)
}

// watched is a server that the room watches.
type watched struct {
	Server int `json:"server"`
	// Instead says that the server has seats, and is shown for comparison.
	Instead bool             `json:"instead,omitempty"`
	Ranked  selection.Ranked `json:"ranked"`
	// Asked counts the room's questions, and Since the questions of the present look and its
	// checks.
	Asked int           `json:"asked,omitempty"`
	Since int           `json:"since,omitempty"`
	Next  roomtime.Time `json:"next"`
	// Silent counts looks in a row without any report of seats. Misses counts how often the server
	// filled up in the last moment.
	Silent  int               `json:"silent,omitempty"`
	Misses  int               `json:"misses,omitempty"`
	Dropped sentence.Sentence `json:"dropped,omitzero"`
	// Words are the players' reports from the present look and its checks.
	Words []word `json:"words,omitempty"`
	// Free is the number of free seats at At, or -1 if that is unknown. Counts says how often each
	// number of seats was free. MaxAt is when most seats were free.
	Free   int           `json:"free"`
	At     roomtime.Time `json:"at,omitzero"`
	Counts []int         `json:"counts,omitempty"`
	MaxAt  roomtime.Time `json:"most_at,omitzero"`
	// demand counts the rooms of the host that watch the server; see [Watch.Share].
	demand Demand
	ahead  time.Duration // see [Watch.Share]
	// looked is when the look under way began. took is how long the last one took with its checks,
	// or 0 if Next does not follow a look.
	looked roomtime.Time
	took   time.Duration
}

// gap returns how long the server rests after this room's look.
func (s *watched) gap(waited time.Duration) time.Duration {
	if s.Instead {
		return max(insteadGap, s.demand.round())
	}
	return max(gapAfter(waited), s.demand.round())
}

// due returns when the room looks next. A check is due at Next. Any other look is due at the room's
// turn among the rooms that watch the server: after a look the turn nearest to Next, counted from
// the beginning of the look, and else the first turn from Next on.
func (s *watched) due() roomtime.Time {
	if s.demand.Rooms < 2 || len(s.Words) > 0 {
		return s.Next
	}
	round, from := s.demand.round(), s.Next
	if s.took > 0 {
		from = from.Add(-s.took - round/2)
	}
	turn := round * time.Duration(s.demand.Place) / time.Duration(s.demand.Rooms)
	since := (time.Duration(from) + s.ahead - turn) % round // the time since a turn
	return from.Add((round - since) % round)
}

// word is a player's report: the number of free seats, or -1 if the player does not know.
type word struct {
	By   people.ID `json:"by"`
	Free int       `json:"free"`
}

// hasWord reports whether a player has reported.
func hasWord(words []word, player people.ID) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.By == player })
}

// verdict is the conclusion from reports on a server's seats.
type verdict int

const (
	shut  verdict = iota // too few seats
	check                // another player has to look
	open                 // there are seats for all
)

// tally counts the players who heard of enough seats, and of too few.
func tally(words []word, need int) (yes, no int) {
	for _, w := range words {
		switch {
		case w.Free >= need:
			yes++
		case w.Free >= 0:
			no++
		}
	}
	return yes, no
}

// judge returns the verdict over the reports of different players, the newest last. Others is the
// number of further players who could look. If several can look, at least two must have seen the
// seats, and more than have not.
func judge(words []word, need, others int) verdict {
	yes, no := tally(words, need)
	wanted := min(2, len(words)+others)
	switch {
	case yes >= wanted && yes > no:
		return open
	case yes == 0, no > yes, others == 0:
		return shut
	}
	return check
}

// middle returns the median report, the lower of two, or -1 if nobody knows.
func middle(words []word) int {
	var free []int
	for _, w := range words {
		if w.Free >= 0 {
			free = append(free, w.Free)
		}
	}
	if len(free) == 0 {
		return -1
	}
	slices.Sort(free)
	return free[(len(free)-1)/2]
}

// settle takes the reports of a look, and sets the time of the next.
func (s *watched) settle(now roomtime.Time, waited time.Duration) {
	gap := s.gap(waited)
	if s.Free = middle(s.Words); s.Free < 0 {
		s.Silent++
	} else {
		s.Silent, s.At = 0, now
		if s.Counts == nil {
			s.Counts = []int{}
		}
		free := min(s.Free, countedSeats)
		if free >= len(s.Counts) {
			s.Counts = append(s.Counts, make([]int, free+1-len(s.Counts))...)
			s.MaxAt = now
		}
		s.Counts[free]++
	}
	if s.Silent > 0 {
		gap = min(gap<<min(s.Silent, maxSilent), longestGap)
	}
	s.Next = now.Add(gap * time.Duration(max(1, s.Since))) // a look that was checked twice counts as three
	s.Words, s.Since = nil, 0
	s.took = min(max(0, now.Sub(s.looked)), gap) // the clock may have been put forward meanwhile
	if s.Silent >= maxSilent {
		s.Dropped = sentence.Of("seats.dropped-silent")
	}
}

// mostFree returns the largest number of seats that were free at once. In half of the looks the
// number of free seats was between from and to.
func (s *watched) mostFree() (mostFree, from, to int) {
	total := 0
	for _, n := range s.Counts {
		total += n
	}
	seen := 0
	from = -1
	for free, n := range s.Counts {
		seen += n
		if from < 0 && 4*seen > total {
			from = free
		}
		if 4*(seen-n) < 3*total {
			to = free
		}
	}
	return max(0, len(s.Counts)-1), max(0, from), to
}

// freeIn returns the number of free seats that a look found, or -1 if it found no number.
func freeIn(seen wire.Finalist) int {
	if seen.State != discovery.Answered || seen.Info == nil || seen.Info.Uncounted() {
		return -1
	}
	return seen.Info.Free()
}

// miss notes that the server filled up in the last moment.
func (s *watched) miss(now roomtime.Time) {
	s.Misses++
	s.Next, s.took = now.Add(time.Duration(s.Misses)*missRest), 0
	if s.Misses >= maxMisses {
		s.Dropped = sentence.Of("seats.dropped-filled", "n", s.Misses)
	}
}
