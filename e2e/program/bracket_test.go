package program_test

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/host/wire"
	"muster/internal/freeport"
)

// TestBracket checks that the league of examples/bracket plays eight clans of two down to one. It
// opens all rooms of a round at once by its key. People enter by their side's link. Each room tells
// the league by webhook where the match is, with the pings of both sides.
func TestBracket(t *testing.T) {
	t.Parallel()
	const key = "9f2c8e61b7d04a35a1e0"
	home, at, hook := t.TempDir(), freeport.TCP(t), freeport.TCP(t)
	_, port, err := net.SplitHostPort(hook)
	if err != nil {
		t.Fatal(err)
	}
	list, leagues := filepath.Join(home, "list.csv"), filepath.Join(home, "leagues.txt")
	if err := os.WriteFile(leagues, []byte("cup "+key+" 7 json+http://"+hook+"/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fleet := run(t, home, "fleet", "fleet", "--servers", "200", "--world", "css2007", "--master-port", "0", "--write", list)
	eventually(t, "the fleet writes its list", func() bool { return readFile(list) != "" })
	defer fleet.stop(os.Interrupt)
	host := run(t, home, "serve", "serve", "--listen", at, "--store", filepath.Join(home, "rooms.db"), "--webhooks", "--leagues", leagues,
		"--servers", list)
	host.awaits(`http://\S+`)

	clans, from := map[string][]string{}, map[string]string{}
	for i, clan := range []string{"Nightjars", "Tin Foxes", "Larks", "Otters", "Badgers", "Kites", "Moles", "Swifts"} {
		from[clan] = []string{"127.200.4.1", "127.200.9.1"}[i%2] // as the fleet has it, Germany and the Netherlands
		clans[clan] = []string{strings.ToLower(clan[:3]) + "-1", strings.ToLower(clan[:3]) + "-2"}
	}
	given, err := json.Marshal(clans)
	if err != nil {
		t.Fatal(err)
	}
	site := exec.CommandContext(t.Context(), "python3", "../../examples/bracket/bracket.py", "http://"+at, key, "openarena", port)
	site.Stdin, site.Stderr = strings.NewReader(string(given)), os.Stderr
	out, err := site.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	played, last := 0, ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var said struct {
			Match  string
			Sides  map[string]string
			Result *wire.MatchRecord
			Winner string
		}
		if err := json.Unmarshal(lines.Bytes(), &said); err != nil {
			t.Fatalf("%v in %s", err, lines.Text())
		}
		if said.Match != "" { // anybody may have seen the room's name
			forged := `{"kind":"choice","match":{"id":"x-1","room":"` + said.Match + `"}}`
			answer, err := http.Post("http://"+hook+"/", "application/json", strings.NewReader(forged))
			if err != nil {
				t.Fatal(err)
			}
			if answer.Body.Close(); answer.StatusCode != http.StatusForbidden {
				t.Errorf("a stranger's post is answered %s", answer.Status)
			}
		}
		for clan, link := range said.Sides {
			for _, name := range clans[clan] {
				run(t, t.TempDir(), said.Match+" "+name, "join", link, "--name", name, "--launch", "never", "--once",
					"--listen-addr", from[clan])
			}
		}
		if m := said.Result; m != nil {
			played, last = played+1, said.Winner
			t.Logf("%s: %s at %s, %.0f and %.0f ms", m.Room, m.Title(), m.Server.Name, m.Sides[0].MeanMS, m.Sides[1].MeanMS)
			for _, side := range m.Sides {
				if len(side.Players) != 2 || side.MeanMS <= 0 || side.Captain == "" || side.Players[0].PingMS <= 0 ||
					!slices.Contains(clans[side.Name], side.Players[0].Name) || !slices.Contains(clans[side.Name], side.Players[1].Name) {
					t.Errorf("%s: a side is %+v", m.Room, side)
				}
			}
			if m.Server.Connect == "" || len(m.Moves) != 1 || m.Moves[0].Kind != wire.Pick || time.Since(m.At) > time.Hour {
				t.Errorf("%s: the match is %+v", m.Room, m)
			}
		}
	}
	if err := site.Wait(); err != nil || played != 7 || clans[last] == nil {
		t.Errorf("%d matches were played, and %q has won: %v", played, last, err)
	}
}
