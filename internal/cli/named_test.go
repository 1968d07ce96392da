package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"muster/internal/invite"
	"muster/internal/term"
)

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
