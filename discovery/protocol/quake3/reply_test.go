package quake3_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/quake3"
)

func TestParseRequest(t *testing.T) {
	for text, want := range map[string]Request{
		"getinfo":                         {Command: "getinfo", Args: []string{}},
		"getinfo\n":                       {Command: "getinfo", Args: []string{}},
		"getstatus\x00":                   {Command: "getstatus", Args: []string{}},
		"getinfo \x00 a":                  {Command: "getinfo", Args: []string{}},
		"getinfo a\u00a0b":                {Command: "getinfo", Args: []string{"a\u00a0b"}},
		"getinfo xyz123":                  {Command: "getinfo", Args: []string{"xyz123"}},
		"getstatus abc\n":                 {Command: "getstatus", Args: []string{"abc"}},
		"getservers 68 empty full":        {Command: "getservers", Args: []string{"68", "empty", "full"}},
		"getserversExt Xonotic 3 ipv6":    {Command: "getserversExt", Args: []string{"Xonotic", "3", "ipv6"}},
		"getinfo " + nonceText + " extra": {Command: "getinfo", Args: []string{nonceText, "extra"}},
	} {
		got, err := ParseRequest([]byte("\xff\xff\xff\xff" + text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func TestParseRequestRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":         "",
		"no header":       "getinfo",
		"no command":      "\xff\xff\xff\xff",
		"other command":   "\xff\xff\xff\xffrcon x",
		"longer command":  "\xff\xff\xff\xffgetinfos",
		"long challenge":  "\xff\xff\xff\xffgetinfo " + strings.Repeat("a", 129),
		"endless request": "\xff\xff\xff\xffgetservers 68" + strings.Repeat(" a", 1000),
	} {
		if r, err := ParseRequest([]byte(text)); !errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("%s: %+v, err = %v, want ErrMalformed", name, r, err)
		}
	}
}

// As in the recording of OpenArena, except for the voice codec.
func TestAppendInfoResponseIsOpenArenas(t *testing.T) {
	requests, replies := codectest.Packets(t, "openarena_getinfo.hex")
	r, err := ParseRequest(requests[0])
	if err != nil {
		t.Fatal(err)
	}
	info := discovery.Info{Name: "OA test 2", Map: "oa_dm3", Mode: "0", Players: 4, MaxPlayers: 8, Bots: 4}
	got := string(AppendInfoResponse(nil, info, r.Challenge(), 71))
	want := strings.Replace(string(replies[0]), `\voip\opus`, "", 1)
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestRepliesWithoutChallenge(t *testing.T) {
	for _, b := range [][]byte{
		AppendInfoResponse(nil, discovery.Info{}, "", 71),
		AppendStatusResponse(nil, discovery.Info{}, nil, "", 71),
	} {
		if strings.Contains(string(b), "challenge") {
			t.Errorf("%q has a challenge", b)
		}
	}
}

func TestNoValueBreaksOutOfItsPair(t *testing.T) {
	evil := "a\\clients\\99\"; quit\n\x00b"
	info := discovery.Info{Name: evil, Map: evil, Mode: evil, Version: evil, Players: 2, Bots: 1}
	players := []Player{{Name: evil, Ping: time.Millisecond}, {Name: evil}}
	s, got, err := ParseStatus(AppendStatusResponse(nil, info, players, nonceText, 68))
	if err != nil || got != nonce {
		t.Fatalf("nonce %x, err = %v", got, err)
	}
	if s.Info.Players != 2 || s.Info.Name != "aclients99 quitb" || s.Players[1].Name != "aclients99 quitb" {
		t.Errorf("status = %+v", s)
	}
}

func FuzzParseOfInfoResponse(f *testing.F) {
	f.Add("a server", "q3dm17", "0", 4, 8, 2, true, 20, 150, uint64(nonce))
	f.Add("^1red\\", "", "\n", -1, 1<<40, 99, false, -7, 1<<40, uint64(0))
	f.Fuzz(func(t *testing.T, name, mapName, mode string, players, seats, bots int, password bool, minPing, maxPing int, n uint64) {
		const most, maxSeats = 1_000_000, 65_535
		info := discovery.Info{
			Name: plain(name), Map: plain(mapName), Mode: plain(mode), Protocol: 71, Password: password,
			Players: clamp(players, maxSeats), MaxPlayers: clamp(seats, maxSeats),
			MinPing: time.Duration(clamp(minPing, most)) * time.Millisecond,
			MaxPing: time.Duration(clamp(maxPing, most)) * time.Millisecond,
		}
		info.Bots = clamp(bots, info.Players)
		query := Protocol{}.AppendQuery(nil, discovery.Nonce(n), nil)
		request, err := ParseRequest(query)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := Protocol{}.Parse([][]byte{AppendInfoResponse(nil, info, request.Challenge(), 71)})
		if err != nil || reply.Nonce != discovery.Nonce(n) {
			t.Fatalf("nonce %x, err = %v", reply.Nonce, err)
		}
		if *reply.Info != info {
			t.Errorf("got  %+v\nwant %+v", *reply.Info, info)
		}
	})
}

// plain returns the part of a text that stays the same after sending: clean, without
// colours, and without the bytes that an info string cannot hold.
func plain(s string) string {
	s = strings.NewReplacer(`\`, "", `"`, "", ";", "", "^", "").Replace(s)
	return discovery.CleanText(discovery.CleanText(s))
}

func clamp(n, most int) int { return max(0, min(n, most)) }

func FuzzParseRequest(f *testing.F) {
	for _, file := range []string{"openarena_getinfo_newline.hex", "openarena_getstatus.hex", "dpmaster_getserversext.hex"} {
		requests, _ := codectest.Packets(f, file)
		f.Add(requests[0])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseRequest(b)
		if err != nil {
			if !errors.Is(err, discovery.ErrMalformed) {
				t.Errorf("err = %v", err)
			}
			return
		}
		again, err := ParseRequest([]byte("\xff\xff\xff\xff" + strings.Join(append([]string{r.Command}, r.Args...), " ")))
		if err != nil || again.Command != r.Command || strings.Join(again.Args, " ") != strings.Join(r.Args, " ") {
			t.Errorf("%+v became %+v, %v", r, again, err)
		}
	})
}
