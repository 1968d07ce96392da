package lobby

import (
	"net/netip"
	"strings"
	"testing"

	"muster/discovery/hostport"
	orders "muster/host/room"
	"muster/host/wire"
	"muster/selection"
)

// voting returns a room in which ann and ben vote on three servers. zoe came too late to be
// measured.
func voting() wire.Snapshot {
	addr := func(n string) netip.AddrPort { return netip.MustParseAddrPort("192.0.2." + n + ":27960") }
	s := at(wire.Chosen)
	s.Room.Round = 2
	s.People = []wire.Person{{Name: "ann", Peer: true, Page: true}, {Name: "ben", Peer: true, Asked: true},
		{Name: "zoe", Peer: true}, {Name: "eve", Guest: true, Page: true}}
	s.Voting = wire.Voting{Open: true, Rule: wire.MaxVotes, Ballot: []string{addr("7").String(), addr("8").String(), addr("9").String()}}
	s.Choice = &wire.Choice{
		Selection: selection.Selection{Ranking: []selection.Ranked{
			{Addr: hostport.At(addr("7")), MeanMS: 48, RTT: map[string]float64{"ann": 88, "ben": 9}},
			{Addr: hostport.At(addr("8")), MeanMS: 59, RTT: map[string]float64{"ann": 97, "ben": 22}},
			{Addr: hostport.At(addr("9")), MeanMS: 45, RTT: map[string]float64{"ann": 12, "ben": 78, "zoe": 30}},
		}},
		Servers: map[string]wire.ServerCard{
			addr("7").String(): {Name: "pro-g InstaGib", Map: "q3dm7", Country: "CA", Players: 4, MaxPlayers: 16},
			addr("8").String(): {Name: "RedEye TDM", Country: "US", Players: 9, MaxPlayers: 8},
		},
	}
	return s
}

// TestShowVote checks that the terminal shows the candidates with the reader's own ping first, and who
// votes for which.
func TestShowVote(t *testing.T) {
	s, out := testScreen()
	n := &View{Screen: s, Help: PlayerHelp, Typing: &Typing{screen: s}, name: "ann"}
	n.Typing.LeadTo("LINK")
	room := voting()
	n.showVote(room)
	n.showVote(room)
	const want = `where shall we play? most votes win; ties go to the server listed first
     YOU  AVERAGE  SERVER           MAP    FREE
1  88 ms    48 ms  pro-g InstaGib   q3dm7    12
2  97 ms    59 ms  RedEye TDM                 0
3  12 ms    45 ms  192.0.2.9:27960
type a number to vote (0 takes it back), v and a number to veto (v3), r when you're ready, w to wait
more on your page: LINK
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
	out.Reset()
	room.People[0].Vote, room.People[1].Vote, room.People[1].Ready = room.Voting.Ballot[2], room.Voting.Ballot[2], true
	n.showVote(room)
	n.showVote(room)
	room.Voting.Ballot, room.Voting.Numbers = []string{room.Voting.Ballot[2], room.Voting.Ballot[0]}, []int{4, 1}
	n.showVote(room)
	if got := out.String(); !strings.HasPrefix(got, "3 has 2 votes (ann and ben); ready: ben\nwhere shall we play?") ||
		!strings.Contains(got, "\n4  12 ms") || !strings.Contains(got, "\n1  88 ms") {
		t.Errorf("the terminal says\n%s", got)
	}
	out.Reset()
	n.showVote(at(wire.Launching))
	n.name, n.Typing.Order = "", func(string, orders.Action) {}
	n.showVote(voting())
	if got := out.String(); strings.Contains(got, "88 ms") || strings.Contains(got, "type a number") ||
		!strings.Contains(got, "press Enter to launch without waiting") {
		t.Errorf("who only hosts reads\n%s", got)
	}
}

// TestShowTurn checks that a captain is led to the page, once a turn.
func TestShowTurn(t *testing.T) {
	s, out := testScreen()
	n := &View{Screen: s, Help: PlayerHelp, Typing: &Typing{screen: s}, name: "emil"}
	n.Typing.LeadTo("LINK")
	show := func(number int, kind, captain string) {
		state := at(wire.Chosen)
		state.Match = &wire.Match{Turn: &wire.Turn{Number: number, Kind: kind, Captain: captain}}
		n.showTurn(state)
	}
	show(1, wire.Ban, "anna")
	show(2, wire.Ban, "emil")
	show(2, wire.Ban, "emil")
	show(3, wire.Ban, "")
	show(4, wire.Pick, "emil")
	n.showTurn(at(wire.Launching))
	if want := "it’s your turn to ban: LINK\nit’s your turn to pick: LINK\n"; out.String() != want {
		t.Errorf("%q, want %q", out, want)
	}
	n.name = ""
	out.Reset()
	if show(5, wire.Ban, ""); out.Len() > 0 {
		t.Errorf("somebody without a player reads %s", out)
	}
}
