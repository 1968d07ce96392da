//go:build linux

package lan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/lists/lan"
)

var friday = lan.Room{Name: "Friday night", Game: "openarena", Organiser: "Ann", Players: 1, Seats: 4, Version: "0.6", Port: 7777}

// one checks that a list has exactly one room, at these addresses.
func one(name string, addrs ...string) func(look) bool {
	return func(l look) bool {
		if len(l.Rooms) != 1 || l.Rooms[0].Name != name || l.Err != "" {
			return false
		}
		var got []string
		for _, a := range l.Rooms[0].Addrs {
			got = append(got, a.String())
		}
		return len(addrs) == 0 || slices.Equal(got, addrs)
	}
}

func none(l look) bool { return len(l.Rooms) == 0 && l.Err == "" }

// TestRoomOnTheLAN follows a room's life from two other machines, and from another
// program on the host's own machine.
func TestRoomOnTheLAN(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	host := newMachine(t).plug(n, "eth0", "10.7.0.1/24").gateway("10.7.0.254")
	ann := newMachine(t).plug(n, "eth0", "10.7.0.2/24").gateway("10.7.0.254")
	bob := newMachine(t).plug(n, "eth0", "10.7.0.3/24").gateway("10.7.0.254")

	early := ann.role("browse")
	early.sees("an empty list", none)
	room := host.role("announce")
	began := time.Now()
	room.room(friday)
	early.sees("the new room", one("Friday night"))
	t.Logf("a new room is seen after %v", time.Since(began).Round(time.Millisecond))

	late, own := bob.role("browse"), host.role("browse")
	for _, p := range []*process{late, own} {
		l := p.sees("the room", one("Friday night"))
		t.Logf("an old room is seen after %v", l.After.Round(time.Millisecond))
		got := l.Rooms[0]
		if got.Room != friday || got.ID == "" || got.Addrs[0].String() != "10.7.0.1:7777" {
			t.Errorf("found %+v, want %+v at 10.7.0.1", got, friday)
		}
	}

	fuller := friday
	fuller.Players, fuller.Name = 2, `Friday "\ Nacht é`
	room.room(fuller)
	for _, p := range []*process{early, late, own} {
		if l := p.sees("the change", one(fuller.Name)); l.Rooms[0].Room != fuller {
			t.Errorf("found %+v, want %+v", l.Rooms[0].Room, fuller)
		}
	}

	closed := time.Now()
	room.end()
	early.sees("that the room has closed", none)
	t.Logf("a closed room is gone after %v", time.Since(closed).Round(time.Millisecond))
	for _, p := range []*process{late, own} {
		p.sees("that the room has closed", none)
	}

	early.end()
	late.end()
	own.end()
}

// TestSeveralRooms checks rooms of the same name, on one host and on two.
func TestSeveralRooms(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	host := newMachine(t).plug(n, "eth0", "10.7.0.1/24").gateway("10.7.0.254")
	other := newMachine(t).plug(n, "eth0", "10.7.0.2/24").gateway("10.7.0.254")
	for _, p := range []*process{host.role("announce"), host.role("announce"), other.role("announce")} {
		p.room(friday)
	}
	newMachine(t).plug(n, "eth0", "10.7.0.3/24").gateway("10.7.0.254").role("browse").
		sees("three rooms", func(l look) bool {
			at := 0
			for _, f := range l.Rooms {
				if f.Addrs[0].Addr().String() == "10.7.0.1" {
					at++
				}
			}
			return len(l.Rooms) == 3 && at == 2
		})
}

// TestTwoCards checks a host on two networks. A player on both finds one room with two
// addresses. A player on one finds it by its address there. On Linux each card's
// responder answers questions from the other.
func TestTwoCards(t *testing.T) {
	t.Parallel()
	left, right := newNetwork(t), newNetwork(t)
	host := newMachine(t).plug(left, "eth0", "10.7.0.1/24").plug(right, "wlan0", "10.8.0.1/24").gateway("10.7.0.254")
	room := host.role("announce")
	room.room(friday)

	for _, tt := range []struct {
		name    string
		machine *machine
		want    []string
	}{
		{"both", newMachine(t).plug(left, "eth0", "10.7.0.3/24").plug(right, "eth1", "10.8.0.3/24").
			gateway("10.7.0.254"), []string{"10.7.0.1:7777", "10.8.0.1:7777"}},
		{"left", newMachine(t).plug(left, "eth0", "10.7.0.2/24").gateway("10.7.0.254"), []string{"10.7.0.1:7777"}},
		{"right", newMachine(t).plug(right, "eth0", "10.8.0.2/24").gateway("10.8.0.254"), []string{"10.8.0.1:7777"}},
	} {
		peer := tt.machine.role("browse")
		l := peer.sees("one room", func(l look) bool {
			return one("Friday night")(l) && len(v4(l.Rooms[0])) == len(tt.want)
		})
		if got := v4(l.Rooms[0]); !slices.Equal(got, tt.want) {
			t.Errorf("%s: found at %v, want %v", tt.name, got, tt.want)
		}
		peer.end()
	}
	room.end()
}

// v4 returns the IPv4 addresses of a room.
func v4(f lan.Found) []string {
	var list []string
	for _, a := range f.Addrs {
		if a.Addr().Is4() {
			list = append(list, a.String())
		}
	}
	return list
}

// TestCardsComeAndGo checks a cable that is plugged in after the room was opened, and
// pulled again.
func TestCardsComeAndGo(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	host := newMachine(t)
	peer := newMachine(t).plug(n, "eth0", "10.7.0.2/24").gateway("10.7.0.254").role("browse")
	room := host.role("announce")
	room.room(friday)
	peer.sees("an empty list", none)
	host.plug(n, "eth0", "10.7.0.1/24")
	peer.sees("the room", one("Friday night"))
	host.ip("addr", "flush", "dev", "eth0")
	host.ip("addr", "add", "10.7.0.9/24", "dev", "eth0")
	peer.sees("the room's new address", one("Friday night", "10.7.0.9:7777"))
	host.ip("link", "del", "eth0")
	peer.sees("that the room is gone", none)
	room.end()
	peer.end()
}

// TestWithoutRouter checks a network that is only a switch, where no card has a route for IPv4
// multicast. It also checks networks with IPv4 or IPv6 alone.
func TestWithoutRouter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, addr string
		v4Only     bool
		gateway    string
	}{
		{"no default route", "10.7.0.1/24", false, ""},
		{"IPv4 alone", "10.7.0.1/24", true, "10.7.0.254"},
		{"IPv4 alone, no default route", "10.7.0.1/24", true, ""},
		{"IPv6 alone", "", false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNetwork(t)
			host, peer := newMachine(t), newMachine(t)
			if tt.v4Only {
				onlyIPv4(host)
				onlyIPv4(peer)
			}
			peerAddr := strings.Replace(tt.addr, ".1/", ".2/", 1)
			room := host.plug(n, "eth0", tt.addr).role("announce")
			room.room(friday)
			peer.plug(n, "eth0", peerAddr)
			if tt.gateway != "" {
				peer.gateway(tt.gateway)
			}
			browsing := peer.role("browse")
			l := browsing.sees("the room", one("Friday night"))
			t.Logf("found at %v", l.Rooms[0].Addrs)
			if tt.addr == "" && l.Rooms[0].Addrs[0].Addr().Zone() != "eth0" {
				t.Errorf("an address of the link without its card: %v", l.Rooms[0].Addrs)
			}
			room.end()
			browsing.end()
		})
	}
}

func onlyIPv4(m *machine) {
	run(m.t, "ip", "netns", "exec", m.name, "sh", "-c",
		"echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
}

// TestNowhereToLook checks that a machine that cannot look for rooms reports why, and
// goes on. Without IPv6 the DNS library needs a route for IPv4 multicast.
func TestNowhereToLook(t *testing.T) {
	t.Parallel()
	peer := newMachine(t)
	onlyIPv4(peer)
	browsing := peer.role("browse")
	browsing.sees("why nothing is found", func(l look) bool { return strings.Contains(l.Err, "no network card") })
	n := newNetwork(t)
	peer.plug(n, "eth0", "10.7.0.2/24")
	browsing.sees("that there is a card now", func(l look) bool { return l.Err == "" })
	newMachine(t).plug(n, "eth0", "10.7.0.1/24").role("announce").room(friday)
	browsing.sees("the room", one(friday.Name))
	browsing.end()
}

// TestInterfaces checks which cards are used.
func TestInterfaces(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	m := newMachine(t).plug(n, "eth0", "10.7.0.1/24")
	m.ip("link", "add", "spare0", "type", "veth", "peer", "name", "spare1")
	var list []lan.Interface
	out := m.role("interfaces").line("a list", func(string) bool { return true })
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, i := range list {
		got[i.Name] = fmt.Sprintf("%s %v", i.Unused, i.Broadcast)
	}
	for name, want := range map[string]string{
		"lo":     "reaches nobody but this machine []",
		"eth0":   " [10.7.0.1/24]",
		"spare0": "is switched off []",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}

// TestServersOnTheLAN finds two real OpenArena servers on another machine and one on
// its own.
func TestServersOnTheLAN(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	server := newMachine(t).plug(n, "eth0", "10.7.0.1/24")
	peer := newMachine(t).plug(n, "eth0", "10.7.0.2/24")
	server.openArena("27960", "First")
	server.openArena("27962", "Second")
	peer.openArena("27961", "Own")

	var got []lan.Server
	out := peer.role("servers").line("a list", func(string) bool { return true })
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"10.7.0.1:27960 First", "10.7.0.1:27962 Second", "10.7.0.2:27961 Own"}
	var names []string
	for _, s := range got {
		names = append(names, s.Addr.String()+" "+s.Info.Name)
		if s.Info.Map != "oa_dm1" || s.Info.MaxPlayers != 8 {
			t.Errorf("%s says %+v", s.Addr, s.Info)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("found %q, want %q", names, want)
	}
}

// TestWorldsOnTheLAN finds a world of Minecraft on another machine, and on its own,
// though a game there listens at the same port.
func TestWorldsOnTheLAN(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	first := newMachine(t).plug(n, "eth0", "10.7.0.1/24").gateway("10.7.0.254")
	peer := newMachine(t).plug(n, "eth0", "10.7.0.2/24").gateway("10.7.0.254")
	for _, m := range []*machine{first, peer} {
		m.role("world").line("that it is open", func(s string) bool { return s == "it is open" })
	}
	game := peer.role("worlds") // another listener
	var got []lan.Server
	out := peer.role("worlds").line("a list", func(string) bool { return true })
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range got {
		names = append(names, s.Addr.String()+" "+s.Info.Name)
	}
	if want := []string{"10.7.0.1:54321 ann - Home", "10.7.0.2:54321 ann - Home"}; !slices.Equal(names, want) {
		t.Errorf("found %q, want %q", names, want)
	}
	if other := game.line("a list", func(string) bool { return true }); other != out {
		t.Errorf("another listener on the machine gets %s, want %s", other, out)
	}
}

func (m *machine) openArena(port, name string) {
	m.t.Helper()
	home := m.t.TempDir()
	args := strings.Fields("+set com_basegame baseoa +set fs_basepath /usr/lib/openarena-server +set com_homepath home" +
		" +set com_legacyprotocol 71 +set com_protocol 71 +set cl_motd 0 +set ttycon 0 +set dedicated 1 +set net_enabled 1" +
		" +set sv_master1 \"\" +set sv_master2 \"\" +set com_hunkMegs 64 +set sv_maxclients 8")
	args = append(args, "+set", "fs_homepath", home, "+set", "net_port", port, "+set", "sv_hostname", name, "+map", "oa_dm1")
	p := m.startMerged(nil, "/usr/lib/ioquake3/ioq3ded", args...)
	p.line("that it is up", func(s string) bool {
		return strings.Contains(s, "AAS initialized") || strings.Contains(s, "Game Initialization")
	})
	go func() {
		for range p.lines { // keep reading, so that it does not block
		}
	}()
}
