package lobby

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/home"
	"muster/internal/term"
)

// TestConsents checks what a player is asked before providers' machines see their address, and that nobody is
// asked who has agreed, or cannot answer.
func TestConsents(t *testing.T) {
	first := wire.Venues{
		{Name: "Frankfurt", Offers: []wire.Offer{{Provider: "Vultr"}, {Provider: "Hetzner"}}},
		{Name: "Paris", Offers: []wire.Offer{{Provider: "Vultr"}}},
		{Name: "our box"},
	}
	five := &wire.Places{Machines: 24, Providers: []wire.ProviderCount{{Name: "Vultr", N: 9}, {Name: "Hetzner", N: 3}, {Name: "C", N: 1}, {Name: "D", N: 1}, {Name: "E", N: 1}}}
	for name, c := range map[string]struct {
		agrees, isAlone bool
		places          *wire.Places
		answer          string
		asked, said     string
		want            bool
	}{
		"yes":              {places: five, answer: "y", asked: "24 machines of Vultr, Hetzner and 3 more will see your address. Measure? [Y/n] ", want: true},
		"Enter":            {places: five, asked: "24 machines of Vultr", want: true},
		"no":               {places: five, answer: "n", asked: "24 machines", said: "the room estimates its pings"},
		"before the room":  {answer: "y", asked: "3 machines of Vultr and our box will see", want: true},
		"said before":      {agrees: true, places: five, want: true},
		"nobody to answer": {isAlone: true, places: five, said: "say --yes"},
	} {
		screen, out := testScreen()
		asked := ""
		console := term.NewConsole(strings.NewReader(""), screen, func(string) {}, func() {})
		console.Answer = func(_ context.Context, question string) (string, bool) { asked += question; return c.answer, true }
		y := &Player{Desk: &Desk{Screen: screen, Page: &home.Terminal{}}, Launcher: &game.Launcher{Console: console}, Agrees: c.agrees}
		if c.isAlone {
			y.Desk.Page, y.Desk.In = nil, strings.NewReader("")
		}
		y.places.Store(c.places)
		if got := y.consents(t.Context(), first); got != c.want || !strings.HasPrefix(asked, c.asked) || (asked == "") != (c.asked == "") {
			t.Errorf("%s: %v after %q, want %v after %q", name, got, asked, c.want, c.asked)
		}
		if said := out.String(); !strings.Contains(said, c.said) || (said == "") != (c.said == "") {
			t.Errorf("%s: it says %q, want %q", name, said, c.said)
		}
	}
}

// placed is a room that has found a place.
func placed(name string) wire.Snapshot {
	s := at(wire.Launching)
	s.Way = &wire.Way{Place: &wire.Candidate{Name: name, Offers: []wire.Offer{{Provider: "Vultr", Region: "fra-de"}, {Provider: "Contabo"}}}}
	return s
}

// TestPlaced checks that the terminal says who has servers at the place that was found, and leads the organiser
// on, and that the round is over then.
func TestPlaced(t *testing.T) {
	screen, out := testScreen()
	n := &View{Screen: screen, Help: func(wire.Snapshot) (s sentence.Sentence) { return s }, Typing: &Typing{screen: screen, Order: nil}}
	n.Room(placed("Frankfurt"))
	if got := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(got, "servers there: Vultr (fra-de), Contabo") {
		t.Errorf("it says %q", got)
	}
	if is, err := IsRoundOver(placed("Frankfurt")); !is || err != nil {
		t.Errorf("the round is over: %v, %v", is, err)
	}
}

// TestWantedPlace checks that a server is started at the place that a room has found, if this program knows it, and
// where the command finds the server.
func TestWantedPlace(t *testing.T) {
	known := wire.Venues{
		{Name: "Frankfurt", Addr: hostport.At(hostport.Of("fra.place.example", 443)), Protocol: "tcp", Offers: []wire.Offer{{Provider: "Vultr"}}},
		{Name: "our box", Addr: hostport.At(netip.MustParseAddrPort("192.0.2.1:7787")), Protocol: "beacon"},
	}
	s := Starter{code: "BAKODI"}
	for name, want := range map[string]string{"Frankfurt": "", "our box": "192.0.2.1"} {
		place, knows := wantedPlace(placed(name), known)
		if !knows || place.Name != name || !wantsServer(placed(name)) {
			t.Fatalf("%s: %v, %v", name, place, knows)
		}
		v := s.venue(game.Game{ID: "openarena", Port: 27960}, place, placed(name))
		hook, err := game.NewHook("start {place} --at {host} {port}")
		if err != nil {
			t.Fatal(err)
		}
		wanted := []string{"start", name}
		if want != "" {
			wanted = append(wanted, "--at", want)
		}
		if argv, err := hook.Fill(v); err != nil || strings.Join(argv, "|") != strings.Join(append(wanted, "27960"), "|") {
			t.Errorf("%s: %q, %v", name, argv, err)
		}
	}
	if _, knows := wantedPlace(placed("; rm -rf"), known); knows {
		t.Error("a host names a place that nobody here knows")
	}
}
