package listing

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/geo"
	"muster/discovery/lists/lan"
	"muster/internal/game"
)

// builtIn returns the games that Muster knows by itself.
func builtIn(t testing.TB) game.Table {
	t.Helper()
	games, err := game.Load(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	return games
}

// TestLooksAround checks that a list that the user named suffices, and that nothing is broadcast then.
func TestLooksAround(t *testing.T) {
	for _, c := range []struct {
		sources Sources
		want    bool
	}{
		{Sources{LAN: Auto}, true},
		{Sources{LAN: Auto, Files: []string{"list.txt"}}, false},
		{Sources{LAN: Auto, Masters: []string{"127.0.0.1"}}, false},
		{Sources{LAN: On, Files: []string{"list.txt"}}, true},
		{Sources{LAN: Off}, false},
	} {
		if got := c.sources.LooksAround(); got != c.want {
			t.Errorf("%+v: %v", c.sources, got)
		}
	}
}

// TestLocator checks that addresses on the internet have a place, and that others, or broken tables, have none.
func TestLocator(t *testing.T) {
	locate := Locator(geo.Options{})
	if country, asn := locate(netip.MustParseAddr("8.8.8.8")); country != "US" || asn != 15169 {
		t.Errorf("8.8.8.8 is in %q, AS %d", country, asn)
	}
	if country, asn := locate(netip.MustParseAddr("192.168.1.5")); country != "" || asn != 0 {
		t.Errorf("a private address is in %q, AS %d", country, asn)
	}
	if country, _ := Locator(geo.Options{CountryDB: "missing.mmdb"})(netip.MustParseAddr("8.8.8.8")); country != "" {
		t.Errorf("a missing file says %q", country)
	}
}

func serversAt(texts ...string) (list []discovery.Server) {
	for _, text := range texts {
		list = append(list, discovery.Server{Addr: netip.MustParseAddrPort(text)})
	}
	return list
}

func around(texts ...string) (list []lan.Server) {
	for _, s := range serversAt(texts...) {
		list = append(list, lan.Server{Server: s})
	}
	return list
}

// TestNeighbours checks that servers nearby are known by two addresses if the list has them, too.
func TestNeighbours(t *testing.T) {
	home := netip.MustParseAddr("203.0.113.7")
	listed := serversAt("198.51.100.1:27960", "203.0.113.7:27960", "203.0.113.7:27962")
	for _, c := range []struct {
		name   string
		near   []lan.Server
		public netip.Addr
		want   string
	}{
		{"nothing around", nil, home, "[]"},
		{"forwarded", around("192.168.1.5:27960"), home, "[192.168.1.5:27960=203.0.113.7:27960]"},
		{"not forwarded", around("192.168.1.5:27961"), home, "[192.168.1.5:27961]"},
		{"the public address is not known", around("192.168.1.5:27960"), netip.Addr{}, "[192.168.1.5:27960]"},
		{"two of one port", around("192.168.1.5:27960", "192.168.1.6:27960", "192.168.1.6:27962"), home,
			"[192.168.1.5:27960 192.168.1.6:27960 192.168.1.6:27962=203.0.113.7:27962]"},
		{"a public network, where everybody gets in", around("203.0.113.9:27960"), home, "[]"},
	} {
		var got []string
		hidden, _ := splitByReach(c.near)
		for _, n := range local(hidden, listed, c.public) {
			text := n.Addr.String()
			if n.Public.IsValid() {
				text += "=" + n.Public.String()
			}
			got = append(got, text)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

// TestWith checks that nearby servers are in the list once.
func TestWith(t *testing.T) {
	near := around("192.168.1.5:27960", "198.51.100.1:27960")
	list := With(serversAt("198.51.100.1:27960", "198.51.100.2:27960"), near)
	if want := serversAt("198.51.100.1:27960", "198.51.100.2:27960", "192.168.1.5:27960"); !slices.Equal(list, want) {
		t.Fatalf("%v, want %v", list, want)
	}
	if got, want := PlacesOf(near, list), []int{0, 2}; !slices.Equal(got, want) {
		t.Errorf("they stand at %v, want %v", got, want)
	}
}

// TestToldInRooms checks that a room explains in players' words what to do without a list.
func TestToldInRooms(t *testing.T) {
	games := builtIn(t)
	r := Rooms{Sources: Sources{LAN: Off, Say: func(string, ...any) {}}, Games: games, Warn: func(...error) {}}
	_, err := r.List(t.Context(), "cs2")
	r.Begin(t.Context())()
	var none *game.NoMasterError
	if err == nil || !errors.As(err, &none) || strings.HasPrefix(err.Error(), "game:") ||
		!strings.Contains(err.Error(), "What helps: add favourites in Steam; or give a key") || len(err.Error()) > 230 {
		t.Errorf("%v", err)
	}
}

// longList returns a list of this many servers, with facts about every second one.
func longList(servers int) List {
	l := List{Said: discovery.Said{At: time.Unix(1_800_000_000, 0), Infos: map[netip.AddrPort]*discovery.Info{}}}
	for i := range servers {
		s := discovery.Server{
			Addr:    netip.AddrPortFrom(netip.AddrFrom4([4]byte{9, byte(i >> 16), byte(i >> 8), byte(i)}), 27015),
			Country: "DE",
			ASN:     3320,
		}
		l.Servers = append(l.Servers, s)
		if i%2 == 0 {
			l.Said.Infos[s.Addr] = &discovery.Info{
				Name:       fmt.Sprint("Server ", i),
				Map:        "haven",
				Version:    "0.16",
				Players:    i % 40,
				MaxPlayers: 40,
				Password:   i%10 == 0,
				AsListed:   true,
			}
		}
	}
	return l
}

// TestList checks that hosts can pass each other a list with its facts.
func TestList(t *testing.T) {
	for _, l := range []List{longList(0), longList(1), longList(1000), {Servers: serversAt("192.0.2.1:27960")}} {
		data, err := l.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseList(data)
		if len(l.Said.Infos) == 0 {
			l.Said = discovery.Said{}
		}
		if len(l.Servers) == 0 {
			l.Servers = []discovery.Server{}
		}
		if err != nil || !reflect.DeepEqual(got, l) {
			t.Errorf("%d servers come as %d, %v", len(l.Servers), len(got.Servers), err)
		}
		for _, cut := range []int{0, 1, len(data) / 2, len(data) - 1} {
			if short, err := ParseList(data[:cut]); err == nil && len(short.Servers) == len(l.Servers) &&
				len(short.Said.Infos) == len(l.Said.Infos) && len(l.Servers) > 0 {
				t.Errorf("%d of %d bytes are whole", cut, len(data))
			}
		}
	}
}

// FuzzParseList checks that any bytes are a list or an error, and that the facts are about its servers.
func FuzzParseList(f *testing.F) {
	for _, n := range []int{0, 1, 20} {
		data, _ := longList(n).Append(nil)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParseList(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "listing: ") {
				t.Errorf("an error without its place: %v", err)
			}
			return
		}
		listed := map[netip.AddrPort]bool{}
		for _, s := range l.Servers {
			listed[s.Addr] = true
		}
		for addr, info := range l.Said.Infos {
			if !listed[addr] || !info.AsListed {
				t.Errorf("of %v it says %+v", addr, info)
			}
		}
	})
}
