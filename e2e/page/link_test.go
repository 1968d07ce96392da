//go:build linux

package page_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"muster/host"
	"muster/host/wire"
	"muster/internal/handout"
)

// apart is set for a test that runs alone on its machine.
const apart = "MUSTER_TEST_APART"

// alone reruns a test on a machine of its own, and reports whether this is that machine. Its
// network leads nowhere, and its programs end with it.
func alone(t *testing.T) bool {
	t.Helper()
	if os.Getenv(apart) != "" {
		return true
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
		"sh", "-c", `ip link set lo up && exec "$@"`, "sh", os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), apart+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

// desk is a person's desktop: their folders, and the program that opens links and pages.
type desk struct {
	*testing.T
	home, opened string
	env          []string
}

// newDesk returns a desktop that opens pages by recording their addresses.
func newDesk(t *testing.T) *desk {
	t.Helper()
	home := t.TempDir()
	d := &desk{T: t, home: home, opened: filepath.Join(home, "opened")}
	d.env = append(os.Environ(), "HOME="+home, "DISPLAY=:99", "WAYLAND_DISPLAY=", "SSH_CONNECTION=", "XDG_CURRENT_DESKTOP=", "BROWSER=",
		"XDG_DATA_HOME="+home+"/share", "XDG_CONFIG_HOME="+home+"/config", "XDG_STATE_HOME="+home+"/state",
		"XDG_CACHE_HOME="+home+"/cache", "XDG_RUNTIME_DIR="+home+"/run")
	script := filepath.Join(home, "pages")
	for name, text := range map[string]string{
		script: "#!/bin/sh\necho \"$1\" >>" + d.opened + "\n",
		home + "/share/applications/pages.desktop": "[Desktop Entry]\nType=Application\nName=Pages\nExec=" + script +
			" %u\nMimeType=x-scheme-handler/http;\n",
		home + "/config/mimeapps.list":      "[Default Applications]\nx-scheme-handler/http=pages.desktop\n",
		home + "/config/muster/config.toml": "lan = \"off\"\nname = \"zoe\"\n",
	} {
		err := os.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			err = os.WriteFile(name, []byte(text), 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// does runs a program to its end.
func (d *desk) does(argv ...string) string {
	d.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = d.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return string(out)
}

// pages returns the pages that were opened.
func (d *desk) pages() []string {
	text, err := os.ReadFile(d.opened)
	if err != nil {
		return nil // none yet
	}
	return strings.Fields(string(text))
}

// browser returns the options of the desktop's browser. Its user has allowed a site's page to open
// muster:// links without asking.
func (d *desk) browser(site string) []chromedp.ExecAllocatorOption {
	d.Helper()
	profile := filepath.Join(d.home, "chromium")
	said := fmt.Sprintf(`{"protocol_handler":{"allowed_origin_protocol_pairs":{%q:{"muster":true}}}}`, site)
	err := os.MkdirAll(filepath.Join(profile, "Default"), 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(profile, "Default", "Preferences"), []byte(said), 0o600)
	}
	if err != nil {
		d.Fatal(err)
	}
	return []chromedp.ExecAllocatorOption{chromedp.UserDataDir(profile), chromedp.Env(d.env...)}
}

// presses clicks as a person does, because browsers let pages open other programs only then.
func (b *browser) presses(selector string) {
	b.Helper()
	b.do(chromedp.Click(selector))
}

// saysYes opens Home's page, the newest that the desktop was asked to open, and says yes there.
func (d *desk) saysYes(pages int, question, name string, rooms *host.Host) *browser {
	d.Helper()
	b := browse(d.T, "about:blank", wide)
	b.until("a page is opened", func() bool { return len(d.pages()) == pages })
	b.do(chromedp.Navigate(d.pages()[pages-1]))
	b.run("window.muster = { live: {}, view: {} }; window.open = () => null")
	b.sees("#questions", question)
	b.sets(".invited input", name)
	b.until(name+" is in the room", func() bool {
		b.run(`document.querySelector(".invited .primary")?.click()`)
		room, _ := rooms.Room(rooms.Rooms()[0])
		return len(room.Players()) > 0 && slices.ContainsFunc(room.People, func(p wire.Person) bool { return p.Name == name })
	})
	return b
}

// forgets makes a page a stranger's again. That this browser has opened Muster before, it still knows.
func (b *browser) forgets() {
	b.Helper()
	b.run(`sessionStorage.clear(); Object.keys(localStorage).filter((key) => key !== "muster is here").forEach((key) => localStorage.removeItem(key)); muster.live.connect = () => {}; muster.live.drop()`)
	b.do(chromedp.Reload())
}

// TestFromLinkToPlaying checks that a person without Muster gets from a room's bare link into the room
// without a terminal. The first time, they download the program from the room's page. Later a click is
// enough.
func TestFromLinkToPlaying(t *testing.T) {
	t.Parallel()
	if !alone(t) {
		return
	}
	own := program(t)
	link, rooms := giver(t, handout.Config{Version: "1.2.3", Own: own})
	d := newDesk(t)
	downloads := t.TempDir()
	site, _, _ := strings.Cut(link, "/#")
	b := browse(t, link, desktop, d.browser(site)...)
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.CallBrowser(ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
			Behavior:     cdpbrowser.SetDownloadBehaviorBehaviorAllow,
			DownloadPath: downloads,
		})
		return err
	}))
	b.sees("#way-in", "Your way in, on Linux")
	b.presses(".door[data-door=play] button")
	b.sees("#getting", "in your downloads")
	packed := ""
	b.until("the file is there", func() bool {
		found, _ := filepath.Glob(filepath.Join(downloads, "muster-join_*.tar.gz"))
		if len(found) == 1 {
			packed = found[0]
		}
		return packed != ""
	})
	file := unpack(t, packed, d.home)
	double := exec.Command(file) // a double click
	double.Env = d.env
	if err := double.Start(); err != nil {
		t.Fatal(err)
	}
	home := browse(t, "about:blank", wide)
	home.until("Home and the room are opened", func() bool { return len(d.pages()) == 2 })
	pages := d.pages()
	if strings.HasSuffix(pages[0], "?room") { // the two openers run at once
		slices.Reverse(pages)
	}
	home.do(chromedp.Navigate(pages[0]))
	home.run("window.muster = { live: {}, view: {} }; window.open = () => null")
	b.sees("#stage.door, #stage", "You’re in.") // it notices by itself
	room := browse(t, "about:blank", wide)
	room.do(chromedp.Navigate(pages[1]))
	room.sees("#stage", "zoe")
	home.click(`[data-action="leave-room"]`)
	home.until("zoe has left", func() bool { // the room keeps the place for half a minute
		room, _ := rooms.Room(rooms.Rooms()[0])
		return !slices.ContainsFunc(room.Players(), func(p wire.Person) bool { return p.Connected }) && !eval[bool](home, "home.state().room.running")
	})
	home.click("#quit")
	if err := double.Wait(); err != nil {
		t.Errorf("Home ends with %v", err)
	}

	if out := d.does(file, "register"); !strings.Contains(out, "muster:// links open "+file) {
		t.Errorf("register says %s", out)
	}
	for i, press := range []struct{ what, name string }{{`.other-ways [data-action="open"]`, "ann"}, {".door[data-door=play] button", "bob"}} {
		b.forgets()
		b.sees("#stage .doors", "Play")
		// A browser shows another tab, or asks, as soon as the page opens the link.
		b.run(`new MutationObserver(() => document.querySelector("iframe.opens") && dispatchEvent(new Event("blur"))).observe(document.body, { childList: true })`)
		b.presses(press.what)
		home = d.saysYes(3+i, "A link wants to take you into a room", press.name, rooms)
		b.sees("#people", press.name)
		home.sees("#now", "You’re in a room") // Home learns of it by itself, and asks only then
		home.insists("#quit")
		home.sees("#banner", "Muster has stopped")
	}
	if found, _ := filepath.Glob(filepath.Join(downloads, "*")); len(found) != 1 {
		t.Errorf("who has Muster already gets it again: %q", found)
	}

	d.does(file, "register", "--remove")
	b.forgets()
	b.sees("#stage .doors", "Play")
	b.presses(`.other-ways [data-action="open"]`)
	b.sees(".other-ways", "Nothing opened?")
	if len(d.pages()) != 4 {
		t.Errorf("opened were %q", d.pages())
	}
}
