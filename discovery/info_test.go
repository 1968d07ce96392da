package discovery_test

import (
	"maps"
	"strings"
	"testing"
	"time"
	"unicode"

	"muster/discovery"
)

// TestCompleted checks that a list's word fills in what a server does not say, and is
// marked as such.
func TestCompleted(t *testing.T) {
	type info = discovery.Info
	listed := &info{
		Name:       "One",
		Map:        "tokara",
		Mode:       "dm",
		Version:    "7",
		Players:    3,
		MaxPlayers: 8,
		Bots:       1,
		Password:   true,
		GamePort:   9,
		AsListed:   true,
	}
	for _, c := range []struct {
		name string
		own  *info
		want info
	}{
		{"nobody has asked", nil, *listed},
		{"it only answers", &info{}, *listed},
		{"it says all", &info{Name: "1", Map: "m", Mode: "ctf", Version: "8", MaxPlayers: 16},
			info{Name: "1", Map: "m", Mode: "ctf", Version: "8", MaxPlayers: 16}},
		{"it says no name", &info{Map: "m", Mode: "ctf", Version: "8", MaxPlayers: 16},
			info{Name: "One", Map: "m", Mode: "ctf", Version: "8", MaxPlayers: 16, AsListed: true}},
		{"it counts no seats", &info{Name: "1", Map: "m", Mode: "ctf", Version: "8", Players: 2},
			info{Name: "1", Map: "m", Mode: "ctf", Version: "8", Players: 2, MaxPlayers: 8, AsListed: true}},
		{"it counts nobody, and has ping limits", &info{Name: "1", MaxPing: time.Second}, info{
			Name:       "1",
			Map:        "tokara",
			Mode:       "dm",
			Version:    "7",
			Players:    3,
			MaxPlayers: 8,
			Bots:       1,
			MaxPing:    time.Second,
			AsListed:   true,
		}},
	} {
		if got := c.own.Completed(listed); *got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, *got, c.want)
		}
		if got := c.own.Completed(nil); got != c.own {
			t.Errorf("%s, and the list nothing: %+v", c.name, got)
		}
	}
	if listed.Name != "One" || listed.Players != 3 {
		t.Errorf("the list's word has changed: %+v", listed)
	}
}

// TestPings checks whose pings a status tells: bots, people who connect and shared names have none.
func TestPings(t *testing.T) {
	const ms = time.Millisecond
	roster := &discovery.Roster{Players: []discovery.Player{
		{Name: "anna", Ping: 31 * ms}, {Name: "bot"}, {Name: "ben", Ping: 999 * ms}, {Name: "", Ping: 20 * ms},
		{Name: "zoe", Ping: 40 * ms}, {Name: "zoe"}, {Name: "emil", Ping: 998 * ms},
	}}
	want := map[string]time.Duration{"anna": 31 * ms, "emil": 998 * ms}
	if got := roster.Pings(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := (*discovery.Roster)(nil).Pings(); len(got) > 0 {
		t.Errorf("no roster tells %v", got)
	}
}

func TestCleanText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "Friday Night", "Friday Night"},
		{"other scripts stay", "Привет 你好 é", "Привет 你好 é"},
		{"white space folds", " a \t\r\n b\u00a0c ", "a b c"},
		{"terminal escapes", "\x1b[31mred\x07", "[31mred"},
		{"right-to-left override", "abc\u202egnp.exe", "abcgnp.exe"},
		{"invisible", "a\u200bb\ufeffc", "abc"},
		{"invalid UTF-8", "caf\xe9!", "caf!"},
		{"markup stays text", "<script>", "<script>"},
		{"nothing left", "\x00\x01", ""},
		{"too long", strings.Repeat("x", 300), strings.Repeat("x", 255)},
		{"too long, after a blank", strings.Repeat("x", 254) + " yy", strings.Repeat("x", 254) + " y"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := discovery.CleanText(tt.in); got != tt.want {
				t.Errorf("CleanText(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzCleanText(f *testing.F) {
	f.Add("a\u202eb\x1b c")
	f.Fuzz(func(t *testing.T, in string) {
		out := discovery.CleanText(in)
		if len(out) > 256 || out != discovery.CleanText(out) {
			t.Fatalf("%q became %q", in, out)
		}
		for _, r := range out {
			if r != ' ' && !unicode.IsPrint(r) {
				t.Fatalf("%q is left in %q", r, out)
			}
		}
	})
}
