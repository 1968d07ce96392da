package launch

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
)

var eight = roomtime.Opening

func at(addr string) netip.AddrPort { return netip.MustParseAddrPort(addr) }

// TestTo checks that players connect to the game's port, and that their programs ask the server at
// its own.
func TestTo(t *testing.T) {
	s := wire.Settings{Game: "openarena", Password: "club"}
	for _, tt := range []struct {
		name string
		info *discovery.Info
		want wire.Launch
	}{
		{"nothing is known", nil, wire.Launch{Address: "192.0.2.1:27960", Name: "192.0.2.1:27960"}},
		{"one port", &discovery.Info{Name: "Den"}, wire.Launch{Address: "192.0.2.1:27960", Name: "Den (192.0.2.1:27960)"}},
		{"a port of the game's", &discovery.Info{Name: "Den", GamePort: 27015}, wire.Launch{
			Address:   "192.0.2.1:27015",
			QueryPort: 27960,
			Name:      "Den (192.0.2.1:27015)",
		}},
	} {
		servers := selection.Servers{List: []discovery.Server{{Addr: at("192.0.2.1:27960")}}, Infos: map[int]*discovery.Info{0: tt.info}}
		tt.want.Round, tt.want.Game, tt.want.Password = 3, s.Game, s.Password
		if got := To(3, s, &servers, 0); got != tt.want {
			t.Errorf("%s: the launch is %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestFor checks that a player gets the address that is right for that player, and opens the game
// once more if the launch is new.
func TestFor(t *testing.T) {
	var r Roll
	r.Again(eight, "bob")
	asked := at("192.0.2.1:27960")
	for _, tt := range []struct {
		player          people.ID
		connect, beside netip.AddrPort
		want            wire.Launch
	}{
		{"ann", at("192.0.2.1:27015"), netip.AddrPort{}, wire.Launch{Address: "192.0.2.1:27015", QueryPort: 27960}},
		{"ann", asked, netip.AddrPort{}, wire.Launch{Address: "192.0.2.1:27960"}},
		{"ann", at("192.0.2.1:27015"), at("192.168.1.5:4000"), wire.Launch{Address: "192.168.1.5:27015", QueryPort: 4000}},
		{"bob", asked, netip.AddrPort{}, wire.Launch{Address: "192.0.2.1:27960", Again: time.Duration(eight).Milliseconds()}},
	} {
		tt.want.Round, tt.want.Name = 3, "Den"
		if got := r.For(tt.player, wire.Launch{Round: 3, Address: "x", QueryPort: 1, Name: "Den"}, tt.connect, asked, tt.beside); got != tt.want {
			t.Errorf("%s is sent %+v, want %+v", tt.player, got, tt.want)
		}
	}
}

// TestHeard checks that the others read once how far a player got.
func TestHeard(t *testing.T) {
	var r Roll
	for _, tt := range []struct {
		state        wire.LaunchState
		detail, note string
		awaits       bool
	}{
		{"", "", "", true},
		{wire.LaunchAsking, "", "", true},
		{wire.LaunchDeclined, "", "ann stays behind", false},
		{wire.LaunchByHand, "", "ann joins by hand", false},
		{wire.LaunchFailed, "no such file", "ann couldn’t start OpenArena: no such file", false},
		{wire.LaunchFailed, "no such file", "", false},
		{wire.LaunchFailed, "no such map", "ann couldn’t start OpenArena: no such map", false},
		{wire.LaunchStarted, "", "ann is on the way", false},
	} {
		note := r.Heard("ann", wire.Launched{State: tt.state, Detail: sentence.Plain(tt.detail)}, "OpenArena")
		if way := r.Progress("ann"); catalogue.InEnglish().Say(note) != tt.note || r.Awaits("ann") != tt.awaits || way.State != tt.state || way.Detail != sentence.Plain(tt.detail) {
			t.Errorf("of %q (%q) comes %q and %+v", tt.state, tt.detail, note, way)
		}
	}
}

// TestReopen checks that only a player who is here, and not asked already, can reopen the game.
func TestReopen(t *testing.T) {
	ann := people.Person{ID: "ann", IsPlayer: true, IsHere: true}
	for _, tt := range []struct {
		by    people.Person
		sent  bool
		state wire.LaunchState
		err   string
	}{
		{people.Person{ID: "zoe"}, true, "", "only who has a program running can have the game opened"},
		{ann, false, "", "nobody is on the way just now"},
		{people.Person{ID: "ann", IsPlayer: true}, true, "", "your program is away: start it again, and it goes there by itself"},
		{ann, true, wire.LaunchAsking, "your program asks already: say yes there"},
		{ann, true, wire.LaunchFailed, "<nil>"},
		{ann, true, "", "<nil>"},
	} {
		var r Roll
		r.Heard("ann", wire.Launched{State: tt.state}, "OpenArena")
		err := r.Reopen(tt.by, tt.sent, eight)
		if fmt.Sprint(err) != tt.err || r.Progress("ann").Again.IsZero() != (err != nil) || r.Progress("ann").State != tt.state {
			t.Errorf("of %+v comes %v and %+v", tt, err, r.Progress("ann"))
		}
	}
}

// TestAgain checks that each time is later than the one before, whatever the clock says.
func TestAgain(t *testing.T) {
	var r Roll
	for _, tt := range []struct{ now, want roomtime.Time }{
		{eight, eight},
		{eight.Add(time.Second), eight.Add(time.Second)},
		{eight.Add(time.Second), eight.Add(time.Second + time.Millisecond)},
		{eight.Add(-time.Hour), eight.Add(time.Second + 2*time.Millisecond)},
	} {
		r.Again(tt.now, "ann", "bob")
		if got := r.Progress("bob").Again; got != tt.want {
			t.Errorf("at %v the game opens by %v, want %v", tt.now, got, tt.want)
		}
	}
}

// TestRestart checks that players who are sent elsewhere have reported nothing of it yet, and that
// no earlier time opens their game.
func TestRestart(t *testing.T) {
	var r Roll
	failed := wire.Launched{State: wire.LaunchFailed, Detail: sentence.Plain("no such file")}
	for _, player := range []people.ID{"ann", "bob"} {
		r.Heard(player, failed, "OpenArena")
		r.Again(eight, player)
	}
	r.Restart("ann")
	if ann, bob := r.Progress("ann"), r.Progress("bob"); ann != (Progress{Again: eight}) || bob.State != failed.State || bob.Detail != failed.Detail {
		t.Errorf("ann is at %+v, bob at %+v", ann, bob)
	}
	r.Restart()
	if bob := r.Progress("bob"); bob != (Progress{Again: eight}) {
		t.Errorf("bob is at %+v", bob)
	}
	if r.Restart("zoe"); len(r.state) != 2 {
		t.Errorf("it knows %v", r.state)
	}
}

// TestAble checks that the others read once that a computer cannot start the room's game.
func TestAble(t *testing.T) {
	var r Roll
	s := wire.Settings{Game: "mine", OwnGame: &wire.OwnGame{ID: "mine", Name: "My game"}}
	for _, tt := range []struct {
		able    wire.Able
		note    string
		isKnown bool
	}{
		{wire.Able{Game: "mine"}, "", true},
		{wire.Able{Game: "mine", Why: sentence.Plain("it lacks its data")}, "ann can’t start My game: it lacks its data", true},
		{wire.Able{Game: "mine", Why: sentence.Plain("it lacks its data")}, "", true},
		{wire.Able{Game: "another", Why: sentence.Plain("no")}, "", false},
	} {
		note := r.Able("ann", tt.able, s)
		if able, isKnown := r.Can("ann", s.Game); catalogue.InEnglish().Say(note) != tt.note || isKnown != tt.isKnown || able != tt.able {
			t.Errorf("of %+v comes %q; known %v, %+v", tt.able, note, isKnown, able)
		}
	}
	if _, isKnown := r.Can("bob", s.Game); isKnown {
		t.Error("bob's program has said nothing")
	}
}

// TestPlayersGo checks that facts about a player go with the player. Another round forgets how far
// players got, and not what their computers can do.
func TestPlayersGo(t *testing.T) {
	var r Roll
	s := wire.Settings{Game: "openarena"}
	r.Able("ann", wire.Able{Game: s.Game, Why: sentence.Plain("no")}, s)
	r.Again(eight, "ann")
	if able, isKnown := r.Can("ann", s.Game); !isKnown || able.Why != sentence.Plain("no") || r.Progress("ann").Again != eight {
		t.Errorf("%+v is known", r)
	}
	next := r.Next()
	if able, isKnown := next.Can("ann", s.Game); !isKnown || able.Why != sentence.Plain("no") || next.Progress("ann") != (Progress{}) {
		t.Errorf("of the round before is known %+v", next)
	}
	r.Leave("ann")
	if _, isKnown := r.Can("ann", s.Game); isKnown || r.Progress("ann") != (Progress{}) {
		t.Errorf("left, %+v is known", r)
	}
}

// TestSaved checks the form of the saved section.
func TestSaved(t *testing.T) {
	var r Roll
	r.Heard("ann", wire.Launched{State: wire.LaunchFailed, Detail: sentence.Plain("no such file")}, "OpenArena")
	r.Heard("bob", wire.Launched{State: wire.LaunchStarted}, "OpenArena")
	r.Restart("bob") // bob has reported nothing
	r.Again(eight, "ann")
	data, err := json.Marshal(r.State())
	if want := `{"ann":{"launch":"failed","detail":{"key":"plain","with":{"text":"no such file"}},"again":31536000000000000}}`; err != nil || string(data) != want {
		t.Errorf("it is saved as %s, want %s; %v", data, want, err)
	}
	if err := r.State().Validate([]people.ID{"bob", "ann"}); err != nil {
		t.Error(err)
	}
	if left, want := r.State().WithoutList(), (State{"ann": {Again: eight}}); !reflect.DeepEqual(left, want) {
		t.Errorf("without the list %+v is left, want %+v", left, want)
	}
	if r.State().Validate([]people.ID{"bob"}) == nil {
		t.Error("somebody who is no player is on the way")
	}
	if r.Able("ann", wire.Able{Game: "openarena"}, wire.Settings{}); len(*(&Roll{}).State()) > 0 {
		t.Error("an empty roll has somebody in it")
	}
}
