package operating

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// people are four players: the first has everything open, the second measures, the third is away, and
// the fourth is left out.
func people() []wire.Person {
	return []wire.Person{
		{Name: "ann", Arrival: 0, Organiser: true, Peer: true, Connected: true, Page: true, Done: true, Asked: true, Ready: true},
		{Name: "ben", Arrival: 1, Peer: true, Connected: true, Probed: 12, Answered: 9, Asked: true},
		{Name: "cem", Arrival: 2, Peer: true, Done: true},
		{Name: "dot", Arrival: 4, Peer: true, LeftOut: true, Doubt: sentence.Of("room.here", "player", "dot")},
	}
}

// TestWaits checks what a room waits for in each phase.
func TestWaits(t *testing.T) {
	const away = "player 3 to come back: the program is away"
	for name, test := range map[string]struct {
		room   func(*wire.Snapshot)
		people []wire.Person
		want   []string
	}{
		"some have not come": {func(s *wire.Snapshot) { s.Room.Players = 6 }, people(), []string{"2 of 6 players to come", away}},
		"complete":           {func(s *wire.Snapshot) { s.Room.Players = 4 }, people(), []string{"its organiser to say go", away}},
		"nobody":             {func(*wire.Snapshot) {}, nil, []string{"its organiser to say go"}},
		"no list": {func(s *wire.Snapshot) {
			s.Phase.Name = wire.PhaseListing
		}, nil, []string{"the game's list of servers, from its masters or from a page"}},
		"measuring": {func(s *wire.Snapshot) {
			s.Phase.Name = wire.PhaseMeasuring
		}, people(), []string{"player 2 to finish measuring", away}},
		"searching": {func(s *wire.Snapshot) {
			s.Phase.Name, s.Room.Search = wire.PhaseCoordinating, &wire.Search{Rounds: 7}
		}, people()[:1], []string{"its search, after 7 rounds"}},
		"looking": {func(s *wire.Snapshot) {
			s.Phase.Name = wire.PhaseVerifying
		}, people()[:1], []string{"the second look at the best servers"}},
		"voting": {func(s *wire.Snapshot) {
			s.Phase.Name = wire.PhaseVoting
		}, people()[:2], []string{"player 2 to be ready"}},
		"banning": {func(s *wire.Snapshot) {
			s.Phase.Name = wire.PhaseBanning
		}, people()[:1], []string{"the captains of its match to ban and pick"}},
		"counting down": {func(s *wire.Snapshot) {
			s.Phase.Name, s.Voting.LaunchAt = wire.PhaseCountdown, noon
		}, people()[:1], []string{"its countdown, which ends at 12:00:00 UTC"}},
		"full": {func(s *wire.Snapshot) { s.Phase.Name = wire.PhaseWaiting }, nil, []string{"free seats: the best servers are full"}},
		"launching": {func(s *wire.Snapshot) {
			s.Phase.Name = wire.PhaseLaunching
		}, people()[:2], []string{"player 1, player 2 to start the game"}},
		"playing": {func(s *wire.Snapshot) { s.Phase.Name = wire.PhaseLaunching }, nil, []string{"nothing: its people play"}},
		"failed": {func(s *wire.Snapshot) {
			s.Phase.Name, s.Room.Retry = wire.PhaseFailed, noon
		}, nil, []string{"its next try by itself, at 12:00:00 UTC", "its organiser: no server suits everybody, or there was no list"}},
		"asleep": {func(s *wire.Snapshot) { s.Room.Ended, s.Room.Every = noon, "fri" }, people(), []string{"its next session"}},
		"held, while silent": {func(s *wire.Snapshot) {
			s.Room.Held, s.Room.Paused = sentence.Of("a"), true
		}, nil, []string{
			"its store, which takes nothing now: muster_store_up and the log say why",
			"most of its players, who fell silent together",
			"its organiser to say go",
		}},
		"guests do not count": {func(s *wire.Snapshot) {
			s.Room.Players = 2
		}, []wire.Person{{Name: "eve", Guest: true}}, []string{"2 of 2 players to come"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := wire.Snapshot{People: test.people}
			s.Phase.Name = wire.PhaseGathering
			test.room(&s)
			if got := waits(&s); !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestExplainNobody checks that an explanation tells people apart by number, and has no name, address,
// server or other text of people in it.
func TestExplainNobody(t *testing.T) {
	s := wire.Snapshot{People: people()}
	s.Phase.Name = wire.PhaseGathering
	s.Room.Stage, s.Room.Game, s.Room.Since, s.Room.Code = wire.Gathering, "openarena", noon, "BADACODE"
	s.Games = []wire.Game{{ID: "openarena", Name: "OpenArena"}}
	for _, says := range []sentence.Sentence{
		sentence.Of("room.here", "player", "ann"),
		sentence.Of("room.here", "player", "somebody who left"),
		sentence.Of("room.opened", "room", "Friday with zoe", "game", "OpenArena"),
		sentence.Of("x", "who", []string{"ben", "zoe"}, "at", "203.0.113.9:27960", "on", "zoe's server"),
		sentence.Of("x", "why", sentence.Of("y", "player", "dot"), "all", []sentence.Sentence{sentence.Of("z", "of", "zoe")}),
		sentence.Plain("ann plays on 203.0.113.9"),
	} {
		s.Log = append(s.Log, wire.Note{At: noon.Add(-time.Hour), Sentence: says})
	}
	e := Explain(RoomOf("ID", "host1", &s), &s)
	var log []string
	for _, l := range e.Log {
		log = append(log, l.Says)
	}
	text := strings.Join(log, "\n")
	for _, secret := range []string{"ann", "ben", "dot", "zoe", "203.0", "Friday", "BADACODE", "server"} {
		if strings.Contains(strings.ReplaceAll(text, "a server", ""), secret) {
			t.Errorf("the log has %q: %q", secret, log)
		}
	}
	if !strings.Contains(text, catalogue.InEnglish().Say(sentence.Of("room.here", "player", "player 1"))) {
		t.Errorf("player 1 is not in %q", log)
	}
	want := Room{
		ID: "ID", Host: "host1", Game: "openarena", Phase: wire.Gathering, Since: noon, Opened: noon.Add(-time.Hour), People: 4,
		Programs: 2, Pages: 1,
	}
	if e.Room != want {
		t.Errorf("%+v, want %+v", e.Room, want)
	}
	first := Person{Number: 1, Organiser: true, Program: "here", Page: true, Ready: true}
	if last := (Person{Number: 5, Program: "away", LeftOut: true, Doubted: true}); e.People[0] != first || e.People[3] != last {
		t.Errorf("%+v", e.People)
	}
}

// TestHidden checks which texts of a log are shown.
func TestHidden(t *testing.T) {
	shown := map[string]string{"ann": "player 1"}
	for text, want := range map[string]string{
		"ann": "player 1", "Ann": hidden, "10.1.2.3:80": "a server", "[2001:db8::1]:80": "a server", "10.1.2.3": hidden, "": hidden,
		"2026-11-26T12:00:00Z": "2026-11-26T12:00:00Z",
	} {
		if got := anonymousText(text, shown); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// TestSort checks the order of rooms.
func TestSort(t *testing.T) {
	rooms := []Room{
		{ID: "c", Opened: noon}, {ID: "b", Opened: noon}, {ID: "a", Opened: noon.Add(1)}, {ID: "d", People: 2, Opened: noon.Add(9)},
	}
	Sort(rooms)
	var ids []string
	for _, r := range rooms {
		ids = append(ids, r.ID)
	}
	if want := []string{"d", "b", "c", "a"}; !reflect.DeepEqual(ids, want) {
		t.Errorf("%v, want %v", ids, want)
	}
}

// TestReasons checks that people in a closed room read why, in every language.
func TestReasons(t *testing.T) {
	for _, reason := range Reasons() {
		why := Closing(reason)
		if why == nil || why.Reason != wire.ReasonClosed || !strings.Contains(why.Error(), "operator") || why.Advises.IsZero() {
			t.Errorf("%s: %v", reason, why)
		}
	}
	if Closing("") != nil || Closing("Rules") != nil {
		t.Error("any word is a reason")
	}
}

// TestKeys checks the file of keys.
func TestKeys(t *testing.T) {
	const long = "0123456789abcdefghij"
	keys, err := ReadKeys(strings.NewReader("# keys\n\nann " + long + "\nben.b\t" + long + "k # his\n"))
	if err != nil || keys.Owner(long) != "ann" || keys.Owner(long+"k") != "ben.b" || keys.Owner("") != "" || keys.Owner(long[1:]) != "" {
		t.Errorf("%v: %q, %q", err, keys.Owner(long), keys.Owner(long+"k"))
	}
	if first, err := FirstKey(strings.NewReader("#\nann " + long)); err != nil || first != long {
		t.Errorf("%q, %v", first, err)
	}
	if _, err := FirstKey(strings.NewReader("# none")); err == nil {
		t.Error("a file without keys has a first one")
	}
	made, err := ReadKeys(strings.NewReader(NewKey("operator")))
	if another := NewKey("operator"); err != nil || len(made) != 1 || made.Owner(strings.Fields(another)[1]) != "" {
		t.Errorf("%v, %v", made, err)
	}
	for text, want := range map[string]string{
		"ann":                                      "line 1: say NAME KEY",
		"ann " + long + " 3":                       "line 1: say NAME KEY",
		"\na\"n " + long:                           "line 2: a name",
		"ann short":                                "line 1: the key has 5 signs",
		"ann " + long + "\nann " + long + "x":      "line 2: the name ann",
		"ann " + long + "\nben " + long:            "line 2: the name ben",
		strings.Repeat("x", 5000):                  "bufio.Scanner: token too long",
		"ann " + strings.Repeat("\xff", 5000):      "bufio.Scanner: token too long",
		strings.Repeat("a", 65) + " " + long:       "line 1: a name",
		"ann " + long + " " + long + "\nb " + long: "line 1: say NAME KEY",
	} {
		_, err := ReadKeys(strings.NewReader(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), long) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// FuzzKeys checks that any bytes are keys or an error, and that an error has no key in it.
func FuzzKeys(f *testing.F) {
	f.Add("ann 0123456789abcdefghij\n# x\nben 0123456789abcdefghijk")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := ReadKeys(strings.NewReader(text))
		if err != nil && keys != nil {
			t.Fatal("keys and an error")
		}
	})
}
