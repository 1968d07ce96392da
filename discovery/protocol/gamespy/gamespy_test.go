package gamespy_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/gamespy"
)

// The output of Unreal Tournament's script: a packet for each part before version 440,
// then as much as fits.
const (
	utBasic = `\gamename\ut\gamever\436\minnetver\432\location\0\queryid\7.1`
	utInfo  = `\hostname\Facing Worlds 24/7\hostport\7777\maptitle\Facing Worlds\mapname\CTF-Face\gametype\CTFGame\numplayers\2\maxplayers\16\gamemode\openplaying\gamever\436\minnetver\432\worldlog\false\queryid\7.2`
	utRules = `\mutators\\listenserver\False\password\True\timelimit\20\queryid\7.3`
	utEcho  = `\echo\00000000deadbeef\final\\queryid\7.4`
	patched = `\gamename\ut\gamever\469\hostname\One packet\hostport\7777\mapname\DM-Deck16][\gametype\DeathMatchPlus\numplayers\0\maxplayers\8\echo_replay\00000000deadbeef\queryid\9.1\final\`
	serious = `\gamename\serioussamse\gamever\1.07\location\EU\hostname\Sam\hostport\25600\mapname\Hatshepsut\gametype\Cooperative\activemod\\numplayers\1\maxplayers\8\gamemode\openplaying\difficulty\Normal\friendlyfire\1\final\\queryid\6.1`
)

var unreal = Protocol{Above: 1, Echo: true}

func TestRecorded(t *testing.T) {
	requests, replies := codectest.Packets(t, "netpanzer.hex")
	if got := (Protocol{}).AppendQuery(nil, 7, nil); string(got) != string(requests[0]) {
		t.Errorf("AppendQuery = %q, want %q", got, requests[0])
	}
	want := discovery.Info{Name: "Player675", Map: "Bullet Hole", Mode: "Objective", Version: "0.8.7", Protocol: 1122, MaxPlayers: 12}
	reply, err := Protocol{}.Parse(replies)
	if err != nil || reply.Echoed || *reply.Info != want {
		t.Errorf("%+v, %v, want %+v", reply.Info, err, want)
	}
}

// TestRoll checks that the players are read from the reply, in one packet or several,
// under either key.
func TestRoll(t *testing.T) {
	_, empty := codectest.Packets(t, "netpanzer.hex")
	for name, c := range map[string]struct {
		roll      discovery.Protocol
		datagrams [][]byte
		want      []discovery.Player
	}{
		"recorded, empty": {Protocol{}.Roll(), empty, nil},
		"Unreal": {unreal.Roll(), codectest.Datagrams(utBasic, utInfo,
			`\player_0\ann\frags_0\12\ping_0\ 50\team_0\255\mesh_0\Male\queryid\7.3`,
			`\player_1\b`+"\xf6"+`b\frags_1\-3\ping_1\9999999\final\\queryid\7.4`),
			[]discovery.Player{{Name: "ann", Score: 12, Ping: 50 * time.Millisecond}, {Name: "böb", Score: -3, Ping: time.Minute}}},
		"Battlefield": {Protocol{Above: 1}.Roll(),
			codectest.Datagrams(`\hostname\a\maxplayers\64\playername_7\cyd\score_7\5\ping_7\40\playername_2\dan\score_2\x\playername_2\eve\final\`),
			[]discovery.Player{{Name: "cyd", Score: 5, Ping: 40 * time.Millisecond}, {Name: "dan"}}},
	} {
		reply, err := c.roll.Parse(c.datagrams)
		if err != nil || reply.Info == nil || !slices.Equal(reply.Info.Roster.Players, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, c.want)
		}
	}
	if above := (Protocol{Above: 10}).Roll().(discovery.Aside).QueryPort(1000); above != 1010 {
		t.Errorf("asks at port %d", above)
	}
}

func FuzzRoll(f *testing.F) {
	f.Add([]byte(`\hostname\a\playername_7\cyd\score_7\5\ping_7\40\final\`))
	codectest.Fuzz(f, unreal.Roll(), "netpanzer.hex")
}

func TestAppendQuery(t *testing.T) {
	if got := string((Protocol{}).AppendQuery(nil, 7, nil)); got != `\status\` {
		t.Errorf("AppendQuery = %q", got)
	}
	if got := string(unreal.AppendQuery(nil, 0xdeadbeef, nil)); got != `\status\\echo\00000000deadbeef` {
		t.Errorf("Unreal's AppendQuery = %q", got)
	}
	for above, want := range map[uint16]uint16{0: 7777, 1: 7778, 10: 7787} {
		if got := (Protocol{Above: above}).QueryPort(7777); got != want {
			t.Errorf("%d above: QueryPort = %d, want %d", above, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	ut := discovery.Info{
		Name:           "Facing Worlds 24/7",
		Map:            "CTF-Face",
		Mode:           "CTFGame",
		Version:        "436",
		Protocol:       436,
		OldestProtocol: 432,
		Players:        2,
		MaxPlayers:     16,
		Password:       true,
	}
	one := discovery.Info{Name: "One packet", Map: "DM-Deck16][", Mode: "DeathMatchPlus", Version: "469", MaxPlayers: 8}
	for name, c := range map[string]struct {
		protocol  discovery.Protocol
		datagrams [][]byte
		want      discovery.Info
		echoed    bool
	}{
		"in order":             {unreal, codectest.Datagrams(utBasic, utInfo, utRules, utEcho), ut, true},
		"in any order":         {unreal, codectest.Datagrams(utEcho, utRules, utBasic, utInfo), ut, true},
		"one twice":            {unreal, codectest.Datagrams(utBasic, utInfo, utInfo, utRules, utEcho), ut, false},
		"after one of another": {unreal, codectest.Datagrams(strings.ReplaceAll(utBasic, `\7.`, `\6.`), utBasic, utInfo, utRules, utEcho), ut, false},
		"after noise":          {unreal, codectest.Datagrams("noise", utBasic, utInfo, utRules, utEcho), ut, false},
		"the newest": {unreal, codectest.Datagrams(patched, strings.NewReplacer("One", "Other", `\9.`, `\10.`).Replace(patched)),
			discovery.Info{Name: "Other packet", Map: "DM-Deck16][", Mode: "DeathMatchPlus", Version: "469", MaxPlayers: 8}, false},
		"a packet":             {unreal, codectest.Datagrams(patched), one, true},
		"an echo that is none": {unreal, codectest.Datagrams(strings.ReplaceAll(patched, "00000000deadbeef", "hello")), one, false},
		"its own version only": {unreal, codectest.Datagrams(`\hostname\a\gamever\432\minnetver\432\final\`),
			discovery.Info{Name: "a", Version: "432", Protocol: 432}, false},
		"a newer one only": {unreal, codectest.Datagrams(`\hostname\a\gamever\432\minnetver\440\final\`),
			discovery.Info{Name: "a", Version: "432", Protocol: 432}, false},
		"a mod": {Protocol{}, codectest.Datagrams(`\hostname\a\activemod\Dark Island\final\`),
			discovery.Info{Name: "a", Mod: "Dark Island"}, false},
		"players' port": {Protocol{}, codectest.Datagrams(serious), discovery.Info{
			Name:       "Sam",
			Map:        "Hatshepsut",
			Mode:       "Cooperative",
			Version:    "1.07",
			Players:    1,
			MaxPlayers: 8,
			GamePort:   25600,
		}, false},
		"without numbers": {Protocol{}, codectest.Datagrams(`\hostname\a\player_0\x`, `\playername_1\y\player_score\3\final\`),
			discovery.Info{Name: "a", Players: 2}, false},
		"a number for all": {Protocol{}, codectest.Datagrams(`\hostname\a\queryid\7`, `\maxplayers\8\final\\queryid\7`),
			discovery.Info{Name: "a", MaxPlayers: 8}, false},
		"keys in capitals": {Protocol{}, codectest.Datagrams(`\HostName\a\MaxPlayers\8\Password\1\final\`),
			discovery.Info{Name: "a", MaxPlayers: 8, Password: true}, false},
		"the end cut short": {Protocol{}, codectest.Datagrams(`\hostname\a\final` + "\x00"), discovery.Info{Name: "a"}, false},
		"one letter a byte": {Protocol{}, codectest.Datagrams("\\hostname\\Z\xfcrich\\final\\"), discovery.Info{Name: "Zürich"}, false},
		"numbers out of bounds": {Protocol{},
			codectest.Datagrams(`\hostname\a\numplayers\-3\maxplayers\99999999\hostport\70000\final\`), discovery.Info{Name: "a"}, false},
		"no words for the map": {Protocol{}, codectest.Datagrams(`\hostname\a\mapname\\maptitle\A place\password\0\final\`),
			discovery.Info{Name: "a", Map: "A place"}, false},
	} {
		reply, err := c.protocol.Parse(c.datagrams)
		if err != nil || reply.Info == nil || *reply.Info != c.want || reply.Echoed != c.echoed {
			t.Errorf("%s: %+v of %+v, %v, want %+v", name, reply, reply.Info, err, c.want)
		}
		if reply.Echoed && reply.Nonce != 0xdeadbeef {
			t.Errorf("%s: nonce %x", name, reply.Nonce)
		}
	}
}

func TestParseWaits(t *testing.T) {
	for name, datagrams := range map[string][][]byte{
		"nothing":      nil,
		"no end":       codectest.Datagrams(utBasic, utInfo, utRules),
		"one lost":     codectest.Datagrams(utBasic, utRules, utEcho),
		"two halves":   codectest.Datagrams(utBasic, utInfo, strings.ReplaceAll(utRules, `\7.`, `\8.`), strings.ReplaceAll(utEcho, `\7.`, `\8.`)),
		"a wild count": codectest.Datagrams(`\hostname\a\final\\queryid\1.2147483647`),
		"below 0":      codectest.Datagrams(`\hostname\a\queryid\1.-1`),
		"a place over": codectest.Datagrams(`\hostname\a\queryid\1.3`, `\final\\queryid\1.2`),
	} {
		if reply, err := unreal.Parse(datagrams); err != nil || !reply.Incomplete {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, p := range []discovery.Protocol{Protocol{}, unreal} {
		codectest.Refuses(t, p, map[string]string{
			"nothing": "", "noise": "hello world", "Quake III's": "\xff\xff\xff\xffstatusResponse\n",
			"nobody": `\final\`, "an echo alone": `\echo\00000000deadbeef\queryid\1.1\final\`, "an error": `\error\no such query\final\`,
		})
	}
}

// The fleet's answers are read back, in any order of their packets.
func TestAnswer(t *testing.T) {
	names := make([]string, 40)
	for i := range names {
		names[i] = strings.Repeat("x", 20) + `\`
	}
	want := discovery.Info{
		Name:           "a",
		Map:            "DM-Fractal",
		Mode:           "DeathMatchPlus",
		Version:        "469",
		Protocol:       469,
		OldestProtocol: 432,
		Players:        len(names),
		MaxPlayers:     64,
		Password:       true,
	}
	answer := Answer(unreal.AppendQuery(nil, 0xdeadbeef, nil), want, names, 7777)
	if len(answer) < 3 {
		t.Fatalf("%d packets", len(answer))
	}
	for _, datagrams := range [][][]byte{answer, slices.Concat(answer[1:], answer[:1])} {
		for _, d := range datagrams {
			if len(d) > 1100 {
				t.Errorf("a packet of %d bytes", len(d))
			}
		}
		reply, err := unreal.Parse(datagrams)
		if err != nil || reply.Info == nil || *reply.Info != want || !reply.Echoed || reply.Nonce != 0xdeadbeef {
			t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
		}
	}
	want.GamePort, want.Version, want.Password, want.Protocol, want.OldestProtocol = 7777, "", false, 0, 0
	reply, err := Protocol{}.Parse(Answer([]byte(`\info\`), want, names, 7777))
	if err != nil || reply.Info == nil || *reply.Info != want || reply.Echoed {
		t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
	}
	if got := Answer([]byte("hello"), want, nil, 7777); got != nil {
		t.Errorf("answers what is no question: %q", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{utInfo, patched, serious} {
		f.Add([]byte(text))
	}
	codectest.Fuzz(f, Protocol{}, "netpanzer.hex")
}

// FuzzPackets takes a reply apart, and reads its packets in another order among others.
// It checks that the result is the same, or nothing.
func FuzzPackets(f *testing.F) {
	f.Add([]byte(strings.Join([]string{utBasic, utInfo, utRules, utEcho}, "\n")), []byte(patched))
	f.Add([]byte(`\hostname\a\final\`), []byte(`\queryid\1.1`))
	f.Fuzz(func(t *testing.T, lines, noise []byte) {
		packets := bytes.SplitN(lines, []byte("\n"), 64)
		straight, err := unreal.Parse(packets)
		if err != nil && !errors.Is(err, discovery.ErrMalformed) {
			t.Error(err)
		}
		slices.Reverse(packets)
		for _, datagrams := range [][][]byte{packets, append(packets, noise)} {
			reply, err := unreal.Parse(datagrams)
			if err != nil && !errors.Is(err, discovery.ErrMalformed) {
				t.Error(err)
			}
			if reply.Echoed && reply.Info == nil || reply.Info != nil && reply.Info.GamePort != 0 {
				t.Errorf("%+v", reply)
			}
		}
		if straight.Echoed && straight.Incomplete {
			t.Errorf("%+v", straight)
		}
	})
}
