package lobby

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/term"
)

const (
	// settled is how long a stage must be on the screen before Enter applies to it. Somebody who
	// presses twice, or a moment too late, meant the stage before.
	settled = 2 * time.Second
	// wordsAtOnce is how many votes may wait while the program is busy.
	wordsAtOnce = 8
)

// The keys of organisers and voters.
var (
	afterwards = sentence.Of("term.afterwards", "next", "next", "end", "end")
	keysOfVote = sentence.Of("term.vote-keys", "none", "0", "v", "v", "v3", "v3", "r", "r", "w", "w")
)

// Typing interprets the lines that a person types unasked: votes, and the organiser's orders. For
// everything else, it leads to the person's page. Enter means what the terminal offered last, so
// nobody begins a round by accident.
type Typing struct {
	// Order sends the room an action of the organiser's. The action's address on the host ends with
	// the name: see PROTOCOL.md. Order is nil if the person does not steer the room.
	Order func(name string, action room.Action)

	screen *term.Screen

	mu sync.Mutex // guards what follows
	// says carries votes to the player's program. It is nil while nobody plays here.
	says chan wire.Say
	// page is the link to the person's page, empty while it is unknown.
	page string
	// room is the newest state that the terminal has shown, nil before the first.
	room *wire.Snapshot
	// since is when Enter got its current meaning.
	since time.Time
}

// steers reports whether the person is the organiser.
func (y *Typing) steers() bool { return y != nil && y.Order != nil }

// LeadTo takes the link to the person's page.
func (y *Typing) LeadTo(page string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.page = page
}

// link returns the link to the person's page, empty while it is unknown.
func (y *Typing) link() string {
	if y == nil {
		return ""
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.page
}

// play returns where the votes of a player will come from, until leave is called.
func (y *Typing) play() (says <-chan wire.Say, leave func()) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.says = make(chan wire.Say, wordsAtOnce)
	return y.says, func() {
		y.mu.Lock()
		defer y.mu.Unlock()
		y.says, y.room = nil, nil
	}
}

// note remembers the state that the terminal has just shown.
func (y *Typing) note(room *wire.Snapshot, now time.Time) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.room != nil && meaningOfEnter(y.room) != meaningOfEnter(room) {
		y.since = now
	}
	y.room = room
}

// meaningOfEnter returns the parts of a room's state that decide what Enter does.
func meaningOfEnter(room *wire.Snapshot) [3]any {
	return [3]any{room.Room.Stage, room.Voting.Open, room.Voting.LaunchAt.IsZero()}
}

func (y *Typing) typed(line string, now time.Time) {
	y.mu.Lock()
	room, says, isSettled := y.room, y.says, now.Sub(y.since) >= settled
	y.mu.Unlock()
	line = strings.TrimSpace(line)
	if y.steers() && y.obey(line, room, isSettled) || line == "" {
		return
	}
	if room != nil && says != nil {
		said, isWord := wordIn(line, room)
		if isWord {
			select {
			case says <- said:
			default: // nobody types that fast
			}
			return
		}
		if room.Voting.Open {
			y.screen.Print(keysOfVote)
		}
		if proposal(room) != nil {
			y.screen.Print(keysOfMove(room))
		}
	}
	if y.steers() {
		y.screen.Print(sentence.Of("term.steer-keys", "set", "set players 4", "end", "end"))
	}
	if link := y.link(); link != "" && (room != nil || y.steers()) {
		y.screen.Print(sentence.Of("term.on-page", "link", link))
	}
}

// obey handles a line of the organiser's, and reports whether it was an order.
func (y *Typing) obey(line string, of *wire.Snapshot, isSettled bool) (isOrder bool) {
	word, rest, _ := strings.Cut(line, " ")
	word = strings.ToLower(word)
	at, waits := wire.Stage(""), false
	if of != nil {
		at, waits = of.Room.Stage, of.Voting.Open && of.Voting.LaunchAt.IsZero()
	}
	switch {
	case word == "set":
		y.set(strings.TrimSpace(rest))
	case rest != "":
		return false
	case word == "end":
		y.Order("end", room.End{})
	case word == "next" && (at == wire.Launching || at == wire.Failed):
		y.Order("go", room.Go{Stage: at})
	case word != "":
		return false
	case at == "": // no state yet: Enter can only mean start
		y.Order("go", room.Go{Stage: wire.Gathering})
	case !isSettled, at == wire.Listing, at == wire.Chosen && !waits:
	case at == wire.Launching:
		y.screen.Print(afterwards)
	default:
		y.Order("go", room.Go{Stage: at})
	}
	return true
}

// set changes one of the room's settings. People name it as the flag of muster host, or as in JSON.
func (y *Typing) set(line string) {
	name, value, _ := strings.Cut(line, " ")
	var names []string
	for _, row := range wire.Table() {
		if !row.OnPage {
			continue
		}
		if names = append(names, cmp.Or(row.Flag, row.Key)); strings.EqualFold(name, row.Key) || strings.EqualFold(name, row.Flag) {
			patch, err := json.Marshal(map[string]json.RawMessage{row.Key: valueOf(row, strings.TrimSpace(value))})
			if err != nil {
				panic(err) // valueOf returns valid JSON
			}
			y.Order("settings", room.Change{Settings: patch})
			return
		}
	}
	y.screen.Print(sentence.Of("term.set-what", "settings", strings.Join(names, " ")))
}

// valueOf returns a setting's value in JSON: as it is typed, as pings or times, or as a text. The
// room refuses a value that does not fit.
func valueOf(row wire.Setting, text string) json.RawMessage {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // every text has a form in JSON
	}
	forms := []string{text, "[" + text + "]"}
	times := strings.Split(text, ",")
	for i, one := range times {
		if d, err := time.ParseDuration(strings.TrimSpace(one)); err == nil {
			times[i] = strconv.FormatFloat(d.Seconds()*1000, 'f', -1, 64)
		}
	}
	all := strings.Join(times, ",")
	for _, form := range append(forms, all, "["+all+"]") {
		if json.Unmarshal([]byte(form), row.Of(&wire.Settings{})) == nil {
			return json.RawMessage(form)
		}
	}
	return quoted
}

// wordIn parses a line during a vote, or while a proposal to move on is open.
func wordIn(line string, room *wire.Snapshot) (said wire.Say, isWord bool) {
	if p := proposal(room); p != nil {
		if answer, is := answers[strings.ToLower(line)]; is && (answer != wire.MoveAfterMap || p.TellsMap) {
			said = wire.Say{Round: room.Room.Round, What: wire.SayMoveOn, Answer: answer}
			addr, err := hostport.Parse(p.Addr)
			said.Addr.AddrPort = addr
			return said, err == nil
		}
	}
	if !room.Voting.Open {
		return said, false
	}
	return voteIn(line, room)
}

// answers are the answers to a proposal to move on, as people type them.
var answers = map[string]wire.MoveAnswer{"m": wire.MoveAfterMap, "now": wire.MoveNow, "stay": wire.MoveNo}

// proposal returns the open proposal to move on, nil for none.
func proposal(room *wire.Snapshot) *wire.MoveProposal {
	if room.Moving == nil {
		return nil
	}
	return room.Moving.Proposal
}

// keysOfMove says how a proposal is answered. Nobody moves after a map that the server does not tell.
func keysOfMove(room *wire.Snapshot) sentence.Sentence {
	tells := ""
	if proposal(room).TellsMap {
		tells = "yes"
	}
	return sentence.Of("term.move-keys", "tells", tells, "m", "m", "now", "now", "stay", "stay")
}

// voteIn parses a line during a vote; isVote is false if it is none.
func voteIn(line string, room *wire.Snapshot) (said wire.Say, isVote bool) {
	said.Round = room.Room.Round
	what := strings.ToLower(line)
	number, isVeto := strings.CutPrefix(what, "v")
	said.What = wire.SayVote
	switch {
	case what == "r" || what == "ready":
		said.What = wire.SayReady
		return said, true
	case what == "w" || what == "wait":
		said.What = wire.SayWait
		return said, true
	case what == "0":
		return said, true
	case isVeto:
		said.What, number = wire.SayVeto, strings.TrimPrefix(number, "eto")
	}
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		return said, false
	}
	place := slices.IndexFunc(Candidates(*room), func(c Candidate) bool { return c.Number == n })
	if place < 0 {
		return said, false
	}
	said.Addr.AddrPort, err = hostport.Parse(room.Voting.Ballot[place])
	return said, err == nil
}
