package group_test

import (
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
	"muster/host/room/brought"
	"muster/host/room/group/grouptest"
	"muster/host/room/nearby"
	"muster/host/room/origin"
	"muster/host/room/places"
	"muster/host/room/roster"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
	"muster/selection/anomaly"
)

const ms = time.Millisecond

var (
	lost, unprobed = grouptest.Lost, grouptest.Unprobed

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
func germans(t testing.TB, s wire.Settings) *grouptest.Group {
	g := grouptest.New(t, s, 10)
	g.JoinFrom("ann", german)
	g.Join("bob", "cat")
	zoe := german
	zoe.Addr = netip.MustParseAddr("9.9.8.1")
	g.Enter("zoe", zoe)
	return g
}

// counts counts a guest in.
func counts(g *grouptest.Group, guest string) {
	g.Helper()
	if note, err := g.Count(guest, true); err != nil || note.IsZero() {
		g.Fatalf("%s is counted in with %q, %v", guest, note, err)
	}
}

// brings lets somebody bring a server into the lists.
func brings(g *grouptest.Group, name string, server int) {
	g.Lists.Bring(name, discovery.InternetReach, []wire.Brought{{Addr: hostport.At(g.Servers.List[server].Addr)}}, nil, false)
}

// follows applies changes of people's names, and reports whether the room must be saved for them.
func follows(g *grouptest.Group, events []roster.Event, err error) (binds bool) {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
	for _, e := range events {
		binds = g.Follow(e) || binds
	}
	return binds
}

// busy returns a group whose player bob and guest zoe have done everything that can be done under a
// name.
func busy(t testing.TB) *grouptest.Group {
	s := grouptest.Settings()
	s.GuestsVote = true
	g := germans(t, s)
	g.Measures("bob", grouptest.Up(10, 3)...)
	g.Nearby.Move("bob", nearby.Place{Public: grouptest.Addr("bob")})
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
	for server, name := range []string{"bob", "zoe"} {
		brings(g, name, server)
		g.Ballot.Ready(name)
		if err := g.Ballot.Veto(selection.Veto{Player: name, Map: "q3dm" + name}); err != nil {
			t.Fatal(err)
		}
	}
	counts(g, "zoe")
	return g
}

// TestRenamed checks that all facts about somebody follow the new name.
func TestRenamed(t *testing.T) {
	for _, tt := range []struct{ from, to string }{{"bob", "ben"}, {"zoe", "zara"}} {
		g := busy(t)
		by := g.Roster.Caller(g.Roster.PageOf(tt.from))
		before := g.Text()
		if events, err := g.Roster.Rename(by, tt.to, true, g.Now); !follows(g, events, err) {
			t.Errorf("%s: nothing is to be saved", tt.from)
		}
		if got, want := g.Text(), strings.ReplaceAll(before, `"`+tt.from+`"`, `"`+tt.to+`"`); got != want {
			t.Errorf("%s is %s now:\n%s, want\n%s", tt.from, tt.to, got, want)
		}
		if able, isKnown := g.Launches.Can(tt.to, g.Settings.Game); tt.to == "ben" && (!isKnown || able.Why != sentence.Plain("no game here")) {
			t.Errorf("of %s's game is known %+v, %v", tt.to, able, isKnown)
		}
	}
	g := busy(t)
	before := g.Text()
	if !g.Follow(roster.Renamed{From: "bob", To: "bob", IsPlayer: true}) || g.Text() != before {
		t.Errorf("the same name changes something:\n%s, want\n%s", g.Text(), before)
	}
	g = busy(t)
	g.Follow(roster.Renamed{From: "cat", To: "bob", IsPlayer: true}) // bob's lists are not hers
	grouptest.Same(t, "what bob has brought is", g.Lists.View().Favourites[0].By, []string{brought.Nobody})
}

// TestCame checks that a guest who comes to play keeps words and lists, and needs no estimate any
// more. A free name brings nothing to anybody but its last owner.
func TestCame(t *testing.T) {
	for _, name := range []string{"zoe", "zara"} {
		g := busy(t)
		hello := wire.Hello{Name: name, As: roster.TicketOf(g.Roster.PageOf("zoe"))}
		_, events := g.Roster.Admit(g.Roster.Recognise(hello), "token", g.Now)
		if !follows(g, events, nil) {
			t.Errorf("%s: nothing is to be saved", name)
		}
		paper, by := g.Ballot.Paper(name), g.Lists.View().Favourites[1].By
		if !paper.Ready || !paper.Vetoed || !slices.Equal(by, []string{name}) {
			t.Errorf("%s has said %+v, and the list is by %v", name, paper, by)
		}
		if g.Estimates.IsCounted("zoe") || g.Estimates.IsCounted(name) || g.Origins.Of("zoe") != (origin.Origin{}) {
			t.Errorf("%s: counted in by an estimate, or still at %+v", name, g.Origins.Of("zoe"))
		}
	}
	for _, tt := range []struct {
		owner string
		want  string
	}{{"bob's", "bob"}, {"another's", brought.Nobody}} {
		g := busy(t)
		g.Follow(roster.Left{Name: "bob", Owners: []string{"bob's"}, IsPlayer: true})
		if !g.Follow(roster.Came{Name: "bob", Owner: tt.owner}) {
			t.Errorf("%s: nothing is to be saved", tt.owner)
		}
		grouptest.Same(t, tt.owner+" list is", g.Lists.View().Favourites[0].By, []string{tt.want})
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
		{roster.Left{Name: "bob", IsPlayer: true}, false, true, true, false, 2},
		{roster.Left{Name: "zoe"}, false, false, false, false, 2},
		{roster.Removed{Name: "bob"}, true, true, true, true, 1},
		{roster.Note{Says: sentence.Plain("bob")}, true, true, true, true, 2},
	} {
		g := busy(t)
		if g.Follow(tt.event) {
			t.Errorf("%T: the room must be saved", tt.event)
		}
		name := "bob"
		if left, is := tt.event.(roster.Left); is {
			name = left.Name
		}
		paper := g.Ballot.Paper(name)
		got := []any{paper.Ready, paper.Vetoed, g.Estimates.IsCounted("zoe"), g.Origins.Of(name).Addr.IsValid(), len(g.Lists.View().Favourites)}
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
		"attendance":   g.Attendance.Find("bob") != "",
		"an edition":   g.Editions.Version("bob", g.Settings.Game) != "",
		"an origin":    g.Origins.Of("bob") != origin.Origin{},
		"doubts":       len(g.Trust.State().Players) > 0,
		"findings":     g.Nearby.State().Players["bob"].Game != "",
		"a way":        g.Launches.Way("bob").State != "",
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
	g := germans(t, grouptest.Settings())
	g.Settings.GuestsVote = true
	g.Attendance.LeaveOut(attendance.Outvoted, "cat")
	g.Roster.OpenPage(g.Roster.PageOf("bob"), g.Now)
	g.JoinFrom("dan", origin.Origin{})
	_, events := g.Roster.Admit(g.Roster.Recognise(wire.Hello{Name: "eve", Asks: true}), "token of eve", g.Now)
	follows(g, events, nil)
	g.Attendance.Come("eve", "", g.Now)
	counts(g, "zoe")
	from := g.Origins.Of("zoe").Addr
	want := []ballot.Person{
		{Name: "ann"}, {Name: "bob", Page: true}, {Name: "cat", LeftOut: true}, {Name: "dan"}, {Name: "eve", Asked: true},
		{Name: "zoe", Guest: true, Counted: true, From: from, Page: true},
	}
	e := g.Electorate(true)
	grouptest.Same(t, "the electorate is", e.People, want)
	if !e.GuestsVote {
		t.Error("guests do not vote")
	}
	g.Attendance.Leave("eve", g.Now)
	want[2].LeftOut, want[4].Asked = false, false
	grouptest.Same(t, "before a choice, without eve's program, it is", g.Electorate(false).People, want)
}

// TestSilence checks that guests who have no say by the settings lose their words.
func TestSilence(t *testing.T) {
	g := busy(t)
	g.Estimates.Uncount("zoe")
	if g.Silence(true); !g.Ballot.Paper("zoe").Ready {
		t.Error("a guest who has a say is silenced")
	}
	g.Settings.GuestsVote = false
	g.Silence(true)
	if zoe, bob := g.Ballot.Paper("zoe"), g.Ballot.Paper("bob"); zoe.Ready || !zoe.Vetoed || !bob.Ready {
		t.Errorf("the guest has said %+v, and the player %+v", zoe, bob)
	}
}

// TestCount checks that a guest is counted in if the estimate is no guess, and no longer when
// asked.
func TestCount(t *testing.T) {
	g := germans(t, grouptest.Settings())
	g.Enter("yan", origin.Origin{})
	if _, err := g.Count("yan", true); err == nil {
		t.Error("somebody is counted in of whom nobody knows where they are")
	}
	counts(g, "zoe")
	grouptest.Same(t, "counted in are", g.Counted().Names(), []string{"zoe"})
	grouptest.Same(t, "invited are", g.Invited(), []string{"zoe"})
	dutch := origin.Origin{Addr: netip.MustParseAddr("9.9.7.1"), Country: "NL", ASN: 1136}
	if g.Origins.Enter("zoe", dutch); len(g.Counted().Names()) != 1 {
		t.Error("next door the guest does not count")
	}
	g.Settings.By = selection.Fairness // the estimate would be a guess by this rule
	if g.Counted().Names() != nil || !slices.Equal(g.Invited(), []string{"zoe"}) {
		t.Errorf("by fairness counted in are %v of %v", g.Counted().Names(), g.Invited())
	}
	g.Settings.By = selection.Mean
	g.Attendance.LeaveOut(attendance.Left, "ann") // zoe's neighbour
	grouptest.Same(t, "without the neighbour counted in are", len(g.Counted().Names()), 0)
	if note, err := g.Count("zoe", false); err != nil || note != sentence.Of("room.counts-no-more", "player", "zoe") || g.Invited() != nil {
		t.Errorf("%q, %v; invited are %v", note, err, g.Invited())
	}
}

// TestPlaces checks that the room takes the right number of players, and that the organiser's lists
// stand under the right name.
func TestPlaces(t *testing.T) {
	g := grouptest.New(t, grouptest.Settings(), 10)
	grouptest.Same(t, "places", g.Places(), wire.MaxPlayers)
	g.Settings.Most = 8
	grouptest.Same(t, "places at most", g.Places(), 8)
	g.Settings.Players = 4
	grouptest.Same(t, "places of the settings", g.Places(), 4)
	grouptest.Same(t, "the organiser is", g.OrganiserName(), "the organiser")
	_, events := g.Roster.Admit(g.Roster.Recognise(wire.Hello{Name: "oda", As: "secret"}), "token", g.Now)
	follows(g, events, nil)
	if _, err := g.Roster.HandOn("oda", "secret"); err != nil {
		t.Fatal(err)
	}
	grouptest.Same(t, "the organiser is", g.OrganiserName(), "oda")
}

// TestSurveyScene checks that the survey of places gets the right facts about the group. Players
// behind one address measure one after the other.
func TestSurveyScene(t *testing.T) {
	s := grouptest.Settings()
	s.Places = wire.Venues{{Name: "Frankfurt"}}
	g := grouptest.New(t, s, 10, "ann", "bob")
	g.JoinFrom("abe", g.Origins.Of("ann"))
	g.JoinFrom("olga", office)
	g.Tuning.Weights = map[string]float64{"ann": 2}
	g.Attendance.LeaveOut(attendance.Left, "bob")
	g.Attendance.Leave("bob", g.Now)
	g.Measures("ann", 10)
	g.Choice.Take(g.Select([]string{"ann"}))
	sc := g.SurveyScene()
	want := []places.Player{
		{Name: "ann", Connected: true, Addr: grouptest.Addr("ann")},
		{Name: "bob", LeftOut: true, Addr: grouptest.Addr("bob")},
		{Name: "abe", Connected: true, Addr: grouptest.Addr("ann"), Turn: 1},
		{Name: "olga", Connected: true, Beside: office.Near},
	}
	grouptest.Same(t, "the players are", sc.Players, want)
	if sc.Selection != g.Choice.Newest() || sc.Criteria.By != selection.Mean || sc.Criteria.Weights["ann"] != 2 || len(sc.Places) != 1 {
		t.Errorf("the scene is %+v", sc)
	}
}

// TestLocate checks that a player who comes from another network keeps all results but those for
// hidden servers. A player who comes beside others while all measure the list measures a part.
func TestLocate(t *testing.T) {
	begin := func() *grouptest.Group {
		g := grouptest.New(t, grouptest.Settings(), 10, "ann")
		g.JoinFrom("olga", office)
		g.Gets(append(grouptest.List(10), discovery.Server{Addr: hidden.Addr}), hidden)
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
		{"another network", origin.Origin{Addr: grouptest.Addr("olga")}, false},
	} {
		g := begin()
		g.Measures("olga", grouptest.Up(10, server+1)...)
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
		g.Locate("olga", origin.Origin{Addr: grouptest.Addr(tt.beside)}, tt.isMeasuring)
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
	vote := func(name string, server int) {
		t.Helper()
		addr := g.Servers.List[server].Addr
		if _, err := g.Ballot.Vote(name, addr, ballot.Options{Candidates: []selection.Ranked{{Server: server, Addr: hostport.At(addr)}}}); err != nil {
			t.Fatal(err)
		}
	}
	vote("bob", 2)
	g.Ballot.ByHand("cat")
	g.Launches.Able("cat", wire.Able{Game: g.Settings.Game, TypesPassword: true}, g.Settings)
	g.Attendance.LeaveOut(attendance.Outvoted, "cat")
	g.Trust.Discredit([]anomaly.Anomaly{{Player: "ann", Sign: anomaly.Contradicts, Servers: 3, Of: 4}},
		[]string{"ann", "bob", "cat"}, []string{"ann", "bob", "cat"})
	if err := g.Roster.Hide(g.Roster.Caller(g.Roster.PageOf("dan")), true); err != nil {
		t.Fatal(err)
	}
	g.Attendance.Leave("dan", g.Now)
	g.Enter("yan", origin.Origin{})
	g.Enter("xan", origin.Origin{})
	g.Ballot.Ready("yan") // xan's address is unknown too, so xan has no say
	var got []string
	for _, p := range g.ViewPeople(true) {
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
	grouptest.Same(t, "vetoes are", g.ViewVetoes(), []string{"bob: q3dmbob", "zoe: q3dmzoe"})
	g.Attendance.Leave("bob", g.Now)
	if bob := g.ViewPeople(true)[1]; !bob.Unable.IsZero() || bob.Connected {
		t.Errorf("of one who is away is seen %+v", bob)
	}
}

// TestStandingGuest checks that a guest who is away is no onlooker, and that a guest whom the
// choice leaves out reads so once it stands.
func TestStandingGuest(t *testing.T) {
	g := germans(t, grouptest.Settings())
	counts(g, "zoe")
	for _, name := range []string{"ann", "bob", "cat"} {
		g.Measures(name, 10)
	}
	g.Choice.Take(selection.Selection{Players: []string{"ann"}, Chosen: &selection.Ranked{}})
	zoe := func(isChosen bool) wire.Person { return g.ViewPeople(isChosen)[3] }
	if e := zoe(true).Estimate; e.Why != sentence.Of("estimate.none-suits") {
		t.Errorf("zoe reads %+v", e)
	}
	if e := zoe(false).Estimate; !e.Why.IsZero() {
		t.Errorf("before the choice stands zoe reads %+v", e)
	}
	g.Roster.Keep("cat")
	g.Drop("cat")
	follows(g, g.Roster.Unseat("cat", false, g.Now), nil)
	if people := g.ViewPeople(true); len(people) != 3 {
		t.Errorf("people are %+v", people)
	}
}

// TestCard checks that people see a server's facts, and outsiders its name.
func TestCard(t *testing.T) {
	g := busy(t)
	g.Hears("", 0, discovery.Info{Name: "Den", Map: "q3dm1", Version: "1.1", MaxPlayers: 16})
	grouptest.Same(t, "no server is", *g.Announced(-1), wire.AnnouncedServer{})
	card := g.Card(0)
	if card.Name != "Den" || card.MaxPlayers != 16 || !reflect.DeepEqual(g.Announced(0), &wire.AnnouncedServer{Name: "Den", Map: "q3dm1"}) {
		t.Errorf("the card is %+v, announced %+v", card, g.Announced(0))
	}
	if !slices.Equal(card.Other, []string{"bob"}) {
		t.Errorf("the card does not say whose version differs: %+v", card)
	}
	stranger := netip.MustParseAddrPort("192.0.2.1:1")
	grouptest.Same(t, "a server is called", g.Called(g.Servers.List[0].Addr), "Den (20.0.0.1:27960)")
	grouptest.Same(t, "a stranger is called", g.Called(stranger), "192.0.2.1:1")
	grouptest.Same(t, "a stranger stands at", g.IndexOf(stranger), -1)
	if err := g.Ballot.Veto(selection.Veto{Player: "ann", Server: g.Servers.List[0].Addr}); err != nil {
		t.Fatal(err)
	}
	grouptest.Same(t, "the last veto is", g.ViewVetoes()[2], "ann: Den (20.0.0.1:27960)")
}
