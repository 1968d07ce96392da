package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster/internal/cli"
)

// TestGranted checks that the command line overrides the environment, which overrides the file.
// --here and an empty --at mean this machine.
func TestGranted(t *testing.T) {
	newState(t)
	l := startLoopback(t, 3)
	s := startService(t, l.file)
	none := "http://" + closedPort(t)
	here := []string{"host", "--game", "openarena", "--servers", l.file, "--listen", "127.0.0.1:0", "--no-play"}
	begins := func(t *testing.T, want string, args ...string) {
		t.Helper()
		p := begin(t, args...)
		if link := p.says(t, `(?m)^link  (\S+)$`)[1]; strings.HasPrefix(link, s.URL) != (want == "there") {
			t.Errorf("muster %s opens %s", strings.Join(args, " "), link)
		}
	}
	t.Run("the file", func(t *testing.T) {
		cli.Configured(t, "# mine\nat = \""+s.URL+"\"\nname = \"org\"\nno_browser = true\nlaunch=\"never\"\nrate = 50\n")
		p := begin(t, "host", "--game", "openarena")
		p.says(t, "org is here")
		begins(t, "here", append(here, "--here")...)
		begins(t, "here", append(here, "--at", "")...)
		wrong{args: here, code: 2, says: []string{"--listen makes no sense for a room on " + s.URL, "hint: add --here"}}.check(t)
	})
	t.Run("the environment", func(t *testing.T) {
		cli.Configured(t, "at = \""+none+"\"\n")
		t.Setenv("MUSTER_AT", s.URL)
		t.Setenv("MUSTER_NAME", "env")
		begin(t, "host", "--game", "openarena", "--no-browser", "--new").says(t, "env is here")
	})
	t.Run("the command line", func(t *testing.T) {
		cli.Configured(t, "at = \""+none+"\"\nname = \"file\"\n")
		t.Setenv("MUSTER_AT", none)
		begin(t, "host", "--game", "openarena", "--no-browser", "--new", "--at", s.URL, "--name", "flag").says(t, "flag is here")
	})
	t.Run("a folder", func(t *testing.T) {
		folder := t.TempDir()
		cli.Configured(t, "downloads = '"+folder+"'\n")
		begin(t, append(here, "--no-browser")...).says(t, "in "+regexp.QuoteMeta(folder)+" is no build of Muster")
	})
}

// TestWrongConfig checks that mistakes are reported with their lines, and only by commands that use
// the setting.
func TestWrongConfig(t *testing.T) {
	for _, tt := range []struct {
		name, text, env string
		says            []string
	}{
		{"a key", "name = \"ann\"\nserver = 3\n", "",
			[]string{`config.toml:2: unknown key "server"`, "hint: a line is such as at"}},
		{"a table", "[at]\nurl = 3\n", "", []string{"config.toml:1: at: one value is wanted"}},
		{"a word", "name=\"ann\"\n\nlaunch = \"perhaps\"\n", "", []string{`config.toml:3: launch: "perhaps" is none of ask, auto, never`}},
		{"a language", "language = \"xx\"\n", "", []string{`config.toml:1: language: "xx" is no language that Muster speaks: it speaks en`}},
		{"a number", "rate = \"fast\"\n", "", []string{`config.toml:1: rate: "fast" is no number`}},
		{"a quote", "name = ann\n", "", []string{"config.toml:1: "}},
		{"twice", "name = \"ann\"\nname = \"bob\"\n", "", []string{"config.toml"}},
		{"the environment", "", "perhaps", []string{`MUSTER_LAUNCH in the environment: "perhaps" is none of`}},
		{"nobody's URL", "at = \"muster example\"\n", "", []string{`--at: `, "is no URL"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cli.Configured(t, tt.text)
			t.Setenv("MUSTER_LAUNCH", tt.env)
			wrong{args: []string{"host", "--game", "openarena"}, code: 2, says: tt.says}.check(t)
			succeeds(t, "games")
			if said := muster(t, "doctor"); strings.Contains(said.out, "warn config") == strings.HasPrefix(tt.says[0], "--at") || said.code != 0 {
				t.Errorf("the doctor says\n%s", said.out)
			}
		})
	}
	cli.Configured(t, "name = \"ann\"\n")
	if said := muster(t, "doctor"); !strings.Contains(said.out, "ok   config     nothing is wrong with") {
		t.Errorf("the doctor says\n%s", said.out)
	}
}

// TestServeConfigured checks that every flag of a public host can be set in its table of
// config.toml, and in the environment.
func TestServeConfigured(t *testing.T) {
	newState(t)
	mistyped := func(t *testing.T, code int, says ...string) {
		t.Helper()
		wrong{args: []string{"serve", "--listen", "127.0.0.1:0"}, code: code, says: says}.check(t)
	}
	store := filepath.Join(t.TempDir(), "rooms.db")
	table := "at = \"https://muster.example\"\n[serve]\nlisten = \"127.0.0.1:0\"\nstore = '" + store +
		"'\npublic_url = \"http://file.example\"\nmax_servers = 0\nmetrics_from = [\"192.0.2.0/24\", \"192.0.2.1\"]\n"
	t.Run("the file", func(t *testing.T) {
		cli.Configured(t, table)
		wrong{args: []string{"serve"}, code: 2, says: []string{"--max-servers 0: say 1 to"}}.check(t)
		begin(t, "serve", "--max-servers", "7").says(t, `(?m)^page  http://file\.example/$`)
		if _, err := os.Stat(store); err != nil {
			t.Error(err)
		}
	})
	t.Run("the environment", func(t *testing.T) {
		cli.Configured(t, table)
		t.Setenv("MUSTER_SERVE_PUBLIC_URL", "http://env.example")
		t.Setenv("MUSTER_SERVE_TRUSTED_PROXY", "127.0.0.1, 10.0.0.0/8")
		t.Setenv("MUSTER_SERVE_MAX_SERVERS", "7")
		t.Setenv("MUSTER_SERVE_STORE", filepath.Join(t.TempDir(), "other.db"))
		begin(t, "serve").says(t, `(?m)^page  http://env\.example/$`)
	})
	t.Run("the command line", func(t *testing.T) {
		cli.Configured(t, table)
		t.Setenv("MUSTER_SERVE_PUBLIC_URL", "http://env.example")
		begin(t, "serve", "--max-servers", "7", "--public-url", "http://flag.example", "--store",
			filepath.Join(t.TempDir(), "other.db")).says(t, `(?m)^page  http://flag\.example/$`)
	})
	t.Run("the example", func(t *testing.T) {
		text, err := os.ReadFile("../../docs/serve/config.toml")
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Replace(regexp.MustCompile(`(?m)^# (\w+ = )`).ReplaceAllString(string(text), "$1"), "listen = \"127.0.0.1:7777\"\n", "", 1)
		if strings.Count(all, "# ") > 6 {
			t.Errorf("not all of it is a setting:\n%s", all)
		}
		cli.Configured(t, all)
		wrong{
			args: []string{"serve", "--max-players", "0", "--log-format", "text"},
			code: 2,
			says: []string{"--max-players 0: say 1 to"},
		}.check(t)
	})
	for name, tt := range map[string]struct{ text, variable, value, says string }{
		"a key":          {text: "[serve]\n\nmax_room = 3\n", says: `config.toml:3: unknown key "max_room": did you mean max_rooms?`},
		"done just once": {text: "[serve]\nimport = \"rooms.db\"\n", says: `config.toml:2: unknown key "import"`},
		"a list": {
			text: "name = \"ann\"\n[serve]\nidle = [\"1h\"]\nstore = [\"a\", \"b\"]\n",
			says: "config.toml:4: serve.store: one value is wanted, and not a list",
		},
		"a value": {
			text: "[serve]\ntrusted_proxy = [\"10.0.0.1\", \"proxy\"]\n",
			says: `config.toml:2: serve.trusted_proxy: "proxy" is neither an address`,
		},
		"a variable":   {variable: "MUSTER_SERVE_MAX_ROOM", value: "3", says: "MUSTER_SERVE_MAX_ROOM in the environment: there is no such flag"},
		"a variable's": {variable: "MUSTER_SERVE_IDLE", value: "a day", says: `MUSTER_SERVE_IDLE in the environment: "a day" is no duration`},
		"a proxy's": {
			variable: "MUSTER_SERVE_TRUSTED_PROXY",
			value:    "127.0.0.1,proxy",
			says:     `MUSTER_SERVE_TRUSTED_PROXY in the environment: "proxy" is neither`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			cli.Configured(t, tt.text)
			if tt.variable != "" {
				t.Setenv(tt.variable, tt.value)
			}
			mistyped(t, 2, tt.says)
			succeeds(t, "games")
		})
	}
}
