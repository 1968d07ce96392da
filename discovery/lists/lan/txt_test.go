package lan

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/miekg/dns"

	"muster/discovery"
)

func TestTXT(t *testing.T) {
	tests := []struct {
		name string
		room Room
		want []string
	}{
		{"a whole room", Room{
			Name:        "Friday night",
			Game:        "openarena",
			Organiser:   "Ann",
			Players:     3,
			Seats:       6,
			Version:     "0.6.0",
			Port:        7777,
			Fingerprint: "ab12",
			Open:        true,
		},
			[]string{"v=1", "id=0a1b", "name=Friday night", "game=openarena", "by=Ann", "players=3", "seats=6",
				"version=0.6.0", "tls=ab12", "open=1"}},
		{"an empty room", Room{}, []string{"v=1", "id=0a1b", "players=0", "seats=0"}},
		{"what the DNS library gives a meaning", Room{Name: `a\b"c=d`}, []string{"v=1", "id=0a1b", `name=a\\b"c=d`, "players=0", "seats=0"}},
		{"hostile text", Room{Name: "a\x00\x1b[2J\u202eb"}, []string{"v=1", "id=0a1b", "name=a[2Jb", "players=0", "seats=0"}},
		{"too long, cut between characters", Room{Name: "x" + strings.Repeat("é", 100)},
			[]string{"v=1", "id=0a1b", "name=x" + strings.Repeat("é", 49), "players=0", "seats=0"}},
	}
	for _, tt := range tests {
		if got := appendTXT(nil, "0a1b", tt.room); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestTXTOnTheWire sends texts through the DNS library, which escapes them its own way.
func TestTXTOnTheWire(t *testing.T) {
	for _, name := range []string{"Friday night", `Friday "\ Nacht é`, `\065\\`, `\`, "你好 ;,'", strings.Repeat("ü", 60)} {
		room := Room{Name: name, Game: "q3", Organiser: `\"`, Players: 2, Seats: 8}
		got, err := overTheWire(appendTXT(nil, "0a1b", room))
		want := room
		want.Name = cut(name)
		if err != nil || got != want {
			t.Errorf("%q became %+v, %v", name, got, err)
		}
	}
}

func overTheWire(fields []string) (Room, error) {
	header := dns.RR_Header{Name: "a.", Rrtype: dns.TypeTXT, Class: dns.ClassINET}
	m := dns.Msg{Answer: []dns.RR{&dns.TXT{Hdr: header, Txt: fields}}}
	packet, err := m.Pack()
	if err != nil {
		return Room{}, err
	}
	var received dns.Msg
	if err := received.Unpack(packet); err != nil {
		return Room{}, err
	}
	_, room, err := parseTXT(received.Answer[0].(*dns.TXT).Txt)
	return room, err
}

func TestParseTXT(t *testing.T) {
	tests := []struct {
		name   string
		fields []string
		want   Room
	}{
		{"least", []string{"v=1", "id=a"}, Room{}},
		{"any order, unknown keys", []string{"x", "later=1", "seats=4", "name=N", "id=a", "=", "", "v=1"}, Room{Name: "N", Seats: 4}},
		{"keys in capitals", []string{"V=1", "ID=a", "NAME=N"}, Room{Name: "N"}},
		{"the first of a key counts", []string{"v=1", "id=a", "name=first", "name=second", "v=2"}, Room{Name: "first"}},
		{"escapes", []string{"v=1", "id=a", `name=\195\169\"\\ \999 \1`}, Room{Name: `é"\ 999 1`}},
		{"control characters, escaped", []string{"v=1", "id=a", `name=\027[31mred\000\010\226\128\174`}, Room{Name: "[31mred"}},
		{"open is 1", []string{"v=1", "id=a", "open=yes"}, Room{}},
	}
	for _, tt := range tests {
		id, got, err := parseTXT(tt.fields)
		if err != nil || id != "a" || got != tt.want {
			t.Errorf("%s: got %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
}

func TestParseTXTRefuses(t *testing.T) {
	tests := map[string][]string{
		"nothing":              nil,
		"no version":           {"id=a"},
		"another version":      {"v=2", "id=a"},
		"no id":                {"v=1"},
		"an id of other signs": {"v=1", "id=../x"},
		"a long id":            {"v=1", "id=" + strings.Repeat("a", 33)},
		"negative players":     {"v=1", "id=a", "players=-1"},
		"too many players":     {"v=1", "id=a", "players=10001"},
		"players in words":     {"v=1", "id=a", "players=two"},
		"too many seats":       {"v=1", "id=a", "seats=99999999999999999999"},
		"v after 32 others":    append(make([]string, 32), "v=1", "id=a"),
	}
	for name, fields := range tests {
		if _, _, err := parseTXT(fields); !errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("%s: got error %v, want a malformed one", name, err)
		}
	}
}

func FuzzParseTXT(f *testing.F) {
	f.Add("v=1\nid=0a1b\nname=Friday \\195\\169 \\\"\nplayers=3\nseats=6\nopen=1")
	f.Add("v=1\nid=a\nname=\x1b[2J\\027\\")
	f.Fuzz(func(t *testing.T, in string) {
		id, room, err := parseTXT(strings.Split(in, "\n"))
		if err != nil {
			if !errors.Is(err, discovery.ErrMalformed) {
				t.Fatalf("error %v", err)
			}
			return
		}
		for _, text := range []string{room.Name, room.Game, room.Organiser, room.Version, room.Fingerprint} {
			if len(text) > maxTextLen || strings.ContainsFunc(text, unicode.IsControl) {
				t.Fatalf("%q is left of %q", text, in)
			}
		}
		if _, again, err := parseTXT(appendTXT(nil, id, room)); err != nil || again != room {
			t.Fatalf("%+v was written and read as %+v, %v", room, again, err)
		}
		if again, err := overTheWire(appendTXT(nil, id, room)); err != nil || again != room {
			t.Fatalf("%+v went over the wire as %+v, %v", room, again, err)
		}
	})
}
