package program_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"muster/host/wire"
	"muster/internal/freeport"
)

// partyOf starts game servers, and returns the parameters of a room of ann's on this machine.
func partyOf(t *testing.T, home string) (listen string, ann map[string]any) {
	t.Helper()
	list := filepath.Join(home, "list.csv")
	run(t, home, "fleet", "fleet", "--servers", "200", "--world", "css2007", "--master-port", "0", "--write", list)
	eventually(t, "the fleet writes its list", func() bool { return readFile(list) != "" })
	listen = freeport.TCP(t)
	return listen, map[string]any{"game": "openarena", "name": "ann", "listen": listen, "no_mdns": true, "servers_file": list,
		"listen_addr": "127.200.4.1", "settings": map[string]any{"agree": true}}
}

// party runs examples/party/party.py at somebody's terminal.
type party struct {
	*process
	keys io.Writer
}

// python starts a program of examples in Python, with a folder of its own for Muster.
func python(t *testing.T, name string, args ...string) *party {
	t.Helper()
	muster := command(t, t.TempDir())
	args[0] = filepath.Join("../../examples", args[0])
	args = append(args[:1:1], append([]string{muster.Path}, args[1:]...)...)
	cmd := exec.Command("python3", args...)
	cmd.Env = muster.Env
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	return &party{start(t, name, cmd), keys}
}

func (p *party) types(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.keys, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// hasEnded waits until a program and the Muster beside it have ended.
func (p *party) hasEnded() {
	p.t.Helper()
	eventually(p.t, p.name+" ends", func() bool {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	})
}

func inJSON(t *testing.T, params any) string {
	t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestParty checks that the party windows of examples/party and examples/window play a night
// through muster rpc: ann opens a room at her terminal, bob joins in a browser, they search, vote and
// say that they are ready, and each confirms the launch. Then both are killed or quit, and leave
// nothing behind.
func TestParty(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	listen, params := partyOf(t, home)
	ann := python(t, "ann", "party/party.py", "host", inJSON(t, params), "/bin/sh", "-c", "echo {address} >"+filepath.Join(home, "game"))
	link := ann.awaits(`link +(\S+)`)[1]

	bob := python(t, "bob", "window/window.py")
	window := bob.awaits(`window (\S+)`)[1] + "#" + url.PathEscape(inJSON(t, map[string]any{"listen_addr": "127.200.9.1"}))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox)...)
	defer stop()
	browser, _ := chromedp.NewContext(allocator)
	defer chromedp.Cancel(browser)
	if err := chromedp.Do(browser, chromedp.Navigate(window)); err != nil {
		t.Fatal(err)
	}
	does := func(script string) string {
		t.Helper()
		said, err := chromedp.Run(browser, chromedp.Evaluate[string]("String(("+script+") ?? '')"))
		if err != nil {
			t.Fatalf("%s: %v", script, err)
		}
		return said
	}
	sees := func(id, pattern string) {
		t.Helper()
		eventually(t, fmt.Sprintf("#%s is %s", id, pattern), func() bool {
			return regexp.MustCompile(pattern).MatchString(does("document.getElementById('" + id + "').innerText"))
		})
	}
	does("document.forms.door.name.value = 'bob', document.forms.door.what.value = 'not a game', document.forms.door.requestSubmit()")
	sees("trouble", "not a game")
	does("document.forms.door.what.value = '" + link + "', document.forms.door.requestSubmit()")
	ann.awaits(`gathering: ann, bob`)
	sees("people", `ann\s+bob`)
	ann.types("go")
	ann.awaits(`chosen: [^\n]*\n  1 +\d+ ms`)
	second := ann.awaits(`\n  2 +\d+ ms  ([^\n]+)`)[1]
	ann.types("2")
	sees("ballot", `1 votes`)
	does("[...document.querySelectorAll('#ballot button')].find((b) => b.innerText.includes('1 votes')).click()")
	sees("ballot", `2 votes`)
	ann.types("r")
	does("document.querySelector('[data-call=ready]').click()")
	went := ann.awaits(`everyone goes to (.*) at (\S+)`)
	if !strings.HasPrefix(went[1], strings.TrimSpace(second)) {
		t.Errorf("they voted for %q, and go to %q", second, went[1])
	}
	sees("where", regexp.QuoteMeta(went[2]))
	does("document.querySelector('[data-state=by_hand]').click()")
	_, code, _ := strings.Cut(link, "#")
	code, _, _ = strings.Cut(code, "_")
	awaitRoom(t, listen, code, "both are on their way", func(r wire.Document) bool {
		ways := map[string]wire.LaunchState{}
		for _, m := range r.Members {
			ways[m.Name] = m.Launch
		}
		return ways["ann"] == wire.LaunchStarted && ways["bob"] == wire.LaunchByHand
	})
	eventually(t, "ann's game starts", func() bool { return readFile(filepath.Join(home, "game")) == went[2] })

	does("document.getElementById('quit').click()")
	bob.hasEnded()
	ann.cmd.Process.Signal(os.Kill) // Muster's input ends
	ann.hasEnded()
	eventually(t, "the room of a dead launcher ends", func() bool { _, is := room(t, listen, code); return !is })
}
