package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"muster/internal/home"
	"muster/internal/invite"
	"muster/internal/publichost"
	"muster/internal/term"
)

func testProgram(out *bytes.Buffer) *program {
	return newProgram(Streams{In: strings.NewReader(""), Out: io.Discard, Err: out}, func(string) string { return "" })
}

// TestReloadable checks that everything that a running host can reload is one of its flags.
func TestReloadable(t *testing.T) {
	_, cmd := serveCommand(newProgram(Streams{}, func(string) string { return "" }))
	for _, name := range publichost.Reloadable() {
		if cmd.Flags().Lookup(name) == nil {
			t.Errorf("there is no flag --%s", name)
		}
	}
}

// Configured gives the test a config.toml, and returns a program that reads it.
func Configured(t *testing.T, text string) *program {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "muster"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "muster", "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(xdg.Reload) // after the variable has been restored
	t.Setenv("XDG_CONFIG_HOME", folder)
	xdg.Reload()
	return testProgram(&bytes.Buffer{})
}

// TestAllowed checks that the router is asked as soon as the user has said yes, also to a question
// in the room, and never after a no.
func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		name       string
		said       consent
		isAsked    bool // in the room
		now, later bool
	}{
		{"a yes of before", consented, true, true, true},
		{"a yes to the question", notAsked, true, false, true},
		{"no question", notAsked, false, false, false},
		{"a no of before", declined, true, false, false},
	} {
		may := playing{portMap: c.said}
		yes := make(chan struct{})
		if c.isAsked {
			may.later = yes
		}
		is := func() bool {
			select {
			case <-may.allowed():
				return true
			default:
				return false
			}
		}
		if got := is(); got != c.now {
			t.Errorf("%s: allowed at once: %v", c.name, got)
		}
		close(yes)
		if got := is(); got != c.later {
			t.Errorf("%s: allowed after a yes: %v", c.name, got)
		}
	}
}

// TestMayAskRouter checks that only a yes lets Muster ask the router. The answer is remembered, and
// the user's own lines in the file stay. If nobody can answer, nothing is asked and nothing
// remembered.
func TestMayAskRouter(t *testing.T) {
	const own = "# mine\nname = \"ann\"\n"
	for _, c := range []struct {
		name   string
		answer string // empty if nobody answers
		before consent
		config string
		asks   bool
	}{
		{"a yes", "y", notAsked, own + "port_map = true\n", true},
		{"a no", "n", notAsked, own + "port_map = false\n", false},
		{"Enter", " ", notAsked, own + "port_map = false\n", false},
		{"anything else", "what?", notAsked, own + "port_map = false\n", false},
		{"nobody", "", notAsked, own, false},
		{"who has said no", "y", declined, own, false},
		{"whose router is asked already", "y", consented, own, false},
	} {
		p := Configured(t, own)
		isAsked := make(chan bool, 1)
		p.home = &home.Terminal{Ask: func(ctx context.Context, _ string) (string, bool) {
			isAsked <- true
			if c.answer == "" {
				<-ctx.Done()
			}
			return strings.TrimSpace(c.answer), c.answer != ""
		}}
		h := &hostCommand{program: p, playing: playing{portMap: c.before}}
		asks, stopped := make(chan bool, 1), false
		stop := h.offerRouter(t.Context(), p.desk().Console(p.in, func() {}), func() func() {
			asks <- true
			return func() { stopped = true }
		})
		if c.before == notAsked {
			<-isAsked
		}
		if c.asks {
			<-asks
		}
		stop()
		text, err := os.ReadFile(configFile("config.toml"))
		if len(asks) > 0 || stopped != c.asks || string(text) != c.config {
			t.Errorf("%s: the router is asked: %v; config.toml is %q, %v", c.name, stopped, text, err)
		}
	}
	p := newProgram(Streams{In: strings.NewReader("y\n"), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, func(string) string { return "" })
	h := &hostCommand{program: p}
	h.offerRouter(t.Context(), term.NewConsole(p.in, p.screen, func(string) {}, func() {}), func() func() {
		t.Error("a script is taken for a yes")
		return func() {}
	})()
}

// TestGreet checks that nobody enters a room through a link that another program opened without
// confirming it. Double-clicking a room's program counts as a confirmation.
func TestGreet(t *testing.T) {
	to := invite.Link{Host: "192.0.2.1:7777", Code: "TABOMI"}
	for _, c := range []struct {
		greets       greeting
		typed        string
		name, reason string
	}{
		{greetsNone, "", "ann", ""},
		{greetsByName, "", "ann", ""},
		{greetsByName, "\n", "ann", ""},
		{greetsByName, "zoe\n", "zoe", ""},
		{greetsByLink, "", "", "there's no keyboard here to answer"},
		{greetsByLink, "\n", "", "you haven't joined a room"},
		{greetsByLink, "n\n", "", "you haven't joined a room"},
		{greetsByLink, "what?\n", "", "you haven't joined a room"},
		{greetsByLink, "y\n", "ann", ""},
		{greetsByLink, "y\nzoe\n", "zoe", ""},
	} {
		var out bytes.Buffer
		p := newProgram(Streams{In: strings.NewReader(c.typed), Out: &out, Err: &out}, os.Getenv)
		p.greets = c.greets
		j := &join{program: p}
		j.launcher.Player = "ann"
		err := j.greet(context.Background(), term.NewConsole(p.in, p.screen, func(string) {}, func() {}), to)
		if c.reason == "" && (err != nil || j.launcher.Player != c.name) ||
			c.reason != "" && (err == nil || !strings.Contains(err.Error(), c.reason)) {
			t.Errorf("%s, %q typed: %s joins, %v; want %s, %q", c.greets, c.typed, j.launcher.Player, err, c.name, c.reason)
		}
		if c.greets != greetsNone && !strings.Contains(out.String(), "192.0.2.1:7777") {
			t.Errorf("%s: it does not say where to: %s", c.greets, &out)
		}
	}
}

// TestConfigDocument checks that docs/config.md lists the keys of config.toml, and the commands that take each.
func TestConfigDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed, want []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]+) \\|").FindAllStringSubmatch(string(text), -1) {
		names := strings.Split(row[2], ", ")
		slices.Sort(names)
		listed = append(listed, row[1]+": "+strings.Join(names, ", "))
	}
	root := Command()
	all := append([]*cobra.Command{root}, root.Commands()...)
	for _, g := range grantable() {
		var names []string
		for _, cmd := range all {
			if g.isFor(cmd) {
				names = append(names, strings.Replace(cmd.Name(), root.Name(), "Home", 1))
			}
		}
		if len(g.commands) == 0 {
			names = []string{"all"}
		}
		slices.Sort(names)
		want = append(want, g.key+": "+strings.Join(names, ", "))
	}
	slices.Sort(listed)
	slices.Sort(want)
	if !slices.Equal(listed, want) {
		t.Errorf("docs/config.md lists\n%s\nand the program takes\n%s", strings.Join(listed, "\n"), strings.Join(want, "\n"))
	}
}
