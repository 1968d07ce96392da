package unreal2_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/unreal2"
)

// Written by hand after the engine's structures. The second name is longer than 63
// letters, which takes two bytes of length: 74 is 0x0a and 1<<6.
const (
	ut2004 = "\x80\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00" + "\x61\x1e\x00\x00" + "\x00\x00\x00\x00" +
		"\x13\x1b\xf8\x40\x40Face \x1b\x01\x01\xf8Off\xb2\x00\x00" + "\x0a" + "CTF-Face3\x00" + "\x0a" + "xCTFGame\xe9\x00" +
		"\x07\x00\x00\x00" + "\x1e\x00\x00\x00" + "\x00\x00\x00\x00" + "\x01\x00\x00\x00" + "\x02" + "2\x00"
	killingFloor = "\x80\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00" + "\x1b\x1e\x00\x00" + "\x00\x00\x00\x00" +
		"\x4a\x01" + "A very long name of a server for Killing Floor, with all its mutators! ab\x00" +
		"\x06" + "KF-WL\x00" + "\x0b" + "KFGameType\x00" +
		"\x0e\x00\x00\x00" + "\x18\x01\x00\x00" + "\x02\x00\x00\x00\x0a\x00\x00\x00" + "\x00\x00\x00\x00" + "\x21\x00\x00\x00" + "\x02" + "0\x00"
	ut2003 = "\x80\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00" + "\x61\x1e\x00\x00" + "\x00\x00\x00\x00" +
		"\x84" + "a\x00\x3c\x04\x29\x26\x00\x00" + "\x02" + "m\x00" + "\x00" + "\x02\x00\x00\x00" + "\x08\x00\x00\x00" + "\x00\x00\x00\x00"
	roster = "\x80\x00\x00\x00\x02" +
		"\x14\x00\x00\x00" + "\x04" + "ann\x00" + "\x98\x00\x00\x00" + "\x03\x00\x00\x00" + "\x00\x00\x00\x00" +
		"\x13\x00\x00\x00" + "\x08" + "\x1b\x01\x01\xf8bob\x00" + "\x00\x00\x00\x00" + "\xfe\xff\xff\xff" + "\x00\x00\x00\x20" +
		"\x00\x00\x00\x00" + "\x09" + "Red Team\x00" + "\x00\x00\x00\x00" + "\x02\x00\x00\x00" + "\x00\x00\x00\x00"
)

func TestAsks(t *testing.T) {
	if got := string((Protocol{}).AppendQuery(nil, 7, nil)); got != "\x79\x00\x00\x00\x00" {
		t.Errorf("AppendQuery = %x", got)
	}
	roll := Protocol{Above: 1}.Roll()
	if got := string(roll.AppendQuery(nil, 7, nil)); got != "\x79\x00\x00\x00\x02" {
		t.Errorf("the roll's AppendQuery = %x", got)
	}
	if got := roll.(discovery.Aside).QueryPort(7777); got != 7778 {
		t.Errorf("QueryPort = %d", got)
	}
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		packets [][]byte
		want    discovery.Info
	}{
		"Unreal Tournament 2004": {codectest.Datagrams(ut2004),
			discovery.Info{Name: "Face Off²", Map: "CTF-Face3", Mode: "xCTFGameé", Players: 7, MaxPlayers: 30, Password: true}},
		"Killing Floor": {codectest.Datagrams(killingFloor), discovery.Info{
			Name: "A very long name of a server for Killing Floor, with all its mutators! ab", Map: "KF-WL", Mode: "KFGameType",
			Players: 14, MaxPlayers: 24, Password: true,
		}},
		"a byte before wide letters": {codectest.Datagrams(strings.Replace(ut2003, "\x84a", "\x84\x01a", 1)),
			discovery.Info{Name: "aм☩", Map: "m", Players: 2, MaxPlayers: 8}},
		"wide letters that begin with 01": {codectest.Datagrams(strings.Replace(ut2003, "a\x00\x3c", "\x01\x01\x3c", 1)),
			discovery.Info{Name: "āм☩", Map: "m", Players: 2, MaxPlayers: 8}},
		"no flags, and wide letters": {codectest.Datagrams(ut2003), discovery.Info{Name: "aм☩", Map: "m", Players: 2, MaxPlayers: 8}},
		"the newest": {codectest.Datagrams("noise", ut2004, ut2003, roster),
			discovery.Info{Name: "aм☩", Map: "m", Players: 2, MaxPlayers: 8}},
		"cut within the flags": {codectest.Datagrams(ut2004[:len(ut2004)-5]),
			discovery.Info{Name: "Face Off²", Map: "CTF-Face3", Mode: "xCTFGameé", Players: 7, MaxPlayers: 30}},
		"players below 0": {codectest.Datagrams(strings.Replace(ut2003, "\x02\x00\x00\x00\x08", "\xff\xff\xff\xff\x08", 1)),
			discovery.Info{Name: "aм☩", Map: "m", MaxPlayers: 8}},
	} {
		reply, err := Protocol{Above: 1}.Parse(c.packets)
		if err != nil || reply.Info == nil || *reply.Info != c.want || reply.Echoed {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, c.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	hostile := map[string]string{
		"nothing": "", "noise": "hello world", "a question": "\x79\x00\x00\x00\x00", "half a header": "\x80\x00\x00",
		"another kind": "\x80\x00\x00\x00\x01\x08Mutator\x00",
	}
	codectest.Refuses(t, Protocol{}.Roll(), hostile)
	hostile["a header"] = ut2004[:5]
	hostile["cut within the name"] = ut2004[:30]
	hostile["cut within the seats"] = ut2003[:len(ut2003)-6]
	hostile["a length beyond the packet"] = strings.Replace(ut2004, "\x13\x1b", "\x7f\x7f", 1)
	hostile["a length without end"] = ut2004[:18] + "\xff\xff\xff\xff\xff\xff\xff\xff\xff"
	hostile["a port out of bounds"] = strings.Replace(ut2004, "\x61\x1e\x00\x00", "\x61\x1e\x01\x00", 1)
	codectest.Refuses(t, Protocol{}, hostile)
}

func TestRoll(t *testing.T) {
	two := []discovery.Player{{Name: "ann", Score: 3, Ping: 152 * time.Millisecond}, {Name: "bob", Score: -2}}
	full := "\x80\x00\x00\x00\x02" + strings.Repeat("\x01\x00\x00\x00\x02x\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00", 24)
	for name, c := range map[string]struct {
		packets [][]byte
		want    int // players; the first two are two unless the packet is full
	}{
		"one packet":             {codectest.Datagrams(roster), 2},
		"cut off":                {codectest.Datagrams(roster[:len(roster)-30]), 1},
		"nobody":                 {codectest.Datagrams("\x80\x00\x00\x00\x02"), 0},
		"a full packet, another": {codectest.Datagrams(full, roster), 26},
		"a full one twice":       {codectest.Datagrams(full, full), 24},
		"among others":           {codectest.Datagrams("noise", ut2004, full, ut2004, roster), 26},
	} {
		reply, err := Protocol{}.Roll().Parse(c.packets)
		if err != nil || reply.Info == nil || len(reply.Info.Roster.Players) != c.want {
			t.Errorf("%s: %+v, %v, want %d players", name, reply.Info, err, c.want)
			continue
		}
		if first := reply.Info.Roster.Players; len(first) == 2 && !slices.Equal(first, two) {
			t.Errorf("%s: %+v, want %+v", name, first, two)
		}
	}
	for name, datagrams := range map[string][][]byte{"nothing": nil, "a full packet": codectest.Datagrams(full)} {
		if reply, err := (Protocol{}).Roll().Parse(datagrams); err != nil || !reply.Incomplete {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
	if _, err := (Protocol{}).Roll().Parse(codectest.Datagrams("noise", ut2004)); !errors.Is(err, discovery.ErrMalformed) {
		t.Errorf("err = %v", err)
	}
}

// TestAnswer checks that the fleet's answers are read back, texts of any length and
// letters among them.
func TestAnswer(t *testing.T) {
	names := make([]string, 60)
	for i := range names {
		names[i] = strings.Repeat("x", 20+i)
	}
	for _, name := range []string{"", "a", strings.Repeat("é", 63), strings.Repeat("☩", 64), strings.Repeat("a", 200), "𝄞"} {
		want := discovery.Info{Name: name, Map: "m", Mode: "xDeathMatch", Players: 60, MaxPlayers: 64, Password: true}
		reply, err := Protocol{}.Parse(Answer(Protocol{}.AppendQuery(nil, 7, nil), want, names, 7777))
		want.Name = discovery.CleanText(name)
		if err != nil || *reply.Info != want {
			t.Errorf("%+v, %v, want %+v", reply.Info, err, want)
		}
	}
	roll := Protocol{}.Roll()
	answer := Answer(roll.AppendQuery(nil, 7, nil), discovery.Info{}, names, 7777)
	reply, err := roll.Parse(answer)
	if err != nil || len(answer) < 3 || len(reply.Info.Roster.Players) != len(names) {
		t.Errorf("%d packets, %+v, %v", len(answer), reply.Info, err)
	}
	const rules = "\x80\x00\x00\x00\x01\x0bServerMode\x00\x0adedicated\x00"
	if got := Answer([]byte("\x79\x00\x00\x00\x01"), discovery.Info{}, nil, 7777); len(got) != 1 || string(got[0]) != rules {
		t.Errorf("rules: %q", got)
	}
	if got := Answer([]byte("\x79\x00\x00\x00\x03"), discovery.Info{}, nil, 7777); got != nil {
		t.Errorf("answers what it does not know: %x", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{ut2004, killingFloor, ut2003} {
		f.Add([]byte(text))
	}
	codectest.Fuzz(f, Protocol{})
}

func FuzzRoll(f *testing.F) {
	f.Add([]byte(roster))
	codectest.Fuzz(f, Protocol{}.Roll())
}
