package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"muster/internal/home"
	"muster/internal/term"
)

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
