package bedrock_test

import (
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/bedrock"
)

const nonce = discovery.Nonce(0x0123456789abcdef)

func TestRecorded(t *testing.T) {
	requests, replies := codectest.Packets(t, "jspraknet.hex")
	if got := (Protocol{}).AppendQuery(nil, nonce, nil); string(got) != string(requests[0]) {
		t.Errorf("AppendQuery = %x, want %x", got, requests[0])
	}
	want := discovery.Info{
		Name:       "Bedrock test",
		Map:        "world one",
		Mode:       "Survival",
		Version:    "1.16.20",
		Protocol:   408,
		Players:    3,
		MaxPlayers: 10,
	}
	reply, err := Protocol{}.Parse(replies)
	if err != nil || !reply.Echoed || !reply.Answers(nonce) || *reply.Info != want {
		t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
	}
	again, err := Protocol{}.Parse([][]byte{Answer(requests[0], want)})
	if err != nil || !again.Answers(nonce) || *again.Info != want {
		t.Errorf("the fleet's: %+v, %+v, %v", again, again.Info, err)
	}
}

func pong(text string) string {
	return "\x1c" + "\x01\x23\x45\x67\x89\xab\xcd\xef" + "12345678" + "\x00\xff\xff\x00\xfe\xfe\xfe\xfe\xfd\xfd\xfd\xfd\x12\x34\x56\x78" +
		string([]byte{byte(len(text) >> 8), byte(len(text))}) + text
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want discovery.Info
	}{
		"old servers say less": {pong("MCPE;a;1;0.14;1;2"), discovery.Info{Name: "a", Version: "0.14", Protocol: 1, Players: 1, MaxPlayers: 2}},
		"no level": {pong("MCPE;a;1;0.14;1;2;77;"),
			discovery.Info{Name: "a", Version: "0.14", Protocol: 1, Players: 1, MaxPlayers: 2}},
		"more than it says": {pong("MCPE;a;1;0.14;1;2") + "99",
			discovery.Info{Name: "a", Version: "0.14", Protocol: 1, Players: 1, MaxPlayers: 2}},
		"numbers that are none": {pong("MCPE;a;-1;v;-1;x;7;w;m;"), discovery.Info{Name: "a", Map: "w", Mode: "m", Version: "v"}},
		"numbers out of bounds": {pong("MCPE;a;1;v;99999999;99999999"), discovery.Info{Name: "a", Version: "v", Protocol: 1}},
		"a semicolon in the name": {pong(`MCPE;Skyblock\; Factions;557;1.19.40;12;100;1;Geyser\;;Survival`),
			discovery.Info{Name: "Skyblock; Factions", Map: "Geyser;", Mode: "Survival", Version: "1.19.40", Protocol: 557, Players: 12, MaxPlayers: 100}},
		"other backslashes":       {pong(`MCPE;a\b\\;c;1;v;0;9;`), discovery.Info{Name: `a\b\;c`, Version: "v", Protocol: 1, MaxPlayers: 9}},
		"more players than seats": {pong("MCPE;a;1;v;311;1;"), discovery.Info{Name: "a", Version: "v", Protocol: 1, Players: 311}},
		"colours":                 {pong("MCPE;§1a§lb§;1;v;0;0"), discovery.Info{Name: "ab", Version: "v", Protocol: 1}},
	} {
		reply, err := Protocol{}.Parse([][]byte{[]byte(c.text)})
		if err != nil || *reply.Info != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	whole := pong("MCPE;a;1;v;0;0")
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing": "", "short": whole[:34], "another kind": "\x1d" + whole[1:], "other magic": whole[:20] + "x" + whole[21:],
		"few fields": pong("MCPE;a;1;v;0"), "cut short": whole[:len(whole)-3],
	})
}

func FuzzParse(f *testing.F) { codectest.Fuzz(f, Protocol{}, "jspraknet.hex") }
