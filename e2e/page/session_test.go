package page_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host"
	"muster/host/hosttest"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/clock/clocktest"
	"muster/internal/freeport"
	"muster/selection"
	"muster/web"
)

// session is a host with its page, whose time passes when the test says ([session.pass]), and players
// whose programs say what a table tells them to. So a stage of a room lasts until the test goes on.
type session struct {
	*testing.T
	held *clocktest.Held
	list []discovery.Server
	// silent says that each ninth server answers nobody.
	silent bool
	at     string // the host's address
	file   string // the rooms
	with   []func(*host.Config)

	rooms  *host.Host
	server *http.Server
	work   sync.WaitGroup
	code   string
	secret string
	// as holds the credentials that players' programs present, by name.
	as map[string]string
	// players are those with a program, and pages are open in somebody's browser.
	players []*player
	pages   []*browser
}

// player is a player's program.
type player struct {
	*hosttest.Player
	name   string
	from   http.Header
	script hosttest.Script
}

// players sit where MUSST's players did: in the Netherlands, Massachusetts, Kota Bharu and North Carolina.
var players = []string{"anna", "ben", "chong", "dave"}

// origins are addresses of the four, and homes the countries to which they belong.
var (
	origins = []string{"198.41.0.1", "198.41.1.1", "198.41.2.1", "198.41.3.1"}
	homes   = map[string]string{origins[0]: "NL", origins[1]: "US", origins[2]: "MY", origins[3]: "US"}
)

// countries have the servers in turn. far is how long the way there is for each of the four, in ms.
var countries = []struct {
	name string
	far  [4]int
}{
	{"CA", [4]int{88, 9, 247, 44}}, {"US", [4]int{95, 22, 240, 20}}, {"NL", [4]int{12, 92, 198, 108}},
	{"DE", [4]int{20, 98, 190, 110}}, {"FR", [4]int{24, 88, 195, 104}}, {"BR", [4]int{200, 130, 330, 135}},
	{"JP", [4]int{240, 170, 80, 165}}, {"AU", [4]int{290, 220, 110, 210}}, {"ZA", [4]int{160, 230, 280, 235}},
	{"SG", [4]int{170, 240, 20, 235}},
}

func newSession(t *testing.T, servers int, settings wire.Settings, with ...func(*host.Config)) *session {
	t.Helper()
	n := &session{
		T: t, held: clocktest.Hold(time.Now().Round(0)), list: make([]discovery.Server, servers), silent: true,
		at: freeport.TCP(t), file: filepath.Join(t.TempDir(), "rooms.db"), with: with, as: map[string]string{},
	}
	for i := range n.list {
		n.list[i] = discovery.Server{
			Addr:    netip.AddrPortFrom(netip.AddrFrom4([4]byte{45, 5, byte(i >> 8), byte(i)}), 27960),
			Country: countries[i%len(countries)].name,
		}
	}
	n.open()
	n.code, n.secret, _ = n.rooms.Open(settings)
	t.Cleanup(n.close)
	return n
}

func friday(seats int) wire.Settings {
	return wire.Settings{Name: "Friday night", Game: "openarena", By: selection.Mean, Players: seats, Strategy: "as", Agree: wire.Yes}
}

// abroad lets the host see where the four come from, as behind a proxy.
func abroad(config *host.Config) {
	config.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	config.Locate = func(addr netip.Addr) (string, uint32) { return homes[addr.String()], 0 }
}

// open starts the host, with the rooms and players from before.
func (n *session) open() {
	n.Helper()
	store, err := store.Open(n.file)
	if err != nil {
		n.Fatal(err)
	}
	config := host.Config{
		Clock: n.held.Clock(), Store: store, Page: web.Handler(),
		List:  func(context.Context, string) ([]discovery.Server, error) { return n.list, nil },
		Games: []wire.Game{{ID: "openarena", Name: "OpenArena"}, {ID: "xonotic", Name: "Xonotic"}},
		Join: func(_ string, way wire.Way) wire.Way {
			way.Link = "steam://connect/" + way.Connect
			return way
		},
	}
	for _, change := range n.with {
		change(&config)
	}
	if n.rooms, err = host.New(config); err != nil {
		n.Fatal(err)
	}
	listener, err := net.Listen("tcp", n.at)
	if err != nil {
		n.Fatal(err)
	}
	n.server = &http.Server{Handler: n.rooms.Handler(), ReadHeaderTimeout: 10 * time.Second}
	n.work.Go(func() { n.server.Serve(listener) })
	for _, p := range n.players {
		n.connects(p, wire.Hello{Name: p.name, Token: p.Welcome.Token})
	}
}

func (n *session) close() {
	n.players = slices.DeleteFunc(n.players, func(p *player) bool { return len(p.Ended) > 0 }) // they are not sent back
	n.server.Close()
	n.work.Wait()
	n.rooms.Close()
}

// browse opens a page of the host, whose time passes with the host's.
func (n *session) browse(url string, size screenSize) *browser {
	n.Helper()
	b := browseHeld(n.T, url, size)
	b.opens()
	n.pages = append(n.pages, b)
	return b
}

// pass lets time pass, for the host and for its pages, by ticks. A page follows only when it has heard the
// host's last beat, so that its idea of the host's clock is right to a tick. It draws once a second.
func (n *session) pass(d time.Duration) {
	n.Helper()
	for passed := time.Duration(0); passed < d; {
		step := min(tick, d-passed)
		n.held.Advance(step)
		for range 2 { // the room looks at its clock: the first answer comes perhaps just before that
			n.rooms.Settings(n.code)
		}
		passed += step
		script := fmt.Sprintf(follows, n.held.Now().UnixMilli(), step.Milliseconds())
		for _, b := range n.pages {
			b.until("the page hears from its host", func() bool { return eval[bool](b, script) })
			if passed%time.Second == 0 || passed == d {
				b.draws()
			}
		}
	}
}

// follows is a script that lets time pass on a page, unless it still has to hear the host's last beat.
const follows = `((host, ms) => {
	const { connection, state } = muster.live;
	if (connection === "live" && host - state.now > 2100) return false;
	musterTime.pass(ms);
	return true;
})(%d, %d)`

// tick is how often a room looks at its clock; reveal and countdown are how long these take.
const tick, reveal, countdown = 100 * time.Millisecond, 6 * time.Second, 5 * time.Second

// plays brings one of the four into the room with a program that answers by itself. It measures when the
// test says, see [session.measures].
func (n *session) plays(place int) *player {
	n.Helper()
	return n.joins(players[place], place)
}

// joins brings a player into the room under a name.
func (n *session) joins(name string, place int) *player {
	n.Helper()
	p := &player{name: name, script: hosttest.Script{RTT: func(server int) time.Duration {
		if n.silent && server%9 == 8 {
			return 0
		}
		return time.Duration(countries[server%len(countries)].far[place]+server*7%13) * time.Millisecond
	}, Info: func(server int) discovery.Info {
		info := discovery.Info{Name: fmt.Sprintf("pro-g <i>InstaGib</i> #%d", server), Map: "q3dm7", Players: 2, MaxPlayers: 24}
		if server%16 == 15 {
			info.Players = info.MaxPlayers
		}
		return info
	}}}
	if place == 3 {
		p.script.Launched = wire.Launched{State: wire.LaunchFailed, Detail: sentence.Plain("openarena: not found in PATH")}
	}
	p.from = http.Header{"X-Forwarded-For": {origins[place]}}
	n.connects(p, wire.Hello{Name: name, As: n.as[name]})
	n.players = append(n.players, p)
	return p
}

// connects brings a player to the host, for the first time or again.
func (n *session) connects(p *player, hello wire.Hello) {
	n.Helper()
	hello.Code = n.code
	p.Player = hosttest.Join(n.T, "http://"+n.at, p.from, hello)
	p.Conn.Send(wire.Able{Game: "openarena"})
	go p.Player.Plays(p.script)
}

// measures has all players measure a part of the list, once they are told to measure.
func (n *session) measures(from, to int) (round int) {
	n.Helper()
	round = n.awaitsStage(wire.Measuring).Room.Round
	n.pass(2 * time.Second) // sooner nobody may give a server up
	for _, p := range n.players {
		p.Measures(p.script, round, from, to)
	}
	n.awaits("the reports", func(r wire.Snapshot) bool {
		return !slices.ContainsFunc(r.People, func(p wire.Person) bool { return p.Peer && p.Probed < to })
	})
	n.pass(time.Second) // the room looks at them, and asks for names
	return round
}

// searched ends a search: all players have measured the whole list.
func (n *session) searched() {
	n.Helper()
	round := n.measures(0, len(n.list))
	for _, p := range n.players {
		p.Conn.Send(wire.Done{Round: round})
	}
	n.awaits("everybody is done", func(r wire.Snapshot) bool {
		return !slices.ContainsFunc(r.People, func(p wire.Person) bool { return p.Peer && !p.Done })
	})
	n.pass(tick)
}

// decides waits until it is decided where everybody goes, and when.
func (n *session) decides() {
	n.Helper()
	n.awaits("the countdown", func(r wire.Snapshot) bool { return !r.Voting.LaunchAt.IsZero() })
}

// launches lets the reveal and the countdown pass, once it is decided where everybody goes.
func (n *session) launches() {
	n.Helper()
	n.decides()
	n.pass(reveal + countdown)
	n.awaitsStage(wire.Launching)
}

func (n *session) link() string {
	return fmt.Sprintf("http://%s/#%s_%s", n.at, n.code, n.rooms.Keys(n.code).Link)
}

// personal returns the link of a player who is in the room.
func (n *session) personal(name string) string {
	at := slices.IndexFunc(n.players, func(p *player) bool { return p.name == name })
	return n.link() + "." + n.players[at].Welcome.Page
}

func (n *session) organisersLink() string { return n.link() + "." + n.secret }

// awaits waits until something holds in the room. Meanwhile its time stands still.
func (n *session) awaits(what string, is func(wire.Snapshot) bool) (now wire.Snapshot) {
	n.Helper()
	ctx, cancel := context.WithTimeout(n.Context(), 60*time.Second)
	defer cancel()
	for now = range n.rooms.Watch(ctx, n.code) {
		if is(now) {
			return now
		}
	}
	n.Fatalf("not in time: %s; at %v the room is %s, %+v, log %v", what, n.held.Now().UTC(), now.Room.Stage, now.Voting, now.Log)
	return now
}

// passesUntil lets time pass until something holds in the room, as in a search of many questions.
func (n *session) passesUntil(what string, is func(wire.Snapshot) bool) {
	n.Helper()
	for range 120 { // seconds
		if now, _ := n.rooms.Room(n.code); is(now) {
			return
		}
		n.pass(time.Second)
	}
	now, _ := n.rooms.Room(n.code)
	n.Fatalf("not in two minutes: %s; the room is %s, log %v", what, now.Room.Stage, now.Log)
}

// awaitsStage waits until the room is at a stage. Meanwhile its time stands still.
func (n *session) awaitsStage(stage wire.Stage) wire.Snapshot {
	n.Helper()
	return n.awaits(string(stage), func(r wire.Snapshot) bool { return r.Room.Stage == stage })
}
