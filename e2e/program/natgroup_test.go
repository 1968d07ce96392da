//go:build linux

package program_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/host/wire"
)

// The household has one public address for the game servers and the host, which are both outside.
var (
	outside      = netip.MustParseAddr("198.51.100.1")
	household    = netip.MustParseAddr("198.51.100.254")
	householders = [4]string{"ann", "bob", "cat", "dan"}
)

// indoors returns a player's address at home, which nobody outside sees.
func indoors(player int) string { return fmt.Sprintf("10.0.0.%d", player+2) }

// house is a household behind a router that translates addresses.
type house struct {
	*network
	outside string
	rooms   [len(householders)]string
}

func newHouse(t *testing.T) *house {
	h := &house{network: newNetwork(t)}
	h.outside = h.namespace("outside")
	h.plug(h.outside, "eth0", "out", outside.String()+"/24")
	h.in(h.router, "ip", "addr", "add", household.String()+"/24", "dev", "out")
	h.in(h.router, "ip", "link", "set", "out", "up")
	h.in(h.router, "ip", "link", "add", "br0", "type", "bridge")
	h.in(h.router, "ip", "addr", "add", "10.0.0.1/24", "dev", "br0")
	h.in(h.router, "ip", "link", "set", "br0", "up")
	for i, name := range householders {
		port := "port-" + name
		h.rooms[i] = h.namespace(name)
		h.plug(h.rooms[i], "eth0", port, indoors(i)+"/24")
		h.in(h.router, "ip", "link", "set", port, "master", "br0", "up")
		h.in(h.rooms[i], "ip", "route", "add", "default", "via", "10.0.0.1")
	}
	h.in(h.router, "nft", "add table ip nat; add chain ip nat out { type nat hook postrouting priority 100; }; "+
		"add rule ip nat out oifname out masquerade")
	return h
}

// arenas starts real servers outside, and returns their list once all answer.
func (h *house) arenas(servers int) string {
	h.t.Helper()
	var list strings.Builder
	for i := range servers {
		addr := netip.AddrPortFrom(outside, uint16(27960+i))
		name := fmt.Sprintf("arena %d", i)
		h.start(h.outside, name, "", openArenaCommand(h.t, addr, name, "oa_dm1", 16, 0))
		fmt.Fprintln(&list, addr)
	}
	file := writeFile(h.t, "servers.txt", list.String())
	every(h.t, 1500*time.Millisecond, "all OpenArena servers are up", func() bool {
		out, _ := exec.Command("ip", append([]string{"netns", "exec", h.outside}, // it may find none yet
			command(h.t, h.t.TempDir(), "discover", "--game", "openarena", "--servers", file, "--strategy",
				"conventional", "--json").Args...)...).Output()
		return strings.Contains(string(out), fmt.Sprintf(`"answered":%d`, servers))
	})
	return file
}

// session plays round after round in a room of the household. It returns how many servers were
// culled in each round because somebody could not reach them.
func (h *house) session(servers string, rounds int, joining func(player int) []string) (unreachable []int, last wire.Document) {
	h.t.Helper()
	at := outside.String() + ":7777"
	host := h.start(h.outside, "host", "", command(h.t, h.t.TempDir(), "host", "--game", "openarena", "--servers", servers, "--listen", at,
		"--strategy", "conventional", // a search would stop at the first server next door
		"--no-play", "--no-mdns", "--no-browser", "--players", fmt.Sprint(len(householders))))
	defer host.stop(os.Interrupt)
	link := host.awaits(`(?m)^link +(\S+)$`)[1]
	code := host.awaits(`(?m)^code +(\w+)$`)[1]
	secret := host.awaits(`#` + code + `\S*\.(\w+)`)[1]
	told := []*process{host}
	for i, name := range householders {
		args := append([]string{"join", link, "--name", name, "--launch", "never"}, joining(i)...)
		p := h.start(h.rooms[i], name, "", command(h.t, h.t.TempDir(), args...))
		defer p.stop(os.Interrupt)
		told = append(told, p)
	}
	defer func() { checkDiscreet(h.t, last, told) }()
	by := client(h.outside)
	for round := 1; round <= rounds; round++ {
		var room wire.Document
		eventually(h.t, fmt.Sprintf("round %d is over", round), func() bool {
			newest, ok := roomBy(h.t, by, at, code)
			room = newest
			return ok && room.Round == round && (room.Stage == wire.Launching || room.Stage == wire.Failed)
		})
		if room.Selection == nil {
			h.t.Fatalf("round %d has no choice:\n%s", round, logOf(room))
		}
		unreachable, last = append(unreachable, room.Selection.Culled.Unreachable), room
		request, err := http.NewRequest("POST", "http://"+at+"/api/rooms/"+code+"/go", nil)
		if err != nil {
			h.t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+secret)
		reply, err := by.Do(request)
		if err != nil {
			h.t.Fatal(err)
		}
		reply.Body.Close()
	}
	return unreachable, last
}

// checkDiscreet checks that neither the room nor any program's output reveals where a player sits,
// not even the host's output.
func checkDiscreet(t *testing.T, room wire.Document, told []*process) {
	t.Helper()
	text, err := json.Marshal(room)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"the room": string(text)}
	for _, p := range told {
		texts[p.name] = p.out.String()
	}
	for name, text := range texts {
		for _, address := range []string{household.String(), "10.0.0."} {
			if strings.Contains(text, address) {
				t.Errorf("%s tells of %s:\n%s", name, address, text)
			}
		}
	}
}

// TestHostAtHome checks a player who hosts at home. The host's player forms a site with the
// neighbours on the local network, and with no player from elsewhere.
func TestHostAtHome(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	file := h.arenas(3)
	host := h.start(h.rooms[0], "ann", "", command(t, t.TempDir(), "host", "--game", "openarena", "--servers", file, "--name", "ann",
		"--strategy", "conventional", // a search would stop at the first server next door
		"--launch", "never", "--no-mdns", "--no-browser", "--players", "4"))
	link := host.awaits(`(?m)^link +(\S+)$`)[1]
	if want := "http://" + indoors(0) + ":7777/"; !strings.HasPrefix(link, want) {
		t.Fatalf("the link is %s, want one to %s", link, want)
	}
	code := host.awaits(`(?m)^code +(\w+)$`)[1]
	for i, name := range householders[1:3] {
		h.start(h.rooms[i+1], name, "", command(t, t.TempDir(), "join", link, "--name", name, "--launch", "never"))
	}
	// dan came through a tunnel that ends on the host's machine.
	h.start(h.rooms[0], "dan", "", command(t, t.TempDir(), "join", "127.0.0.1", "--code", code, "--name", "dan", "--launch", "never"))
	by := client(h.rooms[0])
	var newest wire.Document
	eventually(t, "everyone is sent to a server", func() bool {
		var ok bool
		newest, ok = roomBy(t, by, indoors(0)+":7777", code)
		return ok && newest.Stage == wire.Launching
	})
	for _, want := range []string{"3 players behind one address have measured 3 servers together, 3 answered",
		"dan has measured 3 servers, 3 answered"} {
		if !strings.Contains(logOf(newest), want) {
			t.Errorf("the log does not say %q:\n%s", want, logOf(newest))
		}
	}
}

// TestHousehold checks four players behind one address. The servers answer an address ten times,
// and then once a second. If every player asks all servers, servers fall silent and are culled. If
// the players share the questions, none is culled.
//
// It runs alone, but for the two houses beside each other: on a busy machine nobody asks fast enough to
// be refused.
func TestHousehold(t *testing.T) {
	const servers, rounds = 6, 3
	t.Run("each for itself", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		unreachable, _ := h.session(h.arenas(servers), rounds, func(player int) []string { return []string{"--listen-addr", indoors(player)} })
		t.Logf("culled as unreachable, of %d servers, round by round: %v", servers, unreachable)
		if slices.Max(unreachable) == 0 {
			t.Error("servers fell silent on nobody: there is nothing to compare with")
		}
	})
	t.Run("together", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		unreachable, room := h.session(h.arenas(servers), rounds, func(int) []string { return nil })
		t.Logf("culled as unreachable, of %d servers, round by round: %v", servers, unreachable)
		if slices.Max(unreachable) > 0 {
			t.Errorf("culled as unreachable, though all are there:\n%s", logOf(room))
		}
		if want := fmt.Sprintf("%d players behind one address have measured %d servers together, %d answered",
			len(householders), servers, servers); !strings.Contains(logOf(room), want) {
			t.Errorf("the log does not say %q:\n%s", want, logOf(room))
		}
	})
}
