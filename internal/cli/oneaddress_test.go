package cli_test

import (
	"bytes"
	"testing"
	"time"

	"muster/internal/sim"
	"muster/internal/sim/fleet"
)

// TestOneAddress checks that two players on one machine find a server if each server answers an
// address once a second, as Xonotic's do.
func TestOneAddress(t *testing.T) {
	t.Parallel()
	servers, err := fleet.Start(t.Context(), fleet.Options{
		World: sim.Night2005(4, 1), Kind: fleet.Quake3, Game: fleet.Game{Protocol: 71}, Gap: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { servers.Close() })
	for i := range servers.Servers() {
		servers.Update(i, func(s *sim.Server) {
			s.Info.MaxPlayers, s.Info.Players, s.Info.Bots, s.Info.Password = 16, 0, 0, false
			s.Info.MinPing, s.Info.MaxPing = 0, 0
		})
	}
	var list bytes.Buffer
	if err := servers.WriteServers(&list); err != nil {
		t.Fatal(err)
	}
	ann := begin(t, "host", "--here", "--new", "--game", "openarena", "--servers",
		writeFile(t, "servers.csv", list.String()), "--listen", "127.0.0.1:0",
		"--no-mdns", "--no-browser", "--lan", "off", "--players", "2", "--vote=false", "--once", "--launch", "never", "--name", "ann")
	link := ann.says(t, `(?m)^link +(\S+)$`)[1]
	bob := begin(t, "join", link, "--no-browser", "--once", "--launch", "never", "--name", "bob")
	ann.says(t, `(?m)^everyone to `)
	bob.says(t, `(?m)^openarena .*\+connect `)
}
