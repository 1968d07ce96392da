package editions

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/internal/catalogue"
	"muster/selection"
)

// has56 are the editions of a player with version 5.6, of any game and of one that the host knows
// better.
var has56 = map[string]discovery.Edition{"": {Version: "5.6"}, "luanti": {Version: "5.6", Protocol: 41}}

// old and newer are the facts of servers of two versions. Only the first lets version 5.6 in.
var (
	older = discovery.Info{Version: "5.6.1", Protocol: 41, OldestProtocol: 37}
	newer = discovery.Info{Version: "5.14.0", Protocol: 49, OldestProtocol: 44}
)

// TestGreet checks that a hello's edition of the room's game counts, and that people are told.
func TestGreet(t *testing.T) {
	for _, tt := range []struct {
		name string
		said map[string]discovery.Edition
		note string
		want discovery.Edition
	}{
		{"of a game that the host knows", has56, "ann has version 5.6", discovery.Edition{Version: "5.6", Protocol: 41}},
		{"of any game", map[string]discovery.Edition{"": {Version: "1"}}, "ann has version 1", discovery.Edition{Version: "1"}},
		{"by its number", map[string]discovery.Edition{"luanti": {Protocol: 41}}, "ann has version protocol 41",
			discovery.Edition{Protocol: 41}},
		{"of another game", map[string]discovery.Edition{"mindustry": {Version: "7"}}, "", discovery.Edition{}},
		{"of nothing", map[string]discovery.Edition{"": {}}, "", discovery.Edition{}},
	} {
		var b Book
		note := b.Greet("ann", "luanti", tt.said)
		if got := b.state["ann"]["luanti"]; catalogue.InEnglish().Say(note) != tt.note || got != tt.want {
			t.Errorf("%s: it is %+v, and the note is %v", tt.name, got, note)
		}
		if version := b.Version("ann", "luanti"); version != tt.want.Version {
			t.Errorf("%s: the version is %q", tt.name, version)
		}
	}
	var b Book
	b.Greet("ann", "mindustry", map[string]discovery.Edition{"luanti": {Version: "5"}, "mindustry": {Version: "7"}})
	if b.Version("ann", "luanti") != "5" || b.Version("ann", "mindustry") != "7" {
		t.Errorf("of two games it has %+v", b.state)
	}
}

// TestSay checks that a player's word is about one game, and goes with the player.
func TestSay(t *testing.T) {
	var b Book
	b.Say("ann", "luanti", has56)
	b.Say("ann", "xonotic", map[string]discovery.Edition{"": {Version: "0.8"}})
	b.Say("bob", "luanti", map[string]discovery.Edition{"": {}})
	want := []selection.Edition{{Player: "ann", Edition: discovery.Edition{Version: "5.6", Protocol: 41}}}
	if got := b.Of([]people.ID{"ann", "bob", "eve"}, "luanti"); !slices.Equal(got, want) {
		t.Errorf("of luanti they have %+v, want %+v", got, want)
	}
	b.Say("ann", "luanti", map[string]discovery.Edition{"": {}})
	if b.Version("ann", "luanti") != "" || b.Version("ann", "xonotic") != "0.8" {
		t.Errorf("taken back it is %+v", b.state)
	}
	if b.Forget("ann"); len(b.state) != 1 {
		t.Errorf("without the player it is %+v", b.state)
	}
}

// TestSaved checks the form of the section.
func TestSaved(t *testing.T) {
	var b Book
	b.Say("ann", "luanti", has56)
	const golden = `{"ann":{"luanti":{"version":"5.6","protocol":41}}}`
	data, err := json.Marshal(b.State())
	if err != nil || string(data) != golden {
		t.Errorf("it is saved as %s, %v", data, err)
	}
}

// TestDescribe checks that people are told how many servers refuse somebody, and why these are left
// out or not.
func TestDescribe(t *testing.T) {
	servers := func(dated bool, heard map[int]*discovery.Info, listed ...*discovery.Info) selection.Servers {
		s := selection.Servers{Infos: heard, Dated: dated, Said: discovery.Said{Infos: map[netip.AddrPort]*discovery.Info{}}}
		for i := range max(len(listed), len(heard)) {
			addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 30000)
			s.List = append(s.List, discovery.Server{Addr: addr})
			if i < len(listed) {
				s.Said.Infos[addr] = listed[i]
			}
		}
		return s
	}
	heard := map[int]*discovery.Info{0: &newer, 1: &newer, 2: &older, 3: nil}
	ben := []selection.Edition{{Player: "ben", Edition: has56["luanti"]}}
	best := []selection.Ranked{{Server: 2}, {Server: 0}, {Server: 1}, {Server: 3}}
	const told = "ben has version 5.6, which doesn’t get into "
	for _, tt := range []struct {
		name    string
		servers selection.Servers
		players []selection.Edition
		best    []selection.Ranked
		any     bool
		want    []string
	}{
		{"two of three", servers(false, heard), ben, best[:1], false, []string{told + "2 servers (5.14.0): left out"}},
		{"any version will do", servers(false, heard), ben, best, true, []string{
			told + "2 servers (5.14.0): not left out, as the organiser wants", "the best servers run different versions: 5.14.0 and 5.6.1"}},
		{"nobody says", servers(false, heard), nil, best[1:3], false, nil},
		{"words alone", servers(false, heard), []selection.Edition{{Player: "ben", Edition: discovery.Edition{Version: "5.2"}}}, nil, false, nil},
		{"as listed", servers(false, nil, &newer, &older), ben, nil, false, []string{told + "1 server (5.14.0): left out"}},
		{"as an old list has it", servers(true, nil, &newer, &older), ben, nil, false,
			[]string{told + "1 server (5.14.0): not left out, because only an old list says so"}},
		{"as an old list has it, and the server says, too", servers(true, map[int]*discovery.Info{0: &newer}, &newer, &newer), ben, nil, false,
			[]string{told + "1 server (5.14.0): left out", told + "1 server (5.14.0): not left out, because only an old list says so"}},
	} {
		if got := texts(Describe(tt.servers, tt.players, tt.best, tt.any)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: it says %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestMostOf checks that the most frequent come first, and no more than three.
func TestMostOf(t *testing.T) {
	for _, tt := range []struct {
		counts map[string]int
		want   string
	}{
		{map[string]int{"a": 1, "b": 2}, "b and a"},
		{map[string]int{"a": 1, "b": 2, "c": 1, "d": 1, "e": 1}, "b, a, c and 2 more"},
	} {
		if got := catalogue.InEnglish().Words("list.of", "items", mostOf(tt.counts)); got != tt.want {
			t.Errorf("of %v it is %q, want %q", tt.counts, got, tt.want)
		}
	}
}

func texts(sentences []sentence.Sentence) []string { return catalogue.InEnglish().SayAll(sentences) }
