package origin

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"muster/discovery"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection/estimate"
)

func public(addr string) Origin { return Origin{Addr: netip.MustParseAddr(addr)} }

func home(addr string) Origin { return Origin{Addr: netip.MustParseAddr(addr), Home: true} }

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name, from string
		probes     wire.Probes
		home       bool
		want       Origin
	}{
		{"from the internet", "198.51.100.7", "", false, Origin{Addr: netip.MustParseAddr("198.51.100.7")}},
		{"from the internet, by IPv6", "2001:db8::7", "", false, Origin{Addr: netip.MustParseAddr("2001:db8::7")}},
		{"asks from elsewhere", "198.51.100.7", wire.ProbesElsewhere, false, Origin{}},
		{"at home", "192.168.1.7", "", true, Origin{Addr: netip.MustParseAddr("192.168.1.7"), Home: true}},
		{"at home, asks from elsewhere", "192.168.1.7", wire.ProbesElsewhere, true, Origin{}},
		{"at home, by IPv6", "2001:db8::7", "", true, Origin{Addr: netip.MustParseAddr("2001:db8::7"), Home: true}},
		{"by a VPN", "10.8.0.7", "", false, Origin{}},
		{"by an overlay network", "100.64.3.7", "", false, Origin{}},
		{"by a cable alone", "169.254.3.7", "", false, Origin{}},
		{"by unique local IPv6", "fd00::7", "", false, Origin{}},
		{"on this machine, or by a tunnel", "127.0.0.1", "", false, Origin{}},
		{"the host's own player", "127.0.0.1", wire.ProbesAtHost, false, Origin{Addr: netip.MustParseAddr("127.0.0.1"), Home: true}},
		{"the host's own player, by IPv6", "::1", wire.ProbesAtHost, false, Origin{Addr: netip.MustParseAddr("::1"), Home: true}},
		{"claims to be the host's own", "198.51.100.7", wire.ProbesAtHost, false, Origin{Addr: netip.MustParseAddr("198.51.100.7")}},
		{"not known", "", "", false, Origin{}},
	} {
		from, _ := netip.ParseAddr(c.from)
		got := Of(from, c.probes, c.home)
		got.Near = netip.Addr{} // TestNear checks it
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestBeside checks that others on the host's networks reach a player at the address of the
// connection, and the host's own player at the host's address.
func TestBeside(t *testing.T) {
	ip := netip.MustParseAddr
	for _, tt := range []struct {
		name string
		from Origin
		want string
	}{
		{"at home", Origin{Addr: ip("192.168.1.3"), Home: true, Near: ip("192.168.1.3")}, "192.168.1.3"},
		{"the host's own player", Origin{Addr: ip("127.0.0.1"), Home: true, Near: ip("127.0.0.1"), Here: ip("192.168.1.2")}, "192.168.1.2"},
		{"a host that nobody reaches", Origin{Addr: ip("127.0.0.1"), Home: true, Near: ip("127.0.0.1"), Here: ip("127.0.0.1")}, "invalid IP"},
		{"by a VPN", Origin{Near: ip("100.64.0.9")}, "100.64.0.9"},
		{"by IPv6", Origin{Near: ip("fd00::2")}, "fd00::2"},
		{"an IPv4 address in an IPv6 one", Origin{Near: ip("::ffff:192.168.1.3")}, "192.168.1.3"},
		{"an address that needs a zone", Origin{Near: ip("fe80::1%eth0")}, "invalid IP"},
		{"elsewhere", Origin{Addr: ip("203.0.113.1"), Near: ip("203.0.113.1")}, "invalid IP"},
		{"by a tunnel", Origin{}, "invalid IP"},
		{"on this machine, nobody knows from where", Origin{Near: ip("127.0.0.1")}, "invalid IP"},
	} {
		if got := tt.from.Beside().String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestReach checks that people on the internet, and people of unknown origin, can name no servers
// of local networks.
func TestReach(t *testing.T) {
	near := func(addr string) Origin { return Origin{Near: netip.MustParseAddr(addr)} }
	for _, tt := range []struct {
		name string
		from Origin
		want discovery.Reach
	}{
		{"unknown", Origin{}, discovery.InternetReach},
		{"from the internet", public("203.0.113.1"), discovery.InternetReach},
		{"at home", Origin{
			Addr: netip.MustParseAddr("192.168.1.3"),
			Home: true,
			Near: netip.MustParseAddr("192.168.1.3"),
		}, discovery.NetworkReach},
		{"by a VPN", near("10.8.0.7"), discovery.NetworkReach},
		{"on this machine", near("127.0.0.1"), discovery.MachineReach},
	} {
		if got := tt.from.Reach(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestPlace checks that people at home are in one place for estimates, and private addresses
// nowhere.
func TestPlace(t *testing.T) {
	table := func(a netip.Addr) (string, uint32) { return "DE", 3320 }
	for _, tt := range []struct {
		name string
		from Origin
		want estimate.Place
	}{
		{"unknown", Origin{}, estimate.Place{}},
		{"from the internet", public("198.51.100.1"), estimate.Place{Addr: netip.MustParseAddr("198.51.100.1"), Country: "DE", ASN: 3320}},
		{"at home", home("192.168.1.3"), estimate.Place{Addr: behindHost}},
		{"by a VPN", Origin{Near: netip.MustParseAddr("10.8.0.7")}, estimate.Place{}},
	} {
		if got := tt.from.LocatedBy(table).Place(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
		if got := tt.from.LocatedBy(nil); got != tt.from {
			t.Errorf("%s: without a table %+v", tt.name, got)
		}
	}
}

// groups returns NAT groups as text, a letter for each player.
func groups(b *Book, players string) string {
	var groups []string
	for _, group := range b.Groups(people.IDs(strings.Split(players, ""))) {
		groups = append(groups, strings.Join(people.Texts(group), ""))
	}
	return strings.Join(groups, " ")
}

func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		name    string
		origins []Origin
		want    string
	}{
		{"unknown", []Origin{{}, {}, {}}, "a b c"},
		{"a household and a friend", []Origin{public("192.0.2.1"), public("192.0.2.2"), public("192.0.2.1")}, "ac b"},
		{"the host's home", []Origin{home("127.0.0.1"), home("192.168.1.2"), public("192.0.2.1"), home("2001:db8::7")}, "abd c"},
		{"a gateway in the host's home", []Origin{home("192.168.1.1"), home("192.168.1.1"), home("192.168.1.2"), home("192.168.1.3")}, "a b cd"},
	} {
		var b Book
		players := ""
		for i, from := range tt.origins {
			player := string(rune('a' + i))
			players += player
			b.Come(people.ID(player), from)
		}
		b.Enter("z", tt.origins[0]) // a guest measures nothing
		if got := groups(&b, players); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestBook checks that an origin follows the connection.
func TestBook(t *testing.T) {
	var b Book
	one, other := public("198.51.100.1"), public("198.51.100.2")
	if !b.Come("a", one) || b.Come("a", one) || !b.Come("b", one) || b.Come("c", Origin{}) {
		t.Error("a player has moved who has not, or the other way round")
	}
	if b.Part("b"); groups(&b, "ab") != "a b" || b.Place("b").Addr.IsValid() || b.Of("b") != one {
		t.Errorf("b is apart, and in %q", groups(&b, "ab"))
	}
	if b.Come("b", one); groups(&b, "ab") != "a b" {
		t.Error("b is not apart any more on coming back from there")
	}
	if !b.Come("b", other) || !b.Come("b", one) || groups(&b, "ab") != "ab" {
		t.Error("b is apart elsewhere")
	}
	b.Enter("z", one)
	if b.Part("z"); b.Place("z").Addr != one.Addr {
		t.Error("a guest is apart")
	}
	if b.Enter("z", Origin{}); b.Of("z") != (Origin{}) {
		t.Error("a guest of whom nothing is known comes from where another did")
	}
	b.Enter("e", one)
	if b.Come("e", one) || groups(&b, "ae") != "ae" {
		t.Error("a guest who plays is no player")
	}
	if b.Forget("a"); b.Of("a") != (Origin{}) {
		t.Error("a is known who has left")
	}
}

// TestSaved checks the saved section against a golden text.
func TestSaved(t *testing.T) {
	var b Book
	b.Come("a", home("192.168.1.2"))
	b.Come("b", public("198.51.100.1").LocatedBy(func(netip.Addr) (string, uint32) { return "DE", 3320 }))
	b.Part("b")
	b.Come("c", Origin{})
	b.Enter("z", Origin{Near: netip.MustParseAddr("10.8.0.7")})
	const want = `{"a":{"addr":"192.168.1.2","home":true,"player":true},` +
		`"b":{"addr":"198.51.100.1","country":"DE","asn":3320,"player":true,"apart":true},"c":{"player":true},"z":{"near":"10.8.0.7"}}`
	got, err := json.Marshal(b.State())
	if err != nil || string(got) != want {
		t.Errorf("saved is %s, want %s", got, want)
	}
	if err := b.State().Validate(map[people.ID]bool{"a": true, "b": true, "c": true, "z": false}); err != nil {
		t.Error(err)
	}
	for what, isPlayer := range map[string]map[people.ID]bool{
		"somebody is not here":    {"a": true, "b": true, "c": true},
		"a guest is a player":     {"a": true, "b": true, "c": false, "z": false},
		"a player is nowhere":     {"a": true, "b": true, "c": true, "z": false, "y": true},
		"a player is only a page": {"a": true, "b": true, "c": true, "z": true},
	} {
		if b.State().Validate(isPlayer) == nil {
			t.Error(what)
		}
	}
}
