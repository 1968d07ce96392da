package venue_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/host/wire"
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
