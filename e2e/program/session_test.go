package program_test

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/host/wire"
	"muster/internal/freeport"
	"muster/selection"
)

// arena is a real server of the session, and its distance from each player.
type arena struct {
	name    string
	mapName string
	seats   int
	bots    int
	delays  [3]time.Duration
}

// The session's servers. The nearest two are unsuitable: one is full of bots and one has another
// map. Of the others, the last is nobody's favourite and the best for everyone together.
var arenas = []arena{
	{"full of bots", "oa_dm1", 4, 4, [3]time.Duration{10e6, 10e6, 10e6}},
	{"other map", "oa_dm2", 8, 0, [3]time.Duration{15e6, 15e6, 15e6}},
	{"near ann", "oa_dm1", 8, 0, [3]time.Duration{20e6, 160e6, 180e6}},
	{"near bob", "oa_dm1", 8, 0, [3]time.Duration{170e6, 20e6, 150e6}},
	{"near cat", "oa_dm1", 8, 0, [3]time.Duration{160e6, 150e6, 20e6}},
	{"in the middle", "oa_dm1", 8, 0, [3]time.Duration{70e6, 80e6, 60e6}},
}

var players = [3]string{"ann", "bob", "cat"}

func source(player int) netip.Addr { return netip.AddrFrom4([4]byte{127, 201, 0, byte(player + 1)}) }

func arenaAddr(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 202, 0, byte(i + 1)}), 27960)
}

// realAddr returns where the server itself listens, behind its relay.
func realAddr(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(31001+i))
}

// arenaAddresses belong to one test at a time.
var arenaAddresses sync.Mutex

// startServers runs real servers behind relays and returns a servers file once all of them answer.
// Another test that wants the same addresses waits until this one has ended.
func startServers(t *testing.T, servers []arena) string {
	t.Helper()
	arenaAddresses.Lock()
	t.Cleanup(arenaAddresses.Unlock) // runs last, when the servers have ended
	var list strings.Builder
	for i, a := range servers {
		openArena(t, realAddr(i), a.name, a.mapName, a.seats, a.bots)
		delays := map[netip.Addr]time.Duration{}
		for p := range players {
			delays[source(p)] = a.delays[p]
		}
		startRelay(t, relay{addr: arenaAddr(i), server: realAddr(i), delays: delays})
		fmt.Fprintln(&list, arenaAddr(i))
	}
	file := writeFile(t, "servers.txt", list.String())
	every(t, 1500*time.Millisecond, "all OpenArena servers are up, the bots in", func() bool {
		r := discoverReport(t, file, "--listen-addr", "127.201.0.9")
		for _, s := range r.Servers {
			if i := slices.IndexFunc(servers, func(a arena) bool { return a.name == s.Name }); i >= 0 && s.Players < servers[i].bots {
				return false
			}
		}
		return r.Summary.Answered == len(servers)
	})
	return file
}

// TestGameSession plays a whole session on real servers: a host and three peers as separate
// processes.
func TestGameSession(t *testing.T) {
	t.Parallel()
	file := startServers(t, arenas)
	at, home := freeport.TCP(t), t.TempDir()
	h := run(t, home, "host", "host", "--game", "openarena", "--servers", file, "--listen", at,
		"--no-play", "--no-mdns", "--no-browser", "--players", "3", "--map", "oa_dm1")
	code := h.awaits(`(?m)^code +(\w+)$`)[1]
	link := h.awaits(`(?m)^link +(\S+)$`)[1]
	if want := "http://" + at + "/#" + code + "_"; !strings.HasPrefix(link, want) {
		t.Errorf("link %q, want one that begins with %q and has a key", link, want)
	}

	script := writeFile(t, "launch.sh", "#!/bin/sh\necho \"$2\" >\"$1\"\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	for p, name := range players {
		run(t, home, name, "join", link, "--name", name, "--listen-addr", source(p).String(), "--launch", "auto",
			"--launch-command", script+" "+filepath.Join(out, name)+" {address}")
	}

	room := awaitRoom(t, at, code, "everyone has launched", func(r wire.Document) bool {
		launched := 0
		for _, m := range r.Members {
			if m.Launch == wire.LaunchStarted {
				launched++
			}
		}
		return launched == len(players)
	})
	checkSession(t, room)
	for _, name := range players {
		file := filepath.Join(out, name)
		eventually(t, name+"'s game was started", func() bool { return readFile(file) != "" })
		if got, want := readFile(file), arenaAddr(5).String(); got != want {
			t.Errorf("%s's game was started with %q, want %q", name, got, want)
		}
	}
}

func checkSession(t *testing.T, room wire.Document) {
	t.Helper()
	s := room.Selection
	if s == nil || s.Chosen == nil || s.Chosen.Addr.AddrPort != arenaAddr(5) {
		t.Fatalf("chosen: %+v, want %v\n%s", s, arenaAddr(5), logOf(room))
	}
	for p, name := range players {
		want := float64(arenas[5].delays[p]) / 1e6
		if got := s.Chosen.RTT[name]; got < want || got > want+frame {
			t.Errorf("%s's RTT there is %.1f ms, want about %.0f", name, got, want)
		}
	}
	if s.Culled.Full != 1 || s.Culled.Filtered != 1 {
		t.Errorf("culled %+v, want one full and one filtered", s.Culled)
	}
	causes := map[netip.AddrPort]selection.Cause{}
	for _, r := range s.Reasons {
		causes[r.Addr.AddrPort] = r.Cause
	}
	if causes[arenaAddr(0)] != selection.Full || causes[arenaAddr(1)] != selection.Filtered {
		t.Errorf("reasons %v, want %v full and %v filtered", causes, arenaAddr(0), arenaAddr(1))
	}
}

// fleetFile runs a loopback fleet and returns its servers file.
func fleetFile(t *testing.T, servers int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "servers.csv")
	f := run(t, t.TempDir(), "fleet", "fleet", "--servers", fmt.Sprint(servers), "--game", "openarena", "--master-port", "0", "--write", file)
	f.awaits(`master at`)
	return file
}

// TestKilledPeer checks that a player's program that is killed while it measures continues after a
// restart.
func TestKilledPeer(t *testing.T) {
	t.Parallel()
	file := fleetFile(t, 1200)
	at, home := freeport.TCP(t), t.TempDir()
	h := run(t, home, "host", "host", "--game", "openarena", "--servers", file, "--listen", at, "--no-play",
		"--no-mdns", "--no-browser", "--players", "2", "--strategy", "conventional")
	link := h.awaits(`(?m)^link +(\S+)$`)[1]
	code := h.awaits(`(?m)^code +(\w+)$`)[1]
	args := func(p int) []string {
		return []string{"join", link, "--name", players[p], "--rate", "300", "--launch", "never", "--listen-addr", fmt.Sprintf("127.200.%d.1", p)}
	}
	run(t, home, "ann", args(0)...)
	bob := run(t, home, "bob", args(1)...)
	awaitRoom(t, at, code, "bob has measured a part", func(r wire.Document) bool { return memberOf(r, "bob").Probed > 200 })
	bob.stop(syscall.SIGKILL)
	awaitRoom(t, at, code, "the host notices", func(r wire.Document) bool { return !memberOf(r, "bob").Connected })
	before := memberOf(awaitRoom(t, at, code, "the room", func(wire.Document) bool { return true }), "bob").Probed
	again := run(t, home, "bob", args(1)...)
	room := awaitRoom(t, at, code, "everyone is sent to a server", func(r wire.Document) bool { return r.Stage == wire.Launching })
	for _, want := range []string{"lost the connection to bob", "bob is back", "bob has measured 1,200 servers"} {
		if !strings.Contains(logOf(room), want) {
			t.Errorf("the log does not say %q:\n%s", want, logOf(room))
		}
	}
	if before <= 200 {
		t.Errorf("the host lost bob's results: %d left", before)
	}
	if len(room.Selection.Players) != 2 {
		t.Errorf("chosen for %v", room.Selection.Players)
	}
	again.awaits(`connect|start it yourself`)
}

// TestRestartedHost checks a host that is killed while everyone measures. After a restart it has
// its room, the peers reconnect, and the session goes on.
func TestRestartedHost(t *testing.T) {
	t.Parallel()
	file := fleetFile(t, 1200)
	at, home := freeport.TCP(t), t.TempDir()
	args := []string{"host", "--game", "openarena", "--servers", file, "--listen", at, "--no-play", "--no-mdns",
		"--no-browser", "--players", "2", "--strategy", "conventional"}
	h := run(t, home, "host", args...)
	link := h.awaits(`(?m)^link +(\S+)$`)[1]
	code := h.awaits(`(?m)^code +(\w+)$`)[1]
	for p := range 2 {
		run(t, home, players[p], "join", link, "--name", players[p], "--rate", "200", "--launch", "never",
			"--listen-addr", fmt.Sprintf("127.200.%d.1", p))
	}
	awaitRoom(t, at, code, "everyone has measured a part", func(r wire.Document) bool {
		return len(r.Members) == 2 && r.Members[0].Probed > 500 && r.Members[1].Probed > 500
	})
	h.stop(syscall.SIGKILL)
	h = run(t, home, "host", args...)
	h.awaits("going on with room " + code)
	room := awaitRoom(t, at, code, "everyone is sent to a server", func(r wire.Document) bool { return r.Stage == wire.Launching })
	if !strings.Contains(logOf(room), "the host has restarted") {
		t.Errorf("the log does not tell of the restart:\n%s", logOf(room))
	}
	for _, name := range players[:2] {
		if m := memberOf(room, name); m.Probed != 1200 {
			t.Errorf("%s has %d results of 1200", name, m.Probed)
		}
	}
}

func memberOf(r wire.Document, name string) wire.Member {
	for _, m := range r.Members {
		if m.Name == name {
			return m
		}
	}
	return wire.Member{}
}
