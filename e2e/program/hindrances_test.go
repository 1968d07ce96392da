package program_test

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/wire"
	"muster/internal/freeport"
)

// TestMutePeer checks a program that says hello and then nothing more. After a while the session
// goes on without it.
func TestMutePeer(t *testing.T) {
	t.Parallel()
	file := fleetFile(t, 200)
	at := freeport.TCP(t)
	h := run(t, t.TempDir(), "host", "host", "--game", "openarena", "--servers", file, "--listen", at, "--no-play",
		"--no-mdns", "--no-browser", "--players", "2")
	code := h.awaits(`(?m)^code +(\w+)$`)[1]
	mute(t, at, code)
	ann := run(t, t.TempDir(), "ann", "join", at, "--code", code, "--name", "ann", "--launch", "never", "--listen-addr", "127.200.0.1")
	room := awaitRoom(t, at, code, "ann is sent to a server", func(r wire.Document) bool { return r.Stage == wire.Launching })
	if !slices.Equal(room.Selection.Players, []string{"ann"}) {
		t.Errorf("chosen for %v", room.Selection.Players)
	}
	if m := memberOf(room, "mute"); !m.Connected || !m.LeftOut {
		t.Errorf("the mute player: %+v, want one that is connected and left out", m)
	}
	if want := "going on without mute"; !strings.Contains(logOf(room), want) {
		t.Errorf("the log does not say %q:\n%s", want, logOf(room))
	}
	ann.awaits("going on without mute")
}

// mute joins a room without a program, keeps the connection alive and says nothing.
func mute(t *testing.T, at, code string) {
	t.Helper()
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+at+"/peer", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	hello := fmt.Sprintf(`{"type":"hello","version":%d,"code":%q,"name":"mute"}`, wire.Version, code)
	if err := ws.WriteMessage(websocket.TextMessage, []byte(hello)); err != nil {
		t.Fatal(err)
	}
	go func() { // answers pings
		for {
			if _, _, err := ws.ReadMessage(); err != nil {
				return
			}
		}
	}()
}

// TestServerFillsUp checks that the next server replaces the favourite if bots take its seats after
// the choice, and that everyone reads why.
func TestServerFillsUp(t *testing.T) {
	t.Parallel()
	servers := []arena{
		{"the favourite", "oa_dm1", 4, 1, [3]time.Duration{20e6, 20e6}},
		{"the next", "oa_dm1", 8, 0, [3]time.Duration{90e6, 90e6}},
		{"far away", "oa_dm1", 8, 0, [3]time.Duration{190e6, 190e6}},
	}
	file := startServers(t, servers)
	at := freeport.TCP(t)
	h := run(t, t.TempDir(), "host", "host", "--game", "openarena", "--servers", file, "--listen", at, "--no-play",
		"--no-mdns", "--no-browser", "--players", "2",
		"--long-look=10s") // time for the bots to come; a short look would be over before
	link := h.awaits(`(?m)^link +(\S+)$`)[1]
	code := h.awaits(`(?m)^code +(\w+)$`)[1]
	var peers []*process
	for p, name := range players[:2] {
		peers = append(peers, run(t, t.TempDir(), name, "join", link, "--name", name, "--launch", "never", "--listen-addr", source(p).String()))
	}
	chosen := awaitRoom(t, at, code, "a server is chosen", func(r wire.Document) bool { return r.Stage == wire.Chosen })
	if chosen.Selection.Chosen.Addr.AddrPort != arenaAddr(0) {
		t.Fatalf("chosen %v, want the favourite, %v", chosen.Selection.Chosen.Addr, arenaAddr(0))
	}
	for _, bot := range []string{"jenna", "gargoyle"} { // the first was there from the start
		rcon(t, realAddr(0), "addbot "+bot+" 3")
	}
	room := awaitRoom(t, at, code, "everyone is sent to a server", func(r wire.Document) bool { return r.Stage == wire.Launching })
	if room.Connect != arenaAddr(1).String() {
		t.Errorf("everyone is sent to %s, want the next, %v\n%s", room.Connect, arenaAddr(1), logOf(room))
	}
	for _, want := range []string{"the favourite", "the next"} {
		if !strings.Contains(logOf(room), want) {
			t.Errorf("the log does not speak of %s:\n%s", want, logOf(room))
		}
	}
	peers[0].awaits(`the favourite .* turned out to be full: the next .* takes its place`)
}

// rcon sends a server a command as its administrator.
func rcon(t *testing.T, server netip.AddrPort, command string) {
	t.Helper()
	conn, err := net.Dial("udp4", server.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "\xff\xff\xff\xffrcon %s %s\n", rconPassword, command); err != nil {
		t.Fatal(err)
	}
}
