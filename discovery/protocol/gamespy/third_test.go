package gamespy_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/gamespy"
)

// Written by hand after the protocol's description, as Battlefield 2 and Minecraft
// answer. The nonce is 0xbeef.
const (
	thirdHeader    = "\x00\x0b\x0e\x0e\x0fsplitnum\x00"
	thirdChallenge = "\x09\x0b\x0e\x0e\x0f-1234567890\x00"
	thirdBegin     = thirdHeader + "\x00\x00hostname\x00Karkand all day\x00gamename\x00battlefield2\x00gamever\x001.5.3153-802.0\x00" +
		"mapname\x00Strike At Karkand\x00gametype\x00gpm_cq\x00gamevariant\x00pr\x00numplayers\x003\x00maxplayers\x0064\x00" +
		"password\x000\x00hostport\x0016567\x00\x00\x01player_\x00\x00 ann\x00[X] b\x00"
	thirdEnd = thirdHeader + "\x81\x01player_\x00\x01[X] bob\x00cyd\x00\x00score_\x00\x0010\x00-3\x000\x00\x00" +
		"ping_\x00\x0040\x0055\x00x\x00\x00\x00\x02team_t\x00\x00MEC\x00US\x00\x00score_t\x00\x000\x000\x00\x00\x00"
	minecraft = thirdHeader + "\x80\x00hostname\x00A Minecraft Server\x00gametype\x00SMP\x00game_id\x00MINECRAFT\x00version\x001.20.4\x00" +
		"plugins\x00\x00map\x00world\x00numplayers\x001\x00maxplayers\x0020\x00hostport\x0025565\x00hostip\x00127.0.0.1\x00\x00" +
		"\x01player_\x00\x00Notch\x00\x00"
)

func TestThirdAsks(t *testing.T) {
	for challenge, want := range map[string]string{
		"":                 "\xfe\xfd\x09\x0b\x0e\x0e\x0f",
		"\x12\x34\x56\x78": "\xfe\xfd\x00\x0b\x0e\x0e\x0f\x12\x34\x56\x78\xff\xff\xff\x01",
		"\x00\x00\x00\x00": "\xfe\xfd\x00\x0b\x0e\x0e\x0f\xff\xff\xff\x01", // none is wanted
	} {
		if got := string((Third{}).AppendQuery(nil, 0x1234beef, []byte(challenge))); got != want {
			t.Errorf("AppendQuery after %x = %x, want %x", challenge, got, want)
		}
	}
	if got := (Third{Above: 13333}).Roll().(discovery.Aside).QueryPort(16567); got != 29900 {
		t.Errorf("QueryPort = %d", got)
	}
}

func TestThirdChallenge(t *testing.T) {
	for text, want := range map[string]string{
		"-1234567890\x00": "\xb6\x69\xfd\x2e", "9513307\x00": "\x00\x91\x29\x5b", "0\x00": "\x00\x00\x00\x00",
		"4294967295": "\xff\xff\xff\xff", "12 \x00\x00": "\x00\x00\x00\x0c",
	} {
		reply, err := Third{}.Parse(codectest.Datagrams("\x09\x0b\x0e\x0e\x0f" + text))
		if err != nil || string(reply.Challenge) != want || reply.Info != nil || !reply.Echoed || !reply.Answers(0x1234beef) {
			t.Errorf("%q: %+v, %v, want %x", text, reply, err, want)
		}
	}
}

func TestThird(t *testing.T) {
	bf2 := discovery.Info{
		Name: "Karkand all day", Map: "Strike At Karkand", Mode: "gpm_cq", Version: "1.5.3153-802.0", Mod: "pr", Players: 3, MaxPlayers: 64,
	}
	direct := bf2
	direct.GamePort = 16567
	mc := discovery.Info{
		Name: "A Minecraft Server", Map: "world", Mode: "SMP", Version: "1.20.4", Players: 1, MaxPlayers: 20, GamePort: 25565,
	}
	for name, c := range map[string]struct {
		protocol Third
		packets  []string
		want     discovery.Info
	}{
		"two packets":         {Third{Above: 13333}, []string{thirdBegin, thirdEnd}, bf2},
		"in the other order":  {Third{}, []string{thirdEnd, thirdBegin}, direct},
		"after its challenge": {Third{}, []string{thirdChallenge, thirdBegin, thirdEnd}, direct},
		"one twice":           {Third{}, []string{thirdBegin, thirdBegin, thirdEnd}, direct},
		"among noise":         {Third{}, []string{"noise", thirdBegin, "\x00\x00", thirdEnd}, direct},
		"one packet":          {Third{}, []string{minecraft}, mc},
		"Geyser":              {Third{}, []string{strings.Replace(minecraft, "splitnum", "GeyserMC", 1)}, mc},
		"a name with a NUL":   {Third{}, []string{strings.Replace(minecraft, "A Minecraft", "\x00A Minecraft", 1)}, mc},
		"Unreal Tournament 3": {Third{}, []string{thirdHeader + "\x80\x00hostname\x00a\x00mapname\x00OwningPlayerId=1\x00p1073741825\x00DM-Deck\x00\x00"},
			discovery.Info{Name: "a", Map: "DM-Deck"}},
		"no name": {Third{}, []string{thirdHeader + "\x80\x00hostname\x00\x00mapname\x00m\x00gametype\x00ctf\x00\x00"},
			discovery.Info{Map: "m", Mode: "ctf"}},
		"no variant": {Third{Above: 1}, []string{strings.Replace(thirdBegin, "\x00pr\x00", "\x00bf2\x00", 1), thirdEnd},
			discovery.Info{Name: bf2.Name, Map: bf2.Map, Mode: bf2.Mode, Version: bf2.Version, Players: 3, MaxPlayers: 64}},
		"players uncounted": {Third{}, []string{thirdHeader + "\x80\x00hostname\x00a\x00\x00\x01player_\x00\x00x\x00y\x00\x00\x00"},
			discovery.Info{Name: "a", Players: 2}},
		"keys in two packets": {Third{}, []string{
			thirdHeader + "\x00\x00hostname\x00a\x00",
			thirdHeader + "\x81\x00mapname\x00m\x00hostname\x00b\x00\x00",
		},
			discovery.Info{Name: "a", Map: "m"}},
		"a section that is none": {Third{}, []string{thirdHeader + "\x80\x00hostname\x00a\x00\x00\x07player_\x00\x00x\x00"},
			discovery.Info{Name: "a"}},
	} {
		reply, err := c.protocol.Parse(codectest.Datagrams(c.packets...))
		if err != nil || reply.Info == nil || *reply.Info != c.want || !reply.Echoed || !reply.Answers(0xbeef) {
			t.Errorf("%s: %+v of %+v, %v, want %+v", name, reply, reply.Info, err, c.want)
		}
	}
}

// TestThirdRoll checks that a name that a packet cuts off is read from the next one.
func TestThirdRoll(t *testing.T) {
	want := []discovery.Player{
		{Name: "ann", Score: 10, Ping: 40 * time.Millisecond},
		{Name: "[X] bob", Score: -3, Ping: 55 * time.Millisecond},
		{Name: "cyd"},
	}
	for _, packets := range [][]string{{thirdBegin, thirdEnd}, {thirdEnd, thirdBegin}} {
		reply, err := Third{}.Roll().Parse(codectest.Datagrams(packets...))
		if err != nil || !slices.Equal(reply.Info.Roster.Players, want) {
			t.Errorf("%+v, %v, want %+v", reply.Info, err, want)
		}
	}
}

func TestThirdWaits(t *testing.T) {
	for name, packets := range map[string][]string{
		"nothing":               nil,
		"no end":                {thirdBegin},
		"no beginning":          {thirdEnd},
		"a wild number":         {thirdHeader + "\xff\x00hostname\x00a\x00\x00"},
		"a packet of another":   {thirdEnd, thirdHeader + "\x05\x00hostname\x00a\x00\x00"},
		"two ends":              {thirdHeader + "\x82\x00hostname\x00a\x00\x00", thirdHeader + "\x80\x00hostname\x00a\x00\x00"},
		"halves of two replies": {thirdBegin, strings.Replace(thirdEnd, "\x0f", "\x01", 1)},
	} {
		if reply, err := (Third{}).Parse(codectest.Datagrams(packets...)); err != nil || !reply.Incomplete {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
}

func TestThirdRefuses(t *testing.T) {
	for _, p := range []discovery.Protocol{Third{}, Third{}.Roll()} {
		codectest.Refuses(t, p, map[string]string{
			"nothing": "", "noise": "hello world", "half a header": "\x00\x0b\x0e", "another kind": "\x05" + thirdBegin[1:],
			"a challenge without digits": "\x09\x0b\x0e\x0e\x0fabc\x00", "a challenge that is too large": "\x09\x0b\x0e\x0e\x0f99999999999\x00",
			"no challenge at all": "\x09\x0b\x0e\x0e\x0f", "no number": "\x00\x0b\x0e\x0e\x0fsplitnum\x00",
			"the second form": secondKeys, "nothing about a server": thirdHeader + "\x80\x00gamename\x00x\x00\x00",
			"players alone": thirdHeader + "\x80\x01player_\x00\x00x\x00\x00\x00",
		})
	}
}

// TestThirdIsBounded checks that no packet makes more players than a server has seats
// for, nor keeps the parser at work.
func TestThirdIsBounded(t *testing.T) {
	many := thirdHeader + "\x80\x00hostname\x00a\x00\x00\x01player_\x00\xff" + strings.Repeat("x\x00", 1<<15)
	reply, err := Third{}.Roll().Parse(codectest.Datagrams(many))
	if err != nil || len(reply.Info.Roster.Players) > 1024 {
		t.Errorf("%d players, %v", len(reply.Info.Roster.Players), err)
	}
	zeros := thirdHeader + "\x80\x00hostname\x00a\x00" + strings.Repeat("\x00\x01\x02", 1<<15)
	if reply, err := (Third{}).Parse(codectest.Datagrams(zeros)); err != nil || reply.Info.Name != "a" {
		t.Errorf("%+v, %v", reply.Info, err)
	}
}

func TestAnswerThird(t *testing.T) {
	names := make([]string, 130)
	for i := range names {
		names[i] = strings.Repeat("x", 20) + "\x00"
	}
	want := discovery.Info{Name: "a", Map: "m", Mode: "ctf", Version: "1.1", Players: len(names), MaxPlayers: 140, Password: true}
	challenge := [4]byte{0x80, 1, 2, 3}
	first := AnswerThird(Third{}.AppendQuery(nil, 7, nil), want, names, 7000, challenge)
	demand, err := Third{}.Parse(first)
	if err != nil || !bytes.Equal(demand.Challenge, challenge[:]) {
		t.Fatalf("%+v, %v", demand, err)
	}
	packets := AnswerThird(Third{}.AppendQuery(nil, 7, demand.Challenge), want, names, 7000, challenge)
	if len(packets) < 3 {
		t.Errorf("%d packets", len(packets))
	}
	reply, err := Third{Above: 1}.Roll().Parse(packets)
	if err != nil || len(reply.Info.Roster.Players) != len(names) || reply.Info.Roster.Players[129].Name != names[0][:20] {
		t.Fatalf("%+v, %v", reply.Info, err)
	}
	reply.Info.Roster = nil
	if *reply.Info != want || !reply.Answers(7) {
		t.Errorf("%+v, want %+v", reply.Info, want)
	}
	for _, request := range []string{
		"", `\status\`, "\xfe\xfd\x00\x00\x00\x00\x01\xff\xff\xff\x01",
		"\xfe\xfd\x00\x00\x00\x00\x01\x80\x01\x02\x04\xff\xff\xff\x01",
	} {
		if got := AnswerThird([]byte(request), want, names, 0, challenge); got != nil {
			t.Errorf("answers %q", request)
		}
	}
}

func FuzzThird(f *testing.F) {
	for _, text := range []string{thirdChallenge, minecraft, thirdBegin, thirdEnd} {
		f.Add([]byte(text))
	}
	codectest.Fuzz(f, Third{}.Roll())
}

// FuzzThirdPackets checks that the order of packets changes nothing, as long as none is
// there twice, and that errors are of one kind.
func FuzzThirdPackets(f *testing.F) {
	f.Add([]byte(thirdBegin), []byte(thirdEnd))
	f.Add([]byte(minecraft), []byte(thirdChallenge))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		straight, err := Third{}.Parse([][]byte{a, b})
		if err != nil && !errors.Is(err, discovery.ErrMalformed) {
			t.Error(err)
		}
		if straight.Info != nil && (straight.Incomplete || straight.Challenge != nil || !straight.Echoed) {
			t.Errorf("%+v", straight)
		}
		if len(straight.Challenge) != 0 && len(straight.Challenge) != 4 {
			t.Errorf("challenge %x", straight.Challenge)
		}
		same := len(a) > 14 && len(b) > 14 && (bytes.Equal(a[:5], b[:5]) && a[14]&0x7f != b[14]&0x7f)
		if turned, _ := (Third{}).Parse([][]byte{b, a}); same && (straight.Info == nil) != (turned.Info == nil) {
			t.Errorf("%+v, turned %+v", straight, turned)
		}
	})
}
