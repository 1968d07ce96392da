//go:build linux

package program_test

import (
	"net/netip"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/report"
)

// TestDirectory asks a real Jamulus directory for its list, and the servers in it: a server that has registered, and
// the directory itself, which lists itself without an address.
func TestDirectory(t *testing.T) {
	t.Parallel()
	const jamulus = "/usr/bin/Jamulus"
	directory, server := netip.MustParseAddrPort("127.0.0.1:21190"), netip.MustParseAddrPort("127.0.0.1:21191")
	start(t, "directory", program(jamulus, "-s", "-n", "-p", "{port}", "--serverbindip", "{host}", "-e", "localhost",
		"-o", "The directory;Berlin;DE")(t, t.TempDir(), directory))
	start(t, "server", program(jamulus, "-s", "-n", "-p", "{port}", "--serverbindip", "{host}", "-e", directory.String(),
		"-u", "7", "-o", "Späti;Köln;DE")(t, t.TempDir(), server))
	want := map[netip.AddrPort]discovery.Info{
		directory: {Name: "The directory", MaxPlayers: 10, AsListed: true},
		server:    {Name: "Späti", MaxPlayers: 7, AsListed: true},
	}
	var got map[netip.AddrPort]discovery.Info
	// The server registers some time after it has started.
	every(t, serverPause, "the directory lists both servers, and they answer", func() bool {
		got = map[netip.AddrPort]discovery.Info{}
		cmd := command(t, t.TempDir(), "discover", "--game", "jamulus", "--master", directory.String(), "--lan", "off", "--name", "ann", "--json")
		out, _ := cmd.Output() // there may be no list yet
		r, err := report.Read(strings.NewReader(string(out)))
		if err != nil {
			return false
		}
		for _, s := range r.Servers {
			if s.State == discovery.Answered {
				got[s.Addr.AddrPort] = discovery.Info{Name: s.Name, Players: s.Players, MaxPlayers: s.MaxPlayers, AsListed: s.AsListed}
			}
		}
		return len(got) == len(want)
	})
	for at, info := range want {
		if got[at] != info {
			t.Errorf("%v says %+v, want %+v", at, got[at], info)
		}
	}
}
