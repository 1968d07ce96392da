package room_test

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
)

// Two households, as a public host sees them.
const house, other = "203.0.113.1", "198.51.100.1"

func around(n *session, name, from string) {
	n.Origins[name] = room.OriginOf(netip.MustParseAddr(from), "", false)
}

// den returns a server of a household's network.
func den(addr, name string) wire.NearServer {
	return wire.NearServer{Addr: netip.MustParseAddrPort(addr), Info: discovery.Info{Name: name, Map: "oa_dm1", MaxPlayers: 16}}
}

func (n *session) discovers(name string, servers ...wire.NearServer) {
	n.Helper()
	got[wire.Look](n, name)
	n.Says(name, wire.Near{Game: "openarena", Servers: servers})
}

func looking(players int) wire.Settings {
	s := settings(players)
	s.LookAround = true
	return s
}

// TestHouseholds checks that two households can have servers at the same private address. Neither
// reaches the other's server, whatever answers there. A server that the internet lists is reached
// by its private address from its own household.
func TestHouseholds(t *testing.T) {
	n := newSession(t, looking(0))
	around(n, "ann", house)
	around(n, "bob", house)
	around(n, "zoe", other)
	n.Join("ann", "bob", "zoe")
	for _, name := range []string{"ann", "bob", "zoe"} {
		if kinds := n.Took(name); kinds != "welcome look" {
			t.Errorf("%s is sent %s", name, kinds)
		}
	}
	mine, mapped := den("192.168.1.5:27960", "Den"), den("192.168.1.6:27961", "Open den")
	theirs := den("192.168.1.5:27960", "Zoe's")
	outside := netip.MustParseAddrPort(house + ":27961")
	n.Says("ann", wire.Near{Game: "openarena", Servers: []wire.NearServer{mine, mapped}})
	n.Says("bob", wire.Near{Game: "openarena", Servers: []wire.NearServer{mapped, mine, den("192.168.1.77:27970", "Not there")}})
	n.Says("zoe", wire.Near{Game: "openarena", Servers: []wire.NearServer{theirs}})
	n.Goes()
	n.Gets(append(listOf(2), discovery.Server{Addr: outside}))
	n.Noted("5 servers listed", "3 of them on the network of ann and bob")
	list := map[string][]netip.AddrPort{}
	for _, name := range []string{"ann", "bob", "zoe"} {
		for _, s := range got[wire.List](n, name).Servers {
			list[name] = append(list[name], s.Addr)
		}
	}
	notThere := netip.MustParseAddrPort("192.168.1.77:27970")
	from := func(public netip.AddrPort) []netip.AddrPort {
		return []netip.AddrPort{addrOf(0), addrOf(1), mine.Addr, notThere, public}
	}
	want := map[string][]netip.AddrPort{"ann": from(mapped.Addr), "bob": from(mapped.Addr), "zoe": from(outside)}
	if !reflect.DeepEqual(list, want) {
		t.Errorf("they are sent %v, want %v", list, want)
	}
	lostOnes := func(servers ...int) (results []discovery.Result) {
		for _, s := range servers {
			results = append(results, discovery.Result{Server: s, State: discovery.Lost})
		}
		return results
	}
	// Only bob asks the servers that only bob has found.
	for name, want := range map[string][]discovery.Result{"ann": lostOnes(3), "zoe": lostOnes(2, 3)} {
		if report := got[wire.Report](n, name); !reflect.DeepEqual(report.Results, want) {
			t.Errorf("%s hears as known: %v, want %v", name, report.Results, want)
		}
	}
	same(t, n.Room, restored(t, n.Room))
	n.Gone("bob")
	n.Join("bob")
	if list := got[wire.List](n, "bob").Servers; list[4].Addr != mapped.Addr {
		t.Errorf("bob comes back and is sent %v", list)
	}
	n.Informs("ann", 12, 12, 12, 12, 12)
	n.Informs("zoe", 12, 12, 12, 12, 12)
	n.Measures("zoe", 90, 90, 1, 1, 20)
	for _, name := range []string{"ann", "bob"} {
		n.Measures(name, 90, 90, skip, skip, 1)
		n.Measures(name, skip, skip, 1)
	}
	n.Done("zoe")
	n.Wait(time.Second)
	for _, name := range []string{"ann", "bob", "zoe"} {
		n.Verifies(name)
	}
	n.InStage(wire.Launching)
	for name, want := range map[string]string{"ann": mapped.Addr.String(), "bob": mapped.Addr.String(), "zoe": outside.String()} {
		if launch := got[wire.Launch](n, name); launch.Address != want {
			t.Errorf("%s is sent to %s, want %s", name, launch.Address, want)
		}
	}
}

// TestLooksLate checks that a player who comes while the others measure looks around first, if the
// others found something there. A new round asks players again whose last look was long ago.
func TestLooksLate(t *testing.T) {
	n := newSession(t, looking(0))
	around(n, "ann", house)
	around(n, "bob", house)
	around(n, "cat", other)
	n.Join("ann")
	n.discovers("ann", den("192.168.1.5:27960", "Den"))
	n.Goes()
	n.Gets(listOf(2))
	n.Took("ann")
	n.Join("cat")
	if kinds := n.Took("cat"); kinds != "welcome list measure report" {
		t.Errorf("cat, of another network, is sent %s", kinds)
	}
	n.Join("bob")
	if kinds := n.Took("bob"); kinds != "welcome look" {
		t.Errorf("bob is sent %s first", kinds)
	}
	n.Says("bob", wire.Near{Game: "openarena", Servers: []wire.NearServer{den("192.168.1.5:27960", "Den")}})
	if kinds := n.Took("bob"); kinds != "list measure" {
		t.Errorf("bob is sent %s then", kinds)
	}
	for _, name := range []string{"ann", "bob", "cat"} {
		n.Informs(name, 12, 12, 12)
		n.Measures(name, 10, 20, skip)
	}
	n.Measures("ann", skip, skip, 1)
	n.Measures("bob", skip, skip, 1)
	n.Done("ann", "bob", "cat")
	n.Wait(tick)
	n.LookAgain()
	n.InStage(wire.Launching)
	n.Now = n.Now.Add(2 * time.Minute)
	n.Step(room.Tick{})
	n.Took("ann")
	n.Goes()
	if kinds := n.Took("ann"); kinds != "look" {
		t.Errorf("ann is sent %s in the next round", kinds)
	}
}

// TestOutside checks that no test of the room is in its package, where it would depend on the
// room's inside.
func TestOutside(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, []byte("\npackage room_test\n")) && !bytes.HasPrefix(data, []byte("package room_test\n")) {
			t.Errorf("%s is inside the package: a test of the room drives it as a host does, and a decision of one part is tested there", file)
		}
	}
}
