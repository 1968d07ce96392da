package lan

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"muster/internal/catalogue"
)

const (
	certificate = "6GGEBGUZQS72K5ZWN3CQCTQWVA"
	forged      = "AAAAAAAAAAAAAAAAAAAAAAAAAA"
)

// told returns an announcement that a finder at 192.168.1.5 and 10.0.0.5 hears.
func told(via, fingerprint, addr string) sighting {
	s := seen("a", "muster-"+via+addr+fingerprint, "eth0", addr, "A")
	s.room.Via, s.room.Fingerprint = via, fingerprint
	return s
}

// TestRelayed checks which announcements are one room, where the room leads, and what people read.
func TestRelayed(t *testing.T) {
	const near, far, evil, local = "192.168.1.9:1", "10.7.0.9:1", "10.6.6.6:1", "192.168.1.66:1"
	var list = func(s ...sighting) []sighting { return s }
	other := told("bob", "", far)
	other.id = "b"
	flood := list()
	for i := range 9 {
		flood = append(flood, told(fmt.Sprint("p", i), certificate, far))
	}
	for _, c := range []struct {
		name string
		in   []sighting
		want []string
	}{
		{"the host", list(told("", "", near)), []string{"A[192.168.1.9:1] "}},
		{"one player", list(told("ann", "", far)), []string{"A[10.7.0.9:1] announced by ann, whom this computer doesn’t know"}},
		{"one player, with a certificate", list(told("ann", certificate, far)), []string{"A[10.7.0.9:1] announced by ann"}},
		{"two players", list(told("zoe", "", far), told("ann", "", far)),
			[]string{"A[10.7.0.9:1] announced by ann and zoe, whom this computer doesn’t know"}},
		{"many players", flood, []string{"A[10.7.0.9:1] announced by p0, p1 and p2"}},
		{"two rooms", list(told("ann", "", far), other), []string{
			"A[10.7.0.9:1] announced by ann, whom this computer doesn’t know",
			"A[10.7.0.9:1] announced by bob, whom this computer doesn’t know"}},
		{"the host, and a player who says the same", list(told("ann", "", near), told("", "", near)), []string{"A[192.168.1.9:1] "}},
		{"the host counts more", list(told("ann", certificate, far), told("", certificate, near)), []string{"A[192.168.1.9:1] "}},
		{"a certificate binds two addresses", list(told("ann", certificate, far), told("bob", certificate, near)),
			[]string{"A[192.168.1.9:1] announced by ann and bob"}},
		{"a forged address beside the host's", list(told("", "", near), told("eve", "", evil)),
			[]string{"A[10.6.6.6:1] announced by eve, whom this computer doesn’t know", "A[192.168.1.9:1] "}},
		{"a forged address beside a player's", list(told("ann", "", far), told("eve", "", evil)), []string{
			"A[10.6.6.6:1] announced by eve, whom this computer doesn’t know",
			"A[10.7.0.9:1] announced by ann, whom this computer doesn’t know"}},
		{"a forged address for the same certificate", list(told("ann", certificate, far), told("eve", certificate, evil)),
			[]string{"A[10.6.6.6:1 10.7.0.9:1] announced by ann and eve"}}, // TLS refuses the forger
		{"another certificate", list(told("ann", certificate, far), told("eve", forged, evil)),
			[]string{"A[10.6.6.6:1] announced by eve", "A[10.7.0.9:1] announced by ann"}},
		{"without a certificate", list(told("ann", certificate, far), told("eve", "", evil)),
			[]string{"A[10.6.6.6:1] announced by eve, whom this computer doesn’t know", "A[10.7.0.9:1] announced by ann"}},
		{"somebody who leads elsewhere", list(told("", "", evil)),
			[]string{"A[10.6.6.6:1] announced by someone this computer doesn’t know"}},
		{"somebody who leads elsewhere, beside a player", list(told("", "", evil), told("ann", "", far)), []string{
			"A[10.6.6.6:1] announced by someone this computer doesn’t know",
			"A[10.7.0.9:1] announced by ann, whom this computer doesn’t know"}},
		{"somebody who says to be the host", list(told("", "", local), told("ann", "", far)),
			[]string{"A[10.7.0.9:1] announced by ann, whom this computer doesn’t know", "A[192.168.1.66:1] "}},
	} {
		var s sightings
		s.receive(c.in)
		var got []string
		ids := map[string]bool{}
		for _, f := range s.rooms(here) {
			got = append(got, fmt.Sprint(f.Name, f.Addrs, " ", catalogue.InEnglish().Say(f.AnnouncedBy())))
			if ids[f.ID] || f.Via != "" {
				t.Errorf("%s: the entry %+v", c.name, f)
			}
			ids[f.ID] = true
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestVia checks that a player's name in an announcement is cleaned and short.
func TestVia(t *testing.T) {
	for via, want := range map[string]string{
		"ann": "ann", "\x1b[31mann\u202e": "[31mann", strings.Repeat("a", 500): strings.Repeat("a", maxTextLen),
	} {
		for _, fields := range [][]string{appendTXT(nil, "0a1b", Room{Via: via}), {"v=1", "id=0a1b", "via=" + via}} {
			if _, r, err := parseTXT(fields); err != nil || r.Via != want {
				t.Errorf("%q is read as %q, %v", via, r.Via, err)
			}
		}
	}
}

// TestSuperfluous checks that some programs announce a room on each network, that the host is enough,
// and that no forged announcement silences anybody.
func TestSuperfluous(t *testing.T) {
	room := Room{ID: "a", Via: "me", Port: 1, Host: netip.MustParseAddrPort("10.7.0.9:1"), Fingerprint: certificate}
	by := func(instance, via, fingerprint, addr string) sighting {
		s := told(via, fingerprint, addr)
		s.instance, s.card = instance, "eth0"
		return s
	}
	const there = "10.7.0.9:1"
	first, second := by("m1", "ann", certificate, there), by("m2", "bob", certificate, there)
	elsewhere, other := second, second
	elsewhere.card, other.id = "eth1", "b"
	for _, c := range []struct {
		name  string
		heard []sighting
		want  bool
	}{
		{"nobody", nil, false},
		{"only itself", []sighting{by("m5", "me", certificate, there)}, false},
		{"the host", []sighting{by("m9", "", certificate, there)}, true},
		{"one before it", []sighting{first, first}, false},
		{"two before it", []sighting{first, second}, true},
		{"one before it, and one after", []sighting{first, by("m6", "cat", certificate, there)}, false},
		{"on another card", []sighting{first, elsewhere}, false},
		{"another room", []sighting{first, other}, false},
		{"a forged address", []sighting{by("m0", "", certificate, "10.6.6.6:1")}, false},
		{"another port", []sighting{by("m0", "", certificate, "10.7.0.9:2")}, false},
		{"another certificate", []sighting{by("m0", "", forged, there)}, false},
	} {
		if got := isSuperfluous("m5", "eth0", room, c.heard); got != c.want {
			t.Errorf("%s: superfluous %v", c.name, got)
		}
	}
}
