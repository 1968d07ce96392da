//go:build linux

package program_test

import (
	"net/netip"
	"testing"
)

// TestHouseholdAt checks that a household behind a router plays on its own server through a public
// host outside. The host can reach neither the household's network nor a master. The players'
// programs found the server themselves, and the host asks them about no other server in the
// household.
func TestHouseholdAt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	serve := h.start(h.outside, "serve", "",
		command(t, t.TempDir(), "serve", "--listen", netip.AddrPortFrom(outside, 7777).String(), "--master",
			netip.AddrPortFrom(outside, 27950).String()))
	serve.awaits(`page  http`)
	den := netip.MustParseAddrPort(indoors(3) + ":27960")
	anywhere := netip.AddrPortFrom(netip.IPv4Unspecified(), den.Port()) // bound to one address, it would not hear broadcasts
	h.start(h.rooms[3], "den", "", openArenaCommand(t, anywhere, "Den", "oa_dm1", 16, 0)).awaits("AAS initialized")
	play := func(i int, args ...string) *process {
		return h.start(h.rooms[i], householders[i], "",
			command(t, t.TempDir(), append(args, "--name", householders[i], "--launch", "never", "--once")...))
	}
	ann := play(0, "host", "--at", "http://198.51.100.1:7777", "--game", "openarena", "--players", "3", "--no-browser")
	link := ann.awaits(`(?m)^link  (\S+)$`)[1]
	bob, cat := play(1, "join", link), play(2, "join", link)
	for _, p := range []*process{ann, bob, cat} {
		p.awaits(`only servers on players’ own networks are listed: `)
		p.awaits(`1 of them on the network of ann, (bob and cat|cat and bob)`)
		p.awaits(`openarena \+connect ` + den.String())
	}
	ann.awaits(`everyone to Den \(10\.0\.0\.5:27960\)`)
}

// TestHouseholdHosts checks a room on one network, where no list leads to a server. The players'
// own computers are measured at their local addresses, and the room says who should host.
func TestHouseholdHosts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	play := func(i int, args ...string) *process {
		return h.start(h.rooms[i], householders[i], "",
			command(t, t.TempDir(), append(args, "--name", householders[i], "--launch", "never", "--no-browser", "--can-host")...))
	}
	ann := play(0, "host", "--game", "openarena", "--players", "3", "--servers",
		writeFile(t, "servers.txt", indoors(3)+":1\n"), "--lan", "off", "--no-mdns")
	link := ann.awaits(`(?m)^link  (\S+)$`)[1]
	bob, cat := play(1, "join", link), play(2, "join", link)
	for _, p := range []*process{ann, bob, cat} {
		p.awaits(`host it on (ann|bob|cat)'s computer: \d+ ms on average, \d+ at worst`)
	}
}
