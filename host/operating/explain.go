package operating

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
)

// Explanation says why a room is where it is.
type Explanation struct {
	Room Room `json:"room"`
	// Waits are what the room waits for, in English.
	Waits  []string `json:"waits"`
	People []Person `json:"people"`
	// Log are the last lines of the room's log, in English, without names and addresses.
	Log []Line `json:"log"`
}

// Person is somebody in a room, by number.
type Person struct {
	// Number is the person's place in the order of arrival, from 1.
	Number    int  `json:"number"`
	Organiser bool `json:"organiser,omitempty"`
	// Program is "here", "away", or empty for a person who never had one.
	Program  string `json:"program,omitempty"`
	Page     bool   `json:"page,omitempty"`
	Probed   int    `json:"probed,omitempty"`
	Answered int    `json:"answered,omitempty"`
	// LeftOut says that the round goes on without the player, and Doubted that their measurements do
	// not count.
	LeftOut bool             `json:"left_out,omitempty"`
	Doubted bool             `json:"doubted,omitempty"`
	Ready   bool             `json:"ready,omitempty"`
	Launch  wire.LaunchState `json:"launch,omitempty"`
}

// Line is a line of a room's log.
type Line struct {
	At   time.Time `json:"at"`
	Says string    `json:"says"`
}

// logLines is how many lines of a room's log an operator sees.
const logLines = 12

// Explain explains a room in this state.
func Explain(room Room, s *wire.Snapshot) Explanation {
	e := Explanation{Room: room, Waits: waits(s)}
	shown := map[string]string{s.Room.Game: s.Room.Game}
	for _, g := range s.Games {
		if s.Room.OwnGame == nil {
			shown[g.Name] = g.Name
		}
	}
	for _, p := range s.People {
		shown[p.Name] = nameOf(p.Arrival + 1)
		e.People = append(e.People, personOf(p))
	}
	slices.SortFunc(e.People, func(a, b Person) int { return a.Number - b.Number })
	for _, note := range s.Log[max(0, len(s.Log)-logLines):] {
		e.Log = append(e.Log, Line{note.At, wire.Note{Sentence: anonymous(note.Sentence, shown)}.String()})
	}
	return e
}

func personOf(p wire.Person) Person {
	program := ""
	switch {
	case p.Connected:
		program = "here"
	case p.Peer:
		program = "away"
	}
	return Person{
		Number: p.Arrival + 1, Organiser: p.Organiser, Program: program, Page: p.Page, Probed: p.Probed, Answered: p.Answered,
		LeftOut: p.LeftOut, Doubted: !p.Doubt.IsZero(), Ready: p.Ready, Launch: p.Launch,
	}
}

// waits returns what a room in this state waits for.
func waits(s *wire.Snapshot) (all []string) {
	head := &s.Room
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	players := s.Players()
	away := playersWho(players, func(p wire.Person) bool { return !p.Connected && !p.LeftOut })
	if !head.Held.IsZero() {
		add("its store, which takes nothing now: muster_store_up and the log say why")
	}
	if !head.Ended.IsZero() {
		add("its next session")
		return all
	}
	if head.Paused {
		add("most of its players, who fell silent together")
	}
	switch s.Phase.Name {
	case wire.PhaseGathering:
		if missing := head.Players - len(players); missing > 0 {
			add("%d of %d players to come", missing, head.Players)
		} else {
			add("its organiser to say go")
		}
	case wire.PhaseListing:
		add("the game's list of servers, from its masters or from a page")
	case wire.PhaseMeasuring, wire.PhaseCoordinating:
		if busy := playersWho(players, func(p wire.Person) bool { return p.Connected && !p.Done && !p.LeftOut }); busy != "" {
			add("%s to finish measuring", busy)
		}
		if head.Search != nil {
			add("its search, after %d rounds", head.Search.Rounds)
		}
	case wire.PhaseVerifying:
		add("the second look at the best servers")
	case wire.PhaseVoting:
		if slow := playersWho(s.People, func(p wire.Person) bool { return p.Asked && !p.Ready }); slow != "" {
			add("%s to be ready", slow)
		} else {
			add("its people to vote")
		}
	case wire.PhaseBanning:
		add("the captains of its match to ban and pick")
	case wire.PhaseReveal, wire.PhaseCountdown:
		add("its countdown, which ends at %s", timeOf(s.Voting.LaunchAt))
	case wire.PhaseWaiting:
		add("free seats: the best servers are full")
	case wire.PhaseLaunching:
		if going := playersWho(players, func(p wire.Person) bool { return p.Connected && p.Launch == "" }); going != "" {
			add("%s to start the game", going)
		} else {
			add("nothing: its people play")
		}
	case wire.PhaseFailed:
		if !head.Retry.IsZero() {
			add("its next try by itself, at %s", timeOf(head.Retry))
		}
		add("its organiser: no server suits everybody, or there was no list")
	}
	if away != "" {
		add("%s to come back: the program is away", away)
	}
	return all
}

func timeOf(at time.Time) string { return at.UTC().Format("15:04:05 UTC") }

// playersWho returns some of the people by number, as "player 2, player 5".
func playersWho(people []wire.Person, is func(wire.Person) bool) string {
	var numbers []int
	for _, p := range people {
		if is(p) {
			numbers = append(numbers, p.Arrival+1)
		}
	}
	slices.Sort(numbers)
	var names []string
	for _, n := range numbers {
		names = append(names, nameOf(n))
	}
	return strings.Join(names, ", ")
}

func nameOf(number int) string { return "player " + strconv.Itoa(number) }

// hidden stands for a text that people have written, such as a server's name or a reason.
const hidden = "…"

// anonymous returns a sentence in which the texts in shown replace people's names. It hides all
// other texts except times, because any of them may be a name or an address.
func anonymous(s sentence.Sentence, shown map[string]string) sentence.Sentence {
	var pairs []any
	for name, value := range s.With.Values() {
		switch v := value.(type) {
		case string:
			value = anonymousText(v, shown)
		case []string:
			texts := make([]string, len(v))
			for i, text := range v {
				texts[i] = anonymousText(text, shown)
			}
			value = texts
		case sentence.Sentence:
			value = anonymous(v, shown)
		case []sentence.Sentence:
			inner := make([]sentence.Sentence, len(v))
			for i := range v {
				inner[i] = anonymous(v[i], shown)
			}
			value = inner
		}
		pairs = append(pairs, name, value)
	}
	return sentence.Of(s.Key, pairs...)
}

func anonymousText(text string, shown map[string]string) string {
	if instead, is := shown[text]; is {
		return instead
	}
	if _, err := hostport.Parse(text); err == nil {
		return "a server"
	}
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return text
	}
	return hidden
}
