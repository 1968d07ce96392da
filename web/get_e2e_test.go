//go:build e2e

package web_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"muster/host"
	"muster/host/wire"
	"muster/internal/handout"
	"muster/selection"
	"muster/web"
)

// program builds muster for this machine.
func program(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "muster")
	if out, err := exec.Command("go", "build", "-o", file, "muster").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// giver is a host whose page gives programs, with a room.
func giver(t *testing.T, config handout.Config) (link string, rooms *host.Host) {
	t.Helper()
	programs, err := handout.New(config)
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

// TestGetMuster: from a bare link to a running program, by the page alone: what it gives
// is the host's own program, and a double click on it joins the room.
func TestGetMuster(t *testing.T) {
	own := program(t)
	link, rooms := giver(t, handout.Config{Version: "1.2.3", Own: own})
	downloads, home := t.TempDir(), t.TempDir()
	b := browse(t, link, desktop)
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.CallBrowser(ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: downloads})
		return err
	}))
	b.sees("#invite", "Get Muster for Linux")
	b.sees("#invite", "your friend's copy")
	b.shoot("get", desktop, laptop, phone, couch, pocket, night4k)
	b.click("#invite button.primary")
	b.sees("#getting", "among your downloads")
	b.shoot("got", desktop, phone)

	var packed string
	b.until("the file is there", func() bool {
		found, err := filepath.Glob(filepath.Join(downloads, "muster-join_*.tar.gz"))
		if err == nil && len(found) == 1 {
			packed = found[0]
		}
		return packed != ""
	})
	name := unpack(t, packed, home)
	given, err1 := os.ReadFile(name)
	meant, err2 := os.ReadFile(own)
	if err1 != nil || err2 != nil || !bytes.Equal(given, meant) {
		t.Fatalf("%s is not the host's own program: %v, %v", name, err1, err2)
	}
	cmd := exec.Command(name) // as a double click does
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "DISPLAY=", "WAYLAND_DISPLAY=")
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
	b.sees("#people", "zoe")
	view, _ := rooms.Room(rooms.Rooms()[0])
	if players := view.Players(); len(players) != 1 || players[0].Name != "zoe" {
		t.Errorf("in the room are %+v", view.People)
	}
}

// unpack takes the only file out of an archive, as it is to be run.
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
	header, err := entries.Next()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(entries)
	name := filepath.Join(into, filepath.Base(header.Name))
	if err == nil {
		err = os.WriteFile(name, content, header.FileInfo().Mode())
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestGetNothing: a host without the visitor's system says so, and has the others a
// click away; a phone is sent to the computer.
func TestGetNothing(t *testing.T) {
	link, _ := giver(t, handout.Config{Version: "1.2.3"})
	b := browse(t, link, desktop)
	b.sees("#invite", "This host has no program for Linux.")
	b.shoot("get-nothing", desktop, phone)
}
