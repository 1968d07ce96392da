//go:build linux && amd64

package program_test

import (
	"bytes"
	"debug/pe"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gorilla/websocket"

	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/freeport"
	"muster/internal/invite"
)

// windows is a Windows simulated by wine. Its user has just one program.
//
//	testdata/wine/person   looks at windows and types into them
//	testdata/wine/game     is the game that is started
//	xdg-open               is the browser that wine opens; it notes the links
type windows struct {
	t   *testing.T
	env []string
	// drive is the folder that Windows calls C:\. dir holds files for the Linux side.
	drive, dir string
	// shown counts the pages of Home, opened in the browser, that a test has seen.
	shown *int
}

const (
	// programs is a typical folder on Windows, with blanks, brackets and letters outside ASCII.
	programs  = `C:\Program Files (x86)\Mü ster`
	musterExe = programs + `\muster.exe`
	// measuringExe is muster.exe with UDP under wine, see [windows.withUDP].
	measuringExe = programs + `\measuring.exe`
	personExe    = `C:\person.exe`
	// gameExe has a path that breaks careless command lines.
	gameExe = `C:\Games & co (100%)\it's ^ my! own\game.exe`
)

// newWindows installs it, which takes a few seconds, once for all tests.
func newWindows(t *testing.T) *windows {
	t.Helper()
	dir := t.TempDir()
	w := &windows{t: t, drive: filepath.Join(dir, "prefix", "drive_c"), dir: dir, shown: new(int)}
	w.env = append(os.Environ(), "WINEPREFIX="+filepath.Join(dir, "prefix"), "WINEDEBUG=-all",
		"WINEDLLOVERRIDES=winemenubuilder.exe=d;mscoree,mshtml=",
		"HOME="+dir, "PATH="+dir+":"+os.Getenv("PATH"), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "DISPLAY=", "WAYLAND_DISPLAY=", "SSH_CONNECTION=",
		"XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "XDG_DATA_HOME=") // Muster reads them on Windows, too
	t.Cleanup(func() { w.linux("wineserver", "-k") }) // and all programs in it
	w.linux("wineboot", "--init")
	w.linux("x86_64-w64-mingw32-ld", "-shared", "-o", w.file(`C:\windows\system32\bcryptprimitives.dll`), "testdata/wine/bcryptprimitives.def")
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\nprintf '%s\\n' \"$1\" >>\"$0.opened\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := writeFile(t, "settings.reg", `REGEDIT4

[HKEY_CURRENT_USER\Software\Wine\Drivers]
"Graphics"="null"
`)
	w.does("regedit", "/S", settings)
	w.linux("wineserver", "-k", "-w") // the next program gets the invisible desktop
	// Without a window for a second, wine closes the desktop, and the next program may get none.
	start(t, "notepad", w.command("", "notepad"))
	for file, source := range map[string]string{musterExe: "../..", personExe: "testdata/wine/person", gameExe: "testdata/wine/game"} {
		build := exec.Command("go", "build", "-trimpath", "-o", w.file(file), ".")
		build.Dir = source
		build.Env = append(os.Environ(), "GOOS=windows", "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", source, err, out)
		}
	}
	w.withUDP()
	return w
}

// withUDP makes a muster.exe that can open UDP sockets under wine. Go asks every UDP socket not to
// report unreachable networks (SIO_UDP_NETRESET, since Windows 10). Wine 8 does not know that
// option, so that opening fails. The patched program asks a second time not to report unreachable
// ports.
func (w *windows) withUDP() {
	w.t.Helper()
	netReset, portReset := []byte{0x0f, 0, 0, 0x98}, []byte{0x0c, 0, 0, 0x98} // in amd64's byte order
	program, err := os.ReadFile(w.file(musterExe))
	if err != nil {
		w.t.Fatal(err)
	}
	parts, err := pe.NewFile(bytes.NewReader(program))
	if err != nil {
		w.t.Fatal(err)
	}
	text := parts.Section(".text")
	code := program[text.Offset : text.Offset+text.Size]
	if n := bytes.Count(code, netReset); n != 1 {
		w.t.Fatalf("Go says SIO_UDP_NETRESET in %d places of the program, want one: see net/fd_windows.go", n)
	}
	copy(code[bytes.Index(code, netReset):], portReset)
	if err := os.WriteFile(w.file(measuringExe), program, 0o700); err != nil {
		w.t.Fatal(err)
	}
}

// in returns the same Windows for a part of the test.
func (w *windows) in(t *testing.T) *windows {
	part := *w
	part.t = t
	return &part
}

// linux runs a Linux program that belongs to wine.
func (w *windows) linux(name string, args ...string) {
	w.t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		w.t.Fatalf("the end-to-end tests need %s: bash .ci/install", name)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = w.env
	if out, err := cmd.CombinedOutput(); err != nil && name != "wineserver" { // it fails if nothing runs
		w.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// file returns the Linux path of a file on drive C, and creates its folder if needed.
func (w *windows) file(path string) string {
	w.t.Helper()
	file := filepath.Join(w.drive, filepath.FromSlash(strings.ReplaceAll(strings.TrimPrefix(path, `C:\`), `\`, "/")))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		w.t.Fatal(err)
	}
	return file
}

// command returns a Windows program to run. If as is a name, Muster gets its own folders there.
func (w *windows) command(as string, argv ...string) *exec.Cmd {
	cmd := exec.Command("wine", argv...)
	cmd.Env = slices.Clone(w.env)
	if as != "" {
		cmd.Env = append(cmd.Env, `XDG_CONFIG_HOME=C:\`+as, `XDG_STATE_HOME=C:\`+as, `XDG_CACHE_HOME=C:\`+as)
	}
	return cmd
}

// does runs a Windows program to its end, and returns its output.
func (w *windows) does(argv ...string) string {
	w.t.Helper()
	out, err := os.CreateTemp(w.dir, "printed") // no pipe: a program that it starts would hold it open
	if err != nil {
		w.t.Fatal(err)
	}
	defer out.Close()
	cmd := w.command("", argv...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Run()
	return strings.ReplaceAll(readFile(out.Name()), "\r\n", "\n")
}

// opens opens a link or a program as a click does.
func (w *windows) opens(what string) {
	w.t.Helper()
	if out := w.does("start", what); out != "" {
		w.t.Errorf("%s is not opened: %s", what, out)
	}
}

// person operates a program as somebody in front of it: see testdata/wine/person.
func (w *windows) person(program string, does ...string) {
	w.t.Helper()
	if out := w.does(append([]string{personExe, program}, does...)...); out != "" {
		w.t.Fatalf("%s: %q: %s", program, does, out)
	}
}

// homePage is Home in a browser.
type homePage struct {
	w       *windows
	browser *http.Client
	// link let the browser in, once; base is the address.
	link, base string
}

// home returns the page of Home that the browser opens next.
func (w *windows) home() *homePage {
	w.t.Helper()
	var links []string
	eventually(w.t, "the browser is opened", func() bool {
		links = slices.DeleteFunc(strings.Fields(readFile(filepath.Join(w.dir, "xdg-open.opened"))), func(link string) bool {
			return !strings.Contains(link, "/open/") || strings.HasSuffix(link, "?room") // a player's page in a room
		})
		return len(links) > *w.shown
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	h := &homePage{w: w, browser: &http.Client{Jar: jar}, link: links[*w.shown]}
	h.base, _, _ = strings.Cut(h.link, "/open/")
	*w.shown++
	return h
}

// ask returns Home's answer to a request from its page.
func (h *homePage) ask(method, url, body string) (int, string) {
	h.w.t.Helper()
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		h.w.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Origin", h.base)
	reply, err := h.browser.Do(request)
	if err != nil {
		h.w.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		h.w.t.Fatal(err)
	}
	return reply.StatusCode, string(text)
}

// enter lets the browser in.
func (h *homePage) enter() {
	h.w.t.Helper()
	if status, page := h.ask(http.MethodGet, h.link, ""); status != http.StatusOK || !strings.Contains(page, "<title>") {
		h.w.t.Errorf("%s is answered %d:\n%s", h.link, status, page)
	}
}

// invitation is an invitation as the page shows it.
type invitation struct {
	ID         int
	Host, Code string
	Taken      bool
	Wrong      []sentence.Sentence
}

// invited returns the only invitation that the page shows.
func (h *homePage) invited() invitation {
	h.w.t.Helper()
	dialer := websocket.Dialer{Jar: h.browser.Jar}
	live, _, err := dialer.Dial("ws"+strings.TrimPrefix(h.base, "http")+"/live", http.Header{"Origin": {h.base}})
	if err != nil {
		h.w.t.Fatal(err)
	}
	defer live.Close()
	var state struct{ Invitations []invitation }
	if err := live.ReadJSON(&state); err != nil || len(state.Invitations) != 1 {
		h.w.t.Fatalf("invitations %+v, %v", state.Invitations, err)
	}
	return state.Invitations[0]
}

// answer presses a button below an invitation.
func (h *homePage) answer(id int, yes bool, name string) {
	h.w.t.Helper()
	if status, said := h.ask(http.MethodPost, h.base+"/api/invited",
		fmt.Sprintf(`{"id":%d,"yes":%v,"name":%q}`, id, yes, name)); status != http.StatusOK {
		h.w.t.Errorf("the answer is answered %d: %s", status, said)
	}
}

func (h *homePage) quit() {
	h.w.t.Helper()
	if status, said := h.ask(http.MethodPost, h.base+"/api/quit", "{}"); status != http.StatusOK {
		h.w.t.Errorf("Quit is answered %d: %s", status, said)
	}
}

// TestWindows runs the Windows program under wine: everything that a user does with it there, up to
// the game. It sees, types into and closes real console windows. It cannot show Windows' firewall question,
// SmartScreen, antivirus, browsers and Explorer, the ping times of its network, sleep, Wi-Fi, ARM and Windows
// Terminal. Nobody has run Muster on Windows itself for this project yet.
//
// Two things are adapted to wine 8. It has no bcryptprimitives.dll, which Go's programs ask for random bytes, so
// testdata/wine has one. It does not know SIO_UDP_NETRESET, so the released program gets no UDP there; every test that
// measures uses a copy with this one number changed.
//
// It runs alone: wine's programs measure late beside many others, and the room doubts their pings.
func TestWindows(t *testing.T) {
	w := newWindows(t)
	for _, part := range []struct {
		name string
		test func(*windows)
	}{
		{"says its version", (*windows).testVersion},
		{"says what this machine can do", (*windows).testDoctor},
		{"is opened by links", (*windows).testLinks},
		{"joins by a double click", (*windows).testDoubleClick},
		{"is at home in the browser", (*windows).testHome},
		{"cannot measure without UDP", (*windows).testWithoutUDP},
		{"holds a room", (*windows).testHost},
		{"plays an evening", (*windows).testSession},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(w.in(t)) })
	}
}

func (w *windows) testVersion() {
	if out := w.does(musterExe, "--version"); !strings.HasPrefix(out, "muster ") {
		w.t.Errorf("--version prints %q", out)
	}
}

// testDoctor checks a machine whose UDP does not work, and one whose UDP does.
func (w *windows) testDoctor() {
	without := w.does(musterExe, "doctor")
	// Installers record where programs and openers of links are; neither is in the PATH.
	w.does("reg", "add", `HKCU\Software\Microsoft\Windows\CurrentVersion\App Paths\openarena.exe`, "/ve", "/d", gameExe, "/f")
	w.does("reg", "add", `HKLM\Software\Classes\steam`, "/v", "URL Protocol", "/d", "", "/f")
	with := w.does(measuringExe, "doctor")
	w.does("reg", "delete", `HKCU\Software\Microsoft\Windows\CurrentVersion\App Paths\openarena.exe`, "/f")
	w.does("reg", "delete", `HKLM\Software\Classes\steam`, "/f")
	for _, want := range []string{"warn udp        ", "nothing can be measured",
		"warn ipv4       not known without UDP", "warn nat        not known without UDP", "warn games      none of the known games was found"} {
		if !strings.Contains(without, want) {
			w.t.Errorf("doctor does not say %q:\n%s", want, without)
		}
	}
	for _, not := range []string{"wsaioctl", "listen udp", "cable", "PATH"} {
		if strings.Contains(without, not) {
			w.t.Errorf("doctor says %q:\n%s", not, without)
		}
	}
	for _, want := range []string{"ok   udp        sockets send and receive", "ok   games      ",
		"openarena (" + gameExe + ")", "tf2 (Steam)"} {
		if !strings.Contains(with, want) {
			w.t.Errorf("doctor does not say %q:\n%s", want, with)
		}
	}
}

// room opens a room on this Linux machine that ends with the test.
func (w *windows) room(args ...string) (*process, invite.Link) {
	w.t.Helper()
	host := run(w.t, w.t.TempDir(), "host",
		append([]string{"host", "--game", "openarena", "--listen", "127.0.0.1:0", "--no-play", "--no-mdns", "--no-browser"}, args...)...)
	link, err := invite.Parse(host.awaits(`(?m)^link +(http\S+)`)[1], "")
	if err != nil {
		w.t.Fatal(err)
	}
	return host, link
}

// merge merges the user's own classes into the system's. Windows does this by itself, but wine 8
// does not.
func (w *windows) merge(scheme string) {
	w.t.Helper()
	w.does("reg", "copy", `HKCU\Software\Classes\`+scheme, `HKLM\Software\Classes\`+scheme, "/s", "/f")
}

// testLinks checks that Windows' own opener leads from a link into the room, after a yes, once
// Muster is registered. Hostile links lead nowhere, and unregistering removes everything.
func (w *windows) testLinks() {
	host, link := w.room("--servers", writeFile(w.t, "servers.txt", "127.0.0.1:27960\n"))
	commandLine := func() string { return w.does("reg", "query", `HKCU\Software\Classes\muster`, "/s") }
	if out := w.does(musterExe, "register"); !strings.Contains(out, "muster:// links open "+musterExe+" now") {
		w.t.Errorf("register prints %q", out)
	}
	// reg.exe writes in the code page of old programs, which has no ü under wine here.
	if kept := commandLine(); !strings.Contains(kept, `(Default)    REG_SZ    "C:\Program Files (x86)\M`) ||
		!strings.Contains(kept, ` ster\muster.exe" open "%1"`) || !strings.Contains(kept, "URL Protocol") {
		w.t.Errorf("in the registry stands\n%s", kept)
	}
	w.merge("muster")

	var page *homePage
	for _, opener := range [][]string{{"start"}, {"cmd", "/c", "start", ""}, {"rundll32", "url.dll,FileProtocolHandler"}} {
		w.does(append(opener, link.URL())...)
		page = w.home()
		page.enter()
		asked := page.invited()
		if asked.Host != link.Host || asked.Code != link.Code || asked.Taken || asked.Wrong != nil {
			w.t.Errorf("%q leads to %+v", opener, asked)
		}
		page.answer(asked.ID, false, "")
	}
	for _, hostile := range []string{"muster://launch/calc", link.URL() + "%0a--launch%20auto", link.URL() + "&calc"} {
		w.opens(hostile)
		page = w.home()
		page.enter()
		shown := page.invited()
		if len(shown.Wrong) == 0 || shown.Host != "" ||
			!strings.Contains(catalogue.InEnglish().Say(shown.Wrong[0]), "is no link to a room, and nothing was done") {
			w.t.Errorf("%q leads to %+v", hostile, shown)
		}
		page.answer(shown.ID, false, "")
	}
	// A quote in a link: browsers escape it, and others may not.
	if out := w.does(musterExe, "open", link.URL(), "--launch-command=calc"); !strings.Contains(out, "takes one link, and got 2 words") {
		w.t.Errorf("with a word behind the link:\n%s", out)
	}
	w.opens(link.URL())
	page = w.home()
	page.enter()
	page.answer(page.invited().ID, true, "Zoë")
	host.awaits(`Zoë is here`)
	page.quit()
	w.person("muster.exe", "misses")

	if out := w.does(musterExe, "register", "--remove"); !strings.Contains(out, "no more") || strings.Contains(commandLine(), "muster.exe") {
		w.t.Errorf("register --remove prints %q and leaves\n%s", out, commandLine())
	}
	if out := w.does(musterExe, "register", "--remove"); !strings.Contains(out, "opened nothing of yours") {
		w.t.Errorf("the second time it prints %q", out)
	}
}

// testDoubleClick checks that the program from a room's page is named after the room, and joins it.
func (w *windows) testDoubleClick() {
	host, link := w.room("--servers", writeFile(w.t, "servers.txt", "127.0.0.1:27960\n"))
	name := link.FileName() + " (1).exe" // a second download
	if err := os.Link(w.file(musterExe), w.file(`C:\users\Public\`+name)); err != nil {
		w.t.Fatal(err)
	}
	w.opens(`C:\users\Public\` + name)
	page := w.home()
	page.enter()
	host.awaits(` is here`)
	w.person(name, "closes", "misses")
	host.awaits(`lost the connection to |has left`)
}

// testHome checks that a double click opens Home in the browser, and that a second one shows the
// same Home. It ends by Quit, and with its window.
func (w *windows) testHome() {
	w.opens(musterExe)
	w.person("muster.exe", "sees", "Home is open in your browser")
	page := w.home()
	if status, _ := page.ask(http.MethodGet, page.base+"/", ""); status != http.StatusForbidden {
		w.t.Errorf("without the secret Home answers %d", status)
	}
	page.enter()
	if status, computer := page.ask(http.MethodGet, page.base+"/api/computer", ""); status != http.StatusOK ||
		!strings.Contains(computer, `"udp"`) {
		w.t.Errorf("this computer: %d\n%s", status, computer)
	}
	if out := w.does(musterExe); !strings.Contains(out, "Home is running already") || !strings.Contains(out, "home  "+page.base+"/?key=") {
		w.t.Errorf("the second start prints\n%s", out)
	}
	if second := w.home(); second.base != page.base || second.link == page.link {
		w.t.Errorf("the second start opens %s after %s", second.link, page.link)
	}
	page.quit()
	w.person("muster.exe", "misses")
	w.person("conhost.exe", "misses") // and its window is gone

	w.opens(musterExe)
	w.home().enter()
	w.person("muster.exe", "closes", "misses")
	w.person("conhost.exe", "misses")

	w.opens(musterExe) // whatever the previous one could still do
	page = w.home()
	page.enter()
	page.quit()
	w.person("muster.exe", "misses")
	if left, err := filepath.Glob(w.file(`C:\users\Public`) + "/../*/AppData/Local/muster/home.json"); err != nil || left != nil {
		w.t.Errorf("Home leaves %q, %v", left, err)
	}
}

// testWithoutUDP checks that a player who cannot measure reads why and what to do, and that the
// others do, too.
func (w *windows) testWithoutUDP() {
	_, link := w.room("--servers", writeFile(w.t, "servers.txt", "127.0.0.1:27960\n"), "--players", "1")
	out := w.does(musterExe, "join", link.String(), "--name", "zoe", "--launch", "never", "--once")
	if !strings.Contains(out, "this machine gives Muster no UDP") || !strings.Contains(out, "hint: ") || strings.Contains(out, "wsaioctl") {
		w.t.Errorf("join prints\n%s", out)
	}
}

// testHost checks that a killed host on Windows has its room and its players again.
func (w *windows) testHost() {
	args := []string{musterExe, "host", "--game", "openarena", "--servers", fleetFile(w.t, 40), "--listen",
		freeport.TCP(w.t), "--no-play", "--no-mdns", "--no-browser"}
	host := start(w.t, "host", w.command("org", args...))
	link := host.awaits(`(?m)^link +(http\S+)`)[1]
	run(w.t, w.t.TempDir(), "ann", "join", link, "--name", "ann", "--launch", "never")
	host.awaits(`ann is here`)
	host.stop(syscall.SIGKILL)
	again := start(w.t, "host", w.command("org", args...))
	if got := again.awaits(`(?m)^link +(http\S+)`)[1]; got != link {
		w.t.Errorf("the room is at %s after that, and was at %s", got, link)
	}
	again.awaits(`ann is back`)
	files, err := filepath.Glob(w.file(`C:\org\muster\*`))
	if err != nil || len(files) == 0 {
		w.t.Errorf("what it keeps: %v, %v", files, err)
	}
}

// testSession checks that players on Windows measure servers and agree. Games start with exactly
// the right arguments, and failures to start are reported.
func (w *windows) testSession() {
	const password = `a & calc | b < c > d ^ (e) ! ü`
	host, link := w.room("--servers", fleetFile(w.t, 40), "--players", "6", "--password", password)
	words := []string{`a & b | c < d > e ^ f`, `%PATH% !PATH!`, `"quoted" x"y`, `C:\ends with\`, ``, `日本`}
	quoted := ""
	for _, word := range words {
		quote := `"`
		if strings.Contains(word, quote) {
			quote = `'`
		}
		quoted += " " + quote + word + quote
	}
	// Bob has a program, Cid a program that links start, and Dan a batch file. Eve's program fails,
	// nothing opens Fay's links, and Gus has no such program.
	for name, scheme := range map[string]string{"cid": "tavern", "fay": "nowhere"} {
		if err := os.WriteFile(w.file(`C:\`+name+`\muster\games.toml`),
			[]byte("[game.openarena]\nlaunch = [\""+scheme+"://{address}{/password}\"]\n"), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	w.does("reg", "add", `HKCU\Software\Classes\tavern`, "/v", "URL Protocol", "/d", "", "/f")
	tavern := writeFile(w.t, "tavern.reg", "REGEDIT4\n\n[HKEY_CURRENT_USER\\Software\\Classes\\tavern]\n\"URL "+
		"Protocol\"=\"\"\n\n[HKEY_CURRENT_USER\\Software\\Classes\\tavern\\shell\\open\\command]\n@=\"\\\"C:\\\\cid\\\\game.exe\\\" \\\"%1\\\"\"\n")
	w.does("regedit", "/S", tavern)
	w.merge("tavern")
	for _, file := range []string{`C:\cid\game.exe`, `C:\eve\game.exe`} {
		if err := os.Link(w.file(gameExe), w.file(file)); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := os.WriteFile(w.file(`C:\dan\game.bat`), []byte("@echo started %* >C:\\dan\\started.txt\r\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	join := func(name string, args ...string) *process {
		return start(w.t, name, w.command(strings.ToLower(name[:3]),
			append([]string{measuringExe, "join", link.String(), "--name", name, "--launch", "auto", "--once"}, args...)...))
	}
	bob := join("Bob & <co>|^!", "--launch-command", `"`+gameExe+`" +connect {address} +password {password} +name {player}`+quoted)
	cid := join("cid")
	dan := join("dan", "--launch-command", `C:\dan\game.bat {address} {password}`)

	eve := join("eve", "--launch-command", `C:\eve\game.exe fail`)
	fay := join("fay")
	gus := join("gus", "--launch-command", `no-such-game {address}`)

	room := awaitRoom(w.t, link.Host, link.Code, "everyone has started the game, or could not", func(r wire.Document) bool {
		done := 0
		for _, m := range r.Members {
			if m.Launch == wire.LaunchStarted || m.Launch == wire.LaunchFailed {
				done++
			}
		}
		return done == 6
	})
	chosen := room.Selection.Chosen
	if chosen == nil || len(chosen.RTT) != 6 {
		w.t.Fatalf("chosen: %+v", room.Selection)
	}
	for p, wants := range map[*process][]string{
		bob: append([]string{"+connect", chosen.Addr.String(), "+password", password, "+name", "Bob & <co>|^!"}, words...),
		cid: {"tavern://" + chosen.Addr.String() + "/a%20%26%20calc%20%7C%20b%20%3C%20c%20%3E%20d%20%5E%20%28e%29%20%21%20%C3%BC"},
	} {
		file := map[*process]string{bob: gameExe, cid: `C:\cid\game.exe`}[p] + ".json"
		var got []string
		eventually(w.t, p.name+"'s game was started", func() bool { return json.Unmarshal([]byte(readFile(w.file(file))), &got) == nil })
		if !slices.Equal(got, wants) {
			w.t.Errorf("%s's game was started with\n%q, want\n%q", p.name, got, wants)
		}
		p.awaits(`the game is starting; have fun`)
	}
	eve.awaits(`can't start game.exe: exit status 3\s+hint: `)
	fay.awaits(`nothing on this machine opens nowhere:// links\s+hint: `)
	gus.awaits(`there's no program no-such-game on this machine\s+hint: `)
	if text := fay.out.String(); strings.Contains(text, "have fun") {
		w.t.Errorf("fay is told\n%s", text)
	}
	// The others read why, but not where somebody keeps their programs.
	host.awaits(`dan couldn’t start \S+: can.t start game\.bat: an`)
	dan.awaits(`can't start game\.bat: an argument holds .*, which a batch file would take for a command`)
	if got := readFile(w.file(`C:\dan\started.txt`)); got != "" {
		w.t.Errorf("the batch file was started: %s", got)
	}
}
