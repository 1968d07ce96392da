package satisfactory_test

import (
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/satisfactory"
)

const nonce = discovery.Nonce(0x0123_4567_89ab_cdef)

// The packets here are written by hand after the game's documentation: no real server was at
// hand.
const (
	asked  = "\xd5\xf6\x00\x01\xef\xcd\xab\x89\x67\x45\x23\x01\x01"
	head   = "\xd5\xf6\x01\x01\xef\xcd\xab\x89\x67\x45\x23\x01"
	facts  = "\x03" + "\x7a\x96\x05\x00" + "\x01\x00\x00\x00\x00\x00\x00\x00" + "\x02" + "\x00\x11\x00" + "\x01\x05\x00"
	shaped = head + facts + "\x0b\x00" + "La f\xc3\xa1brica" + "\x01"
)

func TestParse(t *testing.T) {
	if got := string((Protocol{}).AppendQuery(nil, nonce, nil)); got != asked {
		t.Errorf("AppendQuery = %q", got)
	}
	want := discovery.Info{Name: "La fábrica", Version: "366202", Protocol: 366202, Tags: "playing modded"}
	reply, err := Protocol{}.Parse([][]byte{[]byte("noise"), []byte(shaped)})
	if err != nil || !reply.Answers(nonce) || reply.Answers(nonce+1) || *reply.Info != want {
		t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
	}
	reply, err = Protocol{}.Parse([][]byte{[]byte(head + "\x09\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00" + "\x00\x00\x01")})
	if want := (discovery.Info{Version: "0"}); err != nil || *reply.Info != want {
		t.Errorf("a server without a name, in a state of its own: %+v, %v", reply.Info, err)
	}
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing": "", "the question": asked, "the head": head, "the facts": head + facts,
		"another version": "\xd5\xf6\x01\x02" + shaped[4:], "cut short": shaped[:len(shaped)-1], "no end": shaped[:len(shaped)-1] + "\x00",
		"more after the end":  shaped + "\x01",
		"a name too long":     head + facts + "\xff\xff" + "x" + "\x01",
		"too many sub states": head + "\x03\x7a\x96\x05\x00\x01\x00\x00\x00\x00\x00\x00\x00\xff" + "\x00\x11\x00" + "\x00\x00\x01",
		"a build of 32 bits":  head + "\x03\xff\xff\xff\xff" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00" + "\x00\x00\x01",
	})
}

// TestAnswer checks that the fleet's servers are understood.
func TestAnswer(t *testing.T) {
	question := Protocol{}.AppendQuery(nil, nonce, nil)
	reply, err := Protocol{}.Parse([][]byte{Answer(question, discovery.Info{Name: "n", Version: "366202"})})
	want := discovery.Info{Name: "n", Version: "366202", Protocol: 366202, Tags: "playing"}
	if err != nil || !reply.Answers(nonce) || *reply.Info != want {
		t.Errorf("%+v, %v", reply.Info, err)
	}
	if Answer(question[:12], want) != nil {
		t.Error("a server answers half a question")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(shaped))
	codectest.Fuzz(f, Protocol{})
}
