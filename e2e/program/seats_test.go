package program_test

import (
	"testing"
	"time"

	"muster/host/wire"
	"muster/internal/freeport"
)

// TestSeatsForAll checks a room whose only OpenArena server is full of bots. The room waits for two
// seats, sends nobody before both are free, and then sends both players at once.
func TestSeatsForAll(t *testing.T) {
	t.Parallel()
	file := startServers(t, []arena{{"full of bots", "oa_dm1", 4, 4, [3]time.Duration{20e6, 20e6}}})
	at, home := freeport.TCP(t), t.TempDir()
	h := run(t, home, "host", "host", "--game", "openarena", "--servers", file, "--listen", at, "--no-play",
		"--no-mdns", "--no-browser", "--players", "2", "--wait-for-seats=5m")
	link := h.awaits(`(?m)^link +(\S+)$`)[1]
	code := h.awaits(`(?m)^code +(\w+)$`)[1]
	for p := range 2 {
		run(t, home, players[p], "join", link, "--name", players[p], "--launch", "never", "--listen-addr", source(p).String())
	}
	h.awaits(`waiting for 2 seats for everyone on`)
	waiting := awaitRoom(t, at, code, "the room waits", func(r wire.Document) bool { return r.Stage == wire.Waiting })
	if waiting.Connect != "" {
		t.Errorf("somebody is sent to %s", waiting.Connect)
	}
	rcon(t, realAddr(0), "kick allbots")
	h.awaits(`seats are free on .*full of bots`)
	room := awaitRoom(t, at, code, "both are sent there", func(r wire.Document) bool { return r.Stage == wire.Launching })
	if room.Connect != arenaAddr(0).String() {
		t.Errorf("they are sent to %q", room.Connect)
	}
}
