//go:build linux

package program_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/host/wire"
	"muster/internal/freeport"
)

// tinyDisk returns a folder on a disk of its own, of a few hundred kilobytes.
func tinyDisk(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, for a disk of its own")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("no tmpfs: ", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fill takes all space on a disk until free is called.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	name := filepath.Join(dir, "filler")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// comesIn asks for a nickname in a room, and reports whether the host grants it in time.
func comesIn(t *testing.T, at, code, name string, patience time.Duration) bool {
	t.Helper()
	body := strings.NewReader(fmt.Sprintf(`{"name":%q}`, name))
	answer, err := (&http.Client{Timeout: patience}).Post("http://"+at+"/api/rooms/"+code+"/enter", "application/json", body)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, answer.Body)
	return answer.StatusCode == http.StatusOK
}

// wasLetIn reports whether a room's log mentions somebody.
func wasLetIn(r wire.Document, name string) bool {
	return strings.Contains(fmt.Sprint(r.Log), name+" has the page open")
}

// TestFullDiskOfService checks a public host with a full disk. It grants no place that a kill
// would take away again, and reports that it is not ready. Once there is space it continues.
func TestFullDiskOfService(t *testing.T) {
	t.Parallel()
	dir, at := tinyDisk(t), freeport.TCP(t)
	begin := func() *process {
		p := run(t, t.TempDir(), "serve", "serve", "--listen", at, "--store", filepath.Join(dir, "rooms.db"))
		p.awaits(`(?m)^page `)
		return p
	}
	p := begin()
	code, _ := opensRoom(t, at)
	granted := []string{"ann"}
	if !comesIn(t, at, code, "ann", patience) {
		t.Fatal("ann is not let in")
	}
	free := fill(t, dir)
	for i := range 20 { // the file's last page has space for some
		if name := fmt.Sprint("guest", i); comesIn(t, at, code, name, 3*time.Second) {
			granted = append(granted, name)
		}
	}
	if len(granted) > 15 {
		t.Errorf("on a full disk %d are let in", len(granted)-1)
	}
	answer, err := http.Get("http://" + at + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(text), "the disk is full") {
		t.Errorf("/readyz says %d %s", answer.StatusCode, text)
	}
	if lines := strings.Count(p.out.String(), "\n"); lines > 10 || !strings.Contains(p.out.String(), "the disk is full: what binds waits") {
		t.Errorf("the log has %d lines: %s", lines, p.out)
	}
	p.stop(syscall.SIGKILL)
	free()
	p = begin()
	awaitRoom(t, at, code, "all who were let in are there", func(r wire.Document) bool {
		return !slices.ContainsFunc(granted, func(name string) bool { return !wasLetIn(r, name) })
	})
	free = fill(t, dir)
	for i := range 20 {
		comesIn(t, at, code, fmt.Sprint("later", i), time.Second)
	}
	free()
	eventually(t, "the host is ready again", func() bool {
		answer, err := http.Get("http://" + at + "/readyz")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	p.awaits("the disk takes rooms again")
	if !comesIn(t, at, code, "zoe", patience) {
		t.Error("zoe is not let in once there is space")
	}
}
