package ase_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/ase"
)

// Written by hand after Multi Theft Auto's server.
const (
	facts = "EYE1" + "\x04mta" + "\x0622003" + "\x0cGrove Stree" +
		"\x09Roleplay" + "\x0bSan Andrea" + "\x041.6" + "\x021" + "\x032x" + "\x04100"
	mta = "EYE1" + "\x04mta" + "\x0622003" + "\x07Espa\xc3\xb1" + "\x05Race" + "\x05None" + "\x041.6" + "\x020" + "\x022" + "\x04100" +
		"\x05tags" + "\x05race" + "\x0alanguages" + "\x03es" + "\x01" +
		"\x3f" + "\x04ann" + "\x01\x01" + "\x03-7" + "\x0340" + "\x01" +
		"\x3f" + "\x04b\xf6b" + "\x01\x01" + "\x01" + "\x07999999" + "\x01"
)

func TestAsks(t *testing.T) {
	roll := Protocol{Above: 123}.Roll()
	if got := string(roll.AppendQuery((Protocol{}).AppendQuery(nil, 7, nil), 7, nil)); got != "ss" {
		t.Errorf("AppendQuery = %q", got)
	}
	if got := roll.(discovery.Aside).QueryPort(22003); got != 22126 {
		t.Errorf("QueryPort = %d", got)
	}
}

func TestParse(t *testing.T) {
	race := discovery.Info{Name: "Españ", Mode: "Race", Map: "None", Version: "1.6", Players: 2, MaxPlayers: 100}
	direct := race
	direct.GamePort = 22003
	for name, c := range map[string]struct {
		protocol Protocol
		packets  [][]byte
		want     discovery.Info
	}{
		"beside the game": {Protocol{Above: 123}, codectest.Datagrams(mta), race},
		"the game's port": {Protocol{}, codectest.Datagrams(mta), direct},
		"the newest":      {Protocol{Above: 123}, codectest.Datagrams(facts, mta, "noise"), race},
		"nothing after the seats": {Protocol{Above: 123}, codectest.Datagrams(facts),
			discovery.Info{Name: "Grove Stree", Mode: "Roleplay", Map: "San Andrea", Version: "1.6", MaxPlayers: 100, Password: true}},
		"a wild port": {Protocol{}, codectest.Datagrams(strings.Replace(mta, "22003", "99999", 1)), race},
	} {
		reply, err := c.protocol.Parse(c.packets)
		if err != nil || reply.Info == nil || *reply.Info != c.want || reply.Echoed {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, c.want)
		}
	}
}

func TestRoll(t *testing.T) {
	two := []discovery.Player{{Name: "ann", Score: -7, Ping: 40 * time.Millisecond}, {Name: "böb", Ping: time.Minute}}
	for name, c := range map[string]struct {
		packet string
		want   []discovery.Player
	}{
		"two":                {mta, two},
		"nobody":             {facts + "\x01", nil},
		"no end of the keys": {facts + "\x05tags", nil},
		"cut off":            {mta[:len(mta)-1], two[:1]},
		"some fields": {facts + "\x01" + "\x11" + "\x04ann" + "\x0340" + "\x01" + "\x04bob",
			[]discovery.Player{{Name: "ann", Ping: 40 * time.Millisecond}, {Name: "bob"}}},
		"a field of other kind": {facts + "\x01" + "\x01" + "\x04ann" + "\x41" + "\x04bob", []discovery.Player{{Name: "ann"}}},
	} {
		reply, err := Protocol{}.Roll().Parse(codectest.Datagrams(c.packet))
		if err != nil || reply.Info == nil || !slices.Equal(reply.Info.Roster.Players, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, c.want)
		}
	}
	endless := facts + "\x01" + strings.Repeat("\x00", 1<<15) // players without any field
	if reply, err := (Protocol{}).Roll().Parse(codectest.Datagrams(endless)); err != nil || len(reply.Info.Roster.Players) > 4096 {
		t.Errorf("%d players, %v", len(reply.Info.Roster.Players), err)
	}
}

func TestRefuses(t *testing.T) {
	for _, p := range []discovery.Protocol{Protocol{}, Protocol{}.Roll()} {
		codectest.Refuses(t, p, map[string]string{
			"nothing": "", "noise": "hello world", "a question": "s", "a header": "EYE1", "another form": "EYE2" + mta[4:],
			"cut off": facts[:len(facts)-1], "a length of 0": "EYE1\x00" + mta[5:], "a length beyond the packet": "EYE1\xff" + mta[5:],
		})
	}
}

func TestAnswer(t *testing.T) {
	want := discovery.Info{Name: "a", Map: "m", Mode: "Race", Version: "1.6", Players: 2, MaxPlayers: 8, Password: true}
	names := []string{"ann", strings.Repeat("b", 400)}
	told := want
	told.GamePort = 7000
	answer := Answer(Protocol{}.AppendQuery(nil, 7, nil), want, names, 7000)
	reply, err := Protocol{}.Parse([][]byte{answer})
	if err != nil || *reply.Info != told {
		t.Errorf("%+v, %v, want %+v", reply.Info, err, told)
	}
	reply, err = Protocol{}.Roll().Parse([][]byte{answer})
	if err != nil || len(reply.Info.Roster.Players) != 2 || reply.Info.Roster.Players[0].Name != "ann" {
		t.Errorf("%+v, %v", reply.Info, err)
	}
	if got := Answer([]byte("b"), want, names, 7000); got != nil {
		t.Errorf("answers what it does not know: %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(mta))
	f.Add([]byte(facts))
	codectest.Fuzz(f, Protocol{})
}

func FuzzRoll(f *testing.F) {
	f.Add([]byte(mta))
	codectest.Fuzz(f, Protocol{}.Roll())
}
