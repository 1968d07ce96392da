package minecraft_test

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/minecraft"
)

const nonce = discovery.Nonce(0x0123456789abcdef)

func TestRecorded(t *testing.T) {
	requests, replies := codectest.Packets(t, "minecraftprotocol.hex")
	p := Protocol{}
	if got := p.AppendQuery(p.AppendGreeting(nil, netip.MustParseAddrPort("127.0.0.1:25565")), nonce,
		nil); string(got) != string(requests[0]) {
		t.Errorf("says %x, want %x", got, requests[0])
	}
	want := discovery.Info{Name: "Muster test", Version: "1.20.4", Protocol: 765, MaxPlayers: 20}
	for n := range replies[0] {
		if reply, err := p.Parse([][]byte{replies[0][:n]}); err != nil || !reply.Incomplete {
			t.Fatalf("after %d bytes: %+v, %v", n, reply, err)
		}
	}
	reply, err := p.Parse(replies[:1])
	if err != nil || *reply.Info != want || reply.Echoed {
		t.Fatalf("%+v, %+v, %v", reply, reply.Info, err)
	}
	if got := p.AppendQuery(nil, nonce, reply.Challenge); string(got) != string(requests[1]) {
		t.Errorf("pings by %x, want %x", got, requests[1])
	}
	reply, err = p.Parse(replies)
	if err != nil || *reply.Info != want || !reply.Echoed || reply.Nonce != nonce || reply.Challenge != nil {
		t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
	}
	first := Answer(requests[0], 0, want)
	second := Answer(append(requests[0], requests[1]...), len(first), want)
	reply, err = p.Parse([][]byte{first, second})
	if err != nil || *reply.Info != want || reply.Nonce != nonce {
		t.Errorf("the fleet's: %+v, %+v, %v", reply, reply.Info, err)
	}
}

// TestRoll checks that Roll reads the sample of players in a server's status.
func TestRoll(t *testing.T) {
	roll := Protocol{}.Roll()
	if _, isStream := roll.(discovery.Stream); !isStream {
		t.Fatal("who plays is not asked over TCP")
	}
	_, replies := codectest.Packets(t, "minecraftprotocol_players.hex")
	for name, c := range map[string]struct {
		text string
		want []discovery.Player
	}{
		"recorded":    {string(replies[0]), []discovery.Player{{Name: "ann"}, {Name: "bob"}}},
		"nobody":      {status(`{"players":{"max":20,"online":0}}`), nil},
		"wrong types": {status(`{"version":7,"players":{"online":"x","sample":[{"name":"ann"},{"name":7},{"id":"x"}]}}`), []discovery.Player{{Name: "ann"}}},
		"no list":     {status(`{"players":{"sample":"ann"}}`), nil},
		"a crowd": {status(`{"players":{"sample":[` + strings.Repeat(`{"name":"a"},`, 200) + `{"name":"b"}]}}`),
			slices.Repeat([]discovery.Player{{Name: "a"}}, 100)},
	} {
		reply, err := roll.Parse([][]byte{[]byte(c.text)})
		if err != nil || reply.Info == nil || !slices.Equal(reply.Info.Roster.Players, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, c.want)
		}
	}
}

func FuzzRoll(f *testing.F) { codectest.Fuzz(f, Protocol{}.Roll(), "minecraftprotocol_players.hex") }

func status(json string) string {
	body := append(binary.AppendUvarint([]byte{0}, uint64(len(json))), json...)
	return string(append(binary.AppendUvarint(nil, uint64(len(body))), body...))
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		json string
		want discovery.Info
	}{
		"a text": {`{"version":{"name":"Paper 1.21","protocol":767},"players":{"max":5,"online":2},"description":"§aHi\nthere"}`, discovery.Info{
			Name:       "Hi there",
			Version:    "Paper 1.21",
			Protocol:   767,
			Players:    2,
			MaxPlayers: 5,
		}},
		"parts":  {`{"description":{"text":"a","extra":[{"text":"b","bold":true,"extra":["c"]},"d",{"translate":"e"}]}}`, discovery.Info{Name: "abcde"}},
		"a list": {`{"description":["a",{"text":"b"},[["c"]]]}`, discovery.Info{Name: "abc"}},
		"Forge": {`{"description":"a","forgeData":{"mods":[]},"players":{"max":1,"online":0}}`,
			discovery.Info{Name: "a", Mode: "forge", Mod: "forge", MaxPlayers: 1}},
		"old Forge":       {`{"description":"a","modinfo":{"type":"FML","modList":[{"modid":"mcp","version":"9"},{"modid":"IC2"}]}}`, discovery.Info{Name: "a", Mode: "forge", Mod: "forge", Tags: "IC2"}},
		"mods of Forge":   {`{"description":"a","forgeData":{"mods":[{"modId":"minecraft","modmarker":"1.20.1"},{"modId":"create","modmarker":"0.5"},{"modId":"jei","modmarker":"9"}]}}`, discovery.Info{Name: "a", Mode: "forge", Mod: "forge", Tags: "create jei"}},
		"NeoForge":        {`{"description":"a","isModded":true}`, discovery.Info{Name: "a", Mod: "neoforge"}},
		"a snapshot":      {`{"version":{"name":"25w46a","protocol":1073742112}}`, discovery.Info{Version: "25w46a", Protocol: 1073742112}},
		"absurd protocol": {`{"version":{"name":"x","protocol":-1}}`, discovery.Info{Version: "x"}},
		"nothing":         {`{}`, discovery.Info{}},
		"wrong types":     {`{"version":7,"players":{"max":"x","online":3},"description":12}`, discovery.Info{Players: 3}},
		"a proxy":         {`{"players":{"max":1,"online":311}}`, discovery.Info{Players: 311}},
		"most seats":      {`{"players":{"max":65535,"online":65536}}`, discovery.Info{MaxPlayers: 65535}},
		"absurd numbers":  {`{"players":{"max":1e300,"online":-5}}`, discovery.Info{}},
		"fractions":       {`{"players":{"max":20.0,"online":1.5}}`, discovery.Info{Players: 1, MaxPlayers: 20}},
		"too deep": {`{"description":` + strings.Repeat(`{"text":"a","extra":[`, 50) + `"b"` +
			strings.Repeat(`]}`, 50) + `}`, discovery.Info{Name: "aaaaaaaa"}},
		"with its icon": {`{"description":"a","favicon":"data:image/png;base64,` + strings.Repeat("A", 30000) + `"}`,
			discovery.Info{Name: "a"}},
		"very long words": {`{"description":"` + strings.Repeat("a", 5000) + `"}`, discovery.Info{Name: strings.Repeat("a", 255)}},
	} {
		reply, err := Protocol{}.Parse([][]byte{[]byte(status(c.json))})
		if err != nil || *reply.Info != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	whole := status(`{}`)
	codectest.Refuses(t, Protocol{}, map[string]string{
		"a web server": "HTTP/1.1 400 Bad Request\r\n", "an old server's kick": "\xff\x00\x23",
		"an empty packet": "\x00", "too much": "\xff\xff\x7f", "a number without end": "\xff\xff\xff\xff\xff\x01",
		"another kind": "\x03\x01\x01{", "no JSON": status("hello"), "half of it": status(`{"players":`), "shorter than it says": "\x03\x00\x05{",
		"another packet for a pong": whole + "\x02\x00\x00", "a short pong": whole + "\x02\x01\x00",
	})
	for text, want := range map[string]bool{"": true, whole + "\x09\x01": true} {
		if reply, err := (Protocol{}).Parse([][]byte{[]byte(text)}); err != nil || reply.Incomplete != want {
			t.Errorf("%q: %+v, %v", text, reply, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(status(`{"description":{"text":"a","extra":["b",{"text":"c"}]},"players":{"max":1,"online":0}}`) + "\x09\x0112345678"))
	codectest.Fuzz(f, Protocol{}, "minecraftprotocol.hex")
}
