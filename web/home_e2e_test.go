//go:build e2e

package web_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"
	"github.com/chromedp/chromedp"

	"muster/host/wire"
	"muster/internal/cli"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
	"muster/selection"
)

// home is a running Home, its user's folders, and a fleet on loopback whose servers the
// game myarena has.
type home struct {
	*testing.T
	link  string
	fleet *fleet.Fleet
	world *sim.World
	ended chan int
}

// startHome starts Home as the command does, for a fresh user.
func startHome(t *testing.T, servers int) *home {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, filepath.Join(folder, name))
	}
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	h := &home{T: t, world: sim.Night2005(servers, 1), ended: make(chan int, 1)}
	var err error
	h.fleet, err = fleet.Start(t.Context(), fleet.Options{World: h.world, Kind: fleet.Quake3, Game: fleet.Game{Name: "MyArena", Protocol: 71}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.fleet.Close() })
	config := filepath.Join(folder, "XDG_CONFIG_HOME", "muster")
	table := fmt.Sprintf("[game.myarena]\nname = \"My Arena\"\nprotocol = \"quake3\"\nport = 27960\nmasters = [%q]\nmaster_game = \"MyArena\"\nmaster_protocols = [71]\nrule = \"mean\"\nlaunch = [\"true\", \"+connect\", \"{address}\"]\n", h.fleet.Master())
	for name, text := range map[string]string{"games.toml": table, "config.toml": "lan = \"off\"\nrate = 2000\nname = \"ann\"\n"} {
		if err := os.MkdirAll(config, 0o700); err == nil {
			err = os.WriteFile(filepath.Join(config, name), []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	go func() {
		h.ended <- cli.Run(ctx, []string{"--no-browser", "--port", "0"}, cli.Streams{In: strings.NewReader(""), Out: in, Err: testWriter{t}})
		in.Close()
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case <-h.ended:
		case <-time.After(20 * time.Second):
			t.Error("Home does not end")
		}
	})
	line := make([]byte, 1<<10)
	n, err := out.Read(line)
	go io.Copy(io.Discard, out)
	_, link, isLink := strings.Cut(strings.TrimSpace(string(line[:n])), "  ")
	if err != nil || !isLink {
		t.Fatalf("Home says %q, %v", line[:n], err)
	}
	h.link = link
	return h
}

// testWriter logs what a program says.
type testWriter struct{ *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.Logf("home: %s", p)
	return len(p), nil
}

// browseHome opens Home, at one of its pages.
func browseHome(t *testing.T, h *home, size screenSize) *browser {
	t.Helper()
	b := browse(t, h.link, size)
	b.run("window.muster = { live: {}, view: {} }") // what other pages tell when a test fails
	b.sees("h1", "What shall we play tonight?")
	return b
}

var (
	narrow     = screenSize{"390", 390, 844, 2, false}
	narrowDark = screenSize{"390-dark", 390, 844, 2, true}
	wide       = screenSize{"1440", 1440, 900, 1, false}
	wideDark   = screenSize{"1440-dark", 1440, 900, 1, true}
	everyHome  = []screenSize{wide, wideDark, narrow, narrowDark}
)

// TestHomeFind: a game's servers come into the table as they answer; who plays there is
// told; sorting, filters, favourites and hidden servers work, by keys too.
func TestHomeFind(t *testing.T) {
	h := startHome(t, 300)
	b := browseHome(t, h, wide)
	if search := eval[string](b, "location.search + location.hash"); search != "" {
		t.Errorf("the secret stays in the address: %s", search)
	}
	b.shoot("home-first", everyHome...)
	b.run(`location.hash = "#find"`)
	b.sees("h1", "Find a server")
	b.shoot("home-find-choose", everyHome...)
	b.run(`{ const i = document.querySelector("#find-game"); i.value = "my are"; i.dispatchEvent(new Event("input")); }`)
	b.click(`[data-game="myarena"]`)
	b.until("the search has ended", func() bool {
		return eval[bool](b, "home.state()?.find.asked > 0 && !home.state().find.running && home.table.rows.size === home.state().find.answered")
	})
	if n := eval[int](b, "home.table.shown.length"); n < 50 {
		t.Errorf("%d servers are shown", n)
	}
	if !eval[bool](b, "home.table.shown.every((r, i, all) => i === 0 || all[i - 1].rtt_ms <= r.rtt_ms)") {
		t.Error("the nearest do not come first")
	}
	b.run(`document.querySelector("#list").focus()`)
	b.press("ArrowDown")
	b.press("ArrowDown")
	b.sees("#server", "ms for you")
	b.until("who plays is told", func() bool {
		text := b.reads("#server")
		return strings.Contains(text, "Nobody is there") || strings.Contains(text, "Who") || strings.Contains(text, "does not say who plays")
	})
	b.shoot("home-find", everyHome...)
	b.press("f")
	b.until("it is a favourite", func() bool { return eval[int](b, "home.table.favourites.size") == 1 })
	b.click(`[data-by="name"]`)
	if !eval[bool](b, "home.table.shown.every((r, i, all) => i === 0 || all[i - 1].sort <= r.sort)") {
		t.Error("sorting by name does not")
	}
	all := eval[int](b, "home.table.shown.length")
	b.run(`{ const i = document.querySelector("#filters [name=most]"); i.value = 60; i.dispatchEvent(new Event("input", { bubbles: true })); }`)
	if few := eval[int](b, "home.table.shown.length"); few == 0 || few >= all {
		t.Errorf("%d of %d are within 60 ms", few, all)
	}
	b.click(`[data-action="hide"]`)
	b.until("it is hidden, and no favourite", func() bool { return eval[bool](b, "home.table.hidden.size === 1 && home.table.favourites.size === 0") })
}

// press presses a key where the focus is.
func (b *browser) press(key string) {
	b.Helper()
	b.run(fmt.Sprintf(`(document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key: %q, bubbles: true, cancelable: true }))`, key))
}

// TestHomeQuits: Quit ends the program.
func TestHomeQuits(t *testing.T) {
	h := startHome(t, 10)
	b := browseHome(t, h, wide)
	b.click("#quit")
	b.sees("#banner", "Muster has ended")
	select {
	case code := <-h.ended:
		h.ended <- code
		if code != 0 {
			t.Errorf("exit status %d", code)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}

// TestHomePlays: a room is opened on Home's page and the organiser steers it on the
// room's; a friend comes in by another Home, whose page asks before the game starts.
func TestHomePlays(t *testing.T) {
	h := startHome(t, 60)
	b := browseHome(t, h, wide)
	b.run(`window.open = () => null`) // a test follows one tab
	b.run(`location.hash = "#play"`)
	b.sees("h1", "Play together")
	b.run(`{ const i = document.querySelector("#play-game"); i.value = "my are"; i.dispatchEvent(new Event("input")); }`)
	b.click(`[data-game="myarena"]`)
	b.shoot("home-play", everyHome...)
	b.sets("#players", "1")
	b.click("#play-form button.primary")
	b.sees("#now", "You are in a room")
	b.shoot("home-in-room", everyHome...)
	room := browse(t, h.link, wide)
	room.run("window.muster = { live: {}, view: {} }")
	room.sees("h1", "What shall we play tonight?")
	room.do(chromedp.Navigate(strings.TrimSuffix(h.link[:strings.Index(h.link, "/?")], "/") + "/room"))
	room.sees("#people", "ann")
	if !eval[bool](room, "!!muster.live.state?.you.organiser") {
		t.Error("whoever opened the room cannot steer it")
	}
	b.sees("#questions", "Start it now?")
	b.shoot("home-asks", everyHome...)
	b.click(`#questions [value="y"]`)
	b.until("the game has started", func() bool {
		return eval[bool](b, `home.state().room.lines.some((line) => line.includes("have fun"))`)
	})
	b.click(`[data-action="leave-room"]`)
	b.until("the room is over", func() bool { return !eval[bool](b, "home.state().room.running") })
}

// TestHomeJoins: what is pasted leads into a room, and what leads nowhere is told.
func TestHomeJoins(t *testing.T) {
	h := startHome(t, 20)
	rooms, url := newService(t)
	code, _, err := rooms.Open(wire.Settings{Game: "myarena", By: selection.Mean, Strategy: wire.Coordinated})
	if err != nil {
		t.Fatal(err)
	}
	b := browseHome(t, h, wide)
	b.run(`window.open = () => null`)
	b.run(`location.hash = "#join"`)
	b.sees("#rooms", "No room is announced here")
	b.shoot("home-join", everyHome...)
	b.sets("#link", "http://127.0.0.1:1/#BAKODI")
	b.click("#join-form button.primary")
	b.sees("#now", "No host answers at 127.0.0.1:1")
	b.shoot("home-wrong", everyHome...)
	b.sets("#link", url+"/#"+code+"_"+rooms.Keys(code).Link)
	b.sets("#player-name", `<img src=x onerror=alert(1)>`)
	b.click("#join-form button.primary")
	b.sees("#now", "You are in a room")
	b.until("the room has the player", func() bool {
		room, _ := rooms.Room(code)
		return len(room.Players()) == 1
	})
	b.click(`[data-action="leave-room"]`)
	b.until("the player has left", func() bool { return !eval[bool](b, "home.state().room.running") })
}

// TestHomeComputer: what works here is told, and what is kept stands in config.toml.
func TestHomeComputer(t *testing.T) {
	h := startHome(t, 5)
	b := browseHome(t, h, wide)
	b.run(`location.hash = "#computer"`)
	b.sees("#checks", "Asking servers")
	b.shoot("home-computer", everyHome...)
	b.sets("#set-rate", "321")
	b.sets("#set-name", `"b'ob`)
	b.click("#settings button.primary")
	b.sees("#toast", "Kept")
	text, err := os.ReadFile(filepath.Join(xdg.ConfigHome, "muster", "config.toml"))
	if err != nil || !strings.Contains(string(text), "rate = 321") || !strings.Contains(string(text), `name = "\"b'ob"`) {
		t.Errorf("config.toml: %s, %v", text, err)
	}
	b.sets("#set-at", "not a host")
	b.click("#settings button.primary")
	b.sees("#toast", "scheme and host are wanted")
}
