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
	"muster/discovery/hostport"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/page"
	"muster/host/room"
	"muster/host/room/evidence"
	"muster/host/room/roomtest"
	"muster/host/room/roster"
	"muster/host/wire"
	"muster/selection"
)

// stagesOfPage is the table of states for the unit tests of the page's stages, which run in Node.
const stagesOfPage = "../../e2e/stages/states"

// TestStages plays rooms into every stage of their page, and compares what their readers are sent,
// and the form, with the table for the page's own tests. Write it anew with
//
//	go test ./host/page -run Stages -update
func TestStages(t *testing.T) {
	recorded(t, filepath.Join(stagesOfPage, "../form.json"), indented(t, wire.FormOf(wire.MaxPlayers, false, true)))
	written := map[string]bool{}
	for _, play := range []func(*night){
		gatherings, rounds, placings, crowds, launches, failures, waits, nights, matches, leagues, meetings, strangers,
	} {
		play(&night{Session: &roomtest.Session{TB: t}, written: written})
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

// indented returns a value as JSON that people can compare.
func indented(t testing.TB, of any) []byte {
	t.Helper()
	data, err := json.MarshalIndent(of, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

// recorded compares what pages are sent with a file. With -update it writes the file first.
func recorded(t testing.TB, path string, data []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, want) {
		t.Errorf("what pages are sent differs from %s; with -update the test writes it anew", path)
	}
}

// night is a [roomtest.Session] whose states are written for the page.
type night struct {
	*roomtest.Session
	// way completes the way to a server as a game's host does.
	way func(wire.Way) wire.Way
	// infos are what servers say of themselves.
	infos   []discovery.Info
	written map[string]bool
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
	keys := room.Keys{Code: "BAKODI", Link: "thekeyofthelink", Secret: "the secret"}
	n.Session = roomtest.Play(n.TB, room.New(keys, settings, roomtest.Eight), roomtest.Eight)
	n.Adjust = func(seen *wire.Finalist) { // nothing is lost
		seen.Info, seen.RTTs = &n.infos[seen.Server], slices.Repeat(seen.RTTs, seen.Sent)
	}
	n.way = func(way wire.Way) wire.Way { way.Link = "steam://connect/" + way.Connect; return way }
}

// orders orders something on a reader's page, which must be allowed.
func (n *night) orders(by string, action room.Action) {
	n.Helper()
	if err := n.Acts(pagesOf(n.Session)[by], action); err != nil {
		n.Fatalf("%s orders %T: %v", by, action, err)
	}
}

// plays lets a player in whose page is open. The first one is the organiser.
func (n *night) plays(name, country string, side wire.Side) {
	n.Helper()
	if len(n.View().People) == 0 {
		n.As[name] = n.Room.Keys().Secret
	}
	n.Origins[name] = room.Origin{Country: country}
	hello := n.Hello(name)
	hello.Side = side
	n.JoinAs(hello)
	n.Step(room.PageOpened{Token: n.PageOf(n.Admitted)})
}

// watches lets a guest in, who has only a page.
func (n *night) watches(name string) {
	n.Helper()
	if err := n.Enters(name, ""); err != nil {
		n.Fatalf("%s enters: %v", name, err)
	}
	n.Step(room.PageOpened{Token: name + "'s token"})
}

// friends are the players of the session of 2005, and where they live.
var friends = [][2]string{{"anna", "NL"}, {"ben", "US"}, {"chong", "MY"}, {"dave", ""}}

// friendsPlay lets some friends in who can play, or all.
func (n *night) friendsPlay(names ...string) {
	n.Helper()
	for _, friend := range friends {
		if len(names) == 0 || slices.Contains(names, friend[0]) {
			n.plays(friend[0], friend[1], "")
			n.Says(friend[0], wire.Able{Game: n.Room.Settings().Game})
		}
	}
}

// lists gives the room servers, with their countries.
func (n *night) lists(countries ...string) {
	list := roomtest.ListOf(len(countries))
	n.infos = nil
	for i, country := range countries {
		list[i].Country = country
		n.infos = append(n.infos, discovery.Info{Name: fmt.Sprintf("pro-g InstaGib #%d", 1480+i), Map: "oa_dm1", Players: 4, MaxPlayers: 64})
	}
	n.Gets(list)
}

// reports says what a player measures of the listed servers, ms; 0 is lost.
func (n *night) reports(name string, pings ...float64) {
	n.Helper()
	infos, report := wire.Infos{Round: n.Round()}, wire.Report{Round: n.Round()}
	for server, ms := range pings[:min(len(pings), len(n.infos))] {
		result := discovery.Result{Server: server, State: discovery.Lost}
		if ms > 0 {
			result.State, result.RTT = discovery.Answered, time.Duration(ms*float64(time.Millisecond))
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: n.infos[server]})
		}
		report.Results = append(report.Results, result)
	}
	n.Says(name, infos)
	n.Says(name, report)
}

// measure lets all players report their pings, and be done.
func (n *night) measure(pings [][]float64) {
	n.Helper()
	for i, name := range n.Players() {
		n.reports(name, pings[i%len(pings)]...)
	}
	n.Done(n.Players()...)
}

// chooses plays a round until its players have measured five servers and looked again at the best.
func (n *night) chooses() {
	n.Helper()
	n.Goes()
	n.lists("CA", "DE", "JP", "US", "NL")
	n.measure(ourPings)
	n.LookAgain()
}

// until lets time pass till the room is in a stage.
func (n *night) until(stage wire.Stage) {
	n.Helper()
	for end := n.Now.Add(time.Hour); n.Room.Stage() != stage && n.Now.Before(end); {
		n.Wait(roomtest.Tick)
	}
	n.InStage(stage)
}

// ourPings are the players' pings to the servers.
var ourPings = [][]float64{{88, 12, 240, 92, 6}, {9, 96, 170, 4, 99}, {247, 190, 80, 230, 180}, {44, 60, 220, 30, 70}}

// keeps writes what every reader of the page is sent, or compares it with what was written.
func (n *night) keeps(name string) {
	n.Helper()
	view, err := (&page.View{}).Next(n.Room, page.Host{
		Games: []wire.Game{{ID: "openarena", Name: "OpenArena"}, {ID: "xonotic", Name: "Xonotic"}},
		Join:  func(_ string, way wire.Way) wire.Way { return n.way(way) },
	})
	if err != nil {
		n.Fatal(err)
	}
	state := struct {
		Now     int64                      `json:"now"`
		Room    json.RawMessage            `json:"state"`
		Readers map[string]json.RawMessage `json:"readers"`
	}{n.Now.UnixMilli(), object(view, 0), map[string]json.RawMessage{}}
	for reader, credential := range pagesOf(n.Session) {
		badge := roster.BadgeOf(view.Badges, credential)
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
	data := indented(n, state)
	file := name + ".json"
	if n.written[file] {
		n.Fatalf("two states are called %s", name)
	}
	n.written[file] = true
	recorded(n, filepath.Join(stagesOfPage, file), data)
	if where := bytes.Index(data, []byte("the secret")); where >= 0 {
		n.Errorf("%s has the organiser's secret: %.80s", name, data[max(0, where-40):])
	}
}

// gatherings are lobbies: nobody yet, friends, people who cannot play, and a group of a known size.
func gatherings(n *night) {
	n.opens(nil)
	n.keeps("gathering-nobody")
	n.plays("anna", "NL", "")
	n.keeps("gathering-alone")
	n.friendsPlay("ben", "chong", "dave")
	n.watches("zoe")
	n.keeps("gathering")
	n.orders("ben", room.React{Sign: "drink"})
	n.keeps("gathering-reaction")
	n.Now = n.Now.Add(time.Minute)
	n.orders("organiser", room.Lock{Locked: true})
	n.orders("ben", room.Somewhere{Somewhere: true})
	n.Says("anna", wire.Able{Game: "openarena", Why: sentence.Plain("the program openarena isn’t installed")})
	n.Gone("dave")
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

// cities are places with their providers, and cityPings the friends' pings to them.
var (
	cities = wire.Venues{
		city("Frankfurt", "DE", 50.11, 8.68, "Vultr fra-de", "Akamai eu-central", "AWS eu-central-1"),
		city("Amsterdam", "NL", 52.37, 4.9, "Vultr ams-nl", "Leaseweb AMS-01"), city("London", "GB", 51.51, -0.13, "Vultr lon-gb"),
		city("Ashburn", "US", 39.04, -77.49, "Hetzner ash", "AWS us-east-1"), city("Singapore", "SG", 1.35, 103.82, "Hetzner sin"),
		city("Paris", "FR", 48.86, 2.35, "OVHcloud PAR"), city("Tokyo", "JP", 35.68, 139.69, "Vultr hnd-jp"),
	}
	cityPings = map[string]map[string]float64{
		"anna":  {"Frankfurt": 9, "Amsterdam": 4, "London": 12, "Ashburn": 84, "Singapore": 160, "Paris": 11, "Tokyo": 230},
		"ben":   {"Frankfurt": 84, "Amsterdam": 79, "London": 72, "Ashburn": 14, "Singapore": 220, "Paris": 78, "Tokyo": 160},
		"chong": {"Frankfurt": 161, "Amsterdam": 179, "London": 186, "Ashburn": 225, "Singapore": 8, "Paris": 175, "Tokyo": 70},
	}
)

// city returns a place with the providers there, each with its name for the place.
func city(name, country string, lat, lon float64, offers ...string) wire.Venue {
	v := wire.Venue{
		Name: name, Country: country, Lat: lat, Lon: lon, Protocol: "tcp", URL: "https://" + strings.ToLower(name) + ".example.com/",
		Addr: hostport.At(hostport.Of(strings.ToLower(name)+".example.com", 443)),
	}
	for _, offer := range offers {
		provider, region, _ := strings.Cut(offer, " ")
		v.Offers = append(v.Offers, wire.Offer{Provider: provider, Region: region})
	}
	return v
}

// browses lets a friend in whose page measures, or answers as many places as the friend has pings for.
func (n *night) browses(name, country string) {
	n.Helper()
	if len(n.Players()) == 0 {
		n.As[name] = n.Room.Keys().Secret
	}
	n.Origins[name] = room.Origin{Country: country}
	hello := n.Hello(name)
	hello.Browser = true
	n.JoinAs(hello)
	n.Step(room.PageOpened{Token: n.PageOf(n.Admitted)})
}

// surveys answers a friend's survey, the first few places alone if some is not 0.
func (n *night) surveys(name string, some int) {
	n.Helper()
	survey := n.Surveys[name]
	m := wire.Surveyed{Attempt: survey.Attempt, More: some > 0}
	for i, place := range survey.Places {
		ms := cityPings[name][place.Name]
		if ms == 0 { // of people and places without a story
			ms = float64(20 + 17*((len(name)+7*len(place.Name))%11))
		}
		if some == 0 || i < some {
			m.Places = append(m.Places, wire.Finalist{Server: i, State: discovery.Answered, RTTs: []float64{ms}, Sent: 5})
		}
	}
	n.Says(name, m)
}

// declines lets a friend in by the page alone, who would rather not measure: the pings are estimated.
func (n *night) declines(name, country string) {
	n.Helper()
	from := room.Origin{Addr: netip.MustParseAddr("9.9.9.9"), Near: netip.MustParseAddr("9.9.9.9"), Country: country, ASN: 3320}
	n.Step(room.Order{Action: room.Enter{Name: name, Token: name + "'s token", Origin: from}})
	n.Step(room.PageOpened{Token: name + "'s token"})
	n.orders(name, room.Count{Name: name, Counted: true})
}

// placings look for a place: who is asked to measure, the search, the vote, and the place. Then the names are
// strangers', and eight look for one.
func placings(n *night) {
	seek := func(s *wire.Settings) {
		s.Game, s.Seeks, s.Places, s.Limits = "minecraft", wire.SeekPlace, cities, nil
	}
	n.opens(seek)
	n.watches("zoe")
	n.keeps("place-gathering")
	n.browses("anna", "NL")
	n.surveys("anna", 0)
	n.browses("ben", "US")
	n.surveys("ben", 0)
	n.browses("chong", "MY")
	n.surveys("chong", 3)
	n.Wait(time.Second)
	n.keeps("place-search")
	n.declines("dave", "DE")
	n.Wait(time.Second)
	n.keeps("place-declined")
	n.surveys("chong", 0)
	n.orders("organiser", room.Go{})
	n.keeps("place-vote")
	for _, name := range append(n.Players(), "zoe", "dave") {
		n.orders(name, room.Ready{Ready: true})
	}
	n.keeps("place-chosen")
	n.orders("organiser", room.Started{Game: "minecraft", Addr: hostport.At(netip.MustParseAddrPort("203.0.113.7:25565"))})
	n.keeps("place-ready")

	n.opens(func(s *wire.Settings) {
		seek(s)
		s.Name, s.Places = "<b>Friday</b> night", slices.Clone(cities)
		for i, name := range []string{"<b>Frankfurt</b>", "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysil", "<script>alert(1)</script>"} {
			s.Places[i].Name = name
			s.Places[i].Offers = []wire.Offer{{Provider: "<img src=x onerror=alert(1)>", Region: "<b>"}, {Provider: "Vultr"}}
		}
	})
	for i, name := range hostileNames {
		n.browses(name, []string{"NL", "", "US", "MY"}[i])
		n.surveys(n.Admitted, 0)
	}
	n.Wait(time.Second)
	n.keeps("place-hostile-search")
	n.orders("organiser", room.Go{})
	n.keeps("place-hostile-vote")
	for _, name := range n.Players() {
		n.orders(name, room.Ready{Ready: true})
	}
	n.keeps("place-hostile-chosen")

	n.opens(func(s *wire.Settings) { seek(s); s.Agree = wire.No })
	for i, name := range []string{"anna", "ben", "chong", "dora", "emil", "fay", "gus", "hana"} {
		n.browses(name, []string{"NL", "US", "MY", "DE", "", "BR", "GB", "JP"}[i])
		n.surveys(name, 0)
	}
	n.Wait(time.Second)
	n.keeps("place-crowd-search")
	n.orders("organiser", room.Go{})
	n.keeps("place-crowd-chosen")

	n.opens(func(s *wire.Settings) { seek(s); s.Limits = wire.Limits{50 * time.Millisecond} })
	for i, name := range []string{"anna", "ben", "chong"} {
		n.browses(name, []string{"NL", "US", "MY"}[i])
		n.surveys(name, 0)
	}
	n.orders("organiser", room.Go{})
	n.keeps("place-failed")
}

// rounds is a round with a vote, from the list to the countdown.
func rounds(n *night) {
	n.opens(nil)
	n.friendsPlay()
	n.watches("zoe")
	n.Goes()
	n.keeps("listing")
	n.lists("CA", "DE", "JP", "US", "NL")
	n.Wait(time.Second)
	n.reports("anna", ourPings[0][:3]...)
	n.reports("ben", ourPings[1]...)
	n.Wait(2 * time.Second)
	n.keeps("measuring")
	n.measure(ourPings)
	n.keeps("verifying")
	n.LookAgain()
	n.keeps("voting")
	n.orders("zoe", room.Vote{Addr: hostport.At(roomtest.AddrOf(1))})
	n.orders("anna", room.Vote{Addr: hostport.At(roomtest.AddrOf(1))})
	n.orders("ben", room.Ready{Ready: true})
	n.keeps("voting-voted")
	n.orders("chong", room.Veto{Addr: hostport.At(roomtest.AddrOf(3))})
	n.keeps("voting-vetoed")
	for _, name := range append(n.Players(), "zoe") {
		n.orders(name, room.Ready{Ready: true})
	}
	n.keeps("reveal")
	n.Wait(7 * time.Second)
	n.keeps("countdown")

	n.opens(func(s *wire.Settings) { s.Strategy = wire.Coordinated })
	n.friendsPlay()
	n.Goes()
	n.lists("CA", "DE", "JP", "US", "NL", "FR", "GB", "PL")
	n.Wait(time.Second)
	n.reports("anna", 88, 12)
	n.reports("ben", 9, 96)
	n.Wait(time.Second)
	n.keeps("coordinating")

	n.opens(func(s *wire.Settings) { s.LongLook = discovery.Millis(time.Minute) })
	n.friendsPlay()
	n.Goes()
	n.lists("CA", "DE", "JP", "US", "NL")
	n.measure(ourPings)
	n.Wait(20 * time.Second)
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
		n.plays(name, []string{"NL", "US", "MY", "DE", "FR", ""}[i%6], "")
	}
	for i := range 3 {
		n.watches(fmt.Sprintf("guest%d", i))
	}
	n.keeps("gathering-crowd")
	n.chooses()
	n.keeps("voting-crowd")
	n.orders("organiser", room.Go{Stage: wire.Chosen})
	n.until(wire.Launching)
	n.keeps("launching-crowd")
}

// launches are ways to a server, and how far people get.
func launches(n *night) {
	quick := func() {
		n.opens(func(s *wire.Settings) { s.Agree, s.Voice, s.Password = wire.No, "https://discord.gg/abc", "club" })
		n.friendsPlay()
	}
	goes := func() {
		n.chooses()
		n.until(wire.Launching)
	}
	is := func(name string, state wire.LaunchState, why string) {
		n.Says(name, wire.Launched{Round: n.Round(), State: state, Detail: sentence.Plain(why)})
	}
	quick()
	n.watches("zoe")
	goes()
	n.keeps("launching")
	is("anna", wire.LaunchStarted, "")
	is("ben", wire.LaunchByHand, "")
	is("chong", wire.LaunchAsking, "")
	is("dave", wire.LaunchFailed, "openarena: not found in PATH")
	n.keeps("launching-mixed")
	is("chong", wire.LaunchDeclined, "")
	n.Gone("dave")
	n.keeps("launching-declined")
	is("chong", wire.LaunchStarted, "")
	is("dave", wire.LaunchStarted, "")
	n.orders("zoe", room.Arrived{})
	n.keeps("launching-arrived")

	quick()
	n.way = func(way wire.Way) wire.Way {
		way.Typed = &wire.Typed{Where: "console", Texts: []string{"connect " + way.Connect}}
		return way
	}
	goes()
	is("chong", wire.LaunchByHand, "")
	n.keeps("launching-typed")

	quick()
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
	n.Goes()
	n.lists("CA", "DE", "JP")
	n.measure([][]float64{{12, 170, 198}, {78, 168, 20}, {198, 180, 210}, {160, 60, 175}})
	n.until(wire.Failed)
	n.keeps("failed-far")

	n.opens(nil)
	n.friendsPlay()
	n.Goes()
	n.Step(room.Listed{Err: fmt.Errorf("the master server does not answer"), List: topology.New(nil)})
	n.keeps("failed-list")

	n.opens(nil)
	n.friendsPlay()
	n.Goes()
	n.lists("CA", "DE")
	n.Wait(evidence.MinProbe) // sooner nobody may give a server up
	n.measure([][]float64{{0, 0}})
	n.until(wire.Failed)
	n.keeps("failed-silent")
}

// waits are rooms whose servers are full.
func waits(n *night) {
	n.opens(nil)
	n.friendsPlay()
	n.Goes()
	n.lists("CA", "DE")
	for i := range n.infos {
		n.infos[i].Players = 64
	}
	n.infos[1].Players = 62
	n.measure(ourPings)
	n.until(wire.Failed)
	n.keeps("failed-full")
	n.orders("organiser", room.AwaitSeats{})
	n.Wait(5 * time.Second)
	n.keeps("waiting")
	n.infos[1].Players = 40
	for range 600 {
		for _, name := range n.Players() {
			n.Verifies(name)
		}
		if !n.View().Seats.LaunchAt.IsZero() {
			break
		}
		n.Wait(roomtest.Tick)
	}
	n.keeps("waiting-countdown")
}

// nights are ends: of two rounds, and of none.
func nights(n *night) {
	n.opens(func(s *wire.Settings) { s.Agree = wire.No })
	n.friendsPlay()
	n.watches("zoe")
	n.chooses()
	n.until(wire.Launching)
	n.Wait(30 * time.Minute)
	n.orders("organiser", room.Go{Stage: wire.Launching})
	n.until(wire.Listing)
	n.lists("JP", "FR", "GB")
	n.measure([][]float64{{200, 20, 25}, {160, 110, 90}, {40, 190, 200}, {190, 70, 60}})
	n.LookAgain()
	n.until(wire.Launching)
	n.Wait(30 * time.Minute)
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
		n.plays("ann", "NL", wire.SideA)
		n.plays("ben", "NL", wire.SideA)
		n.plays("emil", "PL", wire.SideB)
		n.plays("fay", "", wire.SideB)
		n.plays("gil", "DE", "")
		n.watches("zoe")
		n.keeps(best + "-gathering")
		n.orders("gil", room.TakeSide{Side: wire.SideB})
		n.orders("ann", room.AskLook{})
		n.Goes()
		n.lists("CA", "DE", "JP", "US", "NL", "NL")
		n.infos[2].Players = 62
		for i, name := range n.Players() {
			n.reports(name, 12.3+10*float64(i), 25.1+5*float64(i), 131.2+2*float64(i), 101.7-5*float64(i), 71.9-9*float64(i), 41.4)
		}
		n.Wait(time.Second)
		if best == "bo1" {
			n.keeps(best + "-measuring")
		}
		n.Done(n.Players()...)
		n.Wait(5 * time.Second)
		if best == "bo1" {
			n.keeps(best + "-looking")
		}
		n.LookAgain()
		n.Wait(2 * time.Second)
		n.keeps(best + "-banning")
		for move := 1; ; move++ {
			turn := n.View().Match.Turn
			if turn == nil {
				break
			}
			m := n.View().Match
			if turn.Of == wire.OfMap {
				i := slices.IndexFunc(m.Maps, func(m wire.MatchMap) bool { return m.Gone == 0 && m.Picked == 0 })
				if i == 0 {
					n.keeps(best + "-maps")
				}
				n.orders(turn.Captain, room.Move{Number: turn.Number, What: m.Maps[i].Name})
			} else if move == 2 && best == "bo1" { // the clock of its captain runs out
				n.keeps(best + "-banned")
				n.Wait(35 * time.Second)
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
		n.Wait(10 * time.Second)
		if n.Room.Stage() != wire.Launching {
			n.keeps(best + "-countdown")
		}
		n.until(wire.Launching)
		n.keeps(best + "-launching")
	}
}

// leagues are matches under a league's law: a blind veto, an objection, and maps on two servers.
func leagues(n *night) {
	for _, way := range []string{"veto", "home"} {
		n.opens(func(s *wire.Settings) {
			s.Match, s.SideA, s.SideB, s.Maps = "bo3", "Nightjars", "Tin Foxes", "dm6, dm17, ztn"
			text := `{"format":"muster.law/1","name":"cup","league":"The <b>Cup</b>","source":{"url":"https://cup.example","date":"2026"},
				"rules":[{"of":"means","max_ms":2,"says":"Averages within 2 ms."}],"minping":{"max_ms":52,"says":"52 at most."},
				"objection":{"by":"higher","says":"The higher side may object."},"order":{"by":[{"least":"mean"}],"says":"The lowest average."},
				"disagreement":{"way":"` + way + `","says":"And then so."}}`
			if err := json.Unmarshal([]byte(text), &s.Law); err != nil {
				n.Fatal(err)
			}
		})
		n.plays("ann", "NL", wire.SideA)
		n.plays("emil", "PL", wire.SideB)
		n.watches("zoe")
		n.Goes()
		n.lists("CA", "DE", "JP", "US")
		n.reports("ann", 12.3, 25.1, 31.2, 71.7)
		n.reports("emil", 22.3, 35.1, 41.2, 31.7)
		n.Done(n.Players()...)
		n.Wait(5 * time.Second)
		n.LookAgain()
		n.Wait(2 * time.Second)
		if way == "veto" {
			n.keeps("law-striking")
			n.orders("emil", room.Move{Number: 1, What: n.View().Match.Servers[0].Addr})
			n.keeps("law-struck")
			continue
		}
		n.keeps("law-objecting")
		n.orders("emil", room.Move{Number: 1, What: wire.AskDelay})
		n.until(wire.Launching)
		n.keeps("law-launching")
	}
}

// meetings are standing rooms, between and during their dates.
func meetings(n *night) {
	n.opens(func(s *wire.Settings) { s.Every, s.Agree = "fri 20:00 Europe/Berlin", wire.No })
	n.friendsPlay()
	n.keeps("meeting-first")
	n.chooses()
	n.until(wire.Launching)
	yes, no := true, false
	n.orders("ben", room.Like{Liked: &yes})
	n.orders("chong", room.Like{Liked: &no})
	n.Wait(time.Hour)
	n.orders("anna", room.End{})
	n.keeps("meeting-asleep")
	n.Now = time.Date(2026, 11, 27, 18, 45, 0, 0, time.UTC)
	n.Step(room.Tick{})
	n.plays("ben", "US", "")
	n.orders("ben", room.Come{Comes: &yes})
	n.keeps("meeting-awake")
}

// strangers plays a night in which people, servers and the room have names that would break a page.
func strangers(n *night) {
	n.opens(func(s *wire.Settings) { s.Name = "<b>Friday</b> night" })
	for i, name := range hostileNames {
		n.plays(name, []string{"NL", "", "US", "MY"}[i], "")
	}
	n.watches("<mark>zoe")
	n.keeps("hostile-gathering")
	n.Goes()
	n.lists("CA", "<i>", "DE", "")
	for i, name := range hostileServers {
		n.infos[i] = discovery.Info{Name: name, Map: name, Players: 2, MaxPlayers: 64}
	}
	for i, name := range n.Players() {
		n.reports(name, ourPings[i]...)
	}
	n.Wait(time.Second)
	n.keeps("hostile-measuring")
	n.Done(n.Players()...)
	n.LookAgain()
	n.keeps("hostile-voting")
	n.orders("organiser", room.Go{Stage: wire.Chosen})
	n.keeps("hostile-reveal")
	n.until(wire.Launching)
	n.Says(n.Players()[1], wire.Launched{Round: 1, State: wire.LaunchFailed, Detail: sentence.Plain("<img src=x onerror=alert(1)>")})
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
