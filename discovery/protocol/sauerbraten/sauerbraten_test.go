package sauerbraten_test

import (
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/sauerbraten"
)

const nonce = discovery.Nonce(0x0123456789abcdef)

func TestRecorded(t *testing.T) {
	requests, replies := codectest.Packets(t, "cube2server.hex")
	if got := (Protocol{}).AppendQuery(nil, nonce, nil); string(got) != string(requests[0]) {
		t.Errorf("AppendQuery = %x, want %x", got, requests[0])
	}
	reply, err := Protocol{}.Parse(replies)
	if err != nil || !reply.Echoed || !reply.Answers(nonce) ||
		*reply.Info != (discovery.Info{Name: "Cube test", Mode: "ffa", Protocol: 260, MaxPlayers: 8}) {
		t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
	}
	if got := Answer(requests[0], *reply.Info); string(got) != string(replies[0]) {
		t.Errorf("Answer = %x, want %x", got, replies[0])
	}
}

func TestRedEclipse(t *testing.T) {
	requests, replies := codectest.Packets(t, "redeclipse.hex")
	want := discovery.Info{Name: "RE test", Map: "wet", Mode: "bomber", Version: "1.6.0", Protocol: 230, MaxPlayers: 32, Password: true}
	reply, err := RedEclipse{}.Parse(replies)
	if err != nil || !reply.Echoed || !reply.Answers(0xdeadbeef) || *reply.Info != want {
		t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
	}
	want.Players, want.MaxPlayers, want.Password = 300, 400, false
	reply, err = RedEclipse{}.Parse([][]byte{AnswerRedEclipse(requests[0], want)})
	if err != nil || *reply.Info != want {
		t.Errorf("the fleet's: %+v, %v, want %+v", reply.Info, err, want)
	}
	old := requests[0]
	old = append(old[:len(old):len(old)], "\x02\x08\x14\x02\x00\x0a\x10\x00\x07\x00m\x00\x0c[255]a\x0c(1)b\x0cyc\x0c[\x00"...)
	if reply, err := (RedEclipse{}).Parse([][]byte{old}); err == nil {
		t.Errorf("a colour without end: %+v", reply.Info)
	}
	old = append(old[:len(old)-3], 0)
	want = discovery.Info{Name: "abc", Map: "m", Mode: "deathmatch", Protocol: 20, Players: 2, MaxPlayers: 16}
	if reply, err := (RedEclipse{}).Parse([][]byte{old}); err != nil || *reply.Info != want {
		t.Errorf("an old one: %+v, %v, want %+v", reply.Info, err, want)
	}
}

func TestParse(t *testing.T) {
	const head = "\x01\x01\x23\x45\x67\x89\xab\xcd\xef"
	for name, c := range map[string]struct {
		text string
		want discovery.Info
	}{
		"seven numbers, as while paused": {"\x02\x07\x80\x04\x01\x0b\x10\x08\x00\x01\x64reissen\x00n\x00",
			discovery.Info{Name: "n", Map: "reissen", Mode: "ctf", Protocol: 260, Players: 2, MaxPlayers: 8}},
		"large numbers": {"\x80\x2c\x01\x05\x00\x00\x00\x81\xff\xff\x00\x00\x00m\x00n\x00",
			discovery.Info{Name: "n", Map: "m", Mode: "ffa", Players: 300, MaxPlayers: 65535}},
		"a count too large": {"\x80\x2c\x01\x05\x00\x00\x00\x81\x00\x00\x01\x00\x00m\x00n\x00",
			discovery.Info{Name: "n", Map: "m", Mode: "ffa", Players: 300}},
		"below 0": {"\xff\x05\x00\xff\x00\xf0\xffm\x00n\x00", discovery.Info{Name: "n", Map: "m", Mode: "demo"}},
		"private": {"\x00\x05\x00\x40\x00\x08\x03m\x00n\x00", discovery.Info{Name: "n", Map: "m", MaxPlayers: 8, Password: true}},
		"colours and letters": {"\x00\x05\x00\x00\x00\x08\x00m\x00\x0c3a\xe4b\x01\x8b\x00",
			discovery.Info{Name: "aбbÀé", Map: "m", Mode: "ffa", MaxPlayers: 8}},
	} {
		reply, err := Protocol{}.Parse([][]byte{[]byte(head + c.text)})
		if err != nil || *reply.Info != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, c.want)
		}
	}
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing": "", "the question": head, "no name": head + "\x00\x05\x00\x00\x00\x08\x00m\x00",
		"name without end": head + "\x00\x05\x00\x00\x00\x08\x00m\x00n",
		"few numbers":      head + "\x00\x04\x00\x00\x00\x08m\x00n\x00",
		"many numbers":     head + "\x00\x21" + string(make([]byte, 40)),
		"another question": "\x00" + head[1:] + "\x00\x05\x00\x00\x00\x08\x00m\x00n\x00",
	})
	if got := (Protocol{}).QueryPort(28785); got != 28786 {
		t.Errorf("QueryPort = %d", got)
	}
}

func FuzzParse(f *testing.F) { codectest.Fuzz(f, Protocol{}, "cube2server.hex") }

func FuzzParseRedEclipse(f *testing.F) { codectest.Fuzz(f, RedEclipse{}, "redeclipse.hex") }

// TestRoll checks that the list is complete once the datagrams of all players have
// come, in any order.
func TestRoll(t *testing.T) {
	roll := Protocol{}.Roll()
	requests, replies := codectest.Packets(t, "cube2server_players.hex")
	if got := roll.AppendQuery(nil, nonce, nil); string(got) != string(requests[0]) {
		t.Errorf("asks by %x, want %x", got, requests[0])
	}
	if got := roll.(discovery.Aside).QueryPort(28785); got != 28786 {
		t.Errorf("asks at port %d", got)
	}
	want := []discovery.Player{{Name: "ann"}, {Name: "bob"}}
	backward := slices.Clone(replies)
	slices.Reverse(backward)
	for name, datagrams := range map[string][][]byte{"recorded": replies, "backward": backward, "twice": slices.Concat(replies, replies)} {
		reply, err := roll.Parse(datagrams)
		if err != nil || !reply.Echoed || !reply.Answers(nonce) || !slices.Equal(reply.Info.Roster.Players, want) {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
	for missing := range replies {
		if reply, err := roll.Parse(slices.Delete(slices.Clone(replies), missing, missing+1)); err != nil || !reply.Incomplete {
			t.Errorf("without datagram %d: %+v, %v", missing, reply, err)
		}
	}
	const head = "\x00\x01\xff\x01\x23\x45\x67\x89\xab\xcd\xef\xff\x69\x00"
	reply, err := roll.Parse([][]byte{[]byte(head + "\xf6\x80\x2c\x01"),
		[]byte(head + "\xf5\x80\x2c\x01\x80\xe7\x03\x0c3ev\x81e\x00\x00\x00\x00good\x00\xf9")})
	if p := (discovery.Player{Name: "eve", Score: -7, Ping: 999 * time.Millisecond}); err != nil ||
		!slices.Equal(reply.Info.Roster.Players, []discovery.Player{p}) {
		t.Errorf("numbers of several bytes: %+v, %v", reply.Info, err)
	}
	if reply, err := roll.Parse([][]byte{[]byte(head + "\xf6")}); err != nil || reply.Info == nil || len(reply.Info.Roster.Players) != 0 {
		t.Errorf("nobody: %+v, %v", reply, err)
	}
}

func TestRollRefuses(t *testing.T) {
	if _, tells := any(RedEclipse{}).(discovery.Roll); tells {
		t.Error("Red Eclipse's servers are asked who plays, and do not answer that")
	}
	roll := Protocol{}.Roll()
	codectest.Refuses(t, roll, map[string]string{
		"nothing": "", "the question": "\x00\x01\xff\x01\x23\x45\x67\x89\xab\xcd\xef",
		"an error":   "\x00\x01\xff\x01\x23\x45\x67\x89\xab\xcd\xef\xff\x69\x01",
		"what it is": "\x01\x01\x23\x45\x67\x89\xab\xcd\xef\x00\x05\x80\x04\x01\x00\x00\x08\x00\x00a\x00",
	})
}

func FuzzRoll(f *testing.F) {
	f.Add([]byte("\x00\x01\xff\x01\x23\x45\x67\x89\xab\xcd\xef\xff\x69\x00\xf6"))
	codectest.Fuzz(f, Protocol{}.Roll(), "cube2server_players.hex")
}

// FuzzRollPackets reads several datagrams.
func FuzzRollPackets(f *testing.F) {
	_, replies := codectest.Packets(f, "cube2server_players.hex")
	f.Add(replies[0], replies[1], replies[2])
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		reply, err := Protocol{}.Roll().Parse([][]byte{a, b, c})
		if err != nil || reply.Info == nil {
			return
		}
		for _, p := range reply.Info.Roster.Players {
			if p.Name != discovery.CleanText(p.Name) || p.Ping < 0 {
				t.Errorf("a player is %+v", p)
			}
		}
	})
}
