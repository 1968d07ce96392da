package jamulus_test

import (
	"net/netip"
	"slices"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/jamulus"
)

const nonce = discovery.Nonce(0x89abcdef)

// TestRecorded reads what a real server answers. Nobody plays there.
func TestRecorded(t *testing.T) {
	requests, replies := codectest.Packets(t, "server.hex")
	for i, protocol := range []discovery.Protocol{Protocol{}, Protocol{}.Roll()} {
		if got := protocol.AppendQuery(nil, 0x0123_4567_89ab_cdef, nil); !slices.Equal(got, requests[i]) {
			t.Errorf("AppendQuery = %x, want %x", got, requests[i])
		}
	}
	reply, err := Protocol{}.Parse([][]byte{[]byte("noise"), replies[0]})
	if err != nil || !reply.Answers(nonce) || reply.Answers(nonce+1) || *reply.Info != (discovery.Info{}) {
		t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
	}
	reply, err = Protocol{}.Roll().Parse([][]byte{replies[1]})
	if err != nil || reply.Info.Roster == nil || len(reply.Info.Roster.Players) > 0 {
		t.Errorf("who plays: %+v, %v", reply.Info, err)
	}
}

// These packets are written by hand after Jamulus' source, because nobody plays at the server
// that was recorded.
const (
	three  = "\x00\x00\xea\x03\x00\x05\x00\xef\xcd\xab\x89\x03\xde\x1c"
	twoIn  = "\x00\x00\xf5\x03\x00\x29\x00" + ann + ben + "\xeb\x5e"
	ann    = "\x00" + "\x52\x00" + "\x05\x00\x00\x00" + "\x01" + "\x00\x00\x00\x00" + "\x04\x00" + "Ann\x07" + "\x05\x00" + "K\xc3\xb6ln"
	annCut = "\x00" + "\x52\x00" + "\x05\x00\x00\x00" + "\x01" + "\x00\x00\x00\x00" + "\x04\x00" + "Ann\x07" + "\x05\x00" + "K\xc3\xb6l"
	ben    = "\x03" + "\x52\x00" + "\x05\x00\x00\x00" + "\x01" + "\x00\x00\x00\x00" + "\x00\x00" + "\x00\x00"
	cutOff = "\x00\x00\xf5\x03\x00\x18\x00" + annCut + "\x76\x0a"
)

func TestParse(t *testing.T) {
	reply, err := Protocol{}.Parse([][]byte{[]byte(three)})
	if err != nil || *reply.Info != (discovery.Info{Players: 3}) {
		t.Errorf("%+v, %v", reply.Info, err)
	}
	reply, err = Protocol{}.Roll().Parse([][]byte{[]byte(twoIn)})
	if err != nil || !slices.Equal(reply.Info.Roster.Players, []discovery.Player{{Name: "Ann"}, {}}) {
		t.Errorf("who plays: %+v, %v", reply.Info, err)
	}
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing": "", "a wrong CRC": three[:len(three)-1] + "\x1d", "cut short": three[:len(three)-1], "more": three + "\x00",
		"the players": twoIn, "no time": "\x00\x00\xea\x03\x00\x00\x00\x4f\xe8", "no tag": "\x01" + three[1:],
	})
	codectest.Refuses(t, Protocol{}.Roll(), map[string]string{"nothing": "", "the ping": three, "cut off": cutOff})
}

// TestAnswer checks that the fleet's servers are understood.
func TestAnswer(t *testing.T) {
	info := discovery.Info{Name: "n", Players: 2, MaxPlayers: 16}
	question := Protocol{}.AppendQuery(nil, nonce, nil)
	reply, err := Protocol{}.Parse([][]byte{Answer(question, info, nil)})
	if err != nil || !reply.Answers(nonce) || *reply.Info != (discovery.Info{Players: 2}) {
		t.Errorf("%+v, %v", reply.Info, err)
	}
	roll := Protocol{}.Roll()
	reply, err = roll.Parse([][]byte{Answer(roll.AppendQuery(nil, nonce, nil), info, []string{"ann", "ben"})})
	if err != nil || !slices.Equal(reply.Info.Roster.Players, []discovery.Player{{Name: "ann"}, {Name: "ben"}}) {
		t.Errorf("who plays: %+v, %v", reply.Info, err)
	}
	if Answer(question[:9], info, nil) != nil {
		t.Error("a server answers half a question")
	}
}

func FuzzParse(f *testing.F) { codectest.Fuzz(f, Protocol{}, "server.hex") }

// framed takes messages for frames, because no fuzzer finds a CRC.
type framed struct{ discovery.Protocol }

func (f framed) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return f.Protocol.Parse([][]byte{Frame(nil, Musicians, datagrams[0])})
}

func FuzzRoll(f *testing.F) {
	f.Add([]byte(ann + ben))
	codectest.Fuzz(f, framed{Protocol{}.Roll()})
}

// TestDirectory reads what a real directory answers: a short list and a long one. It has no
// address for itself.
func TestDirectory(t *testing.T) {
	d := Protocol{}.Master()
	requests, replies := codectest.Packets(t, "directory.hex")
	if got := d.AppendListQuery(nil); !slices.Equal(got, requests[0]) || d.Repeats() {
		t.Errorf("it is asked %x, want %x", got, requests[0])
	}
	for i, want := range [][]string{
		{"invalid AddrPort{The directory 0}", "127.0.0.1:42125{Späti 0}"},
		{"invalid AddrPort{The directory 10}", "127.0.0.1:42125{Späti 7}"},
	} {
		if got, end, err := codectest.List(d, string(replies[i])); !slices.Equal(got, want) || end != (i == 1) || err != nil {
			t.Errorf("%q, %v, %v, want %q", got, end, err, want)
		}
	}
	codectest.RefusesList(t, d, map[string]string{
		"nothing": "", "the question": string(requests[0]), "a ping": three, "a wrong CRC": string(replies[1][:len(replies[1])-1]) + "?",
		"cut in a frame":  string(Frame(nil, SeatedList, replies[1][7:30])),
		"a name too long": string(Frame(nil, SeatedList, []byte("\x01\x00\x00\x7f\x8d\xa4\x00\x00\x07\x00\xff\xff"))),
	})
}

// framedList takes messages for frames, because no fuzzer finds a CRC.
type framedList struct{ discovery.Lister }

func (f framedList) ParseList(b []byte, yield func(netip.AddrPort, *discovery.Info)) (bool, error) {
	return f.Lister.ParseList(Frame(nil, SeatedList, b), yield)
}

func FuzzDirectory(f *testing.F) {
	_, replies := codectest.Packets(f, "directory.hex")
	f.Add(replies[1][7 : len(replies[1])-2])
	codectest.FuzzList(f, framedList{Protocol{}.Master()})
}
