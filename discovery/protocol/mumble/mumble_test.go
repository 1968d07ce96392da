package mumble_test

import (
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/mumble"
)

const nonce = discovery.Nonce(0x0123456789abcdef)

func TestRecorded(t *testing.T) {
	requests, replies := codectest.Packets(t, "murmurd.hex")
	if got := (Protocol{}).AppendQuery(nil, nonce, nil); string(got) != string(requests[0]) {
		t.Errorf("AppendQuery = %x, want %x", got, requests[0])
	}
	reply, err := Protocol{}.Parse(replies)
	if err != nil || !reply.Echoed || !reply.Answers(nonce) || *reply.Info != (discovery.Info{Version: "1.3.4", MaxPlayers: 40}) {
		t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
	}
	if got := Answer(requests[0], *reply.Info); string(got) != string(replies[0]) {
		t.Errorf("Answer = %x, want %x", got, replies[0])
	}
}

func TestParseRefuses(t *testing.T) {
	codectest.Refuses(t, Protocol{}, map[string]string{"nothing": "", "short": string(make([]byte, 23)), "long": string(make([]byte, 25))})
	for _, request := range []string{"", "\x00\x00\x00\x01........", "\x00\x00\x00\x00......."} {
		if got := Answer([]byte(request), discovery.Info{}); got != nil {
			t.Errorf("Answer(%q) = %x", request, got)
		}
	}
}

func FuzzParse(f *testing.F) { codectest.Fuzz(f, Protocol{}, "murmurd.hex") }
