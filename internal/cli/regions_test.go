package cli_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ownGames gives the user a table of games for the rest of the test.
func ownGames(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "muster", "games.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(file) })
}

// endpoint returns the address of a listener that closes every connection at once.
func endpoint(t *testing.T, at string) string {
	t.Helper()
	l, err := net.Listen("tcp", at+":0")
	if err != nil {
		t.Skip(err) // systems without the whole of 127.0.0.0/8
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// TestRegionRoom plays in a game that has regions in place of servers. Muster measures their endpoints, the one that
// answers is chosen, and everyone is told how to set it.
func TestRegionRoom(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	ownGames(t, fmt.Sprintf(`[game.arena]
name = "Arena"
[game.arena.regions]
how = "Press F8 and choose {set}"
list = [
  { name = "Frankfurt", set = "EU 1", measure = %q },
  { name = "Lima", measure = %q },
]
`, endpoint(t, "127.0.0.2"), gone.Addr()))
	common := []string{"--once", "--no-browser", "--timeout", "1s"}
	host := begin(t, append([]string{"host", "--game", "arena", "--listen", "127.0.0.1:0", "--name", "org", "--players", "2"}, common...)...)
	link := host.says(t, `(?m)^link  (\S+)$`)[1]
	ann := begin(t, append([]string{"join", link, "--name", "ann"}, common...)...)
	for _, p := range []*player{host, ann} {
		p.says(t, `everyone to the region Frankfurt\. Press F8 and choose EU 1\n`)
		p.exits(t, 0)
		for _, wrong := range []string{"connect by hand", "0/0"} {
			if strings.Contains(p.out.String()+p.err.String(), wrong) {
				t.Errorf("a region has no %q", wrong)
			}
		}
	}
}

// TestPastedRegions plays in a game that measures its regions itself. The players paste the pings,
// and the region with the lowest average is chosen.
func TestPastedRegions(t *testing.T) {
	ownGames(t, `[game.arena]
name = "Arena"
[game.arena.regions]
how = "Choose {set}"
dump = "sdr"
command = "ping_dump"
list = [{ name = "Frankfurt", code = "fra" }, { name = "Lima", code = "lim" }, { name = "Virginia", code = "iad" }]
`)
	dump := func(pings string) string {
		return writeFile(t, "dump.txt", "[SDR Ping] Ping data is current\n"+pings)
	}
	orgs := dump("    fra: 20ms, status 1\n    lim: 150ms, status 1\n    iad: 90ms, status 1\n")
	anns := dump("    fra: 210ms, status 1\n    lim: 80ms, status 1\n    iad: 100ms, status 1\n")
	common := []string{"--once", "--no-browser"}
	host := begin(t, append([]string{"host", "--game", "arena", "--listen", "127.0.0.1:0", "--name", "org", "--players", "2",
		"--regions", orgs}, common...)...)
	link := host.says(t, `(?m)^link  (\S+)$`)[1]
	ann := begin(t, append([]string{"join", link, "--name", "ann", "--regions", anns}, common...)...)
	for _, p := range []*player{host, ann} {
		p.says(t, "3 regions measured by the game, as you pasted them")
		p.says(t, `everyone to the region Virginia\. Choose Virginia\n`)
		p.exits(t, 0)
		if log := p.out.String() + p.err.String(); strings.Contains(log, "2001:db8") || strings.Contains(log, "your address") {
			t.Errorf("a region that the game measures has an address:\n%s", log)
		}
	}
}

// TestRegionsWithoutADump checks that a player whose game has to measure its regions is told how.
func TestRegionsWithoutADump(t *testing.T) {
	ownGames(t, `[game.arena.regions]
how = "Choose {set}"
dump = "sdr"
command = "ping_dump"
list = [{ name = "Frankfurt", code = "fra" }, { name = "Lima", code = "lim" }]
`)
	host := begin(t, "host", "--game", "arena", "--listen", "127.0.0.1:0", "--name", "org", "--players", "1", "--no-browser")
	host.says(t, "arena measures its regions itself, so Muster needs what it prints")
	host.says(t, "hint: enter ping_dump in the game’s console")
	wrong := writeFile(t, "dump.txt", "hello")
	wrong2 := muster(t, "join", "192.0.2.1", "--code", "TABOMI", "--regions", wrong)
	if wrong2.code == 0 || !strings.Contains(wrong2.err, "the dump has no line such as") {
		t.Errorf("%+v", wrong2)
	}
	if got := muster(t, "discover", "--game", "arena", "--lan", "off"); got.code != 2 || !strings.Contains(got.err, "ping_dump") {
		t.Errorf("%+v", got)
	}
}
