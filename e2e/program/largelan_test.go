//go:build linux

package program_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/lists/lan"
	"muster/host/wire"
)

// largeLAN is a network of four subnets with a router between them, and of an island that no route
// leads to:
//
//	north 10.1.0.0/24 ─┐        ┌─ south 10.3.0.0/24
//	the host, ann      ├ router ┤
//	east  10.2.0.0/24 ─┘        └─ west  10.4.0.0/24      island 10.5.0.0/24
//
// Each subnet is a bridge. Multicast ends at the router.
type largeLAN struct{ *network }

var subnets = []string{"north", "east", "south", "west", "island"}

func newLargeLAN(t *testing.T) *largeLAN {
	n := &largeLAN{newNetwork(t)}
	for i, subnet := range subnets {
		n.in(n.router, "ip", "link", "add", subnet, "type", "bridge")
		n.in(n.router, "ip", "link", "set", subnet, "up")
		if subnet != "island" {
			n.in(n.router, "ip", "addr", "add", fmt.Sprintf("10.%d.0.1/24", i+1), "dev", subnet)
		}
	}
	return n
}

// machine connects a new machine to subnets, the first with the way to the others.
func (n *largeLAN) machine(name string, addrs ...string) string {
	n.t.Helper()
	machine := n.namespace(name)
	for i, addr := range addrs {
		subnet := int(netip.MustParseAddr(addr).As4()[1])
		port, card := fmt.Sprintf("p%d-%d", n.machines, i), fmt.Sprintf("eth%d", i)
		n.plug(machine, card, port, addr+"/24")
		n.in(n.router, "ip", "link", "set", port, "master", subnets[subnet-1], "up")
		if i == 0 && subnets[subnet-1] != "island" {
			n.in(machine, "ip", "route", "add", "default", "via", fmt.Sprintf("10.%d.0.1", subnet))
		}
	}
	return machine
}

// muster starts the command on a machine, and types lines.
func (n *largeLAN) muster(machine, name, typed string, args ...string) *process {
	n.t.Helper()
	cmd := command(n.t, n.t.TempDir(), args...)
	return n.start(machine, name, typed, cmd)
}

// largeRoom is a room whose host is in the north.
type largeRoom struct {
	*largeLAN
	at, link, code, secret, key string
	client                      *http.Client
}

const northern = "10.1.0.5"

// host opens a room for some players.
func (n *largeLAN) host(players int, args ...string) *largeRoom {
	n.t.Helper()
	machine := n.machine("host", northern)
	p := n.muster(machine, "host", "", append([]string{
		"host", "--game", "openarena", "--strategy", "conventional", "--no-play", "--no-browser",
		"--new", "--room", "Friday", "--players", fmt.Sprint(players),
	}, args...)...)
	r := &largeRoom{largeLAN: n, at: northern + ":7777", client: client(machine)}
	r.link = p.awaits(`(?m)^link +(\S+)$`)[1]
	r.code = p.awaits(`(?m)^code +(\w+)$`)[1]
	r.key = r.link[strings.Index(r.link, "#")+1:]
	r.secret = p.awaits(`#` + r.code + `\S*\.(\w+)`)[1]
	if !strings.Contains(r.link, northern+":7777/") {
		n.t.Fatalf("the link is %s", r.link)
	}
	return r
}

// finds starts muster join without a link on a machine, and waits for the room that it finds.
func (r *largeRoom) finds(machine, name, code, announced string) *process {
	r.t.Helper()
	var p *process
	every(r.t, time.Second, name+" finds the room", func() bool {
		p = r.muster(machine, name, "y\n", "join", "--code", code, "--name", name, "--launch", "never", "--no-browser")
		eventually(r.t, name+" has looked", func() bool {
			return strings.Contains(p.out.String(), "Friday") || strings.Contains(p.out.String(), "no room found")
		})
		if strings.Contains(p.out.String(), "Friday") {
			return true
		}
		p.stop(os.Interrupt)
		return false
	})
	p.awaits(announced)
	return p
}

// order gives the room an order as its organiser.
func (r *largeRoom) order(what string, body any) {
	r.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		r.t.Fatal(err)
	}
	request, err := http.NewRequest("POST", "http://"+r.at+"/api/rooms/"+r.code+"/"+what, bytes.NewReader(data))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+r.secret)
	request.Header.Set("Content-Type", "application/json")
	reply, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode >= 300 {
		r.t.Fatalf("%s: %s", what, reply.Status)
	}
}

// await polls the room until is returns true.
func (r *largeRoom) await(what string, is func(wire.Document) bool) (newest wire.Document) {
	r.t.Helper()
	eventually(r.t, what, func() bool {
		room, ok := roomBy(r.t, r.client, r.at, r.code)
		newest = room
		return ok && is(room)
	})
	return newest
}

// withoutIP returns the arguments of a game server without the address that it is bound to.
func withoutIP(args []string) []string {
	at := slices.Index(args, "net_ip")
	return slices.Delete(slices.Clone(args), at-1, at+2)
}

// TestLargeLAN checks a room on a LAN of four subnets. The host's own announcement reaches one of
// them. In each of the others one player knows the link, and a second finds the room by what the
// first one's program announces. All play a round together. The host finds a game server in its own
// subnet, and players' programs find others in theirs. Those whose route leads to a server measure it.
func TestLargeLAN(t *testing.T) {
	t.Parallel()
	n := newLargeLAN(t)
	var arenas []*process
	for name, addr := range map[string]string{"Northern": "10.1.0.9", "Eastern": "10.2.0.9", "Cellar": "10.4.0.9"} {
		at := netip.AddrPortFrom(netip.MustParseAddr(addr), 27960)
		cmd := openArenaCommand(t, at, name, "oa_dm1", 16, 0)
		cmd.Args = append(cmd.Args[:1:1], append([]string{"+set", "net_ip", "0.0.0.0"}, withoutIP(cmd.Args[1:])...)...) // for broadcasts
		arenas = append(arenas, n.start(n.machine(name, addr), name, "", cmd))
	}
	for _, arena := range arenas {
		arena.awaits("AAS initialized")
	}
	// A firewall keeps the other subnets from the western server.
	n.in(n.router, "nft", "add table ip f; add chain ip f forward { type filter hook forward priority 0; }; "+
		"add rule ip f forward ip daddr 10.4.0.9 drop")
	r := n.host(8, "--servers", writeFile(t, "servers.txt", "10.1.0.77:27960\n"), "--lan", "on")
	r.finds(n.machine("ann", "10.1.0.2"), "ann", r.code, `Friday +openarena +\d+ of 8`)
	for i, pair := range [][2]string{{"bob", "ben"}, {"cat", "cem"}, {"dan", "dov"}} {
		there := fmt.Sprintf("10.%d.0.", i+2)
		first := n.muster(n.machine(pair[0], there+"2"), pair[0], "", "join", r.link, "--name", pair[0], "--launch", "never", "--no-browser")
		first.awaits(pair[0] + " is here")
		second := r.finds(n.machine(pair[1], there+"3"), pair[1], r.code, "announced by "+pair[0]+", whom this computer doesn’t know")
		second.awaits("Nothing\\s+shows\\s+that\\s+Friday\\s+is\\s+really\\s+there")
	}
	// eli's second card leads to an island, from where nobody reaches the host.
	n.muster(n.machine("eli", "10.4.0.8", "10.5.0.8"), "eli", "", "join", r.link, "--name", "eli", "--launch", "never", "--no-browser")
	lost := r.finds(n.machine("lost", "10.5.0.3"), "lost", r.code, "announced by eli")
	lost.awaits("no host answers at 10.1.0.5:7777")
	lost.awaits("no\\s+route\\s+leads\\s+there")

	room := r.await("everyone is sent to the server", func(d wire.Document) bool { return d.Stage == wire.Launching })
	for _, name := range []string{"ann", "bob", "ben", "cat", "cem", "dan", "dov", "eli"} {
		if !strings.Contains(fmt.Sprint(room.Selection.Ranking[0]), name) {
			t.Errorf("%s has no ping in %+v", name, room.Selection.Ranking[0])
		}
	}
	text := logOf(room)
	if want := "Cellar (10.4.0.9:27960) is on a local network that ann, bob, ben, cat and cem can’t reach"; !strings.Contains(text, want) {
		t.Errorf("the log does not say %q:\n%s", want, text)
	}
	for _, not := range []string{"Northern (10.1.0.9:27960) is on", "Eastern (10.2.0.9:27960) is on", "silent"} {
		if strings.Contains(text, not) {
			t.Errorf("the log says %q:\n%s", not, text)
		}
	}
	if len(room.Selection.Ranking) != 2 {
		t.Errorf("the choice is between %+v", room.Selection.Ranking)
	}

	// The organiser switches it off, and later on again.
	finder := n.machine("finder", "10.3.0.77")
	looks := func(want string) {
		t.Helper()
		every(t, time.Second, "a finder reads "+want, func() bool {
			p := r.muster(finder, "finder", "n\n", "join", "--name", "fin", "--launch", "never", "--no-browser")
			<-p.done
			return strings.Contains(p.out.String(), want)
		})
	}
	looks("announced by cat")
	r.order("settings", map[string]any{"settings": map[string]any{"announce": false}})
	looks("no room found on the local network")
	r.order("settings", map[string]any{"settings": map[string]any{"announce": nil}})
	looks("announced by ")
}

// TestLargeLANSwitchedOff checks that no program announces a room of which the organiser said so.
func TestLargeLANSwitchedOff(t *testing.T) {
	t.Parallel()
	n := newLargeLAN(t)
	r := n.host(4, "--servers", writeFile(t, "servers.txt", "10.2.0.9:27960\n"), "--announce=false")
	bob := n.muster(n.machine("bob", "10.2.0.2"), "bob", "", "join", r.link, "--name", "bob", "--launch", "never", "--no-browser")
	r.await("bob is in", func(d wire.Document) bool { return strings.Contains(logOf(d), "bob") })
	p := n.muster(n.machine("ben", "10.2.0.3"), "ben", "", "join", "--name", "ben", "--launch", "never")
	p.awaits("no room found on the local network")
	ann := n.muster(n.machine("ann", "10.1.0.2"), "ann", "n\n", "join", "--name", "ann", "--launch", "never")
	ann.awaits(`Friday +openarena`) // the host's own announcement is another matter
	bob.stop(os.Interrupt)
}

// forging is the environment variable with the room that a forger announces, until standard input ends.
const forging = "MUSTER_TEST_FORGED"

// TestForger is the forger's program on its machine; see forge.
func TestForger(t *testing.T) {
	if os.Getenv(forging) == "" {
		return
	}
	var room lan.Room
	if err := json.Unmarshal([]byte(os.Getenv(forging)), &room); err != nil {
		t.Fatal(err)
	}
	rooms := make(chan lan.Room, 1)
	rooms <- room
	if err := lan.Announce(context.Background(), rooms, slog.Default()); err != nil {
		t.Error(err)
	}
}

// forge announces a room from a machine.
func (n *largeLAN) forge(machine string, room lan.Room) *process {
	n.t.Helper()
	data, err := json.Marshal(room)
	if err != nil {
		n.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestForger$")
	cmd.Env = append(os.Environ(), forging+"="+string(data))
	return n.start(machine, "forger", "", cmd)
}

// TestForgedAnnouncement checks what becomes of somebody who announces the room at another address:
// the certificate refuses the impostor, a link refuses an announcement that leads to another host,
// and without a certificate people read that nobody vouches for it.
func TestForgedAnnouncement(t *testing.T) {
	t.Parallel()
	servers := writeFile(t, "servers.txt", "10.2.0.9:27960\n")
	for _, isEncrypted := range []bool{true, false} {
		t.Run(fmt.Sprintf("TLS %v", isEncrypted), func(t *testing.T) {
			n := newLargeLAN(t)
			var tls []string
			if isEncrypted {
				tls = []string{"--tls"}
			}
			r := n.host(4, append(tls, "--servers", servers)...)
			_, fingerprint, _ := strings.Cut(r.key, "~")
			evil := n.machine("mallory", "10.2.0.66")
			n.muster(evil, "mallory", "", append([]string{
				"host", "--game", "openarena", "--servers", servers, "--no-play", "--no-browser", "--no-mdns", "--new", "--open",
			}, tls...)...).awaits(`(?m)^link +(\S+)$`)
			room := lan.Room{
				Name: "Friday", Game: "openarena", Organiser: "olga", Via: "mallory", ID: "0a1b2c", Port: 7777,
				Host: netip.MustParseAddrPort("10.2.0.66:7777"), Fingerprint: fingerprint,
			}
			finder := n.machine("ben", "10.2.0.3")
			if !isEncrypted {
				forger := n.forge(evil, room)
				r.finds(finder, "ben", r.code, "announced by mallory, whom this computer doesn’t know").
					awaits("If you’re\\s+not\\s+sure,\\s+ask\\s+the\\s+organiser\\s+for\\s+the\\s+link")
				forger.stop(os.Kill)
				return
			}
			forger := n.forge(evil, room)
			r.finds(finder, "ben", r.code, "announced by mallory").awaits("shows a different certificate")
			forger.stop(os.Kill)
			room.Fingerprint = strings.Repeat("A", len(fingerprint))
			forger = n.forge(evil, room)
			var p *process
			every(t, time.Second, "ben's link refuses another host", func() bool {
				p = n.muster(finder, "ben", "y\n", "join", "--code", r.key, "--name", "ben", "--launch", "never")
				<-p.done
				return !strings.Contains(p.out.String(), "no room found")
			})
			p.awaits("isn't the one in your link")
			forger.stop(os.Kill)
			// The same link leads to the host by what a player's program announces.
			n.muster(n.machine("bob", "10.2.0.2"), "bob", "", "join", r.link, "--name", "bob", "--launch", "never", "--no-browser")
			r.finds(finder, "ben", r.key, "announced by bob")
			p = r.muster(n.machine("olga", "10.1.0.9"), "olga", "", "join", r.link, "--name", "olga", "--launch", "never", "--no-browser")
			p.awaits("ben")
		})
	}
}
