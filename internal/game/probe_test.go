package game

import (
	"slices"
	"strings"
	"testing"

	"muster/discovery"
)

// TestWays checks that every protocol is asked, tcp last, and that the number of questions is bounded and said.
func TestWays(t *testing.T) {
	table := load(t, "")
	ways := table.QueryMethods(27015)
	for _, name := range Protocols() {
		if !slices.ContainsFunc(ways, func(w QueryMethod) bool { return w.Protocol == name }) {
			t.Errorf("%s is not asked", name)
		}
	}
	if last := ways[len(ways)-1]; last.Protocol != "tcp" || len(ways) > 80 {
		t.Errorf("%d ways, the last is %+v", len(ways), last)
	}
	for _, want := range []QueryMethod{{"a2s", 0, 0}, {"a2s", 0, 1}, {"gamespy3", 13333, 0}, {"frostbite", 22000, 0}} {
		if !slices.Contains(ways, want) {
			t.Errorf("%+v is missing", want)
		}
	}
	q := Count(ways, 27015, 2)
	if q.Protocols != len(Protocols()) || q.Packets+2*q.Connections != 2*len(ways) || !slices.Contains(q.Ports, "27016") {
		t.Errorf("%+v", q)
	}
	for _, w := range table.QueryMethods(65535) {
		if int(w.Above)+int(w.Shift) > 0 {
			t.Errorf("above the last port: %+v", w)
		}
	}
}

// TestBest checks which answer becomes an entry.
func TestBest(t *testing.T) {
	tcp := Answer{Method: QueryMethod{Protocol: "tcp"}}
	seats := Answer{Method: QueryMethod{Protocol: "mumble"}, Info: &discovery.Info{MaxPlayers: 9}}
	named := Answer{Method: QueryMethod{Protocol: "a2s"}, Info: &discovery.Info{Name: "x"}}
	other := Answer{Method: QueryMethod{Protocol: "quake3"}, Info: &discovery.Info{Name: "x"}}
	for want, answers := range map[string][]Answer{"a2s": {tcp, seats, named, other}, "mumble": {tcp, seats}, "tcp": {tcp}} {
		if got, ok := Best(answers); !ok || got.Method.Protocol != want {
			t.Errorf("%+v, want %s", got, want)
		}
	}
	if _, ok := Best(nil); ok {
		t.Error("silence is an answer")
	}
}

// TestKnown checks which known games an answer fits.
func TestKnown(t *testing.T) {
	table := load(t, "")
	for _, c := range []struct {
		protocol string
		app      uint64
		ids      string
	}{{"a2s", 440, "tf2"}, {"a2s", 99, ""}, {"minecraft", 0, "minecraft"}, {"quake3", 0, ""}, {"tcp", 0, ""}} {
		var ids []string
		for _, g := range table.Known(Answer{Method: QueryMethod{Protocol: c.protocol}, Info: &discovery.Info{AppID: c.app}}) {
			ids = append(ids, g.ID)
		}
		if strings.Join(ids, " ") != c.ids {
			t.Errorf("%+v is %v", c, ids)
		}
	}
}

// TestEntryOf checks the entries made from servers' answers. Each is sound.
func TestEntryOf(t *testing.T) {
	for _, c := range []struct {
		id, remark string
		answer     Answer
		want       string
	}{
		{"tavern", "192.0.2.1:4000 answered", Answer{Method: QueryMethod{Protocol: "a2s", Shift: 1}, Info: &discovery.Info{AppID: 4711}}, `# 192.0.2.1:4000 answered
[game.tavern]
name = "tavern"
protocol = "a2s"
port = 4001
app_id = 4711
launch = ["steam://connect/{query}{/password}"]
`},
		{"inn", "it is\n[game.evil]", Answer{Method: QueryMethod{Protocol: "gamespy3", Above: 13333}}, `# it is [game.evil]
[game.inn]
name = "inn"
protocol = "gamespy3"
port = 4000
query_above = 13333
# What starts it, if something does: a program and its arguments, or one link.
# launch = ["inn", "{address}"]
`},
	} {
		if got := EntryOf(c.id, c.answer, 4000, c.remark); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
		if ids, err := Check(strings.NewReader(c.want), "x"); err != nil || !slices.Equal(ids, []string{c.id}) {
			t.Errorf("%v, %v", ids, err)
		}
	}
	if id := NewID(Answer{Info: &discovery.Info{Mod: "Half-Life Ü"}}); id != "halflifeu" {
		t.Errorf("the id is %q", id)
	}
	if id := NewID(Answer{}); id != "mygame" {
		t.Errorf("the id is %q", id)
	}
}

// TestAppend checks that an entry is added to a sound table that has none of its id.
func TestAppend(t *testing.T) {
	const entry = "[game.inn]\nprotocol = \"tcp\"\nport = 1\n"
	for old, want := range map[string]string{
		"":                             entry,
		"# mine\n":                     "# mine\n\n" + entry,
		"[game.cs2]\nport = 1\n\n\n\n": "[game.cs2]\nport = 1\n\n" + entry,
	} {
		if got, err := Append(old, "inn", entry, "mine.toml"); err != nil || got != want {
			t.Errorf("%q: %q, %v", old, got, err)
		}
	}
	for old, want := range map[string]string{
		"\n" + entry:       `mine.toml:2: game "inn" is there already`,
		"[game.inn\n":      "mine.toml:1: ",
		"[game.x]\nport=1": "protocol",
	} {
		if got, err := Append(old, "inn", entry, "mine.toml"); err == nil || got != "" && err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", old, err)
		}
	}
}
