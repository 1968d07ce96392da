//go:build linux

package page_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"muster/internal/cli"
)

// TestHomeLAN checks that rooms announced on the local network appear on Home's first page and
// under Join, whatever their names are. A click joins an open room; a closed one asks for its code.
// A typed code stays when another room appears. The network is in a namespace, and nothing leaves
// it.
func TestHomeLAN(t *testing.T) {
	const inside = "MUSTER_TEST_LAN"
	if os.Getenv(inside) == "" {
		cmd := exec.Command("unshare", "-n", "bash", "-c",
			`ip link set lo up && ip link add cable0 type veth peer name cable1 && ip addr add 10.9.0.1/24 dev cable0 && ip link set cable0 up && ip link set cable1 up && exec "$0" "$@"`,
			os.Args[0], "-test.run", "^TestHomeLAN$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	h := startHomeSet(t, 20, "port_map = false\nrate = 2000\nname = \"ann\"\n")
	const hostile = `<img src=x onerror="document.title='owned'"> ` + "\u202egnimag"
	list := filepath.Join(t.TempDir(), "servers.txt") // a master is asked for seconds
	if err := os.WriteFile(list, []byte(h.fleet.Servers()[0].Addr.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rooms(t, list, "--room", hostile, "--open", "--listen", ":7777")
	code := rooms(t, list, "--room", strings.Repeat("Friday", 10), "--listen", ":7778")
	b := browseHome(t, h, wide)
	b.run(`window.open = () => null`)
	b.sees("#rooms-first", "<img src=x")
	b.sees("#rooms-first", "FridayFriday")
	b.shootHome("home-lan-first")
	if eval[bool](b, `!!document.querySelector("main img") || document.title === "owned"`) {
		t.Error("a room's name is markup")
	}
	b.click(`#rooms-first li:has(input) [data-action="join-near"]`)
	b.isTold("This room needs its code")
	b.do(chromedp.Navigate(strings.Split(h.link, "/?")[0] + "/#join"))
	b.run("window.muster = { live: {}, view: {} }; window.open = () => null")
	b.sees("#rooms", "<img src=x")
	b.shootHome("home-lan")
	b.click(`#rooms li:not(:has(input)) [data-action="join-near"]`)
	b.sees("#now", "You’re in a room")
	b.click(`[data-action="leave-room"]`)
	b.until("the player has left", func() bool { return !eval[bool](b, "home.state().room.running") })
	b.sets("#rooms input", code)
	rooms(t, list, "--room", "Later", "--open", "--listen", ":7779")
	b.sees("#rooms", "Later")
	b.click(`#rooms li:has(input) [data-action="join-near"]`)
	b.sees("#now", "You’re in a room")
}

// rooms opens a room of the game myarena with a list of servers, and returns its code.
func rooms(t *testing.T, list string, args ...string) (code string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	out := &awaited{prefix: "code", found: make(chan string, 1)}
	go func() {
		ended <- cli.Run(ctx, append(
			[]string{"host", "--game", "myarena", "--servers", list, "--new", "--no-play", "--no-browser", "--players", "3", "--name",
				"olga"}, args...), cli.Streams{In: strings.NewReader(""), Out: out, Err: testWriter{t}})
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	select {
	case code = <-out.found:
	case status := <-ended:
		ended <- status
		t.Fatalf("no room: %d", status)
	}
	return code
}

// awaited scans a program's output, and passes on what follows a prefix.
type awaited struct {
	prefix string
	text   strings.Builder
	found  chan string
}

func (a *awaited) Write(p []byte) (int, error) {
	a.text.Write(p)
	for line := range strings.Lines(a.text.String()) {
		if word, rest, _ := strings.Cut(line, " "); word == a.prefix && strings.HasSuffix(line, "\n") && a.found != nil {
			a.found <- strings.TrimSpace(rest)
			a.found = nil
		}
	}
	return len(p), nil
}
