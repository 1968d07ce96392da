package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/page"
	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/room/roster"
	"muster/host/wire"
	"muster/selection"
)

// stagesOfPage is the table of states for the unit tests of the page's stages, which run in Node.
const stagesOfPage = "../../e2e/stages/states"

// TestStages plays rooms into every stage of their page, and compares what their readers are sent
// with the table for the page's own tests. Write it anew with
//
//	go test ./host/page -run Stages -update
func TestStages(t *testing.T) {
	written := map[string]bool{}
	for _, play := range []func(*night){
		gatherings, rounds, crowds, launches, failures, waits, nights, matches, meetings, strangers,
	} {
		play(&night{T: t, written: written})
	}
	files, err := os.ReadDir(stagesOfPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if written[file.Name()] {
			continue
		}
		if !*update {
			t.Errorf("no room is played into %s", file.Name())
		} else if err := os.Remove(filepath.Join(stagesOfPage, file.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// night plays a host's part for one room, on a clock of its own.
type night struct {
	*testing.T
	room *room.Room
	view *page.View
	now  time.Time
	// way completes the way to a server as a game's host does.
	way func(wire.Way) wire.Way
	// pages are the credentials of people's pages, and the organiser's.
	pages map[string]string
	// finalists are the newest second looks that each player was asked for, and infos what servers
	// say of themselves.
	finalists map[string]wire.Finalists
	infos     []discovery.Info
	pings     map[string][]float64
	written   map[string]bool
}

// opens opens a room. A function may change its settings.
func (n *night) opens(change func(*wire.Settings)) {
	settings := wire.Settings{
		Name: "Friday night", Game: "openarena", By: selection.Mean, Strategy: "conventional", Agree: wire.Yes, GuestsVote: true,
		Limits: wire.Limits{250 * time.Millisecond},
	}
	if change != nil {
		change(&settings)
	}
	n.now, n.view = roomtest.Eight, &page.View{}
	n.pages, n.finalists = map[string]string{"organiser": "the secret", "stranger": ""}, map[string]wire.Finalists{}
	n.infos, n.pings = nil, map[string][]float64{}
	n.way = func(way wire.Way) wire.Way { way.Link = "steam://connect/" + way.Connect; return way }
	n.room = room.New(room.Keys{Code: "BAKODI", Link: "thekeyofthelink", Secret: "the secret"}, settings, n.now)
}

func (n *night) step(in room.Input) {
	n.Helper()
	outputs, err := n.room.Step(in, n.now)
	if err != nil {
		n.Fatalf("%T: %v", in, err)
	}
	for _, o := range outputs {
		switch o := o.(type) {
		case room.Send:
			if w, is := o.Message.(wire.Welcome); is {
				n.pages[o.To] = w.Page
			}
			if f, is := o.Message.(wire.Finalists); is {
				for _, p := range n.room.Snapshot().People {
					if p.Peer && (o.To == "" || o.To == p.Name) {
						n.finalists[p.Name] = f
					}
				}
			}
		case room.Plan:
			defer n.step(room.Turn{})
		}
	}
}

// orders orders something on somebody's page.
func (n *night) orders(by string, action room.Action) {
	n.Helper()
	n.step(room.Order{Credential: n.pages[by], Action: action})
}

// plays lets a player in whose page is open. The first one is the organiser.
func (n *night) plays(name, country string, more ...wire.Side) {
	n.Helper()
	hello := wire.Hello{Version: wire.Version, Code: "BAKODI", Name: name, Token: name + "'s token"}
	if len(n.room.Snapshot().People) == 0 {
		hello.As = "the secret"
	}
	if len(more) > 0 {
		hello.Side = more[0]
	}
	n.step(room.Join{Hello: hello, From: room.Origin{Country: country}, Token: hello.Token})
	n.step(room.PageOpened{Token: n.pages[name]})
}

// watches lets a guest in, who has only a page.
func (n *night) watches(name string) {
	n.Helper()
	n.pages[name] = name + "'s page"
	n.step(room.Order{Action: room.Enter{Name: name, Token: n.pages[name], From: netip.AddrFrom4([4]byte{198, 51, 100, byte(len(n.pages))})}})
	n.step(room.PageOpened{Token: n.pages[name]})
}

// friends are the players of the session of 2005, and where they live.
var friends = [][2]string{{"anna", "NL"}, {"ben", "US"}, {"chong", "MY"}, {"dave", ""}}

func (n *night) friendsPlay() {
	n.Helper()
	for _, friend := range friends {
		n.plays(friend[0], friend[1])
		n.step(room.Hear{Player: friend[0], Message: wire.Able{Game: n.room.Settings().Game}})
	}
}

// names are those of all players, in the order of their arrival.
func (n *night) names() (names []string) {
	for _, p := range n.room.Snapshot().People {
		if p.Peer {
			names = append(names, p.Name)
		}
	}
	return names
}

// lists gives the room servers, with their countries.
func (n *night) lists(countries ...string) {
	n.Helper()
	var servers []discovery.Server
	for i, country := range countries {
		servers = append(servers, discovery.Server{Addr: roomtest.AddrOf(i), Country: country})
		n.infos = append(n.infos, discovery.Info{Name: fmt.Sprintf("pro-g InstaGib #%d", 1480+i), Map: "oa_dm1", Players: 4, MaxPlayers: 64})
	}
	n.step(room.Listed{List: topology.New(room.Shared(servers, nil))})
}

// reports says what a player measures, ms; 0 is lost.
func (n *night) reports(name string, pings ...float64) {
	n.Helper()
	n.pings[name] = pings
	round := n.room.Snapshot().Room.Round
	infos, report := wire.Infos{Round: round}, wire.Report{Round: round}
	for server, ms := range pings {
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: n.infos[server]})
		result := discovery.Result{Server: server, State: discovery.Answered, RTT: time.Duration(ms * float64(time.Millisecond))}
		if ms == 0 {
			result = discovery.Result{Server: server, State: discovery.Lost}
		}
		report.Results = append(report.Results, result)
	}
	n.step(room.Hear{Player: name, Message: infos})
	n.step(room.Hear{Player: name, Message: report})
}

func (n *night) done(names ...string) {
	n.Helper()
	for _, name := range names {
		n.step(room.Hear{Player: name, Message: wire.Done{Round: n.room.Snapshot().Room.Round}})
	}
}

// looks answers the newest second look of players with what they measured.
func (n *night) looks(names ...string) {
	n.Helper()
	for _, name := range names {
		asked, is := n.finalists[name]
		if !is {
			n.Fatalf("%s was not asked to look at anything; the log: %v", name, n.room.Snapshot().Log)
		}
		verified := wire.Verified{Round: asked.Round, Attempt: asked.Attempt}
		for _, server := range asked.Servers {
			seen := wire.Finalist{Server: server, State: discovery.Lost, RTTs: []float64{}, Sent: 3, Info: &n.infos[server]}
			if ms := n.pings[name][server]; ms > 0 {
				seen.State, seen.RTTs = discovery.Answered, []float64{ms, ms, ms}
			}
			verified.Servers = append(verified.Servers, seen)
		}
		n.step(room.Hear{Player: name, Message: verified})
	}
}

// passes lets time pass, a quarter of a second at a time.
func (n *night) passes(d time.Duration) {
	n.Helper()
	for end := n.now.Add(d); n.now.Before(end); {
		n.now = n.now.Add(min(250*time.Millisecond, end.Sub(n.now)))
		n.step(room.Tick{})
	}
}

// until lets time pass till the room is in a stage.
func (n *night) until(stage wire.Stage) {
	n.Helper()
	for end := n.now.Add(time.Hour); n.room.Stage() != stage; n.passes(250 * time.Millisecond) {
		if n.now.After(end) {
			n.Fatalf("the room is %s, not %s; the log: %v", n.room.Stage(), stage, n.room.Snapshot().Log)
		}
	}
}

// measured plays a round until its players have measured four servers and looked again at the best.
func (n *night) measured() {
	n.Helper()
	n.lists("CA", "DE", "JP", "US", "NL")
	for i, name := range n.names() {
		n.reports(name, ourPings[i%len(ourPings)]...)
	}
	n.done(n.names()...)
	n.looks(n.names()...)
}

// ourPings are the players' pings to the servers.
var ourPings = [][]float64{{88, 12, 240, 92, 6}, {9, 96, 170, 4, 99}, {247, 190, 80, 230, 180}, {44, 60, 220, 30, 70}}

// keeps writes what every reader of the page is sent, or compares it with what was written.
func (n *night) keeps(name string) {
	n.Helper()
	view, err := (&page.View{}).Next(n.room, page.Host{
		Games: []wire.Game{{ID: "openarena", Name: "OpenArena"}, {ID: "xonotic", Name: "Xonotic"}},
		Join:  func(_ string, way wire.Way) wire.Way { return n.way(way) }, Posts: true,
	})
	if err != nil {
		n.Fatal(err)
	}
	state := struct {
		Now     int64                      `json:"now"`
		Room    json.RawMessage            `json:"state"`
		Readers map[string]json.RawMessage `json:"readers"`
	}{n.now.UnixMilli(), object(view, 0), map[string]json.RawMessage{}}
	for reader, credential := range n.pages {
		badge := roster.BadgeOf(view.Badges, credential)
		if badge.Name == "" && reader != "organiser" && reader != "stranger" {
			continue // somebody who has left
		}
		const link = "http://192.0.2.99:8080/#BAKODI_thekeyofthelink"
		join := link + "~fingerprint"
		if reader == "organiser" {
			join += ".theticket"
		}
		you, err := json.Marshal(struct {
			room.Badge
			Link string `json:"link"`
			Join string `json:"join"`
		}{badge, link, join})
		if err != nil {
			n.Fatal(err)
		}
		state.Readers[reader] = append(view.AppendOwn(fmt.Appendf(nil, `{"you":%s`, you), badge.Name, 0), '}')
	}
	data, err := json.MarshalIndent(state, "", " ")
	if err != nil {
		n.Fatal(err)
	}
	file := name + ".json"
	if n.written[file] {
		n.Fatalf("two states are called %s", name)
	}
	n.written[file] = true
	path := filepath.Join(stagesOfPage, file)
	if *update {
		if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
			n.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		n.Fatal(err)
	}
	if !bytes.Equal(append(data, '\n'), want) {
		n.Errorf("what pages are sent differs from %s; with -update the test writes it anew", path)
	}
	if where := bytes.Index(data, []byte("the secret")); where >= 0 {
		n.Errorf("%s has the organiser's secret: %.80s", name, data[max(0, where-40):])
	}
}

// gatherings are lobbies: nobody yet, friends, people who cannot play, and a group of a known size.
func gatherings(n *night) {
	n.opens(nil)
	n.keeps("gathering-nobody")
	n.plays("anna", "NL")
	n.keeps("gathering-alone")
	n.friendsPlay2("ben", "chong", "dave")
	n.watches("zoe")
	n.keeps("gathering")
	n.orders("ben", room.React{Sign: "drink"})
	n.keeps("gathering-reaction")
	n.now = n.now.Add(time.Minute)
	n.orders("organiser", room.Lock{Locked: true})
	n.orders("ben", room.Somewhere{Somewhere: true})
	n.step(room.Hear{Player: "anna", Message: wire.Able{Game: "openarena", Why: sentence.Plain("the program openarena isn’t installed")}})
	n.step(room.Leave{Player: "dave"})
	n.orders("organiser", room.Without{Name: "chong"})
	n.keeps("gathering-troubled")

	n.opens(func(s *wire.Settings) {
		s.Players, s.Map, s.Mode, s.Voice = 6, "oa_dm1", "ctf", "https://discord.gg/abc"
		s.Limits = wire.Limits{80 * time.Millisecond, 120 * time.Millisecond}
	})
	n.friendsPlay()
	n.keeps("gathering-awaited")

	n.opens(func(s *wire.Settings) { s.Name, s.Voice = "", "javascript:alert(1)" })
	n.keeps("gathering-unnamed")
}

// friendsPlay2 lets some of the friends in.
func (n *night) friendsPlay2(names ...string) {
	n.Helper()
	for _, friend := range friends {
		if slices.Contains(names, friend[0]) {
			n.plays(friend[0], friend[1])
			n.step(room.Hear{Player: friend[0], Message: wire.Able{Game: n.room.Settings().Game}})
		}
	}
}

// rounds is a round with a vote, from the list to the countdown.
func rounds(n *night) {
	n.opens(nil)
	n.friendsPlay()
	n.watches("zoe")
	n.step(room.Proceed{})
	n.keeps("listing")
	n.lists("CA", "DE", "JP", "US", "NL")
	n.passes(time.Second)
	n.reports("anna", ourPings[0][:3]...)
	n.reports("ben", ourPings[1]...)
	n.passes(2 * time.Second)
	n.keeps("measuring")
	for i, name := range n.names() {
		n.reports(name, ourPings[i]...)
	}
	n.done(n.names()...)
	n.keeps("verifying")
	n.looks(n.names()...)
	n.keeps("voting")
	n.orders("zoe", room.Vote{Addr: roomtest.AddrOf(1)})
	n.orders("anna", room.Vote{Addr: roomtest.AddrOf(1)})
	n.orders("ben", room.Ready{Ready: true})
	n.keeps("voting-voted")
	n.orders("chong", room.Veto{Addr: roomtest.AddrOf(3)})
	n.keeps("voting-vetoed")
	for _, name := range append(n.names(), "zoe") {
		n.orders(name, room.Ready{Ready: true})
	}
	n.keeps("reveal")
	n.passes(7 * time.Second)
	n.keeps("countdown")

	n.opens(func(s *wire.Settings) { s.Strategy = wire.Coordinated })
	n.friendsPlay()
	n.step(room.Proceed{})
	n.lists("CA", "DE", "JP", "US", "NL", "FR", "GB", "PL")
	n.passes(time.Second)
	n.reports("anna", 88, 12)
	n.reports("ben", 9, 96)
	n.passes(time.Second)
	n.keeps("coordinating")

	n.opens(func(s *wire.Settings) { s.LongLook = discovery.Millis(time.Minute) })
	n.friendsPlay()
	n.step(room.Proceed{})
	n.lists("CA", "DE", "JP", "US", "NL")
	for i, name := range n.names() {
		n.reports(name, ourPings[i]...)
	}
	n.done(n.names()...)
	n.passes(20 * time.Second)
	n.keeps("looking")
}

// crowds are twenty people with the longest names.
func crowds(n *night) {
	n.opens(nil)
	for i := range 20 {
		name := fmt.Sprintf("player%02d", i)
		if i%5 == 0 {
			name += " of Llanfairpwll"
		}
		n.plays(name, []string{"NL", "US", "MY", "DE", "FR", ""}[i%6])
	}
	for i := range 3 {
		n.watches(fmt.Sprintf("guest%d", i))
	}
	n.keeps("gathering-crowd")
	n.step(room.Proceed{})
	n.measured()
	n.keeps("voting-crowd")
	n.orders("organiser", room.Go{Stage: wire.Chosen})
	n.until(wire.Launching)
	n.keeps("launching-crowd")
}

// launches are ways to a server, and how far people get.
func launches(n *night) {
	voted := func(change func(*wire.Settings)) {
		n.opens(change)
		n.friendsPlay()
	}
	goes := func() {
		n.step(room.Proceed{})
		n.measured()
		n.until(wire.Launching)
	}
	is := func(name string, state wire.LaunchState, why string) {
		m := wire.Launched{Round: n.room.Snapshot().Room.Round, State: state}
		if why != "" {
			m.Detail = sentence.Plain(why)
		}
		n.step(room.Hear{Player: name, Message: m})
	}
	quick := func(s *wire.Settings) { s.Agree, s.Voice, s.Password = wire.No, "https://discord.gg/abc", "club" }
	voted(quick)
	n.watches("zoe")
	goes()
	n.keeps("launching")
	is("anna", wire.LaunchStarted, "")
	is("ben", wire.LaunchByHand, "")
	is("chong", wire.LaunchAsking, "")
	is("dave", wire.LaunchFailed, "openarena: not found in PATH")
	n.keeps("launching-mixed")
	is("chong", wire.LaunchDeclined, "")
	n.step(room.Leave{Player: "dave"})
	n.keeps("launching-declined")
	is("chong", wire.LaunchStarted, "")
	is("dave", wire.LaunchStarted, "")
	n.orders("zoe", room.Arrived{})
	n.keeps("launching-arrived")

	voted(quick)
	n.way = func(way wire.Way) wire.Way {
		way.Typed = &wire.Typed{Where: "console", Texts: []string{"connect " + way.Connect}}
		return way
	}
	goes()
	is("chong", wire.LaunchByHand, "")
	n.keeps("launching-typed")

	voted(quick)
	n.way = func(way wire.Way) wire.Way {
		way.Server = "West Europe"
		way.Region = &wire.Region{
			Name: "West Europe", Set: "playfab/westeurope", How: sentence.Of("region.siege", "set", "playfab/westeurope"),
		}
		return way
	}
	goes()
	is("chong", wire.LaunchByHand, "")
	n.keeps("launching-region")
}

// failures are rounds without a server.
func failures(n *night) {
	n.opens(func(s *wire.Settings) { s.Limits = wire.Limits{150 * time.Millisecond} })
	n.friendsPlay()
	n.step(room.Proceed{})
	n.lists("CA", "DE", "JP")
	for i, name := range n.names() {
		n.reports(name, [][]float64{{12, 170, 198}, {78, 168, 20}, {198, 180, 210}, {160, 60, 175}}[i]...)
	}
	n.done(n.names()...)
	n.until(wire.Failed)
	n.keeps("failed-far")

	n.opens(nil)
	n.friendsPlay()
	n.step(room.Proceed{})
	n.step(room.Listed{Err: fmt.Errorf("the master server does not answer"), List: topology.New(nil)})
	n.keeps("failed-list")

	n.opens(nil)
	n.friendsPlay()
	n.step(room.Proceed{})
	n.lists("CA", "DE")
	for _, name := range n.names() {
		n.reports(name, 0, 0)
	}
	n.done(n.names()...)
	n.until(wire.Failed)
	n.keeps("failed-silent")
}

// waits are rooms whose servers are full.
func waits(n *night) {
	n.opens(nil)
	n.friendsPlay()
	n.step(room.Proceed{})
	n.lists("CA", "DE")
	for i := range n.infos {
		n.infos[i].Players = 64
	}
	n.infos[1].Players = 62
	for i, name := range n.names() {
		n.reports(name, ourPings[i][:2]...)
	}
	n.done(n.names()...)
	n.until(wire.Failed)
	n.keeps("failed-full")
	n.orders("organiser", room.AwaitSeats{})
	n.passes(5 * time.Second)
	n.keeps("waiting")
	n.infos[1].Players = 40
	for range 200 {
		for _, name := range n.names() {
			if _, is := n.finalists[name]; is {
				n.looks(name)
				delete(n.finalists, name)
			}
		}
		if s := n.room.Snapshot().Seats; s != nil && !s.LaunchAt.IsZero() {
			break
		}
		n.passes(250 * time.Millisecond)
	}
	n.keeps("waiting-countdown")
}

// nights are ends: of two rounds, and of none.
func nights(n *night) {
	n.opens(func(s *wire.Settings) { s.Agree = wire.No })
	n.friendsPlay()
	n.watches("zoe")
	n.step(room.Proceed{})
	n.measured()
	n.until(wire.Launching)
	n.passes(30 * time.Minute)
	n.orders("organiser", room.Go{Stage: wire.Launching})
	n.until(wire.Listing)
	n.infos = nil
	n.lists("JP", "FR", "GB")
	for i, name := range n.names() {
		n.reports(name, []float64{200, 160, 40, 190}[i], []float64{20, 110, 190, 70}[i], []float64{25, 90, 200, 60}[i])
	}
	n.done(n.names()...)
	n.looks(n.names()...)
	n.until(wire.Launching)
	n.passes(30 * time.Minute)
	n.keeps("launching-again")
	n.orders("anna", room.End{})
	n.keeps("night")

	n.opens(nil)
	n.friendsPlay()
	n.orders("anna", room.End{})
	n.keeps("night-early")
}

// matches are two sides, whose captains ban and pick.
func matches(n *night) {
	for _, best := range []string{"bo1", "bo3", "bo5"} {
		n.opens(func(s *wire.Settings) {
			s.Match, s.SideA, s.SideB = best, "Nightjars", "Tin Foxes"
			if best != "bo1" {
				s.Maps, s.SideB = "dm6, dm17, ztn, q3tourney2, cpm22", ""
			}
			if best == "bo3" {
				s.Order = "ban ban pick"
			}
		})
		for i, name := range []string{"ann", "ben", "emil", "fay"} {
			n.plays(name, []string{"NL", "NL", "PL", ""}[i], []wire.Side{wire.SideA, wire.SideB}[i/2])
		}
		n.plays("gil", "DE")
		n.watches("zoe")
		n.keeps(best + "-gathering")
		n.orders("gil", room.TakeSide{Side: wire.SideB})
		n.orders("ann", room.AskLook{})
		n.step(room.Proceed{})
		n.lists("CA", "DE", "JP", "US", "NL", "NL")
		n.infos[2].Players = 62
		for i, name := range n.names() {
			n.reports(name, 12.3+10*float64(i), 25.1+5*float64(i), 131.2+2*float64(i), 101.7-5*float64(i), 71.9-9*float64(i), 41.4)
		}
		n.passes(time.Second)
		if best == "bo1" {
			n.keeps(best + "-measuring")
		}
		n.done(n.names()...)
		n.passes(5 * time.Second)
		if best == "bo1" {
			n.keeps(best + "-looking")
		}
		n.looks(n.names()...)
		n.passes(2 * time.Second)
		n.keeps(best + "-banning")
		for move := 1; ; move++ {
			turn := n.room.Snapshot().Match.Turn
			if turn == nil {
				break
			}
			m := n.room.Snapshot().Match
			if turn.Of == wire.OfMap {
				i := slices.IndexFunc(m.Maps, func(m wire.MatchMap) bool { return m.Gone == 0 && m.Picked == 0 })
				if i == 0 {
					n.keeps(best + "-maps")
				}
				n.orders(turn.Captain, room.Move{Number: turn.Number, What: m.Maps[i].Name})
			} else if move == 2 && best == "bo1" { // the clock of its captain runs out
				n.keeps(best + "-banned")
				n.passes(35 * time.Second)
				n.keeps(best + "-late")
			} else {
				i := slices.IndexFunc(m.Servers, func(s wire.MatchServer) bool { return s.Gone == 0 })
				n.orders(turn.Captain, room.Move{Number: turn.Number, What: m.Servers[i].Addr})
			}
			if move > 20 {
				n.Fatalf("the captains move for ever: %+v", turn)
			}
		}
		n.keeps(best + "-moved")
		n.passes(10 * time.Second)
		if n.room.Stage() != wire.Launching {
			n.keeps(best + "-countdown")
		}
		n.until(wire.Launching)
		n.keeps(best + "-launching")
	}
}

// meetings are standing rooms, between and during their dates.
func meetings(n *night) {
	n.opens(func(s *wire.Settings) { s.Every, s.Agree = "fri 20:00 Europe/Berlin", wire.No })
	n.friendsPlay()
	n.keeps("meeting-first")
	n.step(room.Proceed{})
	n.measured()
	n.until(wire.Launching)
	yes, no := true, false
	n.orders("ben", room.Like{Liked: &yes})
	n.orders("chong", room.Like{Liked: &no})
	n.passes(time.Hour)
	n.orders("anna", room.End{})
	n.keeps("meeting-asleep")
	n.now = time.Date(2026, 11, 27, 18, 45, 0, 0, time.UTC)
	n.step(room.Tick{})
	n.plays("ben", "US")
	n.orders("ben", room.Come{Comes: &yes})
	n.keeps("meeting-awake")
}

// strangers give themselves, their servers and their room names that would break a page.
func strangers(n *night) {
	n.opens(func(s *wire.Settings) { s.Name = "<b>Friday</b> night" })
	for i, name := range hostileNames {
		n.plays(name, []string{"NL", "", "US", "MY"}[i])
	}
	n.watches("<mark>zoe")
	n.keeps("hostile-gathering")
	n.step(room.Proceed{})
	var servers []discovery.Server
	for i, name := range hostileServers {
		servers = append(servers, discovery.Server{Addr: roomtest.AddrOf(i), Country: []string{"CA", "<i>", "DE", ""}[i]})
		n.infos = append(n.infos, discovery.Info{Name: name, Map: name, Players: 2, MaxPlayers: 64})
	}
	n.step(room.Listed{List: topology.New(room.Shared(servers, nil))})
	for i, name := range n.names() {
		n.reports(name, ourPings[i][:4]...)
	}
	n.passes(time.Second)
	n.keeps("hostile-measuring")
	n.done(n.names()...)
	n.looks(n.names()...)
	n.keeps("hostile-voting")
	n.orders("organiser", room.Go{Stage: wire.Chosen})
	n.keeps("hostile-reveal")
	n.until(wire.Launching)
	n.step(room.Hear{Player: n.names()[1], Message: wire.Launched{
		Round: 1, State: wire.LaunchFailed, Detail: sentence.Plain("<img src=x onerror=alert(1)>"),
	}})
	n.keeps("hostile-launching")
	n.orders("organiser", room.End{})
	n.keeps("hostile-night")
}

// hostileNames and hostileServers are names that strangers give: markup, marks that turn the
// direction of text, letters with a tower of accents, escape sequences.
var (
	hostileNames   = []string{"anna\u202e<b>", "<img src=x onerror=alert(1)>", "zalgo" + strings.Repeat("\u0336\u0489", 8), "שלום ^1red"}
	hostileServers = []string{
		"<script>document.title='taken'</script><img src=x onerror=alert(1)>", "\u202eserver <mark>desrever\u2066",
		"<mark>" + strings.Repeat("very long ", 40), "^1red^7\x1b[31m<mark>colour\x07",
	}
)
