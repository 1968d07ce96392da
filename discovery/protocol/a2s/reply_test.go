package a2s_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/a2s"
)

func TestParseRecordedRequests(t *testing.T) {
	for _, c := range []struct {
		file string
		at   int
		want Request
	}{
		{"unity_info.hex", 0, Request{Kind: Info}},
		{"unity_info.hex", 1, Request{Kind: Info, Challenge: []byte("\x14\x27\x90\xbf")}},
		{"xash3d_rules_challenge.hex", 0, Request{Kind: Rules}},
		{"xash3d_rules.hex", 0, Request{Kind: Rules, Challenge: []byte("\xd2\x87\x29\x84")}},
		{"xash3d_players_challenge.hex", 0, Request{Kind: Players}},
	} {
		requests, _ := codectest.Packets(t, c.file)
		if got, err := ParseRequest(requests[c.at]); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.file, got, err, c.want)
		}
	}
}

func TestParseRequest(t *testing.T) {
	const ask = "\xff\xff\xff\xffTSource Engine Query\x00"
	for text, want := range map[string]Request{
		"\xff\xff\xff\xffU":      {Kind: Players},
		"\xff\xff\xff\xffVab":    {Kind: Rules},
		ask + "ab":               {Kind: Info},
		ask + "abcd":             {Kind: Info, Challenge: []byte("abcd")},
		ask + "abcdefgh":         {Kind: Info, Challenge: []byte("abcd")},
		ask + "\xff\xff\xff\xff": {Kind: Info},
	} {
		if got, err := ParseRequest([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "T", "\xff\xff\xff\xff", "\xff\xff\xff\xffT", ask[:len(ask)-1],
		"\xff\xff\xff\xffW", "\xfe\xff\xff\xffU"} {
		if got, err := ParseRequest([]byte(text)); !errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("%q: %+v, err = %v, want ErrMalformed", text, got, err)
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	for _, file := range []string{"unity_info.hex", "xash3d_rules.hex", "xash3d_players_challenge.hex"} {
		requests, _ := codectest.Packets(f, file)
		f.Add(requests[len(requests)-1])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseRequest(b)
		if err != nil {
			if !errors.Is(err, discovery.ErrMalformed) {
				t.Errorf("err = %v", err)
			}
			return
		}
		if !bytes.Contains(b, r.Challenge) || len(r.Challenge) != 0 && len(r.Challenge) != 4 {
			t.Errorf("challenge % x of % x", r.Challenge, b)
		}
		if want := (Protocol{}).AppendQuery(nil, 0, r.Challenge); r.Kind == Info && len(b) == len(want) &&
			r.Challenge != nil && !bytes.Equal(b, want) {
			t.Errorf("% x became % x", b, want)
		}
	})
}

func TestAppendChallengeIsXash3Ds(t *testing.T) {
	if got, want := AppendChallenge(nil, [4]byte{0xd2, 0x87, 0x29, 0x84}), reply(t, "xash3d_rules_challenge.hex"); !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
}

// Xash3D's reply, taken apart and written again.
func TestAppendRulesIsXash3Ds(t *testing.T) {
	want := reply(t, "xash3d_rules.hex")
	words := bytes.Split(want[7:], []byte{0})
	var rules []Rule
	for pair := range slices.Chunk(words[:len(words)-1], 2) {
		rules = append(rules, Rule{Name: string(pair[0]), Value: string(pair[1])})
	}
	if len(rules) != 56 || rules[0] != (Rule{"allow_spectators", "0"}) {
		t.Fatalf("%d rules, the first %v", len(rules), rules[0])
	}
	if got := AppendRules(nil, rules); !bytes.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAppendPlayers(t *testing.T) {
	got := AppendPlayers(nil, []Player{{Name: "Ann", Score: -1, Connected: 1500 * time.Millisecond}, {Name: "B\x00ob"}})
	want := "\xff\xff\xff\xffD\x02" +
		"\x00Ann\x00\xff\xff\xff\xff\x00\x00\xc0\x3f" +
		"\x01B\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	if string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
	if many := AppendPlayers(nil, make([]Player, 300)); many[5] != 255 || len(many) != 6+255*10 {
		t.Errorf("300 players: %d in %d bytes", many[5], len(many))
	}
}

func TestAppendInfoCutsNumbers(t *testing.T) {
	b := AppendInfo(nil, discovery.Info{Players: 300, MaxPlayers: 1000, Bots: -1})
	got, err := Protocol{}.Parse([][]byte{b})
	if want := (discovery.Info{Players: 255, MaxPlayers: 255}); err != nil || *got.Info != want {
		t.Errorf("%+v, %v, want %+v", got.Info, err, want)
	}
}

func FuzzParseOfInfo(f *testing.F) {
	f.Add("a server", "cp_dustbowl", "tf", "8622567", byte(12), byte(24), byte(2), true, uint16(27016), uint32(440))
	f.Add("", "\x00", "\xff", "\n", byte(255), byte(255), byte(255), false, uint16(0), uint32(0x010960))
	f.Fuzz(func(t *testing.T, name, mapName, mode, version string, players, seats, bots byte, password bool, port uint16, app uint32) {
		info := discovery.Info{
			Name: plain(name), Map: plain(mapName), Mode: plain(mode), Mod: plain(mode), Version: plain(version),
			Players: int(players), MaxPlayers: int(seats), Bots: int(min(bots, players)),
			Password: password, GamePort: port, AppID: uint64(app & 0xffffff),
		}
		whole := AppendInfo(nil, info)
		datagrams := slices.Collect(SplitSource(whole, app, int(seats)))
		got, err := Protocol{}.Parse(datagrams)
		if err != nil || got.Info == nil {
			t.Fatalf("%+v, %v", got, err)
		}
		if *got.Info != info {
			t.Errorf("got  %+v\nwant %+v", *got.Info, info)
		}
	})
}

// plain returns the part of a text that stays the same after sending.
func plain(s string) string { return discovery.CleanText(discovery.CleanText(s)) }

func TestSplitSource(t *testing.T) {
	for _, c := range []struct{ length, size, pieces int }{
		{1, 1248, 1}, {1248, 1248, 1}, {1249, 1248, 2}, {2496, 1248, 2}, {2497, 1248, 3},
		{100, 1, 100}, {1000, 1, 250}, {1000, 0, 250}, {1000, -5, 250}, {0, 0, 1}, {0, -1, 1},
	} {
		t.Run(fmt.Sprintf("%d by %d", c.length, c.size), func(t *testing.T) {
			whole := make([]byte, c.length)
			for i := range whole {
				whole[i] = byte(i)
			}
			got := split(whole, 7, c.size)
			if len(got) != c.pieces {
				t.Fatalf("%d pieces, want %d", len(got), c.pieces)
			}
			if len(got) == 1 {
				return
			}
			var joined []byte
			for i, d := range got {
				if d[4] != 7 || d[8] != byte(c.pieces) || d[9] != byte(i) {
					t.Errorf("piece %d starts % x", i, d[:12])
				}
				joined = append(joined, d[12:]...)
			}
			if !bytes.Equal(joined, whole) {
				t.Error("the pieces do not make up the whole")
			}
		})
	}
	for d := range SplitSource(make([]byte, 5000), 1<<31|7, 1248) {
		if d[7] != 0 {
			t.Errorf("a piece with ID % x says it is compressed", d[4:8])
		}
		break
	}
}
