package cli_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrongDownloads checks that a host reports downloads that it cannot give before the room
// opens.
func TestWrongDownloads(t *testing.T) {
	list := writeFile(t, "list.txt", "127.0.0.1:1\n")
	host := func(more ...string) []string {
		return append([]string{"host", "--game", "openarena", "--servers", list, "--listen", "127.0.0.1:0"}, more...)
	}
	checkAll(t, []wrong{
		{"no folder", host("--downloads", "nowhere"), 1,
			[]string{"cannot give programs from nowhere", "a folder with the programs of a release"}},
		{"a file", host("--downloads", list), 1, []string{"cannot give programs from " + list}},
		{"releases in the clear", host("--releases", "http://example.org/releases"), 2,
			[]string{`--releases: "http://example.org/releases" is not encrypted`, "https://"}},
		{"releases that are no address", host("--releases", "\x1b[2Jreleases"), 2, []string{"is no address of releases", "download/v1.2.0/"}},
		{"a public host's", []string{"serve", "--public-url", "http://127.0.0.1", "--listen", "127.0.0.1:0",
			"--releases", "file:///etc"}, 2, []string{"--releases"}},
	})
}

// TestHostileDownloads checks a folder of files with hostile names. The terminal shows one line,
// the page shows nothing, and only builds of Muster are given. A build that belongs to no release
// gets nothing from the release page, and says so to a user who asked for that.
func TestHostileDownloads(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"\x1b[2J\x1b]0;own\a", "x\nmuster: all is well", "\u202eexe.retsum",
		"<script>alert(1)", strings.Repeat("a", 250), "-rf", "muster.exe.minisig"} {
		if err := os.Symlink("/etc/passwd", filepath.Join(folder, name)); err != nil && !errors.Is(err, os.ErrInvalid) {
			t.Skip("this system has no such names:", err)
		}
	}
	list := writeFile(t, "list.txt", "127.0.0.1:1\n")
	p := begin(t, "host", "--game", "openarena", "--servers", list, "--listen", "127.0.0.1:0", "--no-play",
		"--no-browser", "--no-mdns", "--downloads", folder, "--releases", "http://127.0.0.1:9/releases")
	link := p.says(t, `http://127\.0\.0\.1:\d+/`)[0]
	p.says(t, "is no build of Muster")
	p.says(t, "nothing is got from the project's releases: this program is of none")
	said := p.out.String() + p.err.String()
	if strings.ContainsAny(said, "\x1b\a\u202e") || strings.Contains(said, "\nmuster: all is well") {
		t.Errorf("a terminal would obey %q", said)
	}
	reply, err := http.Get(link + "get/programs.json")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	var offer struct {
		Programs []struct{ Away bool }
		Refused  []any
	}
	if err := json.NewDecoder(reply.Body).Decode(&offer); err != nil || len(offer.Programs) != 1 ||
		offer.Programs[0].Away || len(offer.Refused) > 0 {
		t.Errorf("the page offers %+v, %v", offer, err)
	}
}
