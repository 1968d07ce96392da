package lobby

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/discovery/hostport"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// banning returns a match in which emil is about to make the second ban of two.
func banning() wire.Snapshot {
	s := at(wire.Chosen)
	s.Room.Round, s.Room.Match, s.Room.SideA, s.Room.SideB = 2, "bo3", "Nightjars", "Tin Foxes"
	s.People = []wire.Person{{Name: "anna", Peer: true, Side: wire.SideA}, {Name: "emil", Peer: true, Side: wire.SideB}}
	s.Own = wire.Own{"192.0.2.7:27960": 40.4}
	s.Match = &wire.Match{
		BestOf: 3,
		Turn: &wire.Turn{
			Number: 2, Kind: wire.Ban, Of: wire.OfServer, Side: wire.SideB, Captain: "emil", Nth: 2, Total: 2,
			Until: time.Now().Add(29900 * time.Millisecond),
		},
		Servers: []wire.MatchServer{
			{Addr: "192.0.2.7:27960", ServerCard: wire.ServerCard{Name: "Old Pier Duel", Map: "dm6", Country: "US", Players: 4, MaxPlayers: 16}, MeansMS: [2]float64{92.3, 94}},
			{Addr: "192.0.2.8:27960", Gone: 1},
			{Addr: "192.0.2.9:27960", MeansMS: [2]float64{113, 0}},
		},
		Maps: []wire.MatchMap{{Name: "dm6", Gone: 3}, {Name: "dm17"}, {Name: "ztn", Picked: 4}, {Name: "t9"}},
	}
	return s
}

// TestShowMatch checks that the terminal shows what is left, with the reader's own ping and both
// averages, and whose turn it is, once a turn.
func TestShowMatch(t *testing.T) {
	s, out := testScreen()
	n := &View{Screen: s, Help: OrganiserHelp(true), name: "anna", votes: true}
	n.showMatch(banning())
	n.showMatch(banning())
	const servers = `     YOU  Nightjars: average ms  Tin Foxes: average ms  SERVER           MAP     FREE
1  40 ms                  92 ms                  94 ms  Old Pier Duel    dm6 US    12
3      –                 113 ms                      –  192.0.2.9:27960              
`
	if want := servers + "emil bans (ban 2 of 2, for Tin Foxes), 30 seconds\n"; trimmed(out.String()) != trimmed(want) {
		t.Errorf("%s\nwant\n%s", out, want)
	}
	out.Reset()
	n.name = "emil"
	room := banning()
	room.Match.Turn.Number, room.Match.Turn.Of, room.Match.Turn.Kind = 5, wire.OfMap, wire.Pick
	room.Match.Turn.Until = time.Now().Add(time.Hour) // by a clock that is ahead
	n.showMatch(room)
	if want := "   MAP\n2  dm17\n4  t9\nit’s your turn (map pick 2 of 2, for Tin Foxes), 30 seconds: type a number\n"; trimmed(out.String()) != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
	out.Reset()
	room.Match.Turn.Number, room.Match.Turn.Captain = 6, ""
	n.showMatch(room)
	if want := "The room picks (map pick 2 of 2, for Tin Foxes), 30 seconds"; !strings.Contains(out.String(), want) {
		t.Errorf("%s\nwant %s", out, want)
	}
	out.Reset()
	room.Match.Turn = nil
	n.showMatch(room)
	n.showMatch(at(wire.Launching))
	if out.Len() > 0 {
		t.Errorf("without a turn it says %s", out)
	}
}

// trimmed returns a text without blanks at the ends of lines.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// TestEvenPings checks that the terminal says what would make pings even, and how in the game.
func TestEvenPings(t *testing.T) {
	room := banning()
	room.Match.Even = map[string]wire.Even{"anna": {SidesMS: 12, AllMS: 200}, "emil": {}, "ben": {SidesMS: 0, AllMS: 9}}
	const anna = "for even pings, if both sides want them: 12 ms more from you makes the sides even, 200 ms gives everyone the same"
	says := func(own string) string { return strings.Join(evenInWords(catalogue.InEnglish(), room, own), "\n") }
	if got := says("anna"); got != anna {
		t.Errorf("anna reads %q", got)
	}
	room.Way = &wire.Way{Delay: &wire.DelayCommand{Command: "cl_delay_packet {ms}", MaxMS: 150, Program: "ezQuake"}}
	if got := says("anna"); got != anna+"\nin the console of ezQuake: cl_delay_packet 12" {
		t.Errorf("anna reads %q", got)
	}
	room.Way.Delay.Program = ""
	if got := says("ben"); !strings.HasSuffix(got, "\nin the console: cl_delay_packet 9") {
		t.Errorf("ben reads %q", got)
	}
	if got := says("emil") + says("zoe"); got != "" {
		t.Errorf("the slowest and a caster read %q", got)
	}
	s, out := testScreen()
	n := &View{Screen: s, Help: OrganiserHelp(true), name: "ben"}
	room.Match.Turn = nil
	n.showMatch(room)
	n.showMatch(room)
	if strings.Count(out.String(), "\n") != 2 {
		t.Errorf("ben reads %s", out)
	}
}

// TestTypedMoves checks that a number bans or picks, and that other lines are no moves.
func TestTypedMoves(t *testing.T) {
	room := banning()
	v := newVoter()
	v.room.Store(&room)
	for line, want := range map[string]wire.Say{
		"3":      {Round: 2, What: wire.SayMove, Number: 2, Addr: hostport.At(netip.MustParseAddrPort("192.0.2.9:27960"))},
		" ban 1": {Round: 2, What: wire.SayMove, Number: 2, Addr: hostport.At(netip.MustParseAddrPort("192.0.2.7:27960"))},
	} {
		if !v.typed(line, nil) {
			t.Fatalf("%q is no move", line)
		}
		if got := <-v.says; got != want {
			t.Errorf("%q is %+v", line, got)
		}
	}
	maps := banning()
	maps.Match.Turn.Of, maps.Match.Turn.Kind, maps.Match.Turn.Number = wire.OfMap, wire.Pick, 5
	if word, wrong, is := moveOf("pick 4", &maps); !is || !wrong.IsZero() || word.Map != "t9" || word.Number != 5 {
		t.Errorf("pick 4 is %+v, %v, %v", word, wrong, is)
	}
	for room, lines := range map[*wire.Snapshot]map[string]string{
		&room: {"2": "what’s left has the numbers 1 and 3", "9": "what’s left has the numbers 1 and 3", "-1": "what’s left has the numbers 1 and 3"},
		&maps: {"1": "what’s left has the numbers 2 and 4", "3": "what’s left has the numbers 2 and 4"},
	} {
		for line, want := range lines {
			if _, wrong, is := moveOf(line, room); !is || catalogue.InEnglish().Say(wrong) != want {
				t.Errorf("%q: %v, %s", line, is, catalogue.InEnglish().Say(wrong))
			}
		}
	}
	over := banning()
	over.Match.Turn = nil
	for line, room := range map[string]*wire.Snapshot{"next": &room, "": &room, "1": &over, "2": {}} {
		if _, _, is := moveOf(line, room); is {
			t.Errorf("%q is a move", line)
		}
	}
}
