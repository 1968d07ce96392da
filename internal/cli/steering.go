package cli

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/term"
)

// settled is how long a stage has to be on the screen until Enter is meant for it: whoever
// presses twice, or a moment too late, meant what stood there before.
const settled = 2 * time.Second

// What the organiser's keys do in a round, and after it.
const (
	chooseNow  = "Enter chooses from what is measured so far"
	launchNow  = "Enter launches without waiting for anybody"
	tryAgain   = "Enter begins another round"
	afterwards = "type next for another round, or end to end the night"
	waitToo    = "type wait to wait for seats on the best that are full"
	waitNoMore = "Enter does not wait any longer, and goes on with what has seats"
)

// steering is what an organiser types at the terminal while nothing was asked. It means
// what the terminal said last: no round begins that nobody asked for.
type steering struct {
	screen *term.Screen
	// order has the room do an action of the organiser's. The stage is the one that it was
	// meant for, if there is one.
	order func(action string, stage wire.Stage)
	// count has the room count a guest in by an estimate of their pings, or no longer.
	count func(guest string, counted bool)

	mu sync.Mutex // guards following
	// guests are those who may be counted in, or are.
	guests map[string]wire.Estimate
	at     wire.Stage
	since  time.Time
	// votes: people may still change their minds. countsDown: the launch is coming.
	votes, countsDown bool
}

// shows notes what the terminal has just been told of the room, and says what Enter does
// as people begin to vote.
func (s *steering) shows(room wire.Snapshot, now time.Time) (help string) {
	s.offers(room.People)
	s.mu.Lock()
	defer s.mu.Unlock()
	votes, countsDown := room.Voting.Open, !room.Voting.LaunchAt.IsZero()
	if isFirst := s.at == ""; !isFirst && (s.at != room.Room.Stage || s.votes != votes || s.countsDown != countsDown) {
		s.since = now
	}
	if votes && !s.votes {
		help = launchNow
	}
	s.at, s.votes, s.countsDown = room.Room.Stage, votes, countsDown
	return help
}

// offers says of each guest once how they may be counted in.
func (s *steering) offers(people []wire.Person) {
	guests, offered := map[string]wire.Estimate{}, []string{}
	s.mu.Lock()
	for _, p := range people {
		if p.Peer || p.Estimate == nil || p.Estimate.ErrorMS == 0 {
			continue
		}
		guests[p.Name] = *p.Estimate
		if _, told := s.guests[p.Name]; !told && !p.Estimate.Counted && s.count != nil {
			name := discovery.CleanText(p.Name)
			offered = append(offered, fmt.Sprintf("%s has only the page: type count %[1]s, and the choice counts them by an estimate of their pings (about ± %.0f ms)", name, p.Estimate.ErrorMS))
		}
	}
	s.guests = guests
	s.mu.Unlock()
	for _, line := range offered {
		s.screen.Say("%s", line)
	}
}

// counts takes a line that is about counting a guest in, and reports whether it is.
func (s *steering) counts(line string) bool {
	word, name, _ := strings.Cut(strings.TrimSpace(line), " ")
	counted := strings.EqualFold(word, "count")
	if s.count == nil || !counted && !strings.EqualFold(word, "uncount") {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for guest := range s.guests {
		if strings.EqualFold(guest, strings.TrimSpace(name)) {
			s.count(guest, counted)
			return true
		}
	}
	s.screen.Say("nobody of that name has only the page and can be counted in: count NAME, or uncount NAME")
	return true
}

// typed takes a line.
func (s *steering) typed(line string, now time.Time) {
	if s.counts(line) {
		return
	}
	s.mu.Lock()
	at, isSettled, waits := s.at, now.Sub(s.since) >= settled, s.votes && !s.countsDown
	s.mu.Unlock()
	switch word := strings.ToLower(strings.TrimSpace(line)); {
	case word == "next" && (at == wire.Launching || at == wire.Failed):
		s.order("go", at)
	case word == "end":
		s.order("end", "")
	case word == "wait" && at == wire.Failed:
		s.order("await", "")
	case word == "next":
		s.screen.Say("this round is not over yet")
	case word != "":
		s.screen.Say("that does nothing here; %s", afterwards)
	case at == wire.Launching:
		if isSettled {
			s.screen.Say("%s", afterwards)
		}
	case at == "": // the room has not been heard of: Enter can only mean that it starts
		s.order("go", wire.Gathering)
	case !isSettled, at == wire.Listing, at == wire.Chosen && !waits:
	default:
		s.order("go", at)
	}
}
