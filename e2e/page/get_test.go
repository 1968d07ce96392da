package page_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"muster/host"
	"muster/host/wire"
	"muster/internal/handout"
	"muster/internal/release"
	"muster/internal/release/fetch"
	"muster/internal/release/releasetest"
	"muster/selection"
	"muster/web"
)

// built is muster for this machine.
var built = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "muster")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "muster"))
	build.Dir = "../.." // it is of another module
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return os.ReadFile(filepath.Join(dir, "muster"))
})

// program returns the file of a muster for this machine, in a folder of its own.
func program(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "muster")
	data, err := built()
	if err == nil {
		err = os.WriteFile(file, data, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// giver starts a host with a room, whose page gives programs.
func giver(t *testing.T, config handout.Config) (link string, rooms *host.Host) {
	t.Helper()
	programs, err := handout.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	rooms, err = host.New(host.Config{Page: web.Handler(), Get: programs})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { server.Close(); rooms.Close(); programs.Close() })
	code, _, err := rooms.Open(wire.Settings{Name: "Friday night", Game: "openarena", By: selection.Mean, Strategy: wire.Coordinated})
	if err != nil {
		t.Fatal(err)
	}
	return server.URL + "/#" + code + "_" + rooms.Keys(code).Link, rooms
}

// TestGetMuster checks the way from a bare link to a running program, by the page alone. The page
// gives the host's own program, and a double click on it joins the room.
func TestGetMuster(t *testing.T) {
	atNight(t)
	t.Parallel()
	own := program(t)
	link, rooms := giver(t, handout.Config{Version: "1.2.3", Own: own})
	home := t.TempDir()
	b := browse(t, link, desktop)
	downloads := b.keeps()
	b.sees("#way-in", "Your way in, on Linux")
	b.sees("#way-in", "Unsigned copy from your friend’s computer")
	b.shoot("get", desktop, laptop, phone, couch, pocket, night4k)
	b.click(".door[data-door=play] button")
	b.sees("#getting", "It’s in your downloads")
	b.sees("#getting", "Waiting for your program.")
	b.shoot("got", desktop, phone)

	packed := b.kept(downloads, "muster-join_*.tar.gz")
	name := unpack(t, packed, home)
	given, err1 := os.ReadFile(name)
	meant, err2 := os.ReadFile(own)
	if err1 != nil || err2 != nil || !bytes.Equal(given, meant) {
		t.Fatalf("%s is not the host's own program: %v, %v", name, err1, err2)
	}
	cmd := exec.Command(name) // as a double click does
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "XDG_CONFIG_HOME="+home,
		"XDG_CACHE_HOME="+home, "DISPLAY=", "WAYLAND_DISPLAY=")
	said := &bytes.Buffer{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("zoe\n"), said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if t.Failed() {
			t.Logf("the program said:\n%s", said)
		}
	})
	b.sees("#stage.door, #stage", "You’re in, zoe") // the page notices by itself
	b.sees("#people .badge", "you")
	view, _ := rooms.Room(rooms.Rooms()[0])
	if players := view.Players(); len(players) != 1 || players[0].Name != "zoe" {
		t.Errorf("in the room are %+v", view.People)
	}
}

// keeps makes the browser save downloads in a folder.
func (b *browser) keeps() (folder string) {
	b.Helper()
	folder = b.TempDir()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.CallBrowser(ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
			Behavior:         cdpbrowser.SetDownloadBehaviorBehaviorAllow,
			DownloadPath:     folder,
			BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
		})
		return err
	}))
	return folder
}

// kept waits until a download is complete, and returns its path.
func (b *browser) kept(folder, pattern string) (file string) {
	b.Helper()
	b.until(pattern+" is there", func() bool {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err == nil && len(found) == 1 {
			file = found[0]
		}
		return file != ""
	})
	return file
}

// unpack extracts an archive. The program comes first, then its signature if it has one.
func unpack(t *testing.T, archive, into string) string {
	t.Helper()
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	entries := tar.NewReader(unzipped)
	var names []string
	for header, err := entries.Next(); err == nil; header, err = entries.Next() {
		content, err := io.ReadAll(entries)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Join(into, filepath.Base(header.Name)))
		if err := os.WriteFile(names[len(names)-1], content, header.FileInfo().Mode()); err != nil {
			t.Fatal(err)
		}
	}
	if len(names) == 0 {
		t.Fatal("nothing is in ", archive)
	}
	return names[0]
}

// TestGetNothing checks that a host without a program for the visitor's system says so, and offers
// the others a click away. A phone is sent to the computer.
func TestGetNothing(t *testing.T) {
	atNight(t)
	t.Parallel()
	link, _ := giver(t, handout.Config{Version: "1.2.3"})
	b := browse(t, link, desktop)
	b.sees("#way-in", "This host has no program for Linux.")
	b.sees("#way-in", "muster join "+link)
	b.shoot("get-nothing", desktop, phone)
	pocket := claims(t, link, "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 "+
		"(KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1", "iPhone")
	pocket.sees("#way-in", "Play needs your computer")
	pocket.run(`Object.defineProperty(navigator, "share", { value: async ({ url }) => { window.shared = url; } })`)
	pocket.click("#way-in .primary")
	pocket.until("the link goes to the computer", func() bool { return eval[string](pocket, "window.shared ?? ''") == link })
	pocket.shoot("get-on-a-phone", phone, couch)
}

// TestGetSigned checks that a visitor who gets a signed program is told so, and can verify the file
// with the signature that comes along.
func TestGetSigned(t *testing.T) {
	atNight(t)
	t.Parallel()
	project, own := releasetest.NewSigner(t, 1), program(t)
	text, err := os.ReadFile(own)
	if err == nil {
		err = os.WriteFile(own+".minisig", []byte(project.Sign(t, string(text), "muster_1.2.3_linux_amd64", "1.2.3")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	link, _ := giver(t, handout.Config{Version: "1.2.3", Release: "https://muster.example/releases", Own: own, Keys: project.Keys(t)})
	b := browse(t, link, desktop)
	downloads := b.keeps()
	b.sees("#way-in", "Muster 1.2.3, ")
	b.sees("#way-in", "Official Muster")
	if at := eval[string](b,
		"document.querySelector('.other-ways .straight a').href"); at != "https://muster.example/releases/download/v1.2.3/muster_1.2.3_linux_amd64.tar.gz" {
		t.Errorf("the project's own page has it at %s", at)
	}
	b.shoot("get-signed", desktop, laptop, phone, couch)
	b.click(".door[data-door=play] button")
	file := unpack(t, b.kept(downloads, "muster-join_*.tar.gz"), t.TempDir())
	if v, err := project.Keys(t).Verify(t.Context(), file); err != nil || v.Standing != release.Own {
		t.Errorf("what arrived is %v, %v", v, err)
	}
}

// onWindows returns a browser that claims to be on Windows.
func onWindows(t *testing.T, link string) *browser {
	t.Helper()
	return claims(t, link, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "+
		"Chrome/140.0.0.0 Safari/537.36", "Windows")
}

// claims returns a browser that claims to be another browser on another system.
func claims(t *testing.T, link, agent, platform string) *browser {
	t.Helper()
	b := browse(t, "about:blank", desktop)
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent, Platform: platform})
		return err
	}), chromedp.Navigate(link))
	return b
}

// releases starts a host that gets missing programs from a release with one program.
func releases(t *testing.T, change func(*releasetest.Release)) (link string) {
	t.Helper()
	project := releasetest.NewSigner(t, 1)
	r := project.Release(t, "1.2.3", map[string]string{"muster_1.2.3_windows_amd64.exe": "the program"})
	change(r)
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	page := server.URL + "/releases"
	link, _ = giver(t, handout.Config{
		Version: "1.2.3",
		Release: page,
		Keys:    project.Keys(t),
		Source:  &fetch.Source{Page: page, Version: "1.2.3", Keys: project.Keys(t), Folder: t.TempDir()},
	})
	return link
}

// TestGetFromRelease checks that a visitor for whose system the host has no program gets the
// project's own through the host, with its signature.
func TestGetFromRelease(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	link := releases(t, func(r *releasetest.Release) { r.Hold = hold })
	b := onWindows(t, link)
	downloads := b.keeps()
	b.sees("#way-in", "This host first downloads it from the project")
	b.shoot("get-away", desktop, laptop, phone, couch)
	plain := onWindows(t, link[:strings.Index(link, "#")]+"get/")
	plain.run("window.muster = { live: {}, view: {} }")
	plain.sees("#stage", "This host first downloads it from the project")
	plain.shoot("get-page", desktop, laptop, phone, couch)
	b.click(".door[data-door=play] button")
	b.sees("#getting", "This host is downloading Muster for Windows from the project")
	close(hold)
	b.sees("#getting", "It’s in your downloads")
	b.sees("#way-in", "Its signature")
	b.shoot("got-away", desktop, laptop, phone, couch)
	file := b.kept(downloads, "muster-join_*.exe")
	b.click("#way-in button.plain")
	b.kept(downloads, "muster-join_*.exe.minisig")
	b.sees("#toast", "The signature is in your downloads")
	if v, err := releasetest.NewSigner(t, 1).Keys(t).Verify(t.Context(), file); err != nil || v.Standing != release.Own {
		t.Errorf("what arrived is %v, %v", v, err)
	}
}

// TestGetWrong checks that nobody gets a file that differs from what the project signed, whether it
// is in the host's folder or in the release. The page says so.
func TestGetWrong(t *testing.T) {
	atNight(t)
	t.Parallel()
	b := onWindows(t, releases(t, func(r *releasetest.Release) { r.Files["muster_1.2.3_windows_amd64.exe"] = "evil" }))
	downloads := b.keeps()
	b.click(".door[data-door=play] button")
	b.sees("#way-in .trouble", "isn’t the one the project signed, so it isn’t offered here")
	b.shoot("get-wrong", desktop, laptop, phone, couch)
	if got, _ := os.ReadDir(downloads); len(got) > 0 {
		t.Errorf("%v is kept all the same", got)
	}

	project, own := releasetest.NewSigner(t, 1), program(t)
	if err := os.WriteFile(own+".minisig", []byte(project.Sign(t, "something else", "muster_1.2.3_linux_amd64", "1.2.3")), 0o600); err != nil {
		t.Fatal(err)
	}
	link, _ := giver(t, handout.Config{Version: "1.2.3", Folder: filepath.Dir(own), Keys: project.Keys(t)})
	b = browse(t, link, desktop)
	b.sees("#way-in .trouble", "This host doesn’t give out its program for Linux: this file was changed")
	if eval[bool](b, "[...document.querySelectorAll('#stage button[data-action=get]')].some((e) => e.dataset.system === 'linux-amd64')") {
		t.Error("the page gives it all the same")
	}
	b.shoot("get-changed", desktop, laptop, phone, couch)
}

// TestGetOffline checks that a host that cannot reach the release says so soon, and what to do.
func TestGetOffline(t *testing.T) {
	atNight(t)
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	project, page := releasetest.NewSigner(t, 1), gone.URL+"/releases"
	link, _ := giver(t, handout.Config{
		Version: "1.2.3",
		Keys:    project.Keys(t),
		Source:  &fetch.Source{Page: page, Version: "1.2.3", Keys: project.Keys(t), Folder: t.TempDir()},
	})
	b := onWindows(t, link)
	b.click(".door[data-door=play] button")
	b.sees("#way-in .trouble", "Is it offline? The person who runs it can put the programs of a release in a folder")
	b.shoot("get-offline", desktop, phone, couch)
}
