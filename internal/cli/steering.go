package cli

import (
	"strings"
	"sync"
	"time"

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
)

// steering is what an organiser types at the terminal while nothing was asked. It means
// what the terminal said last: no round begins that nobody asked for.
type steering struct {
	screen *term.Screen
	// order has the room do an action of the organiser's. The stage is the one that it was
	// meant for, if there is one.
	order func(action string, stage wire.Stage)

	mu    sync.Mutex // guards following
	at    wire.Stage
	since time.Time
	// votes: people may still change their minds. countsDown: the launch is coming.
	votes, countsDown bool
}

// shows notes what the terminal has just been told of the room, and says what Enter does
// as people begin to vote.
func (s *steering) shows(room wire.Snapshot, now time.Time) (help string) {
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

// typed takes a line.
func (s *steering) typed(line string, now time.Time) {
	s.mu.Lock()
	at, isSettled, waits := s.at, now.Sub(s.since) >= settled, s.votes && !s.countsDown
	s.mu.Unlock()
	switch word := strings.ToLower(strings.TrimSpace(line)); {
	case word == "next" && (at == wire.Launching || at == wire.Failed):
		s.order("go", at)
	case word == "end":
		s.order("end", "")
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
