package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/adrg/xdg"
)

// TestEmptyToken checks a player whose place in the room was not kept. The player is told why the
// room treats them as new, and what to do.
func TestEmptyToken(t *testing.T) {
	host := begin(t, "host", "--game", "openarena", "--servers", writeFile(t, "servers.txt", "127.0.0.1:1\n"), "--listen", "127.0.0.1:0",
		"--no-browser", "--no-mdns", "--no-play", "--launch", "never", "--lan", "off")
	link := host.says(t, `join  muster join (\S+)`)[1]
	joins := func(t *testing.T) *player {
		return begin(t, "join", link, "--name", "ann of TestEmptyToken", "--launch", "never", "--lan", "off")
	}
	tokens := func() []string {
		files, _ := filepath.Glob(filepath.Join(xdg.StateHome, "muster", "tokens", "*"))
		return files
	}
	before := tokens()
	var file string
	t.Run("the first time", func(t *testing.T) {
		joins(t)
		host.says(t, "ann of TestEmptyToken is here")
		for _, other := range tokens() {
			if !slices.Contains(before, other) {
				file = other
			}
		}
	})
	if err := os.Truncate(file, 0); err != nil {
		t.Fatal(err)
	}
	joins(t).says(t, `warning: the room takes you for someone new: \S+ is empty, as a crash or a full disk may leave it\. If your name is taken`)
}
