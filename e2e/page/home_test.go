package page_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"muster/discovery/protocol/beacon"
	"muster/host/wire"
	"muster/internal/cli"
	"muster/internal/freeport"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
	"muster/selection"
)

// home is a running Home, its user's folders, and a fleet on loopback with the servers of the game
// myarena.
type home struct {
	*testing.T
	link  string
	fleet *fleet.Fleet
	world *sim.World
	ended chan int
}

// startHome starts Home as the command does, for a new user.
func startHome(t *testing.T, servers int) *home {
	t.Helper()
	return startHomeSet(t, servers, "lan = \"off\"\nport_map = false\nrate = 2000\nname = \"ann\"\n")
}

// startHomeSet starts Home for a user with another config.toml.
func startHomeSet(t *testing.T, servers int, settings string) *home {
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
	table := fmt.Sprintf("[game.myarena]\nname = \"My Arena\"\nprotocol = \"quake3\"\nport = 27960\nmasters = "+
		"[%q]\nmaster_game = \"MyArena\"\nmaster_protocols = [71]\nrule = \"mean\"\nlaunch = [\"true\", "+
		"\"+connect\", \"{address}\"]\n", h.fleet.Master())
	for name, text := range map[string]string{"games.toml": table, "config.toml": settings} {
		err := os.MkdirAll(config, 0o700)
		if err == nil {
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
		h.awaitEnd()
	})
	said := bufio.NewReader(out)
	line, err := said.ReadString('\n')
	go io.Copy(io.Discard, said)
	_, link, isLink := strings.Cut(strings.TrimSpace(line), "  ")
	if err != nil || !isLink {
		t.Fatalf("Home says %q, %v", line, err)
	}
	h.link = link
	return h
}

// awaitEnd waits until Home has ended, and returns its exit status.
func (h *home) awaitEnd() int {
	h.Helper()
	select {
	case code := <-h.ended:
		h.ended <- code // it may be asked for again
		return code
	case <-time.After(time.Minute):
		h.Error("Home does not end")
		return -1
	}
}

// testWriter logs a program's output.
type testWriter struct{ *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.Logf("home: %s", p)
	return len(p), nil
}

// browseHome opens Home at one of its pages.
func browseHome(t *testing.T, h *home, size screenSize) *browser {
	t.Helper()
	b := browse(t, h.link, size)
	b.run("window.muster = { live: {}, view: {} }") // other pages have these for a failing test
	b.sees("h1", "What shall we play tonight?")
	b.run(keepsToasts)
	return b
}

// keepsToasts is a script that keeps what the page says for some seconds.
const keepsToasts = `window.toasts = []; new MutationObserver(() => toasts.push(document.querySelector("#toast").textContent)).observe(document.querySelector("#toast"), { childList: true, characterData: true, subtree: true })`

// isTold waits until Home has said something for some seconds, and forgets that it has.
func (b *browser) isTold(text string) {
	b.Helper()
	b.until(fmt.Sprintf("the page has said %q", text), func() bool {
		return strings.Contains(eval[string](b, "toasts.join('\\n')"), text)
	})
	b.run("toasts.length = 0")
}

var (
	narrow     = screenSize{"390", 390, 844, 2, false}
	narrowDark = screenSize{"390-dark", 390, 844, 2, true}
	wide       = screenSize{"1440", 1440, 900, 1, false}
	wideDark   = screenSize{"1440-dark", 1440, 900, 1, true}
	everyHome  = []screenSize{wide, narrowDark, narrow, wideDark}
)

// TestHomeFind checks that a game's servers enter the table as they answer, and that Home shows who
// plays there. Sorting, filters, favourites and hidden servers work, also by keyboard.
func TestHomeFind(t *testing.T) {
	h := startHome(t, 300)
	b := browseHome(t, h, wide)
	if search := eval[string](b, "location.search + location.hash"); search != "" {
		t.Errorf("the secret stays in the address: %s", search)
	}
	b.shootHome("home-first")
	b.run(`location.hash = "#find"`)
	b.sees("h1", "Find a server")
	b.shootHome("home-find-choose")
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
		return strings.Contains(text, "Nobody’s there") || strings.Contains(text, "Who") || strings.Contains(text, "doesn’t say who’s playing")
	})
	b.shootHome("home-find")
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
	b.run(`{ const set = (name, value) => { const i = document.querySelector("#filters [name=" + name + "]"); i.value = value; i.dispatchEvent(new Event("input", { bubbles: true })); }; set("most", ""); set("least", 9); }`)
	if crowds := eval[int](b, "home.table.shown.length"); crowds == 0 || crowds >= all ||
		!eval[bool](b, "home.table.shown.every((r) => r.players - r.bots >= 9)") {
		t.Errorf("%d of %d have 9 players", crowds, all)
	}
	b.click(`[data-action="hide"]`)
	b.until("it is hidden, and no favourite", func() bool {
		return eval[bool](b, "home.table.hidden.size === 1 && home.table.favourites.size === 0")
	})
}

// shootHome checks Home's page with shoot and axe-core, on a desktop in light and a phone in dark, and at night the other
// way round, too.
func (b *browser) shootHome(name string) {
	b.Helper()
	for _, size := range few(2, everyHome...) {
		b.shoot(name, size)
		b.resize(size)
		b.axe(name + " on a " + size.name)
	}
	b.resize(wide)
}

// press presses a key where the focus is.
func (b *browser) press(key string) {
	b.Helper()
	b.run(fmt.Sprintf(`(document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key: %q, bubbles: true, cancelable: true }))`, key))
}

// choosesGame types a part of a game's name on Home's page, and takes the game.
func (b *browser) choosesGame(typed, id string) {
	b.Helper()
	b.run(fmt.Sprintf(`{ const i = document.querySelector("#play-game"); i.value = %q; i.dispatchEvent(new Event("input")); }`, typed))
	b.click(fmt.Sprintf(`[data-game=%q]`, id))
}

// opensRoom opens a room on Home after set, which may be nil, has filled in the rest of the form.
func (b *browser) opensRoom(set func()) {
	b.Helper()
	b.run(`window.open = () => null; location.hash = "#play"`) // a test follows one tab
	b.sees("h1", "Play together")
	b.choosesGame("my are", "myarena")
	if set != nil {
		set()
	}
	b.click("#play-form button.primary")
	b.sees("#now", "You’re in a room")
}

// closesRoom closes the room that this Home has opened.
func (b *browser) closesRoom() {
	b.Helper()
	b.insists(`#now [data-action="leave-room"]`)
	b.until("the room is over", func() bool { return !eval[bool](b, "home.state().room.running") })
}

// roomPage opens the player's own page in Home's room.
func (h *home) roomPage() *browser {
	h.Helper()
	room := browse(h.T, h.link, wide)
	room.run("window.muster = { live: {}, view: {} }")
	room.sees("h1", "What shall we play tonight?")
	room.do(chromedp.Navigate(h.link[:strings.Index(h.link, "/?")] + "/room"))
	return room
}

// insists presses a button that asks for a second press, and presses it again before the page forgets the first.
func (b *browser) insists(selector string) {
	b.Helper()
	b.until(selector+" is there", func() bool { return eval[bool](b, fmt.Sprintf("!!document.querySelector(%q)", selector)) })
	if asks := eval[string](b, fmt.Sprintf(`(() => {
		const button = () => document.querySelector(%q);
		button().click();
		const asks = button().innerText;
		button().click();
		return asks;
	})()`, selector)); !strings.Contains(asks, "Press again") {
		b.Errorf("after a press %s says %q", selector, asks)
	}
}

// TestHomeQuits checks that Quit ends the program.
func TestHomeQuits(t *testing.T) {
	atNight(t)
	h := startHome(t, 10)
	b := browseHome(t, h, wide)
	b.run(`document.querySelector("#quit").click(); document.querySelector("#quit").click()`) // a double click
	b.sees("#banner", "Muster has stopped")
	if said := b.reads("#toast"); said != "" {
		t.Errorf("a double click on Quit says %q", said)
	}
	if code := h.awaitEnd(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// goldOnHome is a script that lists what is gold on Home.
const goldOnHome = `[...document.querySelectorAll("button, a")].filter((e) => e.checkVisibility() && getComputedStyle(e).backgroundColor === "rgb(255, 197, 61)").map((e) => e.innerText)`

// TestHomePlays checks that a room can be opened on Home's page, and steered on the room's. A
// friend comes in by another Home, whose page asks before the game starts.
func TestHomePlays(t *testing.T) {
	h := startHome(t, 60)
	b := browseHome(t, h, wide)
	b.opensRoom(func() {
		b.shootHome("home-play")
		b.sets("#players", "1")
		b.sets("#places", "The Den, 127.0.0.1:9, tcp")
		b.sets("#voice", "mumble://voice.example/den")
	})
	b.shootHome("home-in-room")
	b.until("one thing is gold", func() bool { return len(eval[[]string](b, goldOnHome)) == 1 })
	room := h.roomPage()
	room.sees("#people", "ann")
	if !eval[bool](room, "!!muster.live.state?.you.organiser") {
		t.Error("whoever opened the room cannot steer it")
	}
	const set = "mumble://voice.example/den The Den"
	if got := eval[string](room, "`${muster.live.state?.room.voice} ${muster.live.state?.room.candidates}`"); got != set {
		t.Errorf("the room has %s, want %s", got, set)
	}
	b.sees("#questions", "Start My Arena now?")
	b.shootHome("home-asks")
	if golden := eval[[]string](b, goldOnHome); len(golden) != 1 || golden[0] != "Yes" {
		t.Errorf("what is gold: %q", golden)
	}
	b.click(`#questions [value="y"]`)
	b.until("the game has started", func() bool {
		return eval[bool](b, `home.state().room.lines.some((line) => line.includes("have fun"))`)
	})
	b.closesRoom()
}

// TestHomeJoins checks that pasted text leads into a room, and that text which leads nowhere is
// reported.
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
	b.sees("#rooms", "No rooms on your network")
	b.shootHome("home-join")
	b.sets("#link", "http://127.0.0.1:1/#BAKODI")
	b.click("#join-form button.primary")
	b.sees("#now", "No host answers at 127.0.0.1:1")
	b.shootHome("home-wrong")
	b.sets("#link", url+"/#"+code+"_"+rooms.Keys(code).Link)
	b.sets("#player-name", `<img src=x onerror=alert(1)>`)
	b.click("#join-form button.primary")
	b.sees("#now", "You’re in a room")
	b.until("the room has the player", func() bool {
		room, _ := rooms.Room(code)
		return len(room.Players()) == 1
	})
	b.click(`[data-action="leave-room"]`)
	b.until("the player has left", func() bool { return !eval[bool](b, "home.state().room.running") })
}

// TestHomeRegions checks that a game that measures its regions itself has a field for what it
// prints, that Home says how to get that while it is missing or something else, and that a room
// opens with it.
func TestHomeRegions(t *testing.T) {
	atNight(t)
	h := startHome(t, 20)
	b := browseHome(t, h, wide)
	b.run(`window.open = () => null`)
	b.run(`location.hash = "#play"`)
	b.sees("h1", "Play together")
	b.choosesGame("my are", "myarena")
	if eval[bool](b, "!!document.querySelector('#room-regions')") {
		t.Error("a game with servers asks for regions")
	}
	b.choosesGame("mann vs", "tf2matchmaking")
	b.until("the field is there, folded", func() bool {
		return eval[bool](b, "document.querySelector('.regions')?.open === false && /tf_datacenter_ping_dump/.test(document.querySelector('.regions label').textContent)")
	})
	b.click("#play-form button.primary")
	b.isTold("enter tf_datacenter_ping_dump in the game’s console")
	b.until("the field unfolds", func() bool { return eval[bool](b, "document.activeElement.id === 'room-regions'") })
	b.shootHome("home-regions")
	for _, wrong := range []string{"hello <b>there</b>", strings.Repeat("fra: 24ms, status 1 ", 10_000)} {
		b.sets("#room-regions", wrong)
		b.click("#play-form button.primary")
		b.isTold("copy only what the command printed")
	}
	b.sets("#room-regions", "[SDR Ping] Ping data is current as of Sat Nov 23 23:14:27 2024.\n    fra: 24ms, status 1\n    lhr: 31ms, status 1\n")
	b.sets("#players", "1")
	b.click("#play-form button.primary")
	b.sees("#now", "You’re in a room")
	b.until("the pings are counted", func() bool {
		return eval[bool](b, `home.state().room.lines.some((line) => line.includes("2 regions measured by the game"))`)
	})
	b.run(`location.hash = "#join"`)
	b.sets("#link", "http://127.0.0.1:1/#BAKODI")
	b.click("#join-form .primary")
	b.isTold("The room you have open on this computer will close.")
	if !eval[bool](b, `home.state().room.running && home.state().room.what === "host"`) {
		t.Error("a link closes the room that this computer hosts, and nobody was asked")
	}
	b.closesRoom()
	b.click("#join-form .primary")
	b.sees("#now", "No host answers at 127.0.0.1:1")
	b.click(`#now [data-what="room"]`)
	b.run(`location.hash = ""`)
	b.click(`.straight [data-game="myarena"]`)
	b.until("a list is there", func() bool { return eval[bool](b, "home.state().find.listed > 0") })
	if eval[bool](b, `!!document.querySelector('#now [data-what="room"]')`) {
		t.Error("an error that was read comes back")
	}
	b.run(`location.hash = "#join"`)
	b.until("joining has the field, with what was pasted", func() bool {
		return eval[bool](b, "document.querySelector('#join-regions')?.value.includes('lhr: 31ms')")
	})
}

// TestHomeComputer checks that Home says what works on this computer, makes it answer measurements,
// and saves settings in config.toml.
func TestHomeComputer(t *testing.T) {
	atNight(t)
	h := startHome(t, 5)
	b := browseHome(t, h, wide)
	b.run(`location.hash = "#computer"`)
	b.sees("#checks", "Asking servers")
	b.sees("#steam-key", "None saved yet")
	b.sees(".paths", "/bin/true") // the path of the game's program
	b.shootHome("home-computer")
	b.sets("#set-steam-key", "0123456789abcdef0123456789abcdef")
	b.click("#steam-key form button")
	b.sees("#steam-key", "One is saved")
	if eval[bool](b, `document.documentElement.outerHTML.toLowerCase().includes("0123456789abcdef") || !!document.querySelector("#set-steam-key").value`) {
		t.Error("the key is still on the page")
	}
	b.click(`[data-action="forget-steam-key"]`)
	b.sees("#steam-key", "None saved yet")
	_, port, _ := strings.Cut(freeport.UDP(t), ":")
	b.sets("#beacon-port", port)
	b.sets("#beacon-name", "<i>Frankfurt")
	b.click("#beacon-form button")
	b.sees("#beacon-now", "<i>Frankfurt, ")
	b.sees("#beacon-now", "0 pings answered")
	_, at, _ := strings.Cut(eval[string](b, `document.querySelector(".beacon-line code").textContent`), ", ")
	asker, err := net.Dial("udp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	asker.Write(beacon.Protocol{}.AppendQuery(nil, 7, nil))
	b.sees("#beacon-now", "1 ping answered")
	b.shootHome("home-beacon")
	b.click(`[data-action="end-beacon"]`)
	b.sees("#beacon-now", "Stopped")
	b.sets("#set-rate", "321")
	b.sees("#set-rate-said", "Saved")
	b.sets("#set-name", `"b'ob`)
	b.sees("#set-name-said", "Saved")
	b.until("config.toml says so", func() bool {
		text, err := os.ReadFile(filepath.Join(xdg.ConfigHome, "muster", "config.toml"))
		return err == nil && strings.Contains(string(text), "rate = 321") && strings.Contains(string(text), `name = "\"b'ob"`)
	})
	b.sets("#set-downloads", "/no where")
	b.sees("#set-downloads-said", `"/no where" isn’t a folder`)
	b.shootHome("home-setting-wrong")
	b.sets("#set-downloads", "")
	b.sets("#set-at", "ftp://muster.example")
	b.sees("#set-at-said", "isn’t a public host")
}

// TestHomeGuarded checks that a foreign site's page gets nothing from Home and changes nothing
// there, in a browser in which Home is open. It tries requests, forms, frames, images, WebSockets,
// and a name of its own for this machine.
func TestHomeGuarded(t *testing.T) {
	h := startHome(t, 5)
	b := browseHome(t, h, wide)
	base := h.link[:strings.Index(h.link, "/?")]
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!doctype html><title>evil</title><p>evil</p>")
	}))
	defer evil.Close()
	b.deaf.Store(true)
	b.do(chromedp.Navigate(evil.URL)) // on 127.0.0.1, the closest that a foreign page gets to Home: the cookie comes along
	b.run(fmt.Sprintf(`window.muster = { live: {}, view: {} }; (async () => {
		const base = %q, out = [];
		const tried = async (what, f) => { try { out.push(what + ": " + await f()); } catch (e) { out.push(what + ": refused"); } };
		await tried("read", async () => (await (await fetch(base + "/api/games", { credentials: "include" })).text()).length);
		await tried("order", async () => (await fetch(base + "/api/quit", { method: "POST", credentials: "include", headers: { "Content-Type": "application/json" }, body: "{}" })).status);
		await tried("blind order", async () => (await fetch(base + "/api/quit", { method: "POST", mode: "no-cors", credentials: "include", body: "{}" })).type && "sent");
		await tried("socket", () => new Promise((yes, no) => { const s = new WebSocket(base.replace("http", "ws") + "/live"); s.onmessage = () => yes("open"); s.onerror = () => no(); }));
		await tried("script", () => new Promise((yes, no) => { const s = document.createElement("script"); s.src = base + "/api/games"; s.onload = () => yes("loaded"); s.onerror = () => no(); document.head.append(s); }));
		const frame = document.createElement("iframe"), loaded = () => new Promise((yes) => (frame.onload = yes));
		frame.name = "f"; frame.src = base + "/"; document.body.append(frame); await loaded();
		const form = document.createElement("form"); form.method = "post"; form.enctype = "text/plain"; form.action = base + "/api/quit"; form.target = "f";
		const field = document.createElement("input"); field.name = '{"a":"'; field.value = '"}'; form.append(field); document.body.append(form); form.submit();
		await loaded();
		window.got = out;
	})()`, base))
	b.until("the attacks are over", func() bool { return eval[bool](b, "!!window.got") })
	got := eval[[]string](b, "window.got")
	if len(got) != 5 {
		t.Errorf("of the attacks %q came to an end", got)
	}
	for _, line := range got {
		if !strings.HasSuffix(line, "refused") && line != "blind order: sent" {
			t.Errorf("a foreign page: %s", line)
		}
	}
	for what, request := range map[string]func(*http.Request){
		"by a stranger's name": func(r *http.Request) { r.Host = "evil.example" },
		"without the secret":   func(*http.Request) {},
		"with a guess":         func(r *http.Request) { r.URL.RawQuery = "key=GUESS" },
	} {
		r, err := http.NewRequest(http.MethodGet, base+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		request(r)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK || answer.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %s", what, answer.Status)
		}
	}
	b.do(chromedp.Navigate(h.link))
	b.sees("h1", "What shall we play tonight?") // it goes on
	b.run("window.muster = { live: {}, view: {} }")
}

// homeRows is how many servers TestHomeMany has; bench/experiments/home.md uses 30,000.
var homeRows = flag.Int("home-rows", 2000, "servers in Home's table")

// TestHomeMany checks that a long table stays smooth while it fills and scrolls. The page's own
// work between two frames is bounded by a multiple of what this machine needs for the first hundred
// rows.
func TestHomeMany(t *testing.T) {
	atNight(t)
	h := startHome(t, *homeRows)
	b := browseHome(t, h, wide)
	b.run(`location.hash = "#find"`)
	b.sees("h1", "Find a server")
	b.run(`globalThis.frames_ = { longest: 0, count: 0, fill: 0, heap: 0 };
		const f = globalThis.frames_; let last = performance.now();
		const tick = (now) => { f.longest = Math.max(f.longest, now - last); last = now; f.count++; requestAnimationFrame(tick); };
		requestAnimationFrame(tick);
		f.tasks = []; new PerformanceObserver((list) => f.tasks.push(...list.getEntries().map((e) => e.duration))).observe({ entryTypes: ["longtask"] });`)
	before := processor(b)
	b.click(`[data-game="myarena"]`)
	wait := func(until string) { // as fast as a fleet of that size answers
		for deadline := time.Now().Add(time.Minute + time.Duration(*homeRows)*10*time.Millisecond); !eval[bool](b,
			until) && time.Now().Before(deadline); time.Sleep(time.Second) {
		}
	}
	wait(`home.state().find.asked > 0 && !home.state().find.running`)
	if eval[bool](b, `!!document.querySelector("[data-action=find-all]")`) {
		b.click(`[data-action="find-all"]`)
		b.sees("#find-tools", "Stop")
	}
	wait(`!home.state().find.running && home.table.rows.size === home.state().find.answered`)
	report := func(when string) {
		busy := processor(b)
		t.Logf("%s: %.2f s of processor time for the page; %s", when, busy-before,
			eval[string](b, `(() => { const f = globalThis.frames_; const said = JSON.stringify({ rows: home.table.rows.size, dom: document.querySelectorAll("#list .row").length, frames: f.count, longest_ms: Math.round(f.longest), long_tasks: f.tasks.length, longest_task_ms: Math.round(Math.max(0, ...f.tasks)), heap_mb: Math.round(performance.memory.usedJSHeapSize / 1e6) }); f.longest = 0; f.count = 0; f.tasks.length = 0; return said; })()`))
		before = processor(b)
	}
	report("filling")
	b.run(`globalThis.scrolled = false; { const list = document.querySelector("#list"); let n = 0; const step = () => { list.scrollTop += 900; if (++n < 300 && list.scrollTop + list.clientHeight < list.scrollHeight) requestAnimationFrame(step); else globalThis.scrolled = true; }; step(); }`)
	b.until("it is scrolled", func() bool { return eval[bool](b, "globalThis.scrolled") })
	report("scrolling")
	for _, by := range []string{"name", "players", "map"} {
		b.click(fmt.Sprintf("[data-by=%s]", by))
	}
	b.run(`{ const i = document.querySelector("#filters [name=text]"); for (const text of ["c", "cl", "cla", "clan", ""]) { i.value = text; i.dispatchEvent(new Event("input", { bubbles: true })); } }`)
	report("sorting and filtering")
	if dom := eval[int](b, `document.querySelectorAll("#list .row").length`); dom > 60 {
		t.Errorf("the page has %d rows", dom)
	}
	if n := eval[int](b, "home.table.rows.size"); n < *homeRows*8/10 {
		t.Errorf("%d rows of %d servers", n, *homeRows)
	}
}

// processor returns how long the page's own thread has been busy, in s of processor time. The rest
// of the machine does not count.
func processor(b *browser) (seconds float64) {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, performance.Enable,
			performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
			return err
		}
		metrics, err := chromedp.Call(ctx, performance.GetMetrics, cdp.Empty{})
		for _, m := range metrics.Metrics {
			if m.Name == "TaskDuration" {
				seconds = m.Value
			}
		}
		return err
	}))
	return seconds
}
