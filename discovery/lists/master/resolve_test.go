package master_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/lists/master"
	"muster/discovery/names"
)

// hosts is a resolver that knows a few names.
func hosts(known map[string]string) names.Lookup {
	return func(_ context.Context, host string) ([]netip.Addr, error) {
		var addrs []netip.Addr
		for _, s := range strings.Fields(known[host]) {
			addrs = append(addrs, netip.MustParseAddr(s))
		}
		if addrs == nil {
			return nil, errors.New("no such host")
		}
		return addrs, nil
	}
}

func entries(t *testing.T, list string) []master.Entry {
	t.Helper()
	e, _, err := master.ParseList(strings.NewReader(list), "l.txt")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func server(addr string) discovery.Server {
	at, err := hostport.Parse(addr)
	if err != nil {
		panic(err)
	}
	return discovery.Server{Addr: at}
}

func TestResolve(t *testing.T) {
	c := master.Client{Lookup: hosts(map[string]string{
		"both.example": "2001:db8::1 192.0.2.7 192.0.2.8",
		"six.example":  "2001:db8::6",
		"mapped":       "::ffff:192.0.2.9",
	})}
	list := entries(t, "192.0.2.1:1\nboth.example\n192.0.2.1:1\nQ3S six.example:2\nmapped:3\n192.0.2.7\nnobody.example:4\n")
	got, err := c.Resolve(t.Context(), list, 27960)
	want := []discovery.Server{server("192.0.2.1:1"), server("both.example:27960"), server("six.example:2"), server("mapped:3"),
		server("192.0.2.7:27960")}
	if err != nil || !reflect.DeepEqual(got.Servers, want) {
		t.Errorf("got %v, %v, want %v", got.Servers, err, want)
	}
	led := map[netip.AddrPort]netip.Addr{server("both.example:27960").Addr: netip.MustParseAddr("192.0.2.7"),
		server("six.example:2").Addr: netip.MustParseAddr("2001:db8::6"), server("mapped:3").Addr: netip.MustParseAddr("192.0.2.9")}
	if !maps.Equal(got.Led, led) {
		t.Errorf("the names led to %v, want %v", got.Led, led)
	}
	if len(got.Warnings) != 1 || got.Warnings[0].Error() != "master: l.txt:7: cannot find nobody.example: no such host" {
		t.Errorf("got warnings %v, want one about line 7", got.Warnings)
	}
}

func TestResolveJoinsWhatIsKnownOfAServer(t *testing.T) {
	list := entries(t, "addr,country,asn\n192.0.2.1:1,DE,\n192.0.2.1:1,FR,3320\n")
	got, err := master.Client{}.Resolve(t.Context(), list, 27960)
	want := []discovery.Server{{Addr: netip.MustParseAddrPort("192.0.2.1:1"), Country: "DE", ASN: 3320}}
	if err != nil || !reflect.DeepEqual(got.Servers, want) {
		t.Errorf("got %v, %v, want %v", got.Servers, err, want)
	}
}

func TestResolveWithoutAnyKnownName(t *testing.T) {
	c := master.Client{Lookup: hosts(nil)}
	_, err := c.Resolve(t.Context(), entries(t, "a.example\nb.example\n"), 1)
	if name, is := errors.AsType[*master.NameError](err); !is || name.Entry.Host != "a.example" {
		t.Errorf("got error %v, want a NameError about a.example", err)
	}
	if _, err := c.Resolve(t.Context(), nil, 1); !errors.Is(err, master.ErrEmpty) {
		t.Errorf("no entries: got error %v, want ErrEmpty", err)
	}
}

func TestResolveIsParallelAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var under, most, known atomic.Int32
		c := master.Client{Lookup: func(context.Context, string) ([]netip.Addr, error) {
			most.Store(max(most.Load(), under.Add(1)))
			time.Sleep(time.Second)
			under.Add(-1)
			return []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, byte(known.Add(1))})}, nil
		}}
		var list []master.Entry
		for i := range 64 {
			list = append(list, master.Entry{Host: fmt.Sprintf("h%d.example", i), Port: uint16(i + 1)})
		}
		start := time.Now()
		got, err := c.Resolve(t.Context(), list, 1)
		if err != nil || len(got.Servers) != 64 {
			t.Errorf("got %d servers, %v", len(got.Servers), err)
		}
		if took := time.Since(start); most.Load() != 16 || took != 4*time.Second {
			t.Errorf("%d lookups at once, all in %s; want 16 and 4s", most.Load(), took)
		}
	})
}

func TestResolveEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := master.Client{Lookup: func(ctx context.Context, _ string) ([]netip.Addr, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	if _, err := c.Resolve(ctx, entries(t, "a.example"), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

// TestLookupReason checks that the resolver's error loses the name of the failed
// socket.
func TestLookupReason(t *testing.T) {
	for _, tt := range []struct {
		dns  net.DNSError
		want string
	}{
		{net.DNSError{Err: "no such host", IsNotFound: true}, "no such host"},
		{net.DNSError{Err: "read udp 192.0.2.7:40089->192.0.2.53:53: i/o timeout", IsTimeout: true}, "no name server answers"},
		{net.DNSError{Err: "dial udp 192.0.2.53:53: connect: network is unreachable"}, "network is unreachable"},
		{net.DNSError{Err: "server misbehaving", IsTemporary: true}, "server misbehaving"},
	} {
		if got := master.LookupReason(&tt.dns).Error(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.dns.Err, got, tt.want)
		}
	}
}

// TestResolveKeepsNamesApart checks that names of one machine are servers of their own, whatever spelling
// they have.
func TestResolveKeepsNamesApart(t *testing.T) {
	c := master.Client{Lookup: hosts(map[string]string{"anna.example.org": "127.0.0.1", "ben.example.org": "127.0.0.1"})}
	list := entries(t, "anna.example.org\nben.example.org:25565\nANNA.example.org:25565\n127.0.0.1\nben.example.org:25566\n")
	got, err := c.Resolve(t.Context(), list, 25565)
	want := []discovery.Server{server("anna.example.org:25565"), server("ben.example.org:25565"), server("127.0.0.1:25565"),
		server("ben.example.org:25566")}
	if err != nil || !reflect.DeepEqual(got.Servers, want) {
		t.Errorf("got %v, %v, want %v", got.Servers, err, want)
	}
}

// A domain tells by SRV where its server is, unless the entry has another port than the game's own. It is listed
// under its own name all the same.
func TestResolveService(t *testing.T) {
	c := master.Client{
		Lookup: hosts(map[string]string{"mc.example": "192.0.2.1", "host.example": "192.0.2.2",
			"plain.example": "192.0.2.3", "evil.example": "192.0.2.4"}),
		Service: "_minecraft._tcp",
		LookupSRV: func(_ context.Context, service, domain string) (string, uint16, error) {
			switch {
			case service == "_minecraft._tcp" && domain == "mc.example":
				return "host.example", 25570, nil
			case domain == "evil.example":
				return "..", 0, nil
			}
			return "", 0, errors.New("no such host")
		},
	}
	got, err := c.Resolve(t.Context(), entries(t, "mc.example\nmc.example:25565\nmc.example:25566\nplain.example\nevil.example\n192.0.2.9\n"), 25565)
	want := []discovery.Server{server("mc.example:25565"), server("mc.example:25566"), server("plain.example:25565"),
		server("evil.example:25565"), server("192.0.2.9:25565")}
	led := map[netip.AddrPort]netip.Addr{want[0].Addr: netip.MustParseAddr("192.0.2.2"), want[1].Addr: netip.MustParseAddr("192.0.2.1"),
		want[2].Addr: netip.MustParseAddr("192.0.2.3"), want[3].Addr: netip.MustParseAddr("192.0.2.4")}
	if err != nil || !reflect.DeepEqual(got.Servers, want) || !maps.Equal(got.Led, led) {
		t.Errorf("got %v, %v, want %v", got.Servers, err, want)
	}
}
