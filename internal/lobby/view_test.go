package lobby

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery/sentence"
	"muster/host/operating"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/term"
	"muster/peer"
	"muster/selection"
)

// TestSilence checks that a player whom no server answers reads a possible cause, once.
func TestSilence(t *testing.T) {
	for _, tt := range []struct {
		own  peer.Progress
		want string
	}{
		{peer.Progress{Probed: 9, Listed: 100}, "no answer from any of 9 servers asked: does a firewall or this network block games?\n"},
		{peer.Progress{Probed: 2, Listed: 2}, "no answer from any of 2 servers asked: does a firewall or this network block games?\n"},
		{peer.Progress{Probed: 2, Listed: 100}, ""},
		{peer.Progress{Probed: 9, Answered: 1, Listed: 100}, ""},
		{peer.Progress{}, ""},
	} {
		s, out := testScreen()
		n := &View{Screen: s}
		n.Show(tt.own)
		s.Rests()
		out.Reset()
		n.Room(at(wire.Chosen))
		n.Room(at(wire.Failed))
		if out.String() != tt.want {
			t.Errorf("%+v: %q, want %q", tt.own, out, tt.want)
		}
	}
}

// TestGoneHost checks that a player whose host has stopped reads once that the night may be over,
// also if the host was silent first. While the host may be restarting, the player reads nothing.
func TestGoneHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, out := testScreen()
		n := &View{Screen: s}
		gone := peer.Disconnected{Err: peer.ErrGone, Gone: true}
		n.Show(gone)
		time.Sleep(pauseUnsaid - time.Millisecond)
		n.Show(gone)
		if out.Len() > 0 {
			t.Errorf("a short pause is told: %s", out)
		}
		time.Sleep(time.Second)
		n.Show(peer.Disconnected{Err: peer.ErrUnreachable})
		n.Show(gone)
		n.Show(gone)
		if said := strings.Join(strings.Fields(out.String()), " "); strings.Count(said,
			"trying again for half an hour") != 1 || strings.Count(said, "the night may be over. Trying again for five minutes") != 1 {
			t.Errorf("it says %s", said)
		}
	})
}

// TestPlayerHelp checks that a new player reads what the room waits for, and where the page is.
func TestPlayerHelp(t *testing.T) {
	const page = "\nthe page, to watch and to vote: LINK\n"
	for _, tt := range []struct {
		room wire.Snapshot
		want string
	}{
		{at(wire.Gathering), "you're in; the organiser starts when everyone is here" + page},
		{wire.Snapshot{Room: wire.Head{Stage: wire.Gathering, Settings: wire.Settings{Players: 4}}},
			"you're in; it starts by itself when 4 players are here" + page},
		{wire.Snapshot{Room: wire.Head{Stage: wire.Gathering, Ended: time.Now()}}, ""}, // the session is over, and the room sleeps
		{at(wire.Measuring), ""},
		{at(wire.Failed), "the organiser can change the settings and start again; Ctrl-C leaves\n"},
		{at(wire.Waiting), "your game opens, or asks you first, once there are seats; Ctrl-C leaves\n"},
	} {
		s, out := testScreen()
		n := &View{Screen: s, Help: PlayerHelp, Typing: &Typing{screen: s}}
		n.Typing.LeadTo("LINK")
		n.Room(tt.room)
		if out.String() != tt.want {
			t.Errorf("%s: %q, want %q", tt.room.Room.Stage, out, tt.want)
		}
	}
}

// TestOutcome checks that the terminal gives the first reasons of a choice, and leads to the page for
// the others and for the next date.
func TestOutcome(t *testing.T) {
	const zone = "TZ=Pacific/Kiritimati" // dates follow the reader's clock, which a process has from its beginning
	if !slices.Contains(os.Environ(), zone) {
		there := exec.Command(os.Args[0], "-test.run=^TestOutcome$")
		there.Env = append(os.Environ(), zone)
		if out, err := there.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	friday := time.Date(2026, 11, 27, 19, 0, 0, 0, time.UTC)
	room := at(wire.Launching)
	room.Choice = &wire.Choice{Explain: []sentence.Sentence{sentence.Plain("one"), sentence.Plain("two"), sentence.Plain("three")}}
	for _, step := range []struct {
		meeting *wire.Meeting
		want    string
	}{
		{nil, "  one\n  two\nmore on your page: LINK\n"},
		{&wire.Meeting{}, ""},
		{&wire.Meeting{Next: friday}, "next game night: Saturday, 28 November, 09:00\nmore on your page: LINK\n"},
	} {
		s, out := testScreen()
		n := &View{Screen: s, Help: PlayerHelp, Typing: &Typing{screen: s}}
		n.Typing.LeadTo("LINK")
		if step.meeting != nil {
			n.stage = room.Room.Stage
		}
		room.Meeting = step.meeting
		n.Room(room)
		n.Room(room)
		if out.String() != step.want {
			t.Errorf("%+v: %q, want %q", step.meeting, out, step.want)
		}
	}
}

func at(stage wire.Stage) wire.Snapshot { return wire.Snapshot{Room: wire.Head{Stage: stage}} }

func english(s sentence.Sentence) string { return catalogue.InEnglish().Say(s) }

func testScreen() (*term.Screen, *bytes.Buffer) {
	var out bytes.Buffer
	return term.NewScreen(term.New(&out, func(string) string { return "" }), catalogue.InEnglish()), &out
}

// TestViewSearches checks that during a coordinated search the player reads how good the best
// server is so far, and how much better it may become.
func TestViewSearches(t *testing.T) {
	gain := 1.4
	room := at(wire.Refining)
	room.Room.By, room.Room.Search = selection.Mean, &wire.Search{Found: true, MeanMS: 96, GainMS: &gain}
	room.Room.Forecast = room.Room.Search.Sentence(selection.Mean)
	synctest.Test(t, func(t *testing.T) {
		s, out := testScreen()
		n := &View{Screen: s}
		n.Room(room)
		time.Sleep(time.Minute) // time for the next line
		n.Show(peer.Progress{Probed: 41, Answered: 40, Listed: 2000})
		if want := "asked: 41, best so far, 96 ms on average; at most 2 ms better may still turn up\n"; out.String() != want {
			t.Errorf("the screen says %q, want %q", out, want)
		}
	})
}

// TestViewEnds checks that a closed room is no error for an organiser who ended it before their
// own player was in. For a friend it means that the link is wrong.
func TestViewEnds(t *testing.T) {
	over := wire.Refusal{Reason: wire.ReasonClosed, Message: "room LOBIMARA is over"}
	organiser := &Typing{Order: func(string, room.Action) {}}
	for _, c := range []struct {
		name string
		n    View
		why  wire.Refusal
		want string
	}{
		{"the organiser, at once", View{Typing: organiser}, over, "the night has ended. Good night!\n"},
		{"the organiser, whose room the operator closes", View{Typing: organiser}, *operating.Closing(operating.Rules), ""},
		{"a friend, too late", View{}, over, ""},
		{"a friend, back", View{lost: time.Unix(1_800_000_000, 0)}, over, "the night ended while the " +
			"connection was lost: room LOBIMARA is over. Good night! If the others play on, ask the organiser for the new room's link\n"},
		{"a friend, told", View{hasEnded: true, lost: time.Unix(1_800_000_000, 0)}, over, ""},
		{"a friend, in time", View{}, wire.Refusal{
			Reason:  wire.ReasonEnded,
			Message: "ann has ended the night. Good night!",
		}, "ann has ended the night. Good night!\n"},
		{"the organiser, removed", View{Typing: organiser}, wire.Refusal{Reason: wire.ReasonRemoved, Message: "ann has removed you"}, ""},
	} {
		s, out := testScreen()
		c.n.Screen = s
		if got, want := c.n.ends(c.why), c.want != "" || c.n.hasEnded; got != want || out.String() != c.want {
			t.Errorf("%s: %v, the screen says %q, want %v and %q", c.name, got, out, want, c.want)
		}
	}
}

// FuzzHostileRoom checks that the player's screen copes with anything that a host says.
func FuzzHostileRoom(f *testing.F) {
	for _, text := range []string{
		`{"type":"room","room":{"stage":"refining","by":"mean","search":{"found":true,"gain_ms":-1e300}},"people":[{"peer":true,"probed":-9223372036854775808}]}`,
		`{"type":"room","room":{"stage":"launching","by":"dice"},"choice":{"selection":{"chosen":{},"ranking":[{"addr":"192.0.2.1:1"}],"why":{"without":{"addr":"192.0.2.1:1"},"rivals":[{"by":["dice"],"tight":true}]}}}}`,
		`{"type":"room","room":{"stage":"failed"},"choice":{"selection":{"why":{"rivals":[{"tight":true}],"relax":[{"give":"full"}],"nearest":{"obstacles":[{"players":["ann"]}]}}}}}`,
		`{"type":"room","room":{"stage":"chosen","round":-1},"agreement":{"open":true,"ballot":["192.0.2.1:1","x","\u001b[2J"]},"choice":{"selection":{"ranking":[{"addr":"192.0.2.1:1","mean_ms":1e300,"rtt_ms":{"ann":-1e300}}]},"servers":{"x":{"name":"\u001b","players":-9,"max_players":1}}},"people":[{"peer":true,"name":"ann","vote":"x","ready":true}]}`,
		`{"type":"room","room":{"stage":"chosen"},"match":{"turn":{"number":-1,"kind":"ban","of":"server"},"servers":[{"addr":"x","means_ms":[1e300,-1]},{"gone":9}]}}`,
		`{"type":"room","room":{"stage":"launching"},"match":{"turn":{"of":"map","kind":"x"},"maps":[{"name":"\u001b"}],"even":{"ann":{"sides_ms":-5,"all_ms":9}}},"way":{"delay":{"command":"\u001b{ms}"}}}`,
		`{"type":"room","room":{"stage":"failed"},"choice":{"selection":{"keep":{"stays":true,"gain_ms":1}}},"log":[{"text":"\u001b[2J"}]}`,
	} {
		if !json.Valid([]byte(text)) {
			f.Fatalf("%s is no JSON", text)
		}
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := wire.Unmarshal(wire.Frame{Data: text})
		news, isRoom := m.(wire.Room)
		var room wire.Snapshot
		if err != nil || !isRoom || room.Merge(news) != nil {
			return
		}
		s, _ := testScreen()
		n := &View{Screen: s, Help: OrganiserHelp(true), Typing: &Typing{screen: s}, name: "ann"}
		n.Typing.LeadTo("http://192.0.2.1/")
		_, leave := n.Typing.play()
		defer leave()
		n.Show(peer.Progress{Probed: 1, Answered: 1, Listed: 2})
		n.Show(peer.RoomChanged{Room: at(wire.Gathering)})
		n.Show(peer.RoomChanged{Room: room})
		for _, line := range []string{"1", "v2", "3", "0", "r"} {
			n.Typing.typed(line, time.Now())
		}
		n.Show(peer.Progress{Probed: 2, Answered: 1, Listed: 2})
	})
}

// TestUnread checks that the terminal shows each note once. A player who comes in, or restarts the
// program, reads three notes and not the whole log.
func TestUnread(t *testing.T) {
	note := func(i int) wire.Note {
		return wire.Note{At: time.Unix(1_800_000_000+int64(i), 0), Sentence: sentence.Plain(fmt.Sprint(i))}
	}
	log := func(from, to int) (log []wire.Note) {
		for i := from; i < to; i++ {
			log = append(log, note(i))
		}
		return log
	}
	for _, c := range []struct {
		name string
		logs [][]wire.Note
		want string
	}{
		{"a new room", [][]wire.Note{nil, log(0, 1), log(0, 3), log(0, 3)}, "0 1 2"},
		{"of a room that has just opened, who is here", [][]wire.Note{log(0, 8)}, "0 1 2 3 4 5 6 7"},
		{"late", [][]wire.Note{log(0, 9)}, "6 7 8"},
		{"after a restart", [][]wire.Note{log(0, 200), log(0, 200)}, "197 198 199"},
		{"a full log, which forgets its oldest", [][]wire.Note{log(0, 200), log(2, 202), log(3, 203)}, "197 198 199 200 201 202"},
		{"a host that was restarted, and has lost the last word", [][]wire.Note{log(0, 3), append(log(0, 2), note(7))}, "0 1 2 0 1 7"},
		{"a clock that was set back", [][]wire.Note{log(5, 7), append(log(5, 7), note(1)), append(log(5, 7), note(1), note(2))}, "5 6 1 2"},
		{"two at once", [][]wire.Note{{note(1)}, {note(1), {At: note(1).At, Sentence: sentence.Plain("too")}}}, "1 too"},
	} {
		var n View
		var got []string
		for _, log := range c.logs {
			for _, note := range n.unread(log) {
				got = append(got, note.String())
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}
