package venue_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/prober"
	"muster/host/wire"
	"muster/internal/echo"
	"muster/internal/venue"
)

func TestChoose(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.txt")
	if err := os.WriteFile(own, []byte("Frankfurt, 192.0.2.1\nour cellar, 192.0.2.2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	many := ""
	for i := range 30 {
		many += fmt.Sprintf("%d, 192.0.2.3:%d\n", i, i+1)
	}
	for _, test := range []struct {
		words     []string
		in        string
		n         int
		frankfurt string // the machine there
		bad       bool
	}{
		{words: []string{"none"}},
		{words: []string{"builtin"}, n: 74, frankfurt: "fra-de-ping.vultr.com:443"},
		{words: []string{"builtin", "builtin"}, n: 74, frankfurt: "fra-de-ping.vultr.com:443"},
		{words: []string{own}, n: 2, frankfurt: "192.0.2.1:7787"},
		{words: []string{own, "builtin"}, n: 75, frankfurt: "192.0.2.1:7787"},
		{words: []string{"builtin", own}, n: 75, frankfurt: "192.0.2.1:7787"},
		{words: []string{"builtin", "none", own}, n: 2, frankfurt: "192.0.2.1:7787"},
		{words: []string{"-"}, in: "Frankfurt, 192.0.2.9", n: 1, frankfurt: "192.0.2.9:7787"},
		{words: []string{"builtin", "-"}, in: many, bad: true},
		{words: []string{"Builtin"}, bad: true}, // a file that is not there
	} {
		var places wire.Venues
		var err error
		for _, word := range test.words {
			if places, err = venue.Choose(t.Context(), places, word, strings.NewReader(test.in)); err != nil {
				break
			}
		}
		if (err != nil) != test.bad || len(places) != test.n {
			t.Errorf("%q: %d places, %v", test.words, len(places), err)
		} else if i := at(places, "Frankfurt"); test.frankfurt != "" && (i < 0 || places[i].Addr.String() != test.frankfurt) {
			t.Errorf("%q: %v", test.words, places)
		}
	}
}

// TestSearch checks that a search finds the best place, and leaves a provider's machine alone that it has asked often.
func TestSearch(t *testing.T) {
	t.Parallel()
	answering := func() (*echo.Beacon, hostport.AddrPort) {
		conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		b, ended := echo.New("x", echo.Bounds{Each: 100, All: 100}), make(chan struct{})
		go func() { defer close(ended); b.Serve(t.Context(), conn) }()
		t.Cleanup(func() { conn.Close(); <-ended })
		return b, hostport.At(conn.LocalAddr().(*net.UDPAddr).AddrPort())
	}
	provider, at := answering()
	own, ownAt := answering()
	offers := []wire.Offer{{Provider: "A"}}
	search := venue.Search{
		Places: wire.Venues{{Name: "A's", Addr: at, Protocol: "beacon", Offers: offers}, {Name: "ours", Addr: ownAt, Protocol: "beacon"}},
		Ask: func(by discovery.Protocol) (*prober.Prober, error) {
			return prober.New(prober.Options{Protocol: by, Retries: -1})
		},
		Visits: filepath.Join(t.TempDir(), "asked.json"),
	}
	for n, want := range []struct {
		provider, own uint64
		remembered    int
	}{{3, 3, 0}, {6, 6, 0}, {6, 9, 1}} {
		found, err := search.Run(t.Context())
		if err != nil || len(found.Results) != 2 || found.Results[0].RTT <= 0 || found.Results[1].RTT <= 0 || found.Remembered != want.remembered {
			t.Errorf("search %d: %+v, %v", n, found, err)
		}
		if p, o := provider.Answered.Load(), own.Answered.Load(); p > want.provider || o > want.own || o <= want.own-3 {
			t.Errorf("search %d: asked %d and %d times, want %+v", n, p, o, want)
		}
	}
}

func TestExposure(t *testing.T) {
	offer := func(provider string) []wire.Offer { return []wire.Offer{{Provider: provider}, {Provider: "another"}} }
	for want, places := range map[string]wire.Venues{
		"one machine of B": {{Protocol: "tcp", Offers: offer("B")}, {Protocol: "pigeon", Offers: offer("A")}},
		"up to 3 machines of B, A": {{Protocol: "beacon", Offers: offer("A")}, {Protocol: "tcp", Offers: offer("B")},
			{Protocol: "tcp", Offers: offer("B")}},
		"up to 2 machines": {{Protocol: "beacon"}, {Protocol: "beacon"}},
	} {
		if got := venue.Exposure(venue.Builtin(), 16); !strings.HasPrefix(got, "up to 16 machines of ") {
			t.Error(got)
		}
		if got := venue.Exposure(places, 0); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := venue.Exposure(venue.Builtin(), 16); !strings.HasPrefix(got, "up to 16 machines of ") {
		t.Error(got)
	}
	if got := venue.Exposure(venue.Builtin(), 100); !strings.HasPrefix(got, "up to 24 machines of Vultr, ") {
		t.Error(got)
	}
}
