package samp_test

import (
	"slices"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/samp"
)

const nonce = discovery.Nonce(0x0123_4567_89ab_cdef)

// The packets here are written by hand after open.mp's source: no real server was at hand.
const (
	asked  = "SAMP\x45\x67\x89\xab\xcd\xefi"
	shaped = asked + "\x01" + "\x22\x01" + "\xe8\x03" +
		"\x09\x00\x00\x00A \xe7it\xe9 RP" + "\x06\x00\x00\x00RP 2.1" + "\x10\x00\x00\x00Romanian/English"
	vcmp = "MP04\x45\x67\x89\xab\xcd\xefi" + "04rel006\x00\x00\x00\x00" + "\x00" + "\x05\x00" + "\x64\x00" +
		"\x06\x00\x00\x00A city" + "\x02\x00\x00\x00DM" + "\x09\x00\x00\x00Vice City"
	roll = "SAMP\x45\x67\x89\xab\xcd\xefc" + "\x02\x00" + "\x03ann\x15\x00\x00\x00" + "\x04[x]b\xff\xff\xff\xff"
)

func TestParse(t *testing.T) {
	if got := string((Protocol{}).AppendQuery(nil, nonce, nil)); got != asked {
		t.Errorf("AppendQuery = %q", got)
	}
	for name, c := range map[string]struct {
		protocol discovery.Protocol
		packet   string
		want     discovery.Info
	}{
		"SA-MP": {Protocol{}, shaped, discovery.Info{
			Name: "A çité RP", Mode: "RP 2.1", Tags: "Romanian/English", Players: 290, MaxPlayers: 1000, Password: true,
		}},
		"VC:MP": {VCMP{}, vcmp, discovery.Info{
			Name: "A city", Map: "Vice City", Mode: "DM", Version: "04rel006", Players: 5, MaxPlayers: 100,
		}},
	} {
		reply, err := c.protocol.Parse([][]byte{[]byte("noise"), []byte(c.packet)})
		if err != nil || !reply.Echoed || !reply.Answers(nonce) || reply.Answers(nonce+1) || *reply.Info != c.want {
			t.Errorf("%s: %+v, %+v, %v", name, reply, reply.Info, err)
		}
	}
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing": "", "the question": asked, "VC:MP's": vcmp, "players": roll, "cut short": shaped[:len(shaped)-1],
		"a text too long": asked + "\x00\x00\x00\x00\x00" + "\xff\xff\xff\xff",
	})
}

// TestRoll checks that the players are asked for and read.
func TestRoll(t *testing.T) {
	protocol := Protocol{}.Roll()
	request := protocol.AppendQuery(nil, nonce, nil)
	reply, err := protocol.Parse([][]byte{[]byte(roll)})
	if err != nil || !reply.Answers(nonce) || string(request) != roll[:11] {
		t.Fatalf("%q, %+v, %v", request, reply, err)
	}
	want := []discovery.Player{{Name: "ann", Score: 21}, {Name: "[x]b", Score: -1}}
	if got := reply.Info.Roster.Players; !slices.Equal(got, want) {
		t.Errorf("players are %+v, want %+v", got, want)
	}
	if reply, err := protocol.Parse([][]byte{[]byte(roll[:len(roll)-1])}); err == nil {
		t.Errorf("a list cut short: %+v", reply)
	}
}

// TestAnswer checks that the fleet's servers are understood.
func TestAnswer(t *testing.T) {
	info := discovery.Info{Name: "n", Mode: "m", Players: 2, MaxPlayers: 300, Password: true}
	question := Protocol{}.AppendQuery(nil, nonce, nil)
	if reply, err := (Protocol{}).Parse([][]byte{Answer(question, info, nil)}); err != nil || *reply.Info != info {
		t.Errorf("%+v, %v", reply.Info, err)
	}
	if Answer(question[:10], info, nil) != nil || AnswerVCMP(question, info, nil) != nil {
		t.Error("a server answers what it does not understand")
	}
	names := []string{"ann", "ben"}
	for about, want := range map[byte]string{
		'r': "\x01\x00\x07version\x030.3", 'd': "\x02\x00\x00\x03ann\x00\x00\x00\x00\x32\x00\x00\x00\x01\x03ben\x00\x00\x00\x00\x32\x00\x00\x00",
	} {
		asked := append(slices.Clone(question[:10]), about)
		if got := Answer(asked, discovery.Info{Version: "0.3"}, names); string(got) != string(asked)+want {
			t.Errorf("%c: %q", about, got)
		}
	}
	protocol := VCMP{}.Roll()
	reply, err := protocol.Parse([][]byte{AnswerVCMP(protocol.AppendQuery(nil, nonce, nil), info, names)})
	if err != nil || len(reply.Info.Roster.Players) != len(names) {
		t.Errorf("%+v, %v", reply.Info, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(shaped))
	codectest.Fuzz(f, Protocol{})
}

func FuzzParseVCMP(f *testing.F) {
	f.Add([]byte(vcmp))
	codectest.Fuzz(f, VCMP{})
}

func FuzzRoll(f *testing.F) {
	f.Add([]byte(roll))
	codectest.Fuzz(f, Protocol{}.Roll())
}
