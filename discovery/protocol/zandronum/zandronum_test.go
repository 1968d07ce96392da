package zandronum

import (
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
)

const nonce = discovery.Nonce(0x89abcdef)

// The packets here are written by hand after Zandronum's documentation: no real server was
// at hand. They are not packed.
const (
	asked  = "\xff\xc7\x00\x00\x00\xf9\x0e\x08\x00\xef\xcd\xab\x89"
	head   = "\xff\x77\x5d\x56\x00\xef\xcd\xab\x89"
	fields = "3.1-r210716 on Linux 5.10\x00\xf9\x0e\x08\x00"
	shaped = head + fields + "\x1cgA \x1c[Red]place\xe9\x00MAP01\x00\x20\x10\x02brutal.wad\x00maps.pk3\x00\x03\x00\x00doom2.wad\x00\x00\x01\x05"
	later  = "\xff\x78\x5d\x56\x00\xef\xcd\xab\x89"
)

func TestParse(t *testing.T) {
	if got := string((Protocol{}).AppendQuery(nil, 0x0123_4567_89ab_cdef, nil)); got != asked {
		t.Errorf("AppendQuery = %q", got)
	}
	want := discovery.Info{
		Name: "A placeé", Map: "MAP01", Mode: "deathmatch", Version: "3.1-r210716", Mod: "doom2.wad", Tags: "brutal.wad maps.pk3",
		Players: 5, MaxPlayers: 16, Password: true,
	}
	for text, want := range map[string]discovery.Info{shaped: want, later: {}} {
		reply, err := Protocol{}.Parse([][]byte{[]byte("noise"), []byte(text)})
		if err != nil || !reply.Answers(nonce) || reply.Answers(nonce+1) || *reply.Info != want {
			t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
		}
	}
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing": "", "the question": asked, "a ban": "\xff\x79\x5d\x56\x00\xef\xcd\xab\x89", "no fields": head,
		"cut short": shaped[:len(shaped)-1], "a field too many": head + "3.1\x00\x02\x00\x00\x00x\x00",
	})
}

// TestUnpack compares the code with packets that another program packed, by the tree in
// huffman.cpp: a text, and all bytes in order.
func TestUnpack(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for digits, want := range map[string]string{"03eb91468c18c5e2dc468ddaa01d": "Hello, Doom\x00\x01", packedBytes: string(all)} {
		packed, err := hex.DecodeString(digits)
		if got := unpack(packed); err != nil || string(got) != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	for _, packed := range []string{"", "\x00", "\x09", "\xfe\x00"} {
		if got := unpack([]byte(packed)); len(got) > 0 {
			t.Errorf("%q: %q", packed, got)
		}
	}
}

const packedBytes = "07da3b916c9a354c1a2e26271a26e7dfa123efed3ee1e637e0c3e011933a42ef6499fc818885818ac0ce8663ba64696e79f7" +
	"744daefefdc43db30e40bbc03dd039d333ce28646ef1f8c6d78f51305fc1951e1c09c7afc42fd87945ce784777eb9728a54d" +
	"d274719e8d91da9a33fb1b31c3880d488d6a85ad71ecda31f8a71ed99c360f0dd7be3908e18e69cd996166d899f1cccca789" +
	"2887857496dd830d7f5083da7dc57bd1451232b88954b3a7d3637ee0e77bbace99e7dfcec75eada590707e7c87178d217a60" +
	"43f162d6bc294799e469607b7eb79c34c9046effd7fc0b3aad01783e18c8ebb4f104f3893d0b63f266355abe30311ad2c6fc" +
	"b4a37b129bb1096c0d22c84146069eef2956a2ef8f12079805c5e170ebc1c43221698a8301"

// TestAnswer checks that the fleet's servers are understood.
func TestAnswer(t *testing.T) {
	info := discovery.Info{Name: "n", Map: "m", Version: "1.2.3", Players: 2, MaxPlayers: 16, Password: true}
	question := Protocol{}.AppendQuery(nil, nonce, nil)
	if reply, err := (Protocol{}).Parse([][]byte{Answer(question, info)}); err != nil || !reply.Answers(nonce) || *reply.Info != info {
		t.Errorf("%+v, %v", reply.Info, err)
	}
	if Answer(question[:9], info) != nil {
		t.Error("a server answers half a question")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(shaped))
	f.Add([]byte("\x00Hello"))
	codectest.Fuzz(f, Protocol{})
}

// These packets are written by hand after Zandronum's documentation.
const (
	firstPart = "\xff\x06\x00\x00\x00\x00\x08" + "\x02\xc0\x00\x02\x01\xaa\x29\xab\x29" + "\x01\xc6\x33\x64\x07\xaa\x29" + "\x00\x07"
	lastPart  = "\xff\x06\x00\x00\x00\x01\x08" + "\x01\xcb\x00\x71\x09\xaa\x29" + "\x00\x02"
	emptyPart = "\xff\x06\x00\x00\x00\x00\x08\x00\x02"
)

func TestMaster(t *testing.T) {
	m := Protocol{}.Master()
	if got := string(m.AppendListQuery(nil)); got != "\xff\x7c\x5d\x56\x00\x02\x00" || m.Repeats() {
		t.Errorf("it is asked %q", got)
	}
	for _, c := range []struct {
		datagram string
		want     []string
		end      bool
	}{
		{firstPart, []string{"192.0.2.1:10666", "192.0.2.1:10667", "198.51.100.7:10666"}, false},
		{lastPart, []string{"203.0.113.9:10666"}, true},
		{emptyPart, nil, true},
	} {
		if got, end, err := codectest.List(m, c.datagram); !slices.Equal(got, c.want) || end != c.end || err != nil {
			t.Errorf("%q: %v, %v, %v", c.datagram, got, end, err)
		}
	}
	codectest.RefusesList(t, m, map[string]string{
		"nothing": "", "a server's answer": shaped, "no block": "\xff\x06\x00\x00\x00\x00\x07", "cut short": firstPart[:len(firstPart)-1],
		"half a port": firstPart[:13], "no end": emptyPart[:8] + "\x08",
	})
	for kind, want := range map[string]error{"\x03": errBanned, "\x04": errWaits, "\x05": errOld} {
		if _, _, err := codectest.List(m, "\xff"+kind+"\x00\x00\x00"); err != want || errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("kind %q: %v, want %v", kind, err, want)
		}
	}
}

func FuzzMaster(f *testing.F) {
	f.Add([]byte(firstPart))
	f.Add([]byte("\x00\x06Hello"))
	codectest.FuzzList(f, Protocol{}.Master())
}
