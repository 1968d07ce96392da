package sqp_test

import (
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/sqp"
)

// The packets here are written by hand after Unity's documentation, because no real server was
// available.
const (
	head   = "\x01\x0a\x0b\x0c\x0d" + "\x00\x01" + "\x00\x00"
	chunk  = "\x00\x05" + "\x00\x10" + "\x06A room" + "\x03ctf" + "\x041.20" + "\x04wood" + "\x1e\x61"
	shaped = head + "\x00\x22" + "\x00\x00\x00\x1e" + chunk + "more"
)

func TestParse(t *testing.T) {
	if got := string((Protocol{}).AppendQuery(nil, 7, nil)); got != "\x00\x00\x00\x00\x00" {
		t.Errorf("AppendQuery = %q", got)
	}
	reply, err := Protocol{}.Parse([][]byte{[]byte("\x00\x0a\x0b\x0c\x0d")})
	if err != nil || reply.Info != nil || string(reply.Challenge) != "\x0a\x0b\x0c\x0d" {
		t.Errorf("the challenge: %+v, %v", reply, err)
	}
	if got := string((Protocol{}).AppendQuery(nil, 7, reply.Challenge)); got != "\x01\x0a\x0b\x0c\x0d\x00\x01\x01" {
		t.Errorf("AppendQuery = %q", got)
	}
	want := discovery.Info{Name: "A room", Map: "wood", Mode: "ctf", Version: "1.20", Players: 5, MaxPlayers: 16, GamePort: 7777}
	reply, err = Protocol{}.Parse([][]byte{[]byte("noise"), []byte(shaped)})
	if err != nil || reply.Echoed || *reply.Info != want {
		t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
	}
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing": "", "a challenge too long": "\x00\x0a\x0b\x0c\x0d\x0e", "the head": head + "\x00\x00", "no chunk": head + "\x00\x22\x00",
		"a chunk cut short":  shaped[:len(shaped)-5],
		"a chunk too short":  head + "\x00\x22" + "\x00\x00\x00\x1d" + chunk,
		"the second packet":  "\x01\x0a\x0b\x0c\x0d\x00\x01\x01\x01" + shaped[len(head):],
		"a length too large": head + "\xff\xff" + "\xff\xff\xff\xff" + chunk,
	})
}

// TestAnswer checks that the fleet's servers are understood.
func TestAnswer(t *testing.T) {
	info := discovery.Info{Name: "n", Map: "m", Mode: "DM", Version: "1", Players: 2, MaxPlayers: 16, GamePort: 9}
	demanded := [4]byte{1, 2, 3, 4}
	reply, err := Protocol{}.Parse([][]byte{Answer(Protocol{}.AppendQuery(nil, 7, nil), info, demanded, 9)})
	if err != nil || string(reply.Challenge) != string(demanded[:]) {
		t.Fatalf("%+v, %v", reply, err)
	}
	reply, err = Protocol{}.Parse([][]byte{Answer(Protocol{}.AppendQuery(nil, 7, reply.Challenge), info, demanded, 9)})
	if err != nil || *reply.Info != info {
		t.Errorf("%+v, %v", reply.Info, err)
	}
	if Answer(Protocol{}.AppendQuery(nil, 7, []byte("oops")), info, demanded, 9) != nil {
		t.Error("a server answers a wrong challenge")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(shaped))
	codectest.Fuzz(f, Protocol{})
}
