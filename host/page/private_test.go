package page_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/page"
	"muster/host/room"
	"muster/host/room/people"
	"muster/host/room/roomtest"
	"muster/host/room/roster"
	"muster/host/wire"
)

// TestOnlyOwnPings plays a match and checks, after each step, that a reader's whole state has no
// ping of another player, but their own pings. Each ping occurs once.
func TestOnlyOwnPings(t *testing.T) {
	settings := wire.Settings{
		Name: "Final", Game: "openarena", By: "mean", Strategy: "conventional", Match: "bo3", SideA: "Reds", SideB: "Blues",
		Limits: wire.Limits{200 * time.Millisecond},
	}
	n := roomtest.New(t, settings)
	view, seen, steps := &page.View{}, map[string]bool{}, 0
	look := func() {
		t.Helper()
		steps++
		next, err := view.Next(n.Room, page.Host{})
		if err != nil {
			t.Fatal(err)
		}
		view = next
		for reader, credential := range pagesOf(n) {
			name := roster.BadgeOf(view.Badges, credential).Name
			state := append(view.AppendOwn(view.AppendSince([]byte(`{"type":"state"`), 0), name, 0), '}')
			if !json.Valid(state) {
				t.Fatalf("%s is shown %s", reader, state)
			}
			document, err := json.Marshal(view.Snapshot.Document())
			if err != nil {
				t.Fatal(err)
			}
			for cause, list := range view.Culled() {
				t.Errorf("%s is told what was culled for %v: %s", reader, cause, list)
			}
			for _, text := range [][]byte{state, document, view.News(0, name).Data} {
				for player, server := range marksIn(text) {
					m, way := view.Snapshot.Match, view.Snapshot.Way
					isOpen := m.Decided && server == m.Server || way != nil && server == way.Connect
					if player != name && !isOpen {
						t.Fatalf("step %d, %s: %q is shown %s's ping to %s: %s", steps, view.Snapshot.Room.Stage, reader, player, server, text)
					}
					seen[player] = true
				}
			}
		}
	}
	step := func(in room.Input) {
		t.Helper()
		if err := n.Step(in); err != nil {
			t.Fatalf("%T: %v", in, err)
		}
		look()
	}
	for i, name := range players {
		side := []wire.Side{wire.SideA, wire.SideB, ""}[i%3]
		step(room.Join{Hello: wire.Hello{Name: name, Side: side}, Token: "the token of " + name})
	}
	step(room.Order{Credential: n.PageOf("ann"), Action: room.AskLook{}})
	step(room.Proceed{})
	step(room.Listed{List: topology.New(room.Shared(roomtest.ListOf(servers), nil))})
	step(room.PageOpened{Token: n.PageOf("bob")})
	for player, name := range players {
		report := wire.Report{Round: 1}
		for server := range servers {
			report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: mark(player, server)})
		}
		infos := wire.Infos{Round: 1}
		for server := range servers {
			infos.Servers = append(infos.Servers, wire.ServerInfo{
				Server: server, Info: discovery.Info{Name: fmt.Sprint("server ", server), Map: "oa_dm1", Players: 4, MaxPlayers: 16},
			})
		}
		step(room.Hear{Player: people.ID(name), Message: infos})
		step(room.Hear{Player: people.ID(name), Message: report})
		n.Now = n.Now.Add(time.Second)
		step(room.Tick{})
	}
	for _, name := range players {
		step(room.Hear{Player: people.ID(name), Message: wire.Done{Round: 1}})
	}
	for range 60 {
		n.Now = n.Now.Add(time.Second)
		step(room.Tick{})
	}
	for player, name := range players {
		for attempt := 1; attempt < 4; attempt++ {
			v := wire.Verified{Round: 1, Attempt: attempt}
			for server := range servers {
				ms := float64(mark(player, server).Microseconds()) / 1000
				v.Servers = append(v.Servers, wire.Finalist{Server: server, State: discovery.Answered, Sent: 1, RTTs: []float64{ms}})
			}
			n.Step(room.Hear{Player: people.ID(name), Message: v}) // another attempt than the newest is nothing
			look()
		}
	}
	for range 200 {
		n.Now = n.Now.Add(time.Second)
		step(room.Tick{})
	}
	if n.Room.Stage() == wire.Measuring {
		t.Errorf("the match is still in %s; the log: %v", n.Room.Stage(), view.Snapshot.Log)
	}
	for _, name := range players {
		if !seen[name] {
			t.Errorf("%s never sees a ping of their own", name)
		}
	}
	if seen[""] {
		t.Error("nobody has pings")
	}
}

var players = []string{"ann", "cat", "eve", "bob", "dan"}

const servers = 6

// mark is a player's ping to a server. It occurs once, and is no average of a side in whole ms.
func mark(player, server int) time.Duration {
	return time.Duration(120+server+10*player)*time.Millisecond + 300*time.Microsecond
}

var figure = regexp.MustCompile(`\d+\.\d+`)

// marksIn returns the players with a ping in a text, and the server.
func marksIn(text []byte) map[string]string {
	found, marks := map[string]string{}, map[string][2]int{}
	for player := range players {
		for server := range servers {
			marks[fmt.Sprintf("%.1f", float64(mark(player, server).Microseconds())/1000)] = [2]int{player, server}
		}
	}
	for _, figure := range figure.FindAllString(string(text), -1) {
		ms, _ := strconv.ParseFloat(figure, 64)
		if at, is := marks[fmt.Sprintf("%.1f", ms)]; is {
			found[players[at[0]]] = roomtest.AddrOf(at[1]).String()
		}
	}
	return found
}

// TestTracesAreForTheirPlayers checks that the host knows when it may show a player's trace to
// nobody else.
func TestTracesAreForTheirPlayers(t *testing.T) {
	for match, want := range map[string]bool{"": false, "bo1": true} {
		r := room.New(room.Keys{Code: "BAKODI"}, wire.Settings{Game: "openarena", By: "mean", Match: match}, time.Unix(1_800_000_000, 0))
		v, err := (&page.View{}).Next(r, page.Host{})
		if err != nil || v.IsPrivate != want {
			t.Errorf("%q: %v, %v", match, v.IsPrivate, err)
		}
	}
}

// TestOwnIsForgotten checks that a reader who has become another person, or whose room is no match
// any more, does not keep somebody's pings.
func TestOwnIsForgotten(t *testing.T) {
	v := &page.View{IsPrivate: true}
	if got := string(v.AppendOwn(nil, "zoe", 0)); got != `,"own":null` {
		t.Error(got)
	}
	if got := string(v.AppendOwn(nil, "zoe", 7)); got != "" {
		t.Error(got)
	}
	n := roomtest.New(t, wire.Settings{Game: "openarena", By: "mean", Match: "bo1"})
	first, err := (&page.View{}).Next(n.Room, page.Host{})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Orders(room.Change{Settings: []byte(`{"match":""}`)}); err != nil {
		t.Fatal(err)
	}
	next, err := first.Next(n.Room, page.Host{})
	if err != nil || !slices.Contains(figureless(next.AppendSince([]byte("{"), first.Edition)), `"own":null`) {
		t.Errorf("%s, %v", next.AppendSince(nil, first.Edition), err)
	}
}

// figureless returns the sections of an open object that are null.
func figureless(object []byte) []string {
	return regexp.MustCompile(`"\w+":null`).FindAllString(string(object), -1)
}
