package facts_test

import (
	"encoding/json"
	"net/netip"
	"os"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/evidence"
	"muster/host/room/facts"
	"muster/host/room/facts/factstest"
	"muster/host/room/launch"
	"muster/host/room/origin"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/room/saved"
	"muster/host/wire"
	"muster/selection"
)

// whole returns a group with something in every section of the saved room.
func whole(t testing.TB) *factstest.Group {
	g := busy(t)
	g.Gets(append(factstest.List(3), discovery.Server{Addr: hidden.Addr}), hidden)
	g.Settings.Password, g.Settings.Webhook = "sesame", "https://example.org/hook"
	g.Hears("", 0, factstest.Info())
	for i, player := range []people.ID{"ann", "bob", "cat"} {
		g.Evidence[player] = &evidence.PlayerResults{}
		g.Measures(player, factstest.Up(10+i, 3)...)
		g.Hears(player, 1, discovery.Info{Name: "Den", Map: "q3dm1", MaxPlayers: 16})
	}
	g.Evidence["bob"].LimitProbes(20)
	g.Evidence["bob"].Share(true)
	g.Evidence["cat"].Look(evidence.Look{Result: discovery.Result{Server: 2, State: discovery.Answered, RTT: 9 * ms}})
	g.Choice.Take(selection.Selection{Chosen: &selection.Ranked{Addr: hostport.At(g.Servers.List[1].Addr)}})
	g.Choice = g.Choice.Next()
	g.Chooses()
	g.Ballot.Open(ballot.Among(g.Choice.Newest(), []int{0, 1}))
	g.Attendance.LeaveOut(attendance.Left, "cat")
	g.IsBroken = true
	return g
}

// around returns a group of some parts.
func around(t testing.TB, parts facts.Parts) *factstest.Group {
	g := &factstest.Group{TB: t, Parts: parts, Now: roomtime.Opening}
	g.F = g.Facts()
	return g
}

// TestSaved checks that the group's sections keep their form, and can be read back.
func TestSaved(t *testing.T) {
	g := whole(t)
	golden, err := os.ReadFile("testdata/parts.json")
	if want := strings.TrimSpace(string(golden)); err != nil || g.Text() != want {
		t.Errorf("it is saved as\n%s\nwant\n%s\n%v", g.Text(), want, err)
	}
	var s saved.Room
	if err := json.Unmarshal(golden, &s); err != nil {
		t.Fatal(err)
	}
	back, err := factstest.Restored(&s)
	if err != nil {
		t.Fatal(err)
	}
	again := around(t, back)
	if got := again.Text(); got != g.Text() {
		t.Errorf("it comes back as\n%s\nwant\n%s", got, g.Text())
	}
	players := g.Attendance.Players()
	factstest.Same(t, "players are", back.Attendance.Players(), players)
	factstest.Same(t, "counting are", back.Attendance.Active(), []people.ID{"ann", "bob"})
	factstest.Same(t, "a word counts", *back.Servers.Info(1), *g.Servers.Info(1))
	factstest.Same(t, "hidden from ann are", back.Nearby.HiddenFrom("ann"), []int{3})
	for _, player := range players {
		w, was := back.Evidence[player], g.Evidence[player]
		if w.ProbeLimit() != was.ProbeLimit() || w.IsSharing() != was.IsSharing() || w.At(1) != was.At(1) || back.Attendance.Of(player).Here {
			t.Errorf("%s knows %+v, is here: %v", player, w.At(1), back.Attendance.Of(player).Here)
		}
	}
	if back.Settings.Password != "sesame" || back.Settings.Webhook == "" || !back.IsBroken ||
		back.Measuring != g.Measuring || back.List.Tree() == nil {
		t.Errorf("settings are %+v, broken %v, measuring since %v", back.Settings, back.IsBroken, back.Measuring)
	}
	if chosen := g.F.Select([]people.ID{"ann", "bob"}); factstest.Chosen(&chosen) != 1 ||
		back.Choice.Newest().Chosen.Server != g.Choice.Newest().Chosen.Server {
		t.Errorf("chosen is %d, and was %d", factstest.Chosen(back.Choice.Newest()), factstest.Chosen(g.Choice.Newest()))
	}
}

// TestNoGroup checks that sections that make no whole group are an error.
func TestNoGroup(t *testing.T) {
	nine := 9
	for _, tt := range []struct {
		name  string
		spoil func(s *saved.Room)
		why   string
	}{
		{"nothing", func(*saved.Room) {}, ""},
		{"a round before all others", func(s *saved.Room) { s.Round = -1 }, "a round -1"},
		{"too many rounds", func(s *saved.Room) { s.Round = wire.MaxRound + 1 }, "a round 1048577"},
		{"a word of the list that is none", func(s *saved.Room) { s.Listing.Said = []byte("x") }, "wire: unknown message"},
		{"a vote for no server", func(s *saved.Room) {
			s.Ballot.Papers = map[people.ID]ballot.Paper{"ann": {Vote: &nine}}
		}, "a vote for server 9 of 4"},
		{"measurements that are none", func(s *saved.Room) { s.Players[1].Evidence.Report = nil }, `"bob": `},
		{"a player who is nobody", func(s *saved.Room) { s.Players[1].ID = "eve" }, `"bob" does not play here`},
		{"a player too few", func(s *saved.Room) { s.Players = s.Players[:2] }, `"cat" does not play here`},
		{"a player too many", func(s *saved.Room) {
			s.Roster.Players = s.Roster.Players[:2]
			delete(s.Origins, "cat")
		}, "2 players of 3"},
		{"two of one name", func(s *saved.Room) { s.Roster.Players[1].Name = "Ann" }, `two people called "Ann"`},
		{"somewhere without anybody", func(s *saved.Room) { s.Origins["eve"] = origin.Entry{} }, `"eve" comes from somewhere, and is not here`},
		{"attendance of nobody", func(s *saved.Room) { s.Attendance.Order[1] = "eve" }, "eve"},
		{"a way of nobody", func(s *saved.Room) { s.Launch = launch.State{"eve": {State: wire.LaunchStarted}} }, "eve"},
		{"doubts of nobody", func(s *saved.Room) {
			json.Unmarshal([]byte(`{"players":{"eve":{"vouched":true}}}`), &s.Trust)
		}, "eve"},
		{"findings of nobody", func(s *saved.Room) { s.Nearby.Players["eve"] = s.Nearby.Players["ann"] }, "eve"},
		{"words that are none", func(s *saved.Room) { s.Infos.Infos = nil }, "wire: "},
		{"a choice of no server", func(s *saved.Room) {
			s.Choice.Newest.Chosen.Addr = hostport.At(netip.MustParseAddrPort("192.0.2.1:1"))
		}, "192.0.2.1:1"},
	} {
		var s saved.Room
		if err := json.Unmarshal([]byte(whole(t).Text()), &s); err != nil {
			t.Fatal(err)
		}
		tt.spoil(&s)
		_, err := factstest.Restored(&s)
		if isWhole := err == nil; isWhole != (tt.why == "") || !isWhole && !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.why)
		}
	}
}

// FuzzGroup restores groups that anything may have written. If the bytes pass for a group, it can
// be shown, chosen for and saved again, and comes back the same.
func FuzzGroup(f *testing.F) {
	golden, err := os.ReadFile("testdata/parts.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add([]byte(whole(f).Text()))
	f.Add([]byte(busy(f).Text()))
	f.Add([]byte(factstest.New(f, factstest.Settings(), 10).Text()))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s saved.Room
		if json.Unmarshal(data, &s) != nil {
			return
		}
		back, err := factstest.Restored(&s)
		if err != nil {
			return
		}
		g := around(t, back)
		text := g.Text()
		var again saved.Room
		if err := json.Unmarshal([]byte(text), &again); err != nil {
			t.Fatal(err)
		}
		if back, err = factstest.Restored(&again); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		if other := around(t, back); other.Text() != text {
			t.Fatalf("it comes back as\n%s\nwant\n%s", other.Text(), text)
		}
		players := g.Attendance.Players()
		g.F.ViewPeople(true)
		g.F.ViewVetoes()
		g.WithdrawGuestVotes(true)
		g.F.AtHome()
		g.F.Select(g.F.Measured())
		for server := range g.Servers.List {
			g.F.Card(server)
			g.F.Announced(server)
			g.F.CauseAgainst(server, players)
		}
		if g.Choice.Newest() != nil {
			g.F.BasisWithGuests(g.F.ChosenFor())
		}
		for _, player := range players {
			g.F.ListFor(player)
			g.Locate(player, origin.Origin{Addr: factstest.Addr("x")}, true)
		}
		g.ForgetSaid()
		g.Round = g.Next(g.Now)
		if _, err := g.Save(); err != nil {
			t.Fatal(err)
		}
	})
}
