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

	"muster/discovery"
	"muster/host/wire"
	"muster/peer"
	"muster/selection"
)

// TestServerTable: the widest text gives way, numbers and addresses stay whole,
// and a column that has nothing to say is left out.
func TestServerTable(t *testing.T) {
	near := []discovery.Measurement{
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
		{20, `
     RTT  PLAYERS  BOTS  NAME      MAP     MODE  IN  ADDRESS
 12.3 ms      3/8     2  Aggress…  oa_dm1  0     DE  192.0.2.1:27960
130.0 ms     0/16        日本の…   oa_dm2  4         [2001:db8::1]:27961
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
