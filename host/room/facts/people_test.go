package facts_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/evidence"
	"muster/host/room/facts/factstest"
	"muster/host/room/homes"
	"muster/host/room/nearby"
	"muster/host/room/origin"
	"muster/host/room/people"
	"muster/host/room/roster"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
	"muster/selection/anomaly"
)

const ms = time.Millisecond

var (
	lost, unprobed = factstest.Lost, factstest.Unprobed

	// The places of ann's neighbours, and an office, where the host is too.
	german = origin.Origin{Addr: netip.MustParseAddr("9.9.9.1"), Country: "DE", ASN: 3320}
	office = origin.Origin{Near: netip.MustParseAddr("10.9.0.2")}
	// hidden is a server in the office, the last of a list that has it.
	hidden = nearby.Server{
		Addr: netip.MustParseAddrPort("10.9.0.5:27960"), Networks: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/24")},
		Info: discovery.Info{Name: "Hidden", MaxPlayers: 16},
	}
)

// germans returns a group whose players are neighbours of zoe. She has only the page, and her pings
// can be estimated.
func germans(t testing.TB, s wire.Settings) *factstest.Group {
	g := factstest.New(t, s, 10)
	g.JoinFrom("ann", german)
	g.Join("bob", "cat")
	zoe := german
	zoe.Addr = netip.MustParseAddr("9.9.8.1")
	g.Enter("zoe", zoe)
	return g
}

func counts(g *factstest.Group, guest people.ID) {
	g.Helper()
	if note, err := g.Count(guest, true); err != nil || note.IsZero() {
		g.Fatalf("%s is counted in with %q, %v", guest, note, err)
	}
}

// brings lets somebody bring a server into the lists.
func brings(g *factstest.Group, person people.ID, server int) {
	g.Lists.Bring(person, discovery.InternetReach, []wire.Brought{{Addr: hostport.At(g.Servers.List[server].Addr)}}, nil, false)
}

// follows applies changes of the people in the room, and reports whether the room must be saved for
// them.
func follows(g *factstest.Group, events []roster.Event, err error) (binds bool) {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
	for _, e := range events {
		binds = g.ApplyEvent(e) || binds
	}
	return binds
}

// comes lets a player in, under an ID from the roster. The room must be saved for it.
func comes(g *factstest.Group, hello wire.Hello) people.ID {
	g.Helper()
	seat, events := g.Roster.Admit(g.Roster.Recognise(hello), cmp.Or(hello.Token, "token of "+hello.Name), g.Now)
	if !follows(g, events, nil) {
		g.Errorf("%s comes, and nothing is to be saved", hello.Name)
	}
	g.Attendance.Come(seat.ID, "", g.Now)
	g.Evidence[seat.ID] = &evidence.PlayerResults{}
	return seat.ID
}

// busy returns a group whose player bob and guest zoe have done everything that people can do.
func busy(t testing.TB) *factstest.Group {
	s := factstest.Settings()
	s.GuestsVote = true
	g := germans(t, s)
	g.Measures("bob", factstest.Up(10, 3)...)
	g.Nearby.Move("bob", nearby.Place{Public: factstest.Addr("bob")})
	if !g.Nearby.Ask("bob", g.Settings.Game, g.Now) || !g.Nearby.Hear("bob", wire.Near{
		Game:    g.Settings.Game,
		Servers: []wire.NearServer{{Addr: hidden.Addr}},
	}, g.Now) {
		t.Fatal("bob does not look around")
	}
	g.Editions.Say("bob", g.Settings.Game, map[string]discovery.Edition{"": {Version: "1.2"}})
	g.Trust.Vouch("bob")
	g.Launches.Able("bob", wire.Able{Game: g.Settings.Game, Why: sentence.Plain("no game here")}, g.Settings)
	g.Launches.Heard("bob", wire.Launched{State: wire.LaunchFailed, Detail: sentence.Plain("no luck")}, g.Settings.GameName())
	for server, person := range []people.ID{"bob", "zoe"} {
		brings(g, person, server)
		g.Ballot.Ready(person)
		if err := g.Ballot.Veto(selection.Veto{Player: string(person), Map: "q3dm" + string(person)}); err != nil {
			t.Fatal(err)
		}
	}
	counts(g, "zoe")
	return g
}

// TestNames checks that people read the names of the time, and that the group knows the same of
// people under any name.
func TestNames(t *testing.T) {
	g := busy(t)
	eve := comes(g, wire.Hello{Name: "eve"})
	g.Measures(eve, 10)
	g.Editions.Say(eve, g.Settings.Game, map[string]discovery.Edition{"": {Version: "1.3"}})
	g.Hears("", 0, discovery.Info{Version: "1.1", MaxPlayers: 16})
	g.Trust.Discredit([]anomaly.Anomaly{{Player: string(eve), Sign: anomaly.Contradicts, Servers: 3, Of: 4}},
		g.Attendance.Players(), g.Attendance.Players())
	if err := g.Ballot.Veto(selection.Veto{Player: string(eve), Map: "q3dm6"}); err != nil {
		t.Fatal(err)
	}
	g.Sides.Join(eve, wire.SideA)
	others := func() string {
		s := g.Saved()
		s.Roster = roster.State{}
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	before := others()
	for _, name := range []string{"eve", "ivy"} {
		if name != "eve" {
			events, err := g.Roster.Rename(g.F.Person(eve), name, g.Now)
			follows(g, events, err)
		}
		if after := others(); after != before {
			t.Errorf("of %s is kept\n%s, and was\n%s", name, after, before)
		}
		view := g.F.ViewPeople(true)[3]
		factstest.Same(t, "the fourth player is", view.Name, name)
		factstest.Same(t, "the doubt is", catalogue.InEnglish().Say(view.Doubt), name+" describes 3 of 4 servers differently from most players.")
		factstest.Same(t, "vetoes are", g.F.ViewVetoes(), []string{"bob: q3dmbob", "zoe: q3dmzoe", name + ": q3dm6"})
		factstest.Same(t, "other versions are those of", g.F.Card(0).Other, []string{"bob", name})
		g.Settings.Match = "bo1"
		g.SettleSides()
		factstest.Same(t, "the first side is", g.F.ViewMatch().Camps[0], wire.Camp{Side: wire.SideA, Captain: name, Players: []string{name}})
		g.Settings.Match = ""
		before = others() // with the captain
		g.Tuning.Weights, g.Tuning.Sides = map[string]float64{name: 2}, map[string]selection.Side{name: selection.SideA}
		c := g.F.Criteria(g.Settings, []people.ID{eve})
		factstest.Same(t, "weights are", c.Weights, map[string]float64{string(eve): 2})
		factstest.Same(t, "sides are", c.Sides, map[string]selection.Side{string(eve): selection.SideA})
	}
}

// TestCame checks that a guest who comes to play keeps words and lists, and needs no estimate any
// more. Lists and vetoes belong to people who come back, and not to others who take their names.
func TestCame(t *testing.T) {
	for _, name := range []string{"zoe", "zara"} {
		g := busy(t)
		hello := wire.Hello{Name: name, As: roster.TicketOf(g.Roster.PageOf("zoe"))}
		_, events := g.Roster.Admit(g.Roster.Recognise(hello), "token", g.Now)
		if !follows(g, events, nil) {
			t.Errorf("%s: nothing is to be saved", name)
		}
		paper, by := g.Ballot.Paper("zoe"), g.Lists.View(g.Roster.Names()).Favourites[1].By
		if !paper.Ready || !paper.Vetoed || !slices.Equal(by, []string{name}) {
			t.Errorf("%s has said %+v, and the list is by %v", name, paper, by)
		}
		if g.Estimates.IsCounted("zoe") || g.Origins.Of("zoe") != (origin.Origin{}) {
			t.Errorf("%s: counted in by an estimate, or still at %+v", name, g.Origins.Of("zoe"))
		}
	}
	for _, tt := range []struct{ name, token, want string }{
		{"eve", "token of eve", "eve"}, {"ivy", "token of eve", "ivy"}, {"eve", "token of another", people.Somebody},
	} {
		g := busy(t)
		list := func() []string { return g.Lists.View(g.Roster.Names()).Favourites[2].By }
		vetoes := func(player people.ID) error {
			return g.Ballot.Veto(selection.Veto{Player: string(player), Map: "q3dm6"})
		}
		eve := comes(g, wire.Hello{Name: "eve", Token: "token of eve"})
		brings(g, eve, 2)
		if err := vetoes(eve); err != nil {
			t.Error(err)
		}
		g.Drop(eve)
		follows(g, g.Roster.Unseat(eve, false, g.Now), nil)
		factstest.Same(t, "while eve is away the list is", list(), []string{"eve"})
		comer := comes(g, wire.Hello{Name: tt.name, Token: tt.token})
		factstest.Same(t, tt.name+" has "+tt.token+", and the list is", list(), []string{tt.want})
		if err, isBack := vetoes(comer), tt.want == tt.name; (err != nil) != isBack {
			t.Errorf("%s has %s, and a veto: %v", tt.name, tt.token, err)
		}
	}
}

// TestLeft checks that the right facts stay of people who leave, and of those that the organiser
// removes.
func TestLeft(t *testing.T) {
	for _, tt := range []struct {
		event            roster.Event
		ready, vetoed    bool
		counted, located bool
		brought          int
	}{
		{roster.Left{ID: "bob", IsPlayer: true}, false, true, true, false, 2},
		{roster.Left{ID: "zoe"}, false, false, false, false, 2},
		{roster.Removed{ID: "bob"}, true, true, true, true, 1},
		{roster.Note{Says: sentence.Plain("bob")}, true, true, true, true, 2},
	} {
		g := busy(t)
		if g.ApplyEvent(tt.event) {
			t.Errorf("%T: the room must be saved", tt.event)
		}
		person := people.ID("bob")
		if left, is := tt.event.(roster.Left); is {
			person = left.ID
		}
		paper := g.Ballot.Paper(person)
		got := []any{paper.Ready, paper.Vetoed, g.Estimates.IsCounted("zoe"), g.Origins.Of(person).Addr.IsValid(), len(g.Lists.Ours())}
		if want := []any{tt.ready, tt.vetoed, tt.counted, tt.located, tt.brought}; !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %v, want %v", tt.event, got, want)
		}
	}
}

// TestDrop checks that only words and lists stay of a player whose place is free.
func TestDrop(t *testing.T) {
	g := busy(t)
	g.Drop("bob")
	for what, is := range map[string]bool{
		"evidence":     g.Evidence["bob"] != nil,
		"attendance":   slices.Contains(g.Attendance.Players(), "bob"),
		"an edition":   g.Editions.Version("bob", g.Settings.Game) != "",
		"an origin":    g.Origins.Of("bob") != origin.Origin{},
		"doubts":       len(g.Trust.State().Players) > 0,
		"findings":     g.Nearby.State().Players["bob"].Game != "",
		"a way":        g.Launches.Progress("bob").State != "",
		"no more vote": !g.Ballot.Paper("bob").Ready,
	} {
		if is {
			t.Errorf("of bob is left %s", what)
		}
	}
	if _, isKnown := g.Launches.Can("bob", g.Settings.Game); isKnown {
		t.Error("of bob is left what starts there")
	}
}

// TestElectorate checks that the electorate has everybody who might have a say, with the right
// facts.
func TestElectorate(t *testing.T) {
	g := germans(t, factstest.Settings())
	g.Settings.GuestsVote = true
	g.Attendance.LeaveOut(attendance.Outvoted, "cat")
	g.Roster.OpenPage(g.Roster.PageOf("bob"), g.Now)
	g.JoinFrom("dan", origin.Origin{})
	eve := comes(g, wire.Hello{Name: "eve", Asks: true})
	counts(g, "zoe")
	player := people.Person{IsPlayer: true, IsHere: true}
	want := slices.Repeat([]people.Person{player}, 5)
	for i, id := range []people.ID{"ann", "bob", "cat", "dan", eve} {
		want[i].ID = id
	}
	want[1].HasPage, want[2].IsLeftOut, want[4].IsAsked = true, true, true
	want = append(want, people.Person{ID: "zoe", IsCounted: true, From: g.Origins.Of("zoe").Addr, HasPage: true})
	for i, name := range []string{"ann", "bob", "cat", "dan", "eve", "zoe"} {
		one := g.Roster.Person(want[i].ID)
		want[i].Name, want[i].Mark, want[i].Arrival, want[i].Seen = name, one.Mark, one.Arrival, one.Seen
	}
	e := g.F.Electorate(true)
	factstest.Same(t, "the electorate is", e.People, want)
	if !e.GuestsVote {
		t.Error("guests do not vote")
	}
	factstest.Same(t, "eve is", g.F.Person(eve), want[4])
	factstest.Same(t, "with her credential comes", g.F.Caller(g.Roster.PageOf(eve)), want[4])
	factstest.Same(t, "nobody is", g.F.Person("nobody"), people.Person{})
	g.Attendance.Leave(eve, g.Now)
	want[2].IsLeftOut, want[4].IsAsked, want[4].IsHere = false, false, false
	factstest.Same(t, "before a choice, without eve's program, it is", g.F.Electorate(false).People, want)
}

// TestCount checks that a guest is counted in if the estimate is no guess, and no longer when
// asked.
func TestCount(t *testing.T) {
	g := germans(t, factstest.Settings())
	g.Enter("yan", origin.Origin{})
	if _, err := g.Count("yan", true); err == nil {
		t.Error("somebody is counted in of whom nobody knows where they are")
	}
	counts(g, "zoe")
	factstest.Same(t, "counted in are", g.F.Counted().Guests(), []people.ID{"zoe"})
	factstest.Same(t, "invited are", g.F.GuestsToCount(), []people.ID{"zoe"})
	dutch := origin.Origin{Addr: netip.MustParseAddr("9.9.7.1"), Country: "NL", ASN: 1136}
	if g.Origins.Enter("zoe", dutch); len(g.F.Counted().Guests()) != 1 {
		t.Error("next door the guest does not count")
	}
	g.Settings.By = selection.Fairness // the estimate would be a guess by this rule
	if g.F.Counted().Guests() != nil || !slices.Equal(g.F.GuestsToCount(), []people.ID{"zoe"}) {
		t.Errorf("by fairness counted in are %v of %v", g.F.Counted().Guests(), g.F.GuestsToCount())
	}
	g.Settings.By = selection.Mean
	g.Attendance.LeaveOut(attendance.Left, "ann") // zoe's neighbour
	factstest.Same(t, "without the neighbour counted in are", len(g.F.Counted().Guests()), 0)
	if note, err := g.Count("zoe", false); err != nil || note != sentence.Of("room.counts-no-more", "player", "zoe") || g.F.GuestsToCount() != nil {
		t.Errorf("%q, %v; invited are %v", note, err, g.F.GuestsToCount())
	}
}

// TestPlaces checks that the room takes the right number of players, and who decides for the room.
func TestPlaces(t *testing.T) {
	g := factstest.New(t, factstest.Settings(), 10)
	factstest.Same(t, "places", g.F.MaxPlayers(), wire.MaxPlayers)
	g.Settings.Max = 8
	factstest.Same(t, "places at most", g.F.MaxPlayers(), 8)
	g.Settings.Players = 4
	factstest.Same(t, "places of the settings", g.F.MaxPlayers(), 4)
	factstest.Same(t, "the organiser is", g.F.Organiser(), "the organiser")
	oda := comes(g, wire.Hello{Name: "oda", As: "secret"})
	if _, err := g.Roster.HandOn("oda", "secret"); err != nil {
		t.Fatal(err)
	}
	factstest.Same(t, "the organiser is", g.F.Organiser(), oda)
}

// TestAtHome checks that players' computers are known by the addresses that servers see, and by those on the
// host's networks.
func TestAtHome(t *testing.T) {
	g := factstest.New(t, factstest.Settings(), 10, "ann", "bob")
	g.JoinFrom("olga", office)
	g.Attendance.LeaveOut(attendance.Left, "bob")
	g.Attendance.Leave("bob", g.Now)
	player := func(id people.ID, isHere, isLeftOut bool) people.Person {
		p := g.Roster.Person(id)
		p.IsHere, p.IsLeftOut = isHere, isLeftOut
		return p
	}
	want := []homes.Player{
		{Person: player("ann", true, false), Addr: factstest.Addr("ann")},
		{Person: player("bob", false, true), Addr: factstest.Addr("bob")},
		{Person: player("olga", true, false), Beside: office.Near},
	}
	factstest.Same(t, "the players are", g.F.AtHome(), want)
}

// TestLocate checks that a player who comes from another network keeps all results but those for
// hidden servers. A player who comes beside others while all measure the list measures a part.
func TestLocate(t *testing.T) {
	begin := func() *factstest.Group {
		g := factstest.New(t, factstest.Settings(), 10, "ann")
		g.JoinFrom("olga", office)
		g.Gets(append(factstest.List(10), discovery.Server{Addr: hidden.Addr}), hidden)
		return g
	}
	const server = 10
	for _, tt := range []struct {
		name  string
		to    origin.Origin
		knows bool
	}{
		{"the same network", office, true},
		{"another address of it", origin.Origin{Near: netip.MustParseAddr("10.9.0.3")}, true},
		{"another network", origin.Origin{Addr: factstest.Addr("olga")}, false},
	} {
		g := begin()
		g.Measures("olga", factstest.Up(10, server+1)...)
		g.Locate("olga", tt.to, false)
		if knows := !g.Evidence["olga"].IsUnprobed(server); knows != tt.knows || g.Evidence["olga"].IsUnprobed(0) {
			t.Errorf("%s: she knows the hidden server: %v, the first: %v", tt.name, knows, !g.Evidence["olga"].IsUnprobed(0))
		}
		if g.Nearby.IsHidden("olga", server) == tt.knows || g.Origins.Of("olga") != tt.to {
			t.Errorf("%s: hidden from her: %v; she is at %+v", tt.name, !tt.knows, g.Origins.Of("olga"))
		}
	}
	for _, tt := range []struct {
		name        string
		beside      string
		measured    []int
		isMeasuring bool
		shares      bool
	}{
		{"beside ann", "ann", nil, true, true},
		{"elsewhere", "olga", nil, true, false},
		{"having measured", "ann", []int{10}, true, false},
		{"while nobody measures the list whole", "ann", nil, false, false},
	} {
		g := begin()
		g.Measures("olga", tt.measured...)
		g.Locate("olga", origin.Origin{Addr: factstest.Addr(tt.beside)}, tt.isMeasuring)
		if shares := g.Evidence["olga"].IsSharing(); shares != tt.shares {
			t.Errorf("%s: she shares: %v", tt.name, shares)
		}
	}
}

// TestViewPeople checks that everybody sees the people, the players first.
func TestViewPeople(t *testing.T) {
	g := busy(t)
	g.JoinFrom("dan", german)
	g.Measures("ann", 10, lost)
	vote := func(person people.ID, server int) {
		t.Helper()
		addr := g.Servers.List[server].Addr
		if _, err := g.Ballot.Vote(person, addr, ballot.Options{Candidates: []selection.Ranked{{Server: server, Addr: hostport.At(addr)}}}); err != nil {
			t.Fatal(err)
		}
	}
	vote("bob", 2)
	g.Ballot.ByHand("cat")
	g.Launches.Able("cat", wire.Able{Game: g.Settings.Game, TypesPassword: true}, g.Settings)
	g.Attendance.LeaveOut(attendance.Outvoted, "cat")
	g.Trust.Discredit([]anomaly.Anomaly{{Player: "ann", Sign: anomaly.Contradicts, Servers: 3, Of: 4}},
		[]people.ID{"ann", "bob", "cat"}, []people.ID{"ann", "bob", "cat"})
	if err := g.Roster.Hide(g.Roster.Caller(g.Roster.PageOf("dan")), true); err != nil {
		t.Fatal(err)
	}
	g.Attendance.Leave("dan", g.Now)
	g.Enter("yan", origin.Origin{})
	g.Enter("xan", origin.Origin{})
	g.Ballot.Ready("yan") // xan's address is unknown too, so xan has no say
	var got []string
	for _, p := range g.F.ViewPeople(true) {
		estimate := ""
		if e := p.Estimate; e != nil {
			estimate = fmt.Sprint(e.Counted, " ", catalogue.InEnglish().Say(e.Why))
		}
		got = append(got, fmt.Sprintf(
			"%s %d: peer %v %v %v, probed %d, %d, out %v %q %q, guest %v, page %v, ready %v, vetoed %v, vote "+
				"%q, launch %q %q, able %v %q %v, version %q, %v, no say %v, %s",
			p.Name, p.Arrival, p.Peer, p.Connected, p.Done, p.Probed, p.Answered, p.LeftOut, catalogue.InEnglish().Say(p.Doubt), p.Country,
			p.Guest, p.Page, p.Ready, p.Vetoed, p.Vote,
			p.Launch, catalogue.InEnglish().Say(p.Detail), p.Able, catalogue.InEnglish().Say(p.Unable), p.TypesPassword, p.Version, p.Somewhere, p.NoSay, estimate,
		))
	}
	const contradicts = "ann describes 3 of 4 servers differently from most players."
	want := []string{
		`ann 0: peer true true true, probed 2, 1, out false "` + contradicts +
			`" "DE", guest false, page false, ready false, vetoed false, vote "", launch "" "", able false "" false, version "", false, no say false, `,
		`bob 1: peer true true true, probed 3, 3, out false "" "", guest false, page false, ready true, vetoed true, vote "22.0.2.1:27960", launch "failed" "no luck", able false "no game here" false, version "1.2", false, no say false, `,
		`cat 2: peer true true false, probed 0, 0, out true "" "", guest false, page false, ready false, vetoed false, vote "", launch "by-hand" "", able true "" true, version "", false, no say false, `,
		`dan 4: peer true false false, probed 2, 1, out false "" "", guest false, page false, ready false, vetoed false, vote "", launch "" "", able false "" false, version "", true, no say false, `,
		`zoe 3: peer false false false, probed 0, 0, out false "" "", guest true, page true, ready true, vetoed true, vote "", launch "" "", able false "" false, version "", false, no say false, true `,
		`yan 5: peer false false false, probed 0, 0, out false "" "", guest true, page true, ready true, vetoed false, vote "", launch "" "", able false "" false, version "", false, no say false, false the address gives no location: it’s private, or belongs to a tunnel`,
		`xan 6: peer false false false, probed 0, 0, out false "" "", guest true, page true, ready false, vetoed false, vote "", launch "" "", able false "" false, version "", false, no say true, false the address gives no location: it’s private, or belongs to a tunnel`,
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("people are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			break
		}
	}
	factstest.Same(t, "vetoes are", g.F.ViewVetoes(), []string{"bob: q3dmbob", "zoe: q3dmzoe"})
	g.Attendance.Leave("bob", g.Now)
	if bob := g.F.ViewPeople(true)[1]; !bob.Unable.IsZero() || bob.Connected {
		t.Errorf("of one who is away is seen %+v", bob)
	}
}

// TestStandingGuest checks that a guest who is away is not an onlooker. It also checks that a guest
// whom the choice leaves out reads so once the choice stands.
func TestStandingGuest(t *testing.T) {
	g := germans(t, factstest.Settings())
	counts(g, "zoe")
	for _, player := range []people.ID{"ann", "bob", "cat"} {
		g.Measures(player, 10)
	}
	g.Choice.Take(selection.Selection{Players: []string{"ann"}, Chosen: &selection.Ranked{}})
	zoe := func(isChosen bool) wire.Person { return g.F.ViewPeople(isChosen)[3] }
	if e := zoe(true).Estimate; e.Why != sentence.Of("estimate.none-suits") {
		t.Errorf("zoe reads %+v", e)
	}
	if e := zoe(false).Estimate; !e.Why.IsZero() {
		t.Errorf("before the choice stands zoe reads %+v", e)
	}
	g.Roster.Keep("cat")
	g.Drop("cat")
	follows(g, g.Roster.Unseat("cat", false, g.Now), nil)
	if views := g.F.ViewPeople(true); len(views) != 3 {
		t.Errorf("people are %+v", views)
	}
}

// TestCard checks that people see a server's facts, and outsiders its name.
func TestCard(t *testing.T) {
	g := busy(t)
	g.Hears("", 0, discovery.Info{Name: "Den", Map: "q3dm1", Version: "1.1", MaxPlayers: 16})
	factstest.Same(t, "no server is", *g.F.Announced(-1), wire.AnnouncedServer{})
	card := g.F.Card(0)
	if card.Name != "Den" || card.MaxPlayers != 16 || !reflect.DeepEqual(g.F.Announced(0), &wire.AnnouncedServer{Name: "Den", Map: "q3dm1"}) {
		t.Errorf("the card is %+v, announced %+v", card, g.F.Announced(0))
	}
	if !slices.Equal(card.Other, []string{"bob"}) {
		t.Errorf("the card does not say whose version differs: %+v", card)
	}
	stranger := netip.MustParseAddrPort("192.0.2.1:1")
	factstest.Same(t, "a server is called", g.F.Called(g.Servers.List[0].Addr), "Den (20.0.0.1:27960)")
	factstest.Same(t, "a stranger is called", g.F.Called(stranger), "192.0.2.1:1")
	factstest.Same(t, "a stranger stands at", g.F.IndexOf(stranger), -1)
	if err := g.Ballot.Veto(selection.Veto{Player: "ann", Server: g.Servers.List[0].Addr}); err != nil {
		t.Fatal(err)
	}
	factstest.Same(t, "the last veto is", g.F.ViewVetoes()[2], "ann: Den (20.0.0.1:27960)")
}

// TestInfos checks that words about servers that the list does not have are refused whole.
func TestInfos(t *testing.T) {
	g := factstest.New(t, factstest.Settings(), 10, "ann")
	g.Gets(factstest.List(10))
	g.Measures("ann", 10)
	stranger := g.HearInfos("ann", wire.Infos{Servers: []wire.ServerInfo{{Server: 0, Info: factstest.Info()}, {Server: 10}}}, g.Now)
	g.RefreshFacts()
	if stranger != 10 || g.Servers.Info(0) != nil {
		t.Errorf("a stranger is %d, of the first is known %+v", stranger, g.Servers.Info(0))
	}
}

// TestSeats checks that there are seats for the choice's players, for guests who count, and for all
// who come along.
func TestSeats(t *testing.T) {
	for _, tt := range []struct {
		name    string
		players []people.ID
		fewest  int
		counted bool
		along   []string
		seats   int // that a choice asks for
	}{
		{"for all", []people.ID{"ann", "bob", "cat"}, 0, false, []string{"ann", "bob", "cat"}, 3},
		{"for some, and one comes along", []people.ID{"ann", "bob"}, 0, false, []string{"ann", "bob", "cat"}, 3},
		{"for all, and a guest", []people.ID{"ann", "bob", "cat"}, 0, true, []string{"ann", "bob", "cat"}, 4},
		{"for some, and a guest", []people.ID{"ann"}, 0, true, []string{"ann", "bob", "cat"}, 4},
		{"for more to come", []people.ID{"ann"}, 6, false, []string{"ann", "bob", "cat"}, 6},
	} {
		g := germans(t, factstest.Settings())
		g.Join("dan")
		g.Attendance.Leave("dan", g.Now)
		if g.Settings.Players = tt.fewest; tt.counted {
			counts(g, "zoe")
		}
		guests := 0
		if tt.counted {
			guests = 1
		}
		g.Measures("ann", 10)
		b := g.F.Basis(tt.players)
		if !slices.Equal(b.Along, tt.along) || b.Guests != guests || b.Criteria.Seats != tt.fewest {
			t.Errorf("%s: along come %v and %d guests, wanted are %d seats", tt.name, b.Along, b.Guests, b.Criteria.Seats)
		}
		needs := max(tt.seats, tt.fewest)
		if got := g.F.Criteria(g.Settings, tt.players).Seats; got != needs || tt.fewest == 0 && g.F.SeatsFor(tt.players) != needs {
			t.Errorf("%s: %d seats, by the criteria %d", tt.name, g.F.SeatsFor(tt.players), got)
		}
		full := g.F.BasisWithGuests(tt.players)
		if full.Criteria.Seats != needs || len(full.Table.Players()) != len(tt.players)+guests || len(full.Estimated) != guests {
			t.Errorf("%s: a choice is for %v with %d seats, estimated are %v", tt.name, full.Table.Players(), full.Criteria.Seats, full.Estimated)
		}
	}
}
