package teeworlds_test

import (
	"slices"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/teeworlds"
)

// The recordings' questions have the low bits of this nonce.
const nonce = discovery.Nonce(0x0123456789abcdef)

func TestRecorded07(t *testing.T) {
	requests, replies := codectest.Packets(t, "teeworlds07.hex")
	// The top bit of our token stays 0.
	if got := (Protocol{}).AppendQuery(nil, nonce, nil); string(got) != string(requests[0]) {
		t.Errorf("asks for a token by %x, want %x", got, requests[0])
	}
	reply, err := Protocol{}.Parse(replies[:1])
	if err != nil || !reply.Answers(nonce) || len(reply.Challenge) != 4 || reply.Info != nil {
		t.Fatalf("%+v, %v", reply, err)
	}
	if got := (Protocol{}).AppendQuery(nil, nonce, reply.Challenge); string(got) != string(requests[1]) {
		t.Errorf("asks by %x, want %x", got, requests[1])
	}
	want := discovery.Info{Name: "TW07", Map: "dm1", Mode: "DM", Version: "0.7.5", MaxPlayers: 8}
	whole, err := Protocol{}.Parse(replies)
	if err != nil || !whole.Answers(nonce) || *whole.Info != want {
		t.Errorf("%+v, %+v, %v, want %+v", whole, whole.Info, err, want)
	}
	token := [4]byte(reply.Challenge)
	if got := Answer(requests[0], want, token); string(got) != string(replies[0]) {
		t.Errorf("the fleet's token: %x, want %x", got, replies[0])
	}
	want.Players, want.MaxPlayers, want.Password = 100, 1000, true
	again, err := Protocol{}.Parse([][]byte{Answer(requests[1], want, token)})
	if err != nil || !again.Answers(nonce) || *again.Info != want {
		t.Errorf("the fleet's: %+v, %v", again.Info, err)
	}
	if got := Answer(requests[1], want, [4]byte{1}); got != nil {
		t.Errorf("the fleet takes another's token: %x", got)
	}
}

func TestRecordedDDNet(t *testing.T) {
	want := discovery.Info{Name: "DDNet test", Map: "dm1", Mode: "TestDDraceNetwor", Version: "0.6.4, 16.4", MaxPlayers: 64}
	plain := want
	plain.Name, plain.MaxPlayers = "DDNet test [0/64]", 16
	for file, c := range map[string]struct {
		want  discovery.Info
		bits  int
		other discovery.Nonce
	}{
		"ddnet_extended.hex": {want, 24, nonce ^ 0x800000},
		"ddnet_plain.hex":    {plain, 8, nonce ^ 0x80},
	} {
		requests, replies := codectest.Packets(t, file)
		if got := (DDNet{}).AppendQuery(nil, nonce, nil); c.bits == 24 && string(got) != string(requests[0]) {
			t.Errorf("%s: asks by %x, want %x", file, got, requests[0])
		}
		reply, err := DDNet{}.Parse(replies)
		if err != nil || !reply.Answers(nonce) || reply.Answers(c.other) || reply.NonceBits != c.bits || *reply.Info != c.want {
			t.Errorf("%s: %+v, %+v, %v", file, reply, reply.Info, err)
		}
		c.want.Players, c.want.Password = 7, true
		again, err := DDNet{}.Parse([][]byte{AnswerDDNet(requests[0], c.want)})
		if err != nil || !again.Answers(nonce) || *again.Info != c.want {
			t.Errorf("%s, the fleet's: %+v, %+v, %v", file, again, again.Info, err)
		}
	}
}

const (
	head06 = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
	head07 = "\x21\x09\xab\xcd\xef1234\xff\xff\xff\xff"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		protocol discovery.Protocol
		text     string
		want     discovery.Info
	}{
		"bots": {Protocol{}, head07 + "inf3\x05v\x00n\x00\x00m\x00g\x00\x01\x00\x02\x08\x03\x10" +
			"a\x00\x00\x40\x05\x00" + "b\x00\x00\x40\x05\x02" + "c\x00\x00\x40\x05\x01",
			discovery.Info{Name: "n", Map: "m", Mode: "g", Version: "v", Players: 3, MaxPlayers: 16, Bots: 1, Password: true}},
		"players cut short": {Protocol{}, head07 + "inf3\x05v\x00n\x00\x00m\x00g\x00\x00\x00\x02\x08\x03\x10" + "a\x00\x00\x40\x05\x02b",
			discovery.Info{Name: "n", Map: "m", Mode: "g", Version: "v", Players: 3, MaxPlayers: 16, Bots: 1}},
		"numbers below 0 and large": {Protocol{}, head07 + "inf3\x05v\x00n\x00\x00m\x00g\x00\x00\x00\x02\x08\x41\xbf\xff\xff\xff\x0f",
			discovery.Info{Name: "n", Map: "m", Mode: "g", Version: "v"}},
		"0.6": {DDNet{}, head06 + "inf3239\x000.6.4\x00n\x00m\x00CTF\x001\x002\x0012\x003\x0016\x00nameless tee\x00\x00-1\x000\x001\x00",
			discovery.Info{Name: "n", Map: "m", Mode: "CTF", Version: "0.6.4", Players: 3, MaxPlayers: 16, Password: true}},
	} {
		reply, err := c.protocol.Parse([][]byte{[]byte(c.text)})
		if err != nil || !reply.Answers(nonce&0x7fffffff) && !reply.Answers(nonce) || *reply.Info != c.want {
			t.Errorf("%s: %+v, %+v, %v, want %+v", name, reply, reply.Info, err, c.want)
		}
	}
}

// TestRoll checks that the clients are in the reply, and with DDNet also in others that
// come after or before it.
func TestRoll(t *testing.T) {
	const (
		extended = head06 + "iext239\0000.6.4\x00n\x00m\x001\x001\x00g\x000\x002\x0064\x003\x0064\x00\x00" +
			"ann\x00clan\x00276\x00-61\x001\x00\x00" + "b\x1b[31mob\x00\x00-1\x00-9999\x001\x00\x00"
		rest  = head06 + "iex+239\x001\x00\x00" + "cyd\x00\x00-1\x000\x000\x00\x00"
		alien = head06 + "iex+240\x001\x00\x00" + "eve\x00\x00-1\x000\x000\x00\x00"
	)
	three := []discovery.Player{{Name: "ann", Score: -61}, {Name: discovery.CleanText("b\x1b[31mob"), Score: -9999}, {Name: "cyd"}}
	for name, c := range map[string]struct {
		roll      discovery.Protocol
		datagrams []string
		want      []discovery.Player
	}{
		"0.7": {Protocol{}.Roll(), []string{head07 + "inf3\x05v\x00n\x00\x00m\x00g\x00\x01\x00\x02\x08\x03\x10" +
			"a\x00\x00\x40\x45\x00" + "b\x00c\x00\x80\x05\x05\x02" + "cut\x00\x00\x40"},
			[]discovery.Player{{Name: "a", Score: -6}, {Name: "b", Score: 5}}},
		"0.6": {DDNet{}.Roll(), []string{head06 +
			"inf3239\x000.6.4\x00n\x00m\x00CTF\x001\x002\x0012\x003\x0016\x00nameless tee\x00\x00-1\x007\x001\x00"},
			[]discovery.Player{{Name: "nameless tee", Score: 7}}},
		"DDNet":                     {DDNet{}.Roll(), []string{extended, rest}, three},
		"the rest first, and twice": {DDNet{}.Roll(), []string{rest, extended, alien, rest}, three},
		"who is asked too often names nobody": {DDNet{}.Roll(),
			[]string{head06 + "iext239\0000.6.4\x00n\x00m\x001\x001\x00g\x000\x002\x0064\x003\x0064\x00\x00"}, nil},
	} {
		var datagrams [][]byte
		for _, d := range c.datagrams {
			datagrams = append(datagrams, []byte(d))
		}
		reply, err := c.roll.Parse(datagrams)
		if err != nil || reply.Info == nil || !slices.Equal(reply.Info.Roster.Players, c.want) || reply.Info.Players != 3 {
			t.Errorf("%s: %+v, %+v, %v, want %+v", name, reply, reply.Info, err, c.want)
		}
	}
	for name, datagrams := range map[string][][]byte{"some": {[]byte(extended)},
		"others": {[]byte(extended), []byte(alien)}, "the rest": {[]byte(rest)}} {
		if reply, err := (DDNet{}).Roll().Parse(datagrams); err != nil || !reply.Incomplete {
			t.Errorf("%s alone: %+v, %v", name, reply, err)
		}
	}
	for file, roll := range map[string]discovery.Protocol{"teeworlds07.hex": Protocol{}.Roll(),
		"ddnet_extended.hex": DDNet{}.Roll(), "ddnet_plain.hex": DDNet{}.Roll()} {
		_, replies := codectest.Packets(t, file)
		if reply, err := roll.Parse(replies); err != nil || reply.Info == nil || reply.Info.Roster == nil || len(reply.Info.Roster.Players) != 0 {
			t.Errorf("%s, where nobody is: %+v, %v", file, reply, err)
		}
	}
}

func FuzzRoll07(f *testing.F) { codectest.Fuzz(f, Protocol{}.Roll(), "teeworlds07.hex") }

func FuzzRollDDNet(f *testing.F) {
	f.Add([]byte(head06 + "iext239\x000.6.4\x00n\x00m\x001\x001\x00g\x000\x001\x0064\x001\x0064\x00\x00ann\x00\x00276\x00-61\x001\x00\x00"))
	f.Add([]byte(head06 + "iex+239\x001\x00\x00cyd\x00\x00-1\x000\x000\x00\x00"))
	codectest.Fuzz(f, DDNet{}.Roll(), "ddnet_extended.hex", "ddnet_plain.hex")
}

func TestParseRefuses(t *testing.T) {
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing": "", "half a token": "\x04\x00\x00\x09\xab\xcd\xef\x05\x01\x02\x03",
		"another control": "\x04\x00\x00\x09\xab\xcd\xef\x01\x01\x02\x03\x04",
		"head alone":      head07, "cut short": head07 + "inf3\x05v\x00n\x00\x00m\x00g\x00\x01\x00\x02\x08\x03", "0.6's": head06 + "inf31\x00",
	})
	codectest.Refuses(t, DDNet{}, map[string]string{
		"nothing": "", "head alone": head06, "cut short": head06 + "inf3239\x00v\x00n\x00m\x00g\x001\x002\x0012\x003\x00",
		"token too large":    head06 + "inf3256\x00v\x00n\x00m\x00g\x001\x002\x0012\x003\x004\x00",
		"token that is none": head06 + "inf3x\x00v\x00n\x00m\x00g\x001\x002\x0012\x003\x004\x00",
		"more players":       head06 + "iex+239\x001\x00\x00",
	})
}

func FuzzParse07(f *testing.F) { codectest.Fuzz(f, Protocol{}, "teeworlds07.hex") }

func FuzzParseDDNet(f *testing.F) {
	codectest.Fuzz(f, DDNet{}, "ddnet_extended.hex", "ddnet_plain.hex")
}
