package sauerbraten_test

import (
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/sauerbraten"
)

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
