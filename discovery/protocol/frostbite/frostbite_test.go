package frostbite_test

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/frostbite"
)

const nonce = discovery.Nonce(0x0123_4567_89ab_cdef)

// said returns a packet with these words, a blank between two; _ is an empty one. The
// packets here are written by hand after DICE's description: no real server was at hand.
func said(number uint32, words string) []byte {
	var body []byte
	fields := strings.Fields(words)
	for _, word := range fields {
		word = strings.ReplaceAll(strings.Trim(word, "_"), "+", " ")
		body = append(append(binary.LittleEndian.AppendUint32(body, uint32(len(word))), word...), 0)
	}
	b := binary.LittleEndian.AppendUint32(nil, number)
	b = binary.LittleEndian.AppendUint32(b, uint32(12+len(body)))
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(fields))), body...)
}

const (
	third   = "OK Metro+24/7 48 64 RushLarge0 MP_001 0 2 2 168 2277 0 _ true true true 159751 921 203.0.113.7:25201 v1.893 true NAm iad US false"
	company = "OK A+place 32 32 CONQUEST Levels/MP_007 2 2 2 11.92 28.9 0 AcceptingPlayers true true false 110141 1206 BC2 8 0.0.0.0:19567 v1.826 true EU"
	early   = "OK n 1 2 m map 0 1 0"
	players = "OK 4 name score ping type 2 ann 4297 115 0 ben -1 65535 0"
)

func TestParse(t *testing.T) {
	if got := (Protocol{}).AppendQuery(nil, nonce, nil); string(got) != string(said(0x09ab_cdef, "serverInfo")) {
		t.Errorf("AppendQuery = %q", got)
	}
	if got := (Protocol{}).AppendQuery(nil, nonce, []byte("version")); string(got) != string(said(0x09ab_cdef, "version")) {
		t.Errorf("AppendQuery = %q", got)
	}
	if got := (Protocol{}).AppendGreeting(nil, netip.AddrPort{}); len(got) > 0 {
		t.Errorf("AppendGreeting = %q", got)
	}
	if got := (Protocol{Above: 22000}).QueryPort(25200); got != 47200 {
		t.Errorf("QueryPort = %d", got)
	}
	for name, c := range map[string]struct {
		protocol Protocol
		words    string
		want     discovery.Info
	}{
		"Battlefield 3": {Protocol{}, third, discovery.Info{
			Name: "Metro 24/7", Map: "MP_001", Mode: "RushLarge0", Players: 48, MaxPlayers: 64, Password: true, GamePort: 25201,
		}},
		"players connect where the list says": {Protocol{Above: 22000}, third, discovery.Info{
			Name: "Metro 24/7", Map: "MP_001", Mode: "RushLarge0", Players: 48, MaxPlayers: 64, Password: true,
		}},
		"Bad Company 2": {Protocol{}, company, discovery.Info{
			Name: "A place", Map: "MP_007", Mode: "CONQUEST", Players: 32, MaxPlayers: 32, GamePort: 19567,
		}},
		"an early end": {Protocol{}, early, discovery.Info{Name: "n", Map: "map", Mode: "m", Players: 1, MaxPlayers: 2}},
	} {
		first := said(0x41234567, c.words)
		reply, err := c.protocol.Parse([][]byte{first})
		if err != nil || reply.Echoed || len(reply.Challenge) == 0 || *reply.Info != c.want {
			t.Errorf("%s: %+v, %+v, %v", name, reply, reply.Info, err)
		}
		c.want.Version = "1149977"
		event := append(said(1<<31|7, "player.onJoin ann"), said(1<<31|1<<30|7, "OK n 1 2 m map 0 1 0")...)
		whole := slices.Concat(event, first, event, said(0x49ab_cdef, "OK BF3 1149977"))
		reply, err = c.protocol.Parse([][]byte{whole})
		if err != nil || !reply.Echoed || !reply.Answers(nonce) || reply.Answers(nonce+1) || *reply.Info != c.want {
			t.Errorf("%s, with its version: %+v, %+v, %v", name, reply, reply.Info, err)
		}
		if reply, err = c.protocol.Parse([][]byte{whole[:len(whole)-1]}); err != nil || !reply.Incomplete {
			t.Errorf("%s, cut short: %+v, %v", name, reply, err)
		}
	}
	codectest.Refuses(t, Protocol{}, map[string]string{
		"a refusal": string(said(1<<30, "UnknownCommand")), "few words": string(said(1<<30, "OK n 1 2")),
		"many teams": string(said(1<<30, "OK n 1 2 m map 0 1 17")), "a size too small": string(make([]byte, 12)),
		"a size too large": "\x00\x00\x00\x40\xff\xff\xff\xff\x01\x00\x00\x00", "many words": "\x00\x00\x00\x40\x0c\x00\x00\x00\xff\xff\xff\xff",
		"a word too long": "\x00\x00\x00\x40\x11\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\xff\x00",
	})
	for _, begun := range []string{"", "\x00\x00\x00\x40"} {
		if reply, err := (Protocol{}).Parse([][]byte{[]byte(begun)}); err != nil || !reply.Incomplete {
			t.Errorf("%q: %+v, %v", begun, reply, err)
		}
	}
}

// TestRoll checks that the players are asked for and read.
func TestRoll(t *testing.T) {
	protocol := Protocol{}.Roll()
	if got := protocol.AppendQuery(nil, nonce, nil); string(got) != string(said(0x09ab_cdef, "listPlayers all")) {
		t.Errorf("AppendQuery = %q", got)
	}
	reply, err := protocol.Parse([][]byte{said(0x49ab_cdef, players)})
	want := []discovery.Player{{Name: "ann", Score: 4297, Ping: 115 * time.Millisecond}, {Name: "ben", Score: -1}}
	if err != nil || !reply.Answers(nonce) || !slices.Equal(reply.Info.Roster.Players, want) {
		t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
	}
	for _, words := range []string{"OK", "OK 0 0", "OK 3 name score", "OK -1 2", "LogInRequired"} {
		if reply, err := protocol.Parse([][]byte{said(1<<30, words)}); err == nil {
			t.Errorf("%q: %+v", words, reply)
		}
	}
}

// TestAnswer checks that the fleet's servers are understood.
func TestAnswer(t *testing.T) {
	info := discovery.Info{Name: "n", Map: "m", Mode: "DM", Version: "1", Players: 2, MaxPlayers: 16, Password: true}
	question := Protocol{}.AppendQuery(nil, 7, nil)
	first := Answer(question, 0, info)
	both := Protocol{}.AppendQuery(question, nonce, []byte("version"))
	reply, err := Protocol{}.Parse([][]byte{first, Answer(both, len(first), info)})
	if err != nil || !reply.Answers(nonce) || *reply.Info != info {
		t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(said(1<<30, third))
	f.Add(said(1<<30, company))
	codectest.Fuzz(f, Protocol{})
}

func FuzzRoll(f *testing.F) {
	f.Add(said(1<<30, players))
	codectest.Fuzz(f, Protocol{}.Roll())
}
