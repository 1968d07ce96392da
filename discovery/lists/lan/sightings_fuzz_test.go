package lan

import (
	"net/netip"
	"testing"
)

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
