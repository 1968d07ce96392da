package lobby

import (
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/term"
)

// settled is how long a stage must be on the screen before Enter applies to it. Somebody who
// presses twice, or a moment too late, meant the stage before.
const settled = 2 * time.Second

// The organiser's keys during a round and after it.
var (
	chooseNow  = sentence.Of("term.choose-now")
	tryAgain   = sentence.Of("term.try-again")
	afterwards = sentence.Of("term.afterwards", "next", "next", "end", "end", "wait", "wait NAME, NAME")
	waitToo    = sentence.Of("term.wait-too", "wait", "wait")
	waitNoMore = sentence.Of("term.wait-no-more")
)

// Steering interprets the lines that an organiser types unasked. Enter means what the terminal
// offered last, so nobody begins a round by accident.
type Steering struct {
	Screen *term.Screen
	// Order sends the room an action of the organiser's. The action's address on the host ends with
	// the name: see PROTOCOL.md.
	Order func(name string, action room.Action)
	// Counts says that guests may be counted in by an estimate of their pings.
	Counts bool

	mu sync.Mutex // guards what follows
	// players are the players whose programs measure here.
	players []string
	// guests are the guests who are counted in or may be.
	guests map[string]wire.Estimate
	at     wire.Stage
	since  time.Time
	// votes says that people may still change their minds, countsDown that the launch is coming.
	votes, countsDown bool
	// over are the players over the limit about whom the room asks, and allow would take them along.
	over  []string
	allow int
}

// note remembers the state that the terminal has just shown. It returns what Enter does if a vote
// begins, as the key of a sentence.
func (s *Steering) note(room wire.Snapshot, now time.Time) (help string) {
	s.offerGuests(room.People)
	s.askAbout(room)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.players = s.players[:0]
	for _, p := range room.Players() {
		s.players = append(s.players, p.Name)
	}
	votes, countsDown := room.Voting.Open, !room.Voting.LaunchAt.IsZero()
	if isFirst := s.at == ""; !isFirst && (s.at != room.Room.Stage || s.votes != votes || s.countsDown != countsDown) {
		s.since = now
	}
	if votes && !s.votes {
		help = "term.launch-now"
	}
	s.at, s.votes, s.countsDown = room.Room.Stage, votes, countsDown
	return help
}

// offerGuests prints once for each guest how to count them in.
func (s *Steering) offerGuests(people []wire.Person) {
	guests, offered := map[string]wire.Estimate{}, []sentence.Sentence{}
	s.mu.Lock()
	for _, p := range people {
		if p.Peer || p.Estimate == nil || p.Estimate.ErrorMS == 0 {
			continue
		}
		guests[p.Name] = *p.Estimate
		if _, told := s.guests[p.Name]; !told && !p.Estimate.Counted && s.Counts {
			offered = append(offered, sentence.Of("term.count-in", "player", p.Name, "count", "count "+p.Name,
				"ms", math.Round(p.Estimate.ErrorMS)))
		}
	}
	s.guests = guests
	s.mu.Unlock()
	for _, offer := range offered {
		s.Screen.Say("%s", s.Screen.Language.Say(offer))
	}
}

// askAbout prints once for each group over the limit how to take them along, or to go without.
func (s *Steering) askAbout(room wire.Snapshot) {
	var over []string
	allow := 0
	if c := room.Choice; c != nil && c.Over != nil && room.Voting.Open {
		for _, a := range c.Advice {
			if a.Action == "allow" {
				allow = a.Argument.LimitMS
			} else if _, isOver := c.Over.RTT[a.Argument.Name]; isOver && a.Action == "without" {
				over = append(over, a.Argument.Name)
			}
		}
	}
	if allow == 0 {
		over = nil
	}
	s.mu.Lock()
	isNew := len(over) > 0 && !slices.Equal(over, s.over)
	s.over, s.allow = over, allow
	s.mu.Unlock()
	if isNew {
		s.Screen.Tell("term.along-or-without", "players", over, "limit", allow, "along", "along", "without", "without")
	}
}

// answer handles a line that answers the question about players over the limit, and reports whether
// it is one.
func (s *Steering) answer(line string) bool {
	s.mu.Lock()
	over, allow := s.over, s.allow
	s.mu.Unlock()
	if len(over) == 0 {
		return false
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "along":
		s.Order("allow", room.Allow{LimitMS: float64(allow)})
	case "without":
		for _, name := range over {
			s.Order("without", room.Without{Name: name})
		}
	default:
		return false
	}
	return true
}

// countGuest handles a line that counts a guest in or out, and reports whether the line is one.
func (s *Steering) countGuest(line string) bool {
	word, name, _ := strings.Cut(strings.TrimSpace(line), " ")
	counted := strings.EqualFold(word, "count")
	if !s.Counts || !counted && !strings.EqualFold(word, "uncount") {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for guest := range s.guests {
		if strings.EqualFold(guest, strings.TrimSpace(name)) {
			s.Order("count", room.Count{Name: guest, Counted: counted})
			return true
		}
	}
	s.Screen.Tell("term.count-whom", "count", "count NAME", "uncount", "uncount NAME")
	return true
}

// awaitPlayers handles a line after the launch that names players who did not get in. It reports
// whether the line is one.
func (s *Steering) awaitPlayers(line string) bool {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at != wire.Launching || !strings.EqualFold(word, "wait") {
		return false
	}
	var names []string
	for given := range strings.SplitSeq(rest, ",") {
		given = strings.TrimSpace(given)
		i := slices.IndexFunc(s.players, func(name string) bool { return strings.EqualFold(name, given) })
		if i < 0 {
			s.Screen.Tell("term.await-whom", "wait", "wait NAME, NAME", "players", slices.Clone(s.players))
			return true
		}
		names = append(names, s.players[i])
	}
	s.Order("await", room.AwaitSeats{Names: names})
	return true
}

// Typed handles a line.
func (s *Steering) Typed(line string, now time.Time) {
	if s.countGuest(line) || s.awaitPlayers(line) || s.answer(line) {
		return
	}
	s.mu.Lock()
	at, isSettled, waits := s.at, now.Sub(s.since) >= settled, s.votes && !s.countsDown
	s.mu.Unlock()
	switch word := strings.ToLower(strings.TrimSpace(line)); {
	case word == "next" && (at == wire.Launching || at == wire.Failed):
		s.Order("go", room.Go{Stage: at})
	case word == "end":
		s.Order("end", room.End{})
	case word == "wait" && at == wire.Failed:
		s.Order("await", room.AwaitSeats{})
	case word == "next":
		s.Screen.Tell("term.round-goes-on")
	case word == "wait":
		s.Screen.Tell("term.await-nothing")
	case word != "":
		s.Screen.Tell("term.does-nothing", "help", afterwards)
	case at == wire.Launching:
		if isSettled {
			s.Screen.Say("%s", s.Screen.Language.Say(afterwards))
		}
	case at == "": // no state yet: Enter can only mean start
		s.Order("go", room.Go{Stage: wire.Gathering})
	case !isSettled, at == wire.Listing, at == wire.Chosen && !waits:
	default:
		s.Order("go", room.Go{Stage: at})
	}
}
