package doom3_test

import (
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/doom3"
)

const nonce = discovery.Nonce(0x89abcdef)

// The packets here are written by hand after Doom 3's source and QStat's: no real server
// was at hand.
const (
	asked = "\xff\xffgetInfo\x00\xef\xcd\xab\x89\xef\xcd\xab\x89"
	head  = "\xff\xffinfoResponse\x00\xef\xcd\xab\x89"
	doom3 = head + "\x29\x00\x01\x00" +
		"si_version\x00DOOM 1.3.1.1304 linux-x86 Jan 16 2007 21:53:29\x00fs_game\x00\x00si_maxPlayers\x004\x00si_usepass\x001\x00" +
		"si_map\x00game/mp/d3dm3\x00si_gameType\x00Tourney\x00si_name\x00^1A ^9B^cad\xe9 ^ c\x00\x00\x00" +
		"\x00\x20\x00\x00\x64\x00\x00ann\x00\x03\x00\x00\x00\x64\x00\x00^2ben\x00\x20\x07\x00\x00\x00"
	quake4 = head + "\x55\x00\x02\x80" +
		"si_version\x00Quake4  V1.4.2 linux-x86 Jun 15 2007\x00fs_game\x00q4mp\x00si_maxPlayers\x0012\x00" +
		"si_map\x00mp/q4dm10\x00si_gameType\x00DM\x00si_usepass\x000\x00si_name\x00^c014Fun^ifve!\x00\x00\x00" +
		"\x00\x7b\x00\x00\x64\x00\x00ann\x00\x00\x01\x25\x00\x00\x64\x00\x00ben\x00[c]\x00\x20\x07\x00\x00\x00\x00\x00\x00\x00\x01"
	wars = head + "\xef\xcd\xab\x89" + "\x15\x00\x0a\x00" + "\xa7\x06\x00\x00" +
		"si_version\x00ETQW 1.5.12642.33243  win-x86 Apr 30 2008\x00si_rules\x00sdGameRulesCampaign\x00si_needPass\x000\x00" +
		"si_maxPlayers\x0024\x00si_name\x00No lag\x00si_map\x00maps/island.entities\x00\x00\x00" +
		"\x00\x4c\x00ann\x00\x00\x00\x00\x01\x00\x00bot\x00\x01[c]\x00\x01\x20\x07\x00\x00\x00\x00\x04\x2a\x05\x00\x02\x00\x01"
)

func TestParse(t *testing.T) {
	if got := string((Protocol{}).AppendQuery(nil, 0x1234_5678_89ab_cdef, nil)); got != asked {
		t.Errorf("AppendQuery = %q", got)
	}
	for name, c := range map[string]struct {
		packet string
		want   discovery.Info
	}{
		"Doom 3": {doom3, discovery.Info{
			Name: "A Badé ^ c", Map: "game/mp/d3dm3", Mode: "Tourney", Version: "DOOM 1.3.1.1304", Protocol: 1<<16 | 41,
			Players: 2, MaxPlayers: 4, Password: true,
		}},
		"Quake 4": {quake4, discovery.Info{
			Name: "Fun!", Map: "mp/q4dm10", Mode: "DM", Version: "Quake4 V1.4.2", Protocol: 2<<16 | 85, Players: 2, MaxPlayers: 12,
		}},
		"Quake Wars": {wars, discovery.Info{
			Name: "No lag", Map: "island", Mode: "Campaign", Version: "ETQW 1.5.12642.33243", Protocol: 10<<16 | 21,
			Players: 2, Bots: 1, MaxPlayers: 24,
		}},
		"players in no known form": {doom3 + string(make([]byte, 100)), discovery.Info{
			Name: "A Badé ^ c", Map: "game/mp/d3dm3", Mode: "Tourney", Version: "DOOM 1.3.1.1304", Protocol: 1<<16 | 41, Password: true,
		}},
	} {
		reply, err := Protocol{}.Parse([][]byte{[]byte("noise"), []byte(c.packet)})
		if err != nil || !reply.Echoed || !reply.Answers(nonce) || reply.Answers(nonce+1) || *reply.Info != c.want {
			t.Errorf("%s: %+v, %+v, %v", name, reply, reply.Info, err)
		}
	}
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing": "", "the question": asked, "no version": head, "no end of the keys": head + "\x29\x00\x01\x00si_name\x00x\x00",
		"a value without end": head + "\x29\x00\x01\x00si_name\x00x",
	})
}

// TestRoll checks that the players are read in each game's form.
func TestRoll(t *testing.T) {
	for packet, want := range map[string][]discovery.Player{
		doom3:  {{Name: "ann", Ping: 32 * time.Millisecond}, {Name: "ben"}},
		quake4: {{Name: "ann", Ping: 123 * time.Millisecond}, {Name: "ben", Ping: 37 * time.Millisecond}},
		wars:   {{Name: "ann", Ping: 76 * time.Millisecond}, {Name: "bot"}},
	} {
		reply, err := Protocol{}.Roll().Parse([][]byte{[]byte(packet)})
		if err != nil || !slices.Equal(reply.Info.Roster.Players, want) {
			t.Errorf("players are %+v, %v, want %+v", reply.Info.Roster, err, want)
		}
	}
}

// TestAnswer checks that the fleet's servers are understood.
func TestAnswer(t *testing.T) {
	info := discovery.Info{Name: "n", Map: "m", Mode: "DM", Version: "1.2.3", Protocol: 1<<16 | 41, Players: 2, MaxPlayers: 16, Password: true}
	question := Protocol{}.AppendQuery(nil, nonce, nil)
	if reply, err := (Protocol{}).Parse([][]byte{Answer(question, info, []string{"ann", "ben"})}); err != nil || *reply.Info != info {
		t.Errorf("%+v, %v", reply.Info, err)
	}
	if Answer([]byte("\xff\xffgetInfo\x00\x01"), info, nil) != nil {
		t.Error("a server answers half a question")
	}
}

func FuzzParse(f *testing.F) {
	for _, packet := range []string{doom3, quake4, wars} {
		f.Add([]byte(packet))
	}
	codectest.Fuzz(f, Protocol{}.Roll())
}
