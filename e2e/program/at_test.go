package program_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"muster/internal/freeport"
)

// settled returns a new home folder with a table of games.
func settled(t *testing.T, games string) string {
	t.Helper()
	home := t.TempDir()
	if games != "" {
		folder := filepath.Join(home, "config", "muster")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "games.toml"), []byte(games), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// TestOwnGameAt checks that a public host plays a game that it does not know. Only the organiser
// and ann have the game in their tables. Bob's program measures its servers, too, and he is shown
// where to go. In between, the organiser's program is killed; the same command then continues in
// the same room.
func TestOwnGameAt(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "list.csv")
	fleet := run(t, t.TempDir(), "fleet", "fleet", "--servers", "20", "--master-port", "0", "--write", list)
	fleet.awaits(`answering; Ctrl-C ends it`)
	from := fleet.awaits(`--listen-addr (\S+)`)[1]
	at := "http://" + freeport.TCP(t)
	serve := run(t, t.TempDir(), "serve", "serve", "--listen", strings.TrimPrefix(at, "http://"))
	serve.awaits(`page  ` + at)
	mine := "[game.mymod]\nname = \"My Mod\"\nprotocol = \"quake3\"\nport = 27999\nlaunch = [\"echo\", \"started\", \"{address}\"]\n"
	org := settled(t, mine)
	common := []string{"--listen-addr", from, "--launch", "never"}
	hosts := func(name string) *process {
		return run(t, org, name, append(
			[]string{"host", "--game", "mymod", "--at", at, "--servers", list, "--name", "org", "--players", "3", "--no-browser"}, common...)...)
	}
	first := hosts("the organiser")
	first.awaits(`doesn't know My Mod`)
	link := first.awaits(`(?m)^link  (\S+)$`)[1]
	first.awaits("org is here")
	first.stop(syscall.SIGKILL)
	ann := run(t, settled(t, mine), "ann", append([]string{"join", link, "--name", "ann"}, common...)...)
	ann.awaits("lost the connection to org|you're in")
	again := hosts("the organiser again")
	again.awaits("going on with room .* from last time")
	if same := again.awaits(`(?m)^link  (\S+)$`)[1]; same != link {
		t.Errorf("the same command goes on at %s, and was at %s", same, link)
	}
	again.awaits("org is back|connected again|20 servers listed|org is here")
	bob := run(t, settled(t, ""), "bob", append([]string{"join", link, "--name", "bob"}, common...)...)
	bob.awaits(`the organiser added My Mod`)
	for _, p := range []*process{ann, again} {
		p.awaits(`echo started 127\.\S+\n`)
	}
	bob.awaits(`this Muster doesn't know mymod: join by hand, at 127\.`)
	again.awaits("bob joins by hand")
	if out := serve.out.String(); strings.Contains(out, "echo") || strings.Contains(out, "mymod") {
		t.Errorf("the public host says of an own game:\n%s", out)
	}
	again.stop(os.Interrupt)
	again.awaits("the room stays open without this program")
	hosts("the organiser a third time").awaits("going on with room .* from last time")
}
