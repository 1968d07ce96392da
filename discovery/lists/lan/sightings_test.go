package lan

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"muster/discovery"
)

var here = []Interface{{Name: "eth0", Addrs: prefixes("192.168.1.5/24")}, {Name: "wlan0", Addrs: prefixes("10.0.0.5/24")}}

func hosts(texts ...string) []netip.Addr {
	var list []netip.Addr
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

func TestSight(t *testing.T) {
	txt := []string{"v=1", "id=a", "name=N"}
	tests := []struct {
		name string
		in   answer
		want string // addresses, or nothing if it is refused
	}{
		{"a room", answer{"muster-a-2._muster._tcp.local.", 7777, txt, hosts("192.168.1.9", "fe80::9")},
			"[192.168.1.9:7777 [fe80::9%eth0]:7777]"},
		{"named by another program", answer{`Evil\.\ Name._MUSTER._tcp.local.`, 7777, txt, hosts("fd00::9")}, "[[fd00::9]:7777]"},
		{"mapped", answer{"a._muster._tcp.local.", 7777, txt, hosts("::ffff:192.168.1.9")}, "[192.168.1.9:7777]"},
		{"a foreign zone", answer{"a._muster._tcp.local.", 7777, txt, hosts("fe80::9%lo")}, "[[fe80::9%eth0]:7777]"},
		{"a printer", answer{"a._ipp._tcp.local.", 7777, txt, hosts("192.168.1.9")}, ""},
		{"a subtype", answer{"a._muster._tcp.local.evil.", 7777, txt, hosts("192.168.1.9")}, ""},
		{"the service itself", answer{"_muster._tcp.local.", 7777, txt, hosts("192.168.1.9")}, ""},
		{"no port", answer{"a._muster._tcp.local.", 0, txt, hosts("192.168.1.9")}, ""},
		{"no room", answer{"a._muster._tcp.local.", 7777, []string{"v=2"}, hosts("192.168.1.9")}, ""},
		{"addresses of no other machine", answer{"a._muster._tcp.local.", 7777, txt,
			hosts("127.0.0.1", "0.0.0.0", "224.0.0.251", "255.255.255.255", "::", "::1", "ff02::fb")}, ""},
	}
	for _, tt := range tests {
		got, err := sight(tt.in, "eth0", "eth0, IPv4")
		if tt.want == "" {
			if !errors.Is(err, discovery.ErrMalformed) {
				t.Errorf("%s: got %+v, %v, want a malformed one", tt.name, got, err)
			}
			continue
		}
		if err != nil || fmt.Sprint(got.addrs) != tt.want || got.room.Port != 7777 || got.id != "a" {
			t.Errorf("%s: got %+v, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

// seen returns a sighting of a room with this id, over a card.
func seen(id, instance, card, addr, name string) sighting {
	return sighting{source: source{instance, card}, id: id, room: Room{Name: name}, addrs: []netip.AddrPort{netip.MustParseAddrPort(addr)}}
}

func shown(list []Found) string {
	var parts []string
	for _, f := range list {
		parts = append(parts, fmt.Sprint(f.Name, f.Addrs))
	}
	return strings.Join(parts, " ")
}

func TestSightings(t *testing.T) {
	wired, wireless := seen("a", "a-1", "eth0", "192.168.1.9:1", "A"), seen("a", "a-2", "wlan0", "10.0.0.9:1", "A")
	foreign := seen("a", "a-2", "eth0", "10.9.9.9:1", "A")
	renamed := seen("a", "a-1", "eth0", "192.168.1.9:1", "Z")
	other := seen("b", "b-1", "eth0", "192.168.1.8:1", "A")
	none := []sighting{}
	tests := []struct {
		name   string
		rounds [][]sighting
		want   string
	}{
		{"nothing", [][]sighting{none}, ""},
		{"one room over two cards", [][]sighting{{wireless, wired}}, "A[10.0.0.9:1 192.168.1.9:1]"},
		{"both of its addresses over one", [][]sighting{{wired, foreign}}, "A[192.168.1.9:1]"},
		{"two rooms of one name", [][]sighting{{other, wired}}, "A[192.168.1.9:1] A[192.168.1.8:1]"},
		{"the newest name counts", [][]sighting{{wired, wireless}, {renamed}}, "Z[10.0.0.9:1 192.168.1.9:1]"},
		{"ordered by name", [][]sighting{{renamed, other}}, "A[192.168.1.8:1] Z[192.168.1.9:1]"},
		{"silent for two rounds", [][]sighting{{wired}, none, none}, "A[192.168.1.9:1]"},
		{"silent for three", [][]sighting{{wired}, none, none, none}, ""},
		{"heard again", [][]sighting{{wired}, none, none, {wired}, none, none}, "A[192.168.1.9:1]"},
		{"one card falls silent", [][]sighting{{wired, wireless}, {wired}, {wired}, {wired}}, "A[192.168.1.9:1]"},
	}
	for _, tt := range tests {
		var s sightings
		for _, news := range tt.rounds {
			s.receive(news)
		}
		if got := shown(s.rooms(here)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestSightingsAreBounded checks that a flood neither grows the memory nor displaces
// earlier rooms.
func TestSightingsAreBounded(t *testing.T) {
	var s sightings
	first := seen("a", "a-1", "eth0", "192.168.1.9:1", "A")
	s.receive([]sighting{first})
	var flood []sighting
	for i := range 10 * maxSightings {
		flood = append(flood, seen("b", fmt.Sprint("b-", i), "eth0", fmt.Sprintf("192.168.1.%d:1", i%200), "B"))
	}
	s.receive(append(flood, first))
	rooms := s.rooms(here)
	if len(s.last) != maxSightings || len(rooms) != 2 || rooms[0].Name != "A" || len(rooms[1].Addrs) != maxAddrs {
		t.Errorf("%d sightings, rooms %s", len(s.last), shown(rooms))
	}
}

func TestSame(t *testing.T) {
	a := Found{ID: "a", Room: Room{Name: "A"}, Addrs: []netip.AddrPort{netip.MustParseAddrPort("192.168.1.9:1")}}
	fuller, moved := a, a
	fuller.Players = 2
	moved.Addrs = []netip.AddrPort{netip.MustParseAddrPort("192.168.1.10:1")}
	for _, tt := range []struct {
		a, b []Found
		want bool
	}{
		{nil, []Found{}, true},
		{[]Found{a}, []Found{a}, true},
		{[]Found{a}, nil, false},
		{[]Found{a}, []Found{fuller}, false},
		{[]Found{a}, []Found{moved}, false},
	} {
		if got := areEqual(tt.a, tt.b); got != tt.want {
			t.Errorf("same(%v, %v) = %t", tt.a, tt.b, got)
		}
	}
}

// FuzzSightings reads any announcements, round after round. It checks that memory is
// bounded, that addresses are those of machines, and that rooms are forgotten without
// repeats.
func FuzzSightings(f *testing.F) {
	f.Add("a", "N", 7777, []byte{192, 168, 1, 9}, uint16(1))
	f.Add("b", "\x1b[2J", 70000, []byte{127, 0, 0, 1, 224, 0, 0, 1, 10, 0, 0, 1}, uint16(400))
	f.Fuzz(func(t *testing.T, id, name string, port int, addrs []byte, rooms uint16) {
		a := answer{name: "x." + suffix, port: port, fields: appendTXT(nil, id, Room{Name: name, Port: uint16(port)})}
		for ; len(addrs) >= 4; addrs = addrs[4:] {
			a.addrs = append(a.addrs, netip.AddrFrom4([4]byte(addrs)))
		}
		var s sightings
		var news []sighting
		for i := range rooms {
			a.name = string(rune('a'+i%26)) + string(rune(i)) + "." + suffix
			if seen, err := sight(a, "eth0", "eth0, IPv4"); err == nil {
				news = append(news, seen)
			}
		}
		s.receive(news)
		for _, room := range s.rooms(nil) {
			if len(room.Addrs) == 0 || len(room.Addrs) > maxAddrs {
				t.Errorf("a room at %v", room.Addrs)
			}
			for _, addr := range room.Addrs {
				if !isHost(addr.Addr()) || addr.Port() == 0 {
					t.Errorf("a room at %v", addr)
				}
			}
		}
		if len(s.last) > maxSightings {
			t.Errorf("%d sightings are kept", len(s.last))
		}
		for range forgetAfter {
			s.receive(nil)
		}
		if len(s.last) > 0 {
			t.Errorf("%d sightings are kept of what fell silent", len(s.last))
		}
	})
}
