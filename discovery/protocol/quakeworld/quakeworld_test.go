package quakeworld_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/quakeworld"
)

func TestRecorded(t *testing.T) {
	requests, replies := codectest.Packets(t, "mvdsv.hex")
	if got := (Protocol{}).AppendQuery(nil, 7, nil); string(got) != string(requests[0]) {
		t.Errorf("AppendQuery = %q, want %q", got, requests[0])
	}
	want := discovery.Info{Name: "QW test", Map: "box", Mode: "ktx", Mod: "ktx", Version: "MVDSV 0.35", MaxPlayers: 8}
	reply, err := Protocol{}.Parse(replies)
	if err != nil || reply.Echoed || *reply.Info != want {
		t.Errorf("%+v, %v, want %+v", reply.Info, err, want)
	}
}

func TestParse(t *testing.T) {
	const qw, q2 = "\xff\xff\xff\xffn", "\xff\xff\xff\xffprint\n"
	for name, c := range map[string]struct {
		protocol discovery.Protocol
		text     string
		want     discovery.Info
	}{
		"players, and one who looks on": {Protocol{}, qw + `\hostname\a\maxclients\16\map\dm6\*gamedir\ktx` + "\n" +
			"7 3 12 25 \"one\" \"base\" 4 4 \"red\"\n8 -2 1 666 \"t wo\" \"\" 0 13 \"\"\n9 -9999 1 -25 " +
			"\"\\s\\three\" \"\" 0 0 \"\"\n10 S 1 25 \"four\" \"\" 0 0\n\x00",
			discovery.Info{Name: "a", Map: "dm6", Mode: "ktx", Mod: "ktx", Players: 2, MaxPlayers: 16}},
		"Quake's letters": {Protocol{}, qw + "\\hostname\\\x10\xf1\xf7\x11 \x92\x13\\map\\dm2\n",
			discovery.Info{Name: "[qw] 01", Map: "dm2"}},
		"password":               {Protocol{}, qw + `\needpass\1\map\x` + "\n", discovery.Info{Map: "x", Password: true}},
		"who looks on needs one": {Protocol{}, qw + `\needpass\2\map\x` + "\n", discovery.Info{Map: "x"}},
		"Quake II": {Quake2{}, q2 + `\hostname\b\mapname\q2dm1\gamename\baseq2\maxclients\8\version\R1Q2\protocol\34\gamedir\action` + "\n" + "5 25 \"one\"\n0 0 \"bot\" \"loopback\"\n",
			discovery.Info{
				Name:       "b",
				Map:        "q2dm1",
				Mode:       "action",
				Mod:        "action",
				Version:    "R1Q2",
				Protocol:   34,
				Players:    2,
				MaxPlayers: 8,
				Bots:       1,
			}},
		"numbers out of bounds": {Protocol{}, qw + `\maxclients\99999999\map\x` + "\n", discovery.Info{Map: "x"}},
		"lines that are none":   {Protocol{}, qw + `\map\x` + "\n\n\n1 2\n\"\"\n\x00", discovery.Info{Map: "x"}},
		"crowd": {Protocol{}, qw + `\map\x` + "\n" + strings.Repeat("1 1 1 1 \"a\"\n", 2000),
			discovery.Info{Map: "x", Players: 1024}},
	} {
		reply, err := c.protocol.Parse([][]byte{[]byte(c.text)})
		if err != nil || *reply.Info != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, c.want)
		}
	}
}

func TestFleet(t *testing.T) {
	want := discovery.Info{Name: "a", Map: "dm6", Mode: "ktx", Mod: "ktx", Version: "MVDSV 0.35", Players: 3, MaxPlayers: 16, Password: true}
	reply, err := Protocol{}.Parse([][]byte{Answer((Protocol{}).AppendQuery(nil, 0, nil), want)})
	if err != nil || *reply.Info != want {
		t.Errorf("%+v, %v, want %+v", reply.Info, err, want)
	}
	want.Bots, want.Mod = 1, ""
	reply, err = Quake2{}.Parse([][]byte{Answer2((Quake2{}).AppendQuery(nil, 0, nil), want)})
	if err != nil || *reply.Info != want {
		t.Errorf("%+v, %v, want %+v", reply.Info, err, want)
	}
	if Answer([]byte("hello"), want) != nil || Answer2([]byte("hello"), want) != nil {
		t.Error("answers what is no question")
	}
}

// TestRoll checks that the players are in the same reply, and are read if requested.
func TestRoll(t *testing.T) {
	_, replies := codectest.Packets(t, "mvdsv.hex")
	for name, c := range map[string]struct {
		roll discovery.Protocol
		text string
		want []discovery.Player
	}{
		"recorded, empty": {Protocol{}.Roll(), string(replies[0]), nil},
		"QuakeWorld": {Protocol{}.Roll(), "\xff\xff\xff\xffn\\map\\dm6\n" +
			"7 3 12 25 \"\x10\xef\xee\xe5\x11\" \"base\" 4 4 \"red\"\n8 -2 1 666 \"t wo\" \"\" 0 13 \"\"\n9 " +
			"-9999 1 -25 \"\\s\\three\" \"\" 0 0 \"\"\n10 x 1 99999999999 \"cut",
			[]discovery.Player{{Name: "[one]", Score: 3, Ping: 25 * time.Millisecond},
				{Name: "t wo", Score: -2, Ping: 666 * time.Millisecond}, {Name: "cut", Ping: time.Minute}}},
		"Quake II": {Quake2{}.Roll(), "\xff\xff\xff\xffprint\n\\mapname\\q2dm1\n5 25 \"one\"\n0 0 \"bot\" \"loopback\"\n",
			[]discovery.Player{{Name: "one", Score: 5, Ping: 25 * time.Millisecond}, {Name: "bot"}}},
	} {
		reply, err := c.roll.Parse([][]byte{[]byte(c.text)})
		if err != nil || !slices.Equal(reply.Info.Roster.Players, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, c.want)
		}
		if asked, also := c.roll.AppendQuery(nil, 1, nil),
			(Protocol{}).AppendQuery(nil, 1, nil); name != "Quake II" && string(asked) != string(also) {
			t.Errorf("%s: asks by %q", name, asked)
		}
	}
}

func FuzzRoll(f *testing.F) { codectest.Fuzz(f, Protocol{}.Roll(), "mvdsv.hex") }

func TestParseRefuses(t *testing.T) {
	codectest.Refuses(t, Protocol{},
		map[string]string{"nothing": "", "head": "\xff\xff\xff\xffn", "Quake II's": "\xff\xff\xff\xffprint\n\\map\\x\n",
			"a challenge": "\xff\xff\xff\xffc123"})
	codectest.Refuses(t, Quake2{},
		map[string]string{"nothing": "", "head": "\xff\xff\xff\xffprint\n", "a word": "\xff\xff\xff\xffprint\nYou are banned.\n"})
}

func FuzzParse(f *testing.F) { codectest.Fuzz(f, Protocol{}, "mvdsv.hex") }

func FuzzParseQuake2(f *testing.F) {
	f.Add([]byte("\xff\xff\xff\xffprint\n\\hostname\\b\\maxclients\\8\n5 25 \"one\"\n"))
	codectest.Fuzz(f, Quake2{})
}
