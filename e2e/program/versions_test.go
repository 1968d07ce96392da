//go:build linux

package program_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/freeport"
)

// minecraftOf runs a real Minecraft server of a version.
func minecraftOf(t *testing.T, port uint16, version string) netip.AddrPort {
	t.Helper()
	at := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port)
	script := fmt.Sprintf(`require('minecraft-protocol').createServer({'online-mode': false, host: at, port, motd: '%s', maxPlayers: 20, version: '%s'})`, version, version)
	start(t, version, node(script)(t, t.TempDir(), at))
	file := writeFile(t, "one.txt", at.String()+"\n")
	every(t, serverPause, version+" answers", func() bool { return discoverOne(t, "minecraft", file, at).State == discovery.Answered })
	return at
}

// TestVersions checks that a server is left out if a player's version cannot enter it, and that
// people are told before they are sent anywhere. If there is no other server, they are told which
// player prevents it.
//
// It runs alone: a server of node.js answers late beside many others.
func TestVersions(t *testing.T) {
	newer, older := minecraftOf(t, 21500, "1.20.4"), minecraftOf(t, 21510, "1.8.9")
	both := writeFile(t, "both.txt", fmt.Sprintf("%v\n%v\n", newer, older))
	one := writeFile(t, "newer.txt", newer.String()+"\n")
	room := func(file, until string, is func(wire.Document) bool) wire.Document {
		at, home := freeport.TCP(t), t.TempDir()
		h := run(t, home, "host", "host", "--game", "minecraft", "--servers", file, "--listen", at, "--no-play",
			"--no-mdns", "--no-browser", "--players", "2")
		code, link := h.awaits(`(?m)^code +(\w+)$`)[1], h.awaits(`(?m)^link +(\S+)$`)[1]
		run(t, home, "ann", "join", link, "--name", "ann", "--launch", "never")
		run(t, home, "ben", "join", link, "--name", "ben", "--launch", "never", "--game-version", "1.8.9")
		return awaitRoom(t, at, code, until, is)
	}
	said := func(r wire.Document, text string) int {
		return slices.IndexFunc(r.Log, func(n wire.Note) bool { return strings.Contains(n.String(), text) })
	}
	sent := room(both, "everyone is sent somewhere", func(r wire.Document) bool { return r.Stage == wire.Launching })
	if s := sent.Selection; s.Chosen == nil || s.Chosen.Addr.AddrPort != older || s.Culled.WrongVersion != 1 ||
		!slices.Equal(s.Reasons[0].Players, []string{"ben"}) {
		t.Errorf("chosen %+v, left out %+v", s.Chosen, s.Reasons)
	}
	told, choice := said(sent, "ben has version 1.8.9, which doesn’t get into 1 server (1.20.4): left out"), said(sent, "everyone to")
	if told < 0 || choice < told {
		t.Errorf("told at %d, chosen at %d:\n%s", told, choice, logOf(sent))
	}
	failed := room(one, "nothing suits", func(r wire.Document) bool { return r.Stage == wire.Failed })
	if said(failed, "no server suits everyone: 1 with another version than ben has") < 0 {
		t.Errorf("the log:\n%s", logOf(failed))
	}
	for version, want := range map[string]netip.AddrPort{"1.20": newer, "47": older} {
		cmd := command(t, t.TempDir(), "discover", "--game", "minecraft", "--servers", both, "--strategy",
			"conventional", "--format", "csv", "--version", version)
		out, err := cmd.Output()
		if text := string(out); err != nil || !strings.Contains(text, want.String()) || strings.Count(text, "answered") != 1 {
			t.Errorf("--version %s: %v\n%s", version, err, text)
		}
	}
}
