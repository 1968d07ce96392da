package cli

import (
	"bytes"
	"io"
	"math"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/discovery/report"
	"muster/host/wire"
	"muster/internal/invite"
	"muster/internal/term"
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
		serverTable(near).Write(term.Terminal{Writer: &out, Columns: test.width})
		if got := "\n" + out.String(); got != test.want {
			t.Errorf("in %d columns:%swant:%s", test.width, got, test.want)
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
		s.Rests()
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
		n := &narrator{screen: s, help: playerHelp(invite.Link{Host: "192.0.2.1:7777"})}
		tt.room.Code = "TABOMI"
		n.room(tt.room)
		if out.String() != tt.want {
			t.Errorf("%s: %q, want %q", tt.room.Stage, out, tt.want)
		}
	}
}

// testScreen is a screen that writes to a buffer.
func testScreen() (*term.Screen, *bytes.Buffer) {
	var out bytes.Buffer
	return testProgram(&out).screen, &out
}

// testProgram says what it has to say to a buffer.
func testProgram(out *bytes.Buffer) *program {
	return newProgram(Streams{In: strings.NewReader(""), Out: io.Discard, Err: out}, func(string) string { return "" })
}

// TestShown: who says how many servers gets so many, whatever the terminal's size.
func TestShown(t *testing.T) {
	for _, tt := range []struct{ top, nearest, of, want int }{
		{wholeScreen, 0, 500, 500}, // no terminal
		{0, 0, 500, 500}, {7, 0, 500, 7}, {7, 0, 3, 3},
		{wholeScreen, 50, 500, 50}, {0, 50, 500, 50}, {wholeScreen, 50, 20, 20}, {7, 50, 500, 7},
	} {
		d := &discover{program: testProgram(nil), top: tt.top}
		d.options.Nearest = tt.nearest
		if got := d.shown(tt.of); got != tt.want {
			t.Errorf("--top %d --nearest %d shows %d of %d, want %d", tt.top, tt.nearest, got, tt.of, tt.want)
		}
	}
}

// TestNarratorSearches: while the host coordinates, the player reads how good the
// best so far is, and how much better it may become.
func TestNarratorSearches(t *testing.T) {
	gain := 1.4
	room := wire.Room{Stage: wire.Refining, By: selection.Mean, Search: &wire.Search{Found: true, MeanMS: 96, GainMS: &gain}}
	synctest.Test(t, func(t *testing.T) {
		s, out := testScreen()
		n := &narrator{screen: s}
		n.room(room)
		time.Sleep(time.Minute) // it is time for a line
		n.show(peer.Progress{Probed: 41, Answered: 40, Listed: 2000})
		if want := "asked: 41, best so far, 96 ms on average; at most 2 ms better is to be had\n"; out.String() != want {
			t.Errorf("the screen says %q, want %q", out, want)
		}
	})
}
