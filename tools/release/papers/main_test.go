package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"
)

// TestManualIsAnybodys checks that the manual names the reader's folders, not those of the machine
// that made the release.
func TestManualIsAnybodys(t *testing.T) {
	t.Setenv("HOME", "/home/whoever-builds")
	t.Setenv("XDG_CONFIG_HOME", "/srv/whoever-builds/config")
	t.Setenv("USER", "whoever-builds")
	xdg.Reload()
	folder := t.TempDir()
	if err := manual(folder, time.Unix(1_800_000_000, 0).UTC()); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(folder, "man1", "*.1.gz"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		if text := unpacked(t, page); strings.Contains(strings.ReplaceAll(text, `\`, ""), "whoever-builds") {
			t.Errorf("%s tells where it was made:\n%s", filepath.Base(page), text)
		}
	}
	host := strings.ReplaceAll(unpacked(t, filepath.Join(folder, "man1", "muster-host.1.gz")), `\`, "")
	if want := filepath.Join("~/.config", "muster", "config.toml"); !strings.Contains(host, want) {
		t.Errorf("%s is not in the manual of muster host:\n%s", want, host)
	}
}

func unpacked(t *testing.T, file string) string {
	t.Helper()
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
