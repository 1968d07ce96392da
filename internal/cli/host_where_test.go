//go:build unix

package cli_test

import (
	"strings"
	"testing"
)

// opensWhere opens a room that looks for a place among two beacons of this machine, for a group of one.
func opensWhere(t *testing.T, more ...string) *player {
	places := writeFile(t, "places.txt", "The Den, "+answersAt(t)+"\nThe Barn, "+answersAt(t)+"\n")
	return begin(t, append([]string{"host", "--where", "--listen", "127.0.0.1:0", "--new", "--no-browser", "--no-mdns",
		"--name", "org", "--players", "1", "--places", places, "--launch", "never", "--lan", "off"}, more...)...)
}

// TestHostWhere checks that a group without a game and a server finds a place: this machine measures, and the
// terminal says where a server should be.
func TestHostWhere(t *testing.T) {
	t.Parallel()
	h := opensWhere(t, "--once")
	h.says(t, `(?m)^link  \S+$`)
	h.says(t, "is open: where should our server stand")
	h.says(t, `host it in The (Den|Barn): \d+ ms on average, \d+ at worst`)
	h.exits(t, 0)
}

// TestHostWhereStarts checks that the organiser's command starts a server at the place that the room has found,
// and that the room goes there.
func TestHostWhereStarts(t *testing.T) {
	t.Parallel()
	server := gameServer(t, 0)
	command := "sh '" + writeFile(t, "start.sh", "echo "+server+"; while :; do sleep 0.1; done") + "' {place} {game}"
	h := opensWhere(t, "--game", "openarena", "--start-command", command, "--start", "auto", "--once")
	h.says(t, "host it in The (Den|Barn)")
	h.says(t, "our own server is running")
	h.says(t, "connect by hand: 127|by hand")
	h.exits(t, 0)
}

// TestHostWhereRefused checks what a room that looks for a place cannot do.
func TestHostWhereRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a command without a game": {[]string{"--where", "--start-command", "sh"}, "none is said"},
		"either, without a game":   {[]string{"--where=either"}, "game"},
		"something else":           {[]string{"--where=here"}, "here"},
	} {
		got := muster(t, append([]string{"host", "--listen", "127.0.0.1:0", "--no-browser"}, c.args...)...)
		if got.code != 2 || !strings.Contains(got.err, c.want) {
			t.Errorf("%s: exit status %d, %s", name, got.code, got.err)
		}
	}
}
