package gamespy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/gamespy"
)

// Written by hand after the protocol's description, as SWAT 4 and Halo answer.
const (
	secondKeys = "\x00\xde\xad\xbe\xefhostname\x00Precinct 9\x00numplayers\x002\x00maxplayers\x0016\x00gametype\x00CO-OP\x00" +
		"gamevariant\x00SWAT 4\x00mapname\x00Food Wall Restaurant\x00hostport\x0010480\x00password\x001\x00gamever\x001.1\x00\x00"
	secondPlayers = "\x00\xde\xad\xbe\xef\x00\x02player_\x00score_\x00ping_\x00team_\x00\x00" +
		"ann\x007\x0040\x001\x00b\xf6b\x00-2\x00999999\x000\x00\x00\x02team_t\x00score_t\x00\x00Red\x002\x00Blue\x009\x00"
)

func TestSecondAsks(t *testing.T) {
	const nonce = 0x12345678deadbeef
	if got := string((Second{}).AppendQuery(nil, nonce, nil)); got != "\xfe\xfd\x00\xde\xad\xbe\xef\xff\x00\x00" {
		t.Errorf("AppendQuery = %x", got)
	}
	roll := Second{Above: 2}.Roll()
	if got := string(roll.AppendQuery(nil, nonce, nil)); got != "\xfe\xfd\x00\xde\xad\xbe\xef\x00\xff\x00" {
		t.Errorf("the roll's AppendQuery = %x", got)
	}
	if got := roll.(discovery.Aside).QueryPort(10480); got != 10482 {
		t.Errorf("QueryPort = %d", got)
	}
}

func TestSecond(t *testing.T) {
	swat := discovery.Info{
		Name: "Precinct 9", Map: "Food Wall Restaurant", Mode: "CO-OP", Version: "1.1", Players: 2, MaxPlayers: 16, Password: true,
	}
	direct := swat
	direct.GamePort = 10480
	for name, c := range map[string]struct {
		protocol Second
		packets  []string
		want     discovery.Info
	}{
		"beside the game":   {Second{Above: 2}, []string{secondKeys}, swat},
		"the game's port":   {Second{}, []string{secondKeys}, direct},
		"among others":      {Second{}, []string{"noise", secondKeys, secondPlayers}, direct},
		"an open end":       {Second{}, []string{"\x00\xde\xad\xbe\xefmapname\x00DM-A\x00hostname\x00cut"}, discovery.Info{Map: "DM-A"}},
		"a key twice":       {Second{}, []string{"\x00\xde\xad\xbe\xefhostname\x00a\x00hostname\x00b\x00\x00"}, discovery.Info{Name: "a"}},
		"one letter a byte": {Second{}, []string{"\x00\xde\xad\xbe\xefHostName\x00Z\xfcrich\x00\x00"}, discovery.Info{Name: "Zürich"}},
		"wild numbers": {Second{}, []string{
			"\x00\xde\xad\xbe\xefhostname\x00a\x00maxplayers\x0099999999\x00numplayers\x00-1\x00hostport\x0070000\x00\x00",
		},
			discovery.Info{Name: "a"}},
		"control characters": {Second{}, []string{"\x00\xde\xad\xbe\xefhostname\x00\x01\x01\x01! \x1b\x00\x00"}, discovery.Info{Name: "!"}},
	} {
		reply, err := c.protocol.Parse(codectest.Datagrams(c.packets...))
		if err != nil || reply.Info == nil || *reply.Info != c.want || !reply.Answers(0x12345678deadbeef) || !reply.Echoed {
			t.Errorf("%s: %+v of %+v, %v, want %+v", name, reply, reply.Info, err, c.want)
		}
	}
}

func TestSecondRoll(t *testing.T) {
	two := []discovery.Player{
		{Name: "ann", Score: 7, Ping: 40 * time.Millisecond}, {Name: "böb", Score: -2, Ping: time.Minute},
	}
	for name, c := range map[string]struct {
		packet string
		want   []discovery.Player
	}{
		"two":            {secondPlayers, two},
		"without count":  {strings.Replace(secondPlayers, "\x00\x02player_", "\x00player_", 1), two},
		"a count of 0":   {strings.Replace(secondPlayers, "\x00\x02player_", "\x00\x00player_", 1), two},
		"an empty place": {"\x00\xde\xad\xbe\xef\x00\x00\x00\x00\x00", nil},
		"cut off":        {secondPlayers[:strings.Index(secondPlayers, "-2")], two[:1]},
		"a count alone":  {"\x00\xde\xad\xbe\xef\x00\x40", nil},
		"no name, but counted": {"\x00\xde\xad\xbe\xef\x00\x02player_\x00score_\x00\x00\x001\x00ann\x002\x00\x00",
			[]discovery.Player{{Score: 1}, {Name: "ann", Score: 2}}},
	} {
		reply, err := Second{}.Roll().Parse(codectest.Datagrams(c.packet))
		if err != nil || reply.Info == nil || !slices.Equal(reply.Info.Roster.Players, c.want) || !reply.Answers(0xdeadbeef) {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, c.want)
		}
	}
}

// TestSecondIsBounded checks that a packet of fields and values makes no more players
// than a server has seats for.
func TestSecondIsBounded(t *testing.T) {
	reply, err := Second{}.Roll().Parse(codectest.Datagrams("\x00\xde\xad\xbe\xef\x00\x01x\x00\x00" + strings.Repeat("a\x00", 1<<15)))
	if err != nil || len(reply.Info.Roster.Players) > 1024 {
		t.Errorf("%d players, %v", len(reply.Info.Roster.Players), err)
	}
}

func TestSecondRefuses(t *testing.T) {
	hostile := map[string]string{
		"nothing": "", "noise": "hello world", "a header": "\x00\xde\xad\xbe\xef", "half a header": "\x00\xde\xad",
		"another kind": "\x09\xde\xad\xbe\xefhostname\x00a\x00\x00", "the first form": `\hostname\a\final\`,
		"the third form": minecraft,
	}
	codectest.Refuses(t, Second{}.Roll(), hostile)
	hostile["no end of a key"] = "\x00\xde\xad\xbe\xef" + strings.Repeat("a", 1400)
	hostile["nothing about a server"] = "\x00\xde\xad\xbe\xefgamename\x00x\x00\x00"
	hostile["an empty key first"] = "\x00\xde\xad\xbe\xef\x00hostname\x00a\x00\x00"
	codectest.Refuses(t, Second{}, hostile)
}

func TestAnswerSecond(t *testing.T) {
	want := discovery.Info{Name: "a", Map: "m", Mode: "ctf", Version: "1.1", Players: 3, MaxPlayers: 8, Password: true}
	names := []string{"ann", "b\x00ob", "cyd"}
	told := want
	told.GamePort = 7000
	reply, err := Second{}.Parse([][]byte{AnswerSecond(Second{}.AppendQuery(nil, 7, nil), want, names, 7000)})
	if err != nil || *reply.Info != told || !reply.Answers(7) {
		t.Errorf("%+v, %v", reply.Info, err)
	}
	roll := Second{}.Roll()
	reply, err = roll.Parse([][]byte{AnswerSecond(roll.AppendQuery(nil, 7, nil), want, names, 7000)})
	if err != nil || len(reply.Info.Roster.Players) != 3 || reply.Info.Roster.Players[1].Name != "bob" {
		t.Errorf("%+v, %v", reply.Info, err)
	}
	for _, request := range []string{"", `\status\`, "\xfe\xfd\x00\x00\x00\x00\x01\xff\x00", "\xfe\xfd\x09\x00\x00\x00\x01\xff\x00\x00"} {
		if got := AnswerSecond([]byte(request), want, names, 0); got != nil {
			t.Errorf("answers %q", request)
		}
	}
}

func FuzzSecond(f *testing.F) {
	f.Add([]byte(secondKeys))
	f.Add([]byte(secondPlayers))
	codectest.Fuzz(f, Second{})
}

func FuzzSecondRoll(f *testing.F) {
	f.Add([]byte(secondPlayers))
	codectest.Fuzz(f, Second{}.Roll())
}
