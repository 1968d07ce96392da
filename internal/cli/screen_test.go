package cli

import (
	"bytes"
	"io"
	"math"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"muster/discovery"
	"muster/discovery/report"
	"muster/host/wire"
	"muster/peer"
	"muster/selection"
)

// TestServerTable: the widest text gives way, numbers and addresses stay whole,
// and a column that has nothing to say is left out. Then the columns go that are
// missed least.
func TestServerTable(t *testing.T) {
	near := []report.Measurement{
		{Addr: netip.MustParseAddrPort("192.0.2.1:27960"), RTT: discovery.Millis(12345 * time.Microsecond), Name: "Aggressor of the north", Map: "oa_dm1", Mode: "0", Players: 3, MaxPlayers: 8, Bots: 2, Country: "DE"},
		{Addr: netip.MustParseAddrPort("[2001:db8::1]:27961"), RTT: discovery.Millis(130 * time.Millisecond), Name: "日本のサーバー", Map: "oa_dm2", Mode: "4", MaxPlayers: 16},
	}
	tests := []struct {
		width int
		want  string
	}{
		{math.MaxInt32, `
     RTT  PLAYERS  BOTS  NAME                    MAP     MODE  IN  ADDRESS
 12.3 ms      3/8     2  Aggressor of the north  oa_dm1  0     DE  192.0.2.1:27960
130.0 ms     0/16        日本のサーバー          oa_dm2  4         [2001:db8::1]:27961
`},
		{76, `
     RTT  PLAYERS  BOTS  NAME          MAP     MODE  IN  ADDRESS
 12.3 ms      3/8     2  Aggressor o…  oa_dm1  0     DE  192.0.2.1:27960
130.0 ms     0/16        日本のサー…   oa_dm2  4         [2001:db8::1]:27961
`},
		{61, `
     RTT  PLAYERS  NAME       MAP     IN  ADDRESS
 12.3 ms      3/8  Aggresso…  oa_dm1  DE  192.0.2.1:27960
130.0 ms     0/16  日本のサ…  oa_dm2      [2001:db8::1]:27961
`},
		{49, `
     RTT  PLAYERS  NAME       ADDRESS
 12.3 ms      3/8  Aggresso…  192.0.2.1:27960
130.0 ms     0/16  日本のサ…  [2001:db8::1]:27961
`},
		{40, `
     RTT  PLAYERS  ADDRESS
 12.3 ms      3/8  192.0.2.1:27960
130.0 ms     0/16  [2001:db8::1]:27961
`},
		{20, `
     RTT  ADDRESS
 12.3 ms  192.0.2.1:27960
130.0 ms  [2001:db8::1]:27961
`},
	}
	for _, test := range tests {
		var out strings.Builder
		serverTable(near).write(&out, test.width)
		if got := "\n" + out.String(); got != test.want {
			t.Errorf("in %d columns:%swant:%s", test.width, got, test.want)
		}
	}
}

func TestWrapped(t *testing.T) {
	tests := []struct {
		sentence, indent string
		width            int
		want             string
	}{
		{"", "  ", 10, ""},
		{"one two three", "", 80, "one two three"},
		{"one two three", "  ", 9, "  one two\n  three"},
		{"unbreakable words", "", 4, "unbreakable\nwords"},
	}
	for _, test := range tests {
		if got := wrapped(test.sentence, test.indent, test.width); got != test.want {
			t.Errorf("wrapped(%q, %q, %d) = %q, want %q", test.sentence, test.indent, test.width, got, test.want)
		}
	}
}

// A player whom nothing answers hears why that may be, once.
func TestSilence(t *testing.T) {
	for _, tt := range []struct {
		own  peer.Progress
		want string
	}{
		{peer.Progress{Probed: 9, Listed: 100}, "no server answered this machine, of 9 asked: does a firewall or this network block UDP?\n"},
		{peer.Progress{Probed: 2, Listed: 2}, "no server answered this machine, of 2 asked: does a firewall or this network block UDP?\n"},
		{peer.Progress{Probed: 2, Listed: 100}, ""},
		{peer.Progress{Probed: 9, Answered: 1, Listed: 100}, ""},
		{peer.Progress{}, ""},
	} {
		s, out := testScreen()
		n := &narrator{screen: s}
		n.show(tt.own)
		s.rests()
		out.Reset()
		n.room(wire.Room{Stage: wire.Chosen})
		n.room(wire.Room{Stage: wire.Failed})
		if out.String() != tt.want {
			t.Errorf("%+v: %q, want %q", tt.own, out, tt.want)
		}
	}
}

// TestPlayerHelp: who has come in reads what is waited for, and where the page is.
func TestPlayerHelp(t *testing.T) {
	page := "\nthe page, to watch and to vote: http://192.0.2.1:7777/#TABOMI\n"
	for _, tt := range []struct {
		room wire.Room
		want string
	}{
		{wire.Room{Stage: wire.Gathering}, "you are in; the organiser starts when everyone is here" + page},
		{wire.Room{Stage: wire.Gathering, Seats: 4}, "you are in; it starts by itself when 4 are here" + page},
		{wire.Room{Stage: wire.Measuring}, ""},
		{wire.Room{Stage: wire.Failed}, "the organiser can look for something else and begin again; Ctrl-C leaves\n"},
	} {
		s, out := testScreen()
		n := &narrator{screen: s, help: playerHelp(invitation{host: "192.0.2.1:7777"})}
		tt.room.Code = "TABOMI"
		n.room(tt.room)
		if out.String() != tt.want {
			t.Errorf("%s: %q, want %q", tt.room.Stage, out, tt.want)
		}
	}
}

// testScreen is a screen that writes to a buffer.
func testScreen() (*screen, *bytes.Buffer) {
	var out bytes.Buffer
	p := &program{streams: Streams{Err: &out}, env: func(string) string { return "" }}
	return p.screen(), &out
}

// TestQuestionStaysBelow: what is said while a question is open stands above it.
func TestQuestionStaysBelow(t *testing.T) {
	s, out := testScreen()
	s.say("before")
	s.ask("well? ")
	s.say("meanwhile")
	s.answered()
	s.say("after")
	if want := "before\nwell? \nmeanwhile\nwell? after\n"; out.String() != want {
		t.Errorf("%q, want %q", out, want)
	}
}

// TestConsole: lines are answers while something is asked, and Enter otherwise.
func TestConsole(t *testing.T) {
	s, _ := testScreen()
	in, typed := io.Pipe()
	idle, ended := make(chan bool), make(chan bool)
	c := newConsole(in, s, func() { idle <- true }, func() { close(ended) })
	c.listen()
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { io.WriteString(typed, "\n") })
	<-idle
	work.Go(func() { awaitQuestion(s); io.WriteString(typed, " yes \n") })
	if answer, ok := c.ask(t.Context(), "well? "); answer != "yes" || !ok {
		t.Errorf("%q, %v", answer, ok)
	}
	work.Go(func() { awaitQuestion(s); typed.Close() })
	if answer, ok := c.ask(t.Context(), "and? "); answer != "" || ok {
		t.Errorf("%q, %v, though nobody answers", answer, ok)
	}
	<-ended
	if _, ok := c.ask(t.Context(), "still? "); ok {
		t.Error("an answer after the end")
	}
}

// awaitQuestion waits until the screen shows a question.
func awaitQuestion(s *screen) {
	for asked := false; !asked; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		asked = s.question != ""
		s.mu.Unlock()
	}
}

// TestLive: a table is drawn in the place of the one before, not more often than
// makes sense, and taken away at the end.
func TestLive(t *testing.T) {
	var out strings.Builder
	l := &live{w: &out, most: 1}
	content := func() (*table, string) {
		t := &table{columns: []column{{"A", left}}}
		t.add("x")
		t.add("y")
		return t, "2 of 3"
	}
	now := time.Unix(0, 0)
	l.draw(now, content)
	l.draw(now.Add(drawEvery/2), content) // too soon
	l.draw(now.Add(drawEvery), content)
	l.erase()
	frame := "A\x1b[K\nx\x1b[K\n2 of 3\x1b[K\n\x1b[J"
	if want := frame + "\x1b[3A\r" + frame + "\x1b[3A\r\x1b[J"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestLiveFrame: whatever the terminal's size, no line wraps and none scrolls away.
func TestLiveFrame(t *testing.T) {
	var near []report.Measurement
	for i := range 50 {
		near = append(near, report.Measurement{Addr: netip.AddrPortFrom(netip.MustParseAddr("2001:db8::1234"), uint16(27960+i)), Name: "サーバー of the north", Map: "oa_dm1", MaxPlayers: 8})
	}
	for _, size := range []struct{ columns, rows, shown int }{{200, 60, 50}, {80, 24, 21}, {40, 24, 21}, {24, 8, 5}, {10, 2, 0}} {
		l := &live{most: mostLive}
		lines := strings.Split(strings.TrimSuffix(l.frame(serverTable(near), "31 of 2000 asked, 30 answered, 29 under 200 ms", size.columns, size.rows), "\n"), "\n")
		if got := len(lines) - 2; got != size.shown {
			t.Errorf("%d × %d: %d servers, want %d", size.columns, size.rows, got, size.shown)
		}
		for _, line := range lines {
			if runewidth.StringWidth(line) >= size.columns {
				t.Errorf("%d × %d: %q wraps", size.columns, size.rows, line)
			}
		}
	}
}

// TestShown: who says how many servers gets so many, whatever the terminal's size.
func TestShown(t *testing.T) {
	for _, tt := range []struct{ top, nearest, of, want int }{
		{wholeScreen, 0, 500, 500}, // no terminal
		{0, 0, 500, 500}, {7, 0, 500, 7}, {7, 0, 3, 3},
		{wholeScreen, 50, 500, 50}, {0, 50, 500, 50}, {wholeScreen, 50, 20, 20}, {7, 50, 500, 7},
	} {
		d := &discover{program: &program{streams: Streams{Out: io.Discard}}, top: tt.top}
		d.options.Nearest = tt.nearest
		if got := d.shown(tt.of); got != tt.want {
			t.Errorf("--top %d --nearest %d shows %d of %d, want %d", tt.top, tt.nearest, got, tt.of, tt.want)
		}
	}
}

// TestMissingColumns: who looks at a table without all its columns is told.
func TestMissingColumns(t *testing.T) {
	t1 := &table{columns: []column{{"PLACE", left}, {"A", right}, {"B", right}}, spare: []string{"B", "A"}}
	t1.add("AU", "1000", "")
	t1.add("JP", "2000", "")
	for width, want := range map[int]string{80: "", 9: "A", 4: "A"} {
		if got := strings.Join(t1.missing(width), " "); got != want {
			t.Errorf("in %d columns %q is missing, want %q", width, got, want)
		}
	}
}

func TestBarWidth(t *testing.T) {
	for columns, want := range map[int]int{20: 5, 80: 20, 200: 30} {
		if got := barWidth(columns); got != want {
			t.Errorf("a bar of %d in %d columns, want %d", got, columns, want)
		}
	}
}

// TestNarratorSearches: while the host coordinates, the player reads how good the
// best so far is, and how much better it may become.
func TestNarratorSearches(t *testing.T) {
	s, out := testScreen()
	n := &narrator{screen: s}
	gain := 1.4
	room := wire.Room{Stage: wire.Refining, By: selection.Mean, Search: &wire.Search{Found: true, MeanMS: 96, GainMS: &gain}}
	n.room(room)
	s.progress.next = time.Time{}
	n.show(peer.Progress{Probed: 41, Answered: 40, Listed: 2000})
	if want := "asked: 41, best so far, 96 ms on average; at most 2 ms better is to be had\n"; out.String() != want {
		t.Errorf("the screen says %q, want %q", out, want)
	}
}
