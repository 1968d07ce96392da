package lobby

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
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

// TestBallotTable checks that the table has the reader's own ping first, then everybody's, and says
// who has none.
func TestBallotTable(t *testing.T) {
	s, out := testScreen()
	n := &View{Screen: s, Help: OrganiserHelp(true), name: "ann", votes: true}
	room := voting()
	n.showVote(room)
	n.showVote(room)
	const want = `where shall we play? most votes win; ties go to the server listed first
     YOU  AVERAGE  SERVER           MAP       FREE  EVERYONE
1  88 ms    48 ms  pro-g InstaGib   q3dm7 CA    12  zoe has no ping, ben 9
2  97 ms    59 ms  RedEye TDM       US           0  zoe has no ping, ben 22
3  12 ms    45 ms  192.0.2.9:27960                  ben 78, zoe 30
type a number to vote (0 takes it back), v and a number to veto (v3), r when you're ready, w to wait
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
	out.Reset()
	room = voting()
	room.People[0].Vote, room.People[1].Vote, room.People[1].Ready = room.Voting.Ballot[2], room.Voting.Ballot[2], true
	n.showVote(room)
	room.Voting.LaunchAt = time.Now()
	n.showVote(room)
	n.showVote(voting())
	if want := "3 has 2 votes (ann and ben); ready: ben; not yet: ann\ntype w to stop the countdown\nno votes\n"; out.String() != want {
		t.Errorf("%q, want %q", out, want)
	}
	out.Reset()
	n.showVote(at(wire.Launching))
	n.name, n.votes = "", false
	n.showVote(voting())
	if strings.Contains(out.String(), "YOU") || strings.Contains(out.String(), "type a number") {
		t.Errorf("who only hosts reads\n%s", out)
	}
}

// TestChoices checks that the terminal says what each choice is the best in, and what it costs whom.
func TestChoices(t *testing.T) {
	room := voting()
	addr := func(i int) netip.AddrPort { return room.Choice.Selection.Ranking[i].Addr.AddrPort }
	room.Choice.Selection.Players = []string{"ann", "ben", "zoe"}
	room.Voting.Choices = []wire.Option{
		{Alternative: selection.Alternative{Addr: hostport.At(addr(0)), Kind: selection.Lowest, GainMS: 48, Payer: "ann", CostMS: 76}},
		{Alternative: selection.Alternative{Addr: hostport.At(addr(1)), Kind: selection.ForMost, Players: 2}},
		{Alternative: selection.Alternative{Kind: selection.Also}, Gone: true},
		{Alternative: selection.Alternative{Addr: hostport.At(addr(2)), Kind: selection.Fairest, GainMS: 66.4, Payer: "ben", CostMS: 69}},
	}
	for own, want := range map[string]string{
		"ann": "1 Best on average: Lowest for all 3 together. You pay for it: 76 ms more than elsewhere.\n" +
			"2 Best for most: 2 of 3 have their own best ping here.\n" +
			"3 Fairest: Nobody is far ahead: all lie within 66 ms. It costs ben most: 69 ms more than our pick.",
		"": "1 Best on average: Lowest for all 3 together. ann pays for it: 76 ms more than elsewhere.\n" +
			"2 Best for most: 2 of 3 have their own best ping here.\n" +
			"3 Fairest: Nobody is far ahead: all lie within 66 ms. It costs ben most: 69 ms more than our pick.",
	} {
		if got := strings.Join(choicesInWords(catalogue.InEnglish(), room, own), "\n"); got != want {
			t.Errorf("%q reads\n%s\nwant\n%s", own, got, want)
		}
	}
	room.Voting.Choices = room.Voting.Choices[:1]
	if got := choicesInWords(catalogue.InEnglish(), room, "ann"); len(got) > 0 {
		t.Errorf("of a single one it says %q", got)
	}
}

// TestPasswordNote checks that before the vote players read which servers have a password, and
// whether they must type it.
func TestPasswordNote(t *testing.T) {
	locked := func(numbers ...int) wire.Snapshot {
		s := voting()
		for _, n := range numbers {
			addr := s.Voting.Ballot[n-1]
			card := s.Choice.Servers[addr]
			card.Password = true
			s.Choice.Servers[addr] = card
		}
		s.People[1].TypesPassword = true
		return s
	}
	for _, c := range []struct {
		room      wire.Snapshot
		own, want string
	}{
		{locked(), "ben", ""},
		{locked(2), "ann", "2 has a password: Muster gives it to your game"},
		{locked(1, 3), "ben", "1 and 3 have a password: you see it here when you go, and type it in the game"},
		{locked(1), "", "1 has a password"},
	} {
		if got := english(passwordNote(c.room, c.own)); got != c.want {
			t.Errorf("%q reads %q, want %q", c.own, got, c.want)
		}
	}
	s, out := testScreen()
	n := &View{Screen: s, Help: OrganiserHelp(true), name: "ben", votes: true}
	if n.showVote(locked(2)); !strings.Contains(out.String(), "2 has a password: you see it here when you go, and type it in the game") {
		t.Errorf("ben reads\n%s", out)
	}
}

// TestTypedVotes checks what typed lines mean during a vote, and that Enter is no vote.
func TestTypedVotes(t *testing.T) {
	room := voting()
	third := netip.MustParseAddrPort("192.0.2.9:27960")
	for line, want := range map[string]wire.Say{
		"3": {What: wire.SayVote, Addr: hostport.At(third)}, "0": {What: wire.SayVote}, "v3": {What: wire.SayVeto, Addr: hostport.At(third)},
		"V 3":    {What: wire.SayVeto, Addr: hostport.At(third)},
		"veto 3": {What: wire.SayVeto, Addr: hostport.At(third)}, "r": {What: wire.SayReady}, "Ready": {What: wire.SayReady}, "w": {What: wire.SayWait},
	} {
		want.Round = 2
		if got, wrong := wordOf(line, &room); got != want || !wrong.IsZero() {
			t.Errorf("%q: %+v, %q; want %+v", line, got, wrong, want)
		}
	}
	for line, want := range map[string]string{
		"4": "the candidates are 1 to 3", "v0": "the candidates are 1 to 3", "-1": "the candidates are 1 to 3",
		"v": english(keysOfVote), "yes": english(keysOfVote), "1 2": english(keysOfVote),
	} {
		if got, wrong := wordOf(line, &room); english(wrong) != want {
			t.Errorf("%q: %+v, %q; want %q", line, got, wrong, want)
		}
	}
	room.Voting.Ballot, room.Voting.Numbers = []string{room.Voting.Ballot[2], room.Voting.Ballot[0]}, []int{4, 1}
	if got, wrong := wordOf("4", &room); got.Addr.AddrPort != third || !wrong.IsZero() {
		t.Errorf("4 is a vote for %v, %q, want %v", got.Addr, wrong, third)
	}
	for _, line := range []string{"2", "v3", "5"} {
		if _, wrong := wordOf(line, &room); english(wrong) != "the candidates are 1 and 4" {
			t.Errorf("%q: %q", line, wrong)
		}
	}
	s, out := testScreen()
	(&View{Screen: s, Help: OrganiserHelp(true), name: "ann", votes: true}).showVote(room)
	if !strings.Contains(out.String(), "\n4  12 ms") || !strings.Contains(out.String(), "\n1  88 ms") {
		t.Errorf("the table is\n%s", out)
	}
	room = voting()
	v, said := newVoter(), ""
	say := func(wrong sentence.Sentence) { said = english(wrong) }
	if v.typed("3", say) {
		t.Error("who is in no room votes")
	}
	v.room.Store(&room)
	if v.typed("", say) || !v.typed("3", say) || len(v.says) != 1 || said != "" {
		t.Errorf("%d words, %q", len(v.says), said)
	}
	room = at(wire.Launching)
	if v.typed("", say) || v.typed("3", say) || len(v.says) != 1 || said != "" {
		t.Errorf("after the vote %d words, %q", len(v.says), said)
	}
	room = voting()
	for range 2 * wordsAtOnce {
		v.typed("r", say)
	}
	if len(v.says) != wordsAtOnce {
		t.Errorf("%d words wait", len(v.says))
	}
}
