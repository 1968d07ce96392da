package announcing

import (
	"net/netip"
	"testing"
	"time"

	"muster/discovery/lists/lan"
	"muster/host/wire"
)

// TestDescribe checks that announcements contain no code.
func TestDescribe(t *testing.T) {
	room := wire.Snapshot{
		Room:   wire.Head{Code: "BAKODI", Settings: wire.Settings{Game: "openarena", Players: 4, Open: true}},
		People: []wire.Person{{Name: "bob", Peer: true}, {Name: "cat", Peer: true, Organiser: true}, {Name: "dan", Page: true}},
	}
	want := lan.Room{Name: "cat's room", Game: "openarena", Organiser: "cat", Players: 2, Seats: 4, Open: true}
	if got := Describe(&room, lan.Room{Organiser: "ann"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Describe(&wire.Snapshot{}, lan.Room{}); got.Name != "" {
		t.Errorf("nobody's room is called %q", got.Name)
	}
}

// TestRelay checks when a player's program announces the room, and where the announcement leads.
func TestRelay(t *testing.T) {
	const private, public, fingerprint = "10.0.1.5:7777", "203.0.113.5:7777", "6GGEBGUZQS72K5ZWN3CQCTQWVA"
	at := netip.MustParseAddrPort
	open := wire.Head{Settings: wire.Settings{Game: "openarena"}, AnnounceAs: "0a1b"}
	everywhere, off, over := open, open, open
	everywhere.Announce, off.AnnounceAs, over.Ended = wire.Yes, "", time.Unix(1, 0)
	for _, c := range []struct {
		name string
		host string
		head wire.Head
		may  bool
	}{
		{"a private address", private, open, true},
		{"the address of an overlay network", "100.64.0.1:7777", open, true},
		{"a private address of IPv6", "[fd00::5]:7777", open, true},
		{"a public address", public, open, false},
		{"a public address, and the organiser wants that", public, everywhere, true},
		{"switched off", private, off, false},
		{"over", private, over, false},
		{"on this machine", "[::1]:7777", everywhere, false},
		{"on one cable", "[fe80::5]:7777", everywhere, false},
		{"not reached", "0.0.0.0:0", everywhere, false},
	} {
		var r Relay
		if _, may := r.Room(); may {
			t.Errorf("%s: announced before anything is known", c.name)
		}
		r.Joined("ann")
		r.Reached(at(c.host), fingerprint)
		if _, may := r.Room(); may {
			t.Errorf("%s: announced before the room is known", c.name)
		}
		r.Changed(&wire.Snapshot{Room: c.head})
		got, may := r.Room()
		if may != c.may {
			t.Errorf("%s: announced %v", c.name, may)
		}
		want := lan.Room{Game: "openarena", ID: "0a1b", Via: "ann", Host: at(c.host), Port: 7777, Fingerprint: fingerprint}
		if may && got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
		r.Lost()
		if _, may := r.Room(); may {
			t.Errorf("%s: announced without the host", c.name)
		}
	}
}
