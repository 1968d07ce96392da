package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"muster/internal/cli"
	"muster/internal/freeport"
)

// TestHostGoesOn checks that a restarted host continues with its room. Settings on the new command
// line apply; the others stay.
func TestHostGoesOn(t *testing.T) {
	at := freeport.TCP(t)
	file := writeFile(t, "servers", "127.0.0.1:27960\n")
	hosts := func(more ...string) []string {
		return append([]string{"host", "--game", "openarena", "--servers", file, "--listen", at, "--no-play",
			"--no-mdns", "--no-browser"}, more...)
	}
	code := ""
	t.Run("the first time", func(t *testing.T) {
		p := begin(t, hosts("--players", "3", "--max-rtt", "200ms", "--map", "oa_dm1")...)
		code = p.says(t, `(?m)^code +(\w+)$`)[1]
	})
	t.Run("the same again", func(t *testing.T) {
		begin(t, hosts("--players", "3", "--max-rtt", "200ms", "--map", "oa_dm1")...).
			says(t, "going on with room "+code+" from last time, openarena: lowest average, nobody over 200ms, on oa_dm1, for 3; --new opens another")
	})
	t.Run("with another limit", func(t *testing.T) {
		p := begin(t, hosts("--max-rtt", "100ms,150ms", "--by", "minimax")...)
		p.says(t, "going on with room "+code+" from last time, openarena: kindest to the worst off, nobody over 100ms, then 150ms, on oa_dm1, for 3")
		p.says(t, "the organiser wants openarena: kindest to the worst off, nobody over 100ms, then 150ms, on oa_dm1, for 3")
	})
	t.Run("another room", func(t *testing.T) {
		begin(t, hosts("--new")...).says(t, "room "+code+" from last time is over")
	})
}

// TestEvery checks that muster host says how it has understood a time, and asks back where it cannot.
func TestEvery(t *testing.T) {
	every := func(when string) []string {
		return []string{"host", "--game", "openarena", "--servers", "nowhere.txt", "--listen", "127.0.0.1:0", "--every", when}
	}
	checkAll(t, []wrong{
		{"understood", every("fri, sat 8pm EST"), 1,
			[]string{"we meet every Friday and Saturday at 20:00 (America/New_York)\n", "nowhere.txt"}},
		{"of several places", every("fri 8pm CST"), 2, []string{"hint: CST can be the time of several places: say one of America/Chicago, "}},
		{"no time", every("friday"), 2, []string{`hint: say such as "fri 20:00"`}},
	})
}

// TestEmptyToken checks a player whose place in the room was not kept. The player is told why the
// room treats them as new, and what to do.
func TestEmptyToken(t *testing.T) {
	host := begin(t, "host", "--game", "openarena", "--servers", writeFile(t, "servers.txt", "127.0.0.1:1\n"), "--listen", "127.0.0.1:0",
		"--no-browser", "--no-mdns", "--no-play", "--launch", "never", "--lan", "off")
	link := host.says(t, `join  muster join (\S+)`)[1]
	joins := func(t *testing.T) *player {
		return begin(t, "join", link, "--name", "ann of TestEmptyToken", "--launch", "never", "--lan", "off")
	}
	tokens := func() []string {
		files, _ := filepath.Glob(filepath.Join(xdg.StateHome, "muster", "tokens", "*"))
		return files
	}
	before := tokens()
	var file string
	t.Run("the first time", func(t *testing.T) {
		joins(t)
		host.says(t, "ann of TestEmptyToken is here")
		for _, other := range tokens() {
			if !slices.Contains(before, other) {
				file = other
			}
		}
	})
	if err := os.Truncate(file, 0); err != nil {
		t.Fatal(err)
	}
	joins(t).says(t, `warning: the room takes you for someone new: \S+ is empty, as a crash or a full disk may leave it\. If your name is taken`)
}

// TestLanguage checks whose language is taken: the flag's, the user's settings', or the system's.
func TestLanguage(t *testing.T) {
	const english, accented = "\nhint: ", "\n[híñt:··] "
	for _, tt := range []struct{ flag, variable, config, all, lang, want string }{
		{want: english},
		{lang: "en-XA", want: accented},
		{lang: "xx_YY.UTF-8", want: english},
		{all: "C", lang: "en-XA", want: english},
		{all: "C", config: "language = 'en-XA'\n", want: accented},
		{all: "C", config: "language = 'en'\n", variable: "en-XA", want: accented},
		{variable: "en-XA", flag: "en_GB.UTF-8", want: english},
		{variable: "xx", want: english},
	} {
		cli.Configured(t, tt.config)
		t.Setenv("MUSTER_LANGUAGE", tt.variable)
		t.Setenv("LC_ALL", tt.all)
		t.Setenv("LANG", tt.lang)
		args := []string{"games", "nosuch"}
		if tt.flag != "" {
			args = append(args, "--language", tt.flag)
		}
		if o := muster(t, args...); !strings.Contains(o.err, tt.want) || o.code != 2 {
			t.Errorf("%+v: exit status %d\n%s", tt, o.code, o.err)
		}
	}
}
