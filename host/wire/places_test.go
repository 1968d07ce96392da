package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"muster/discovery"
	. "muster/host/wire"
)

func TestParseVenues(t *testing.T) {
	at := netip.MustParseAddrPort
	lookUp := func(host string) (netip.Addr, error) {
		if host == "fra.example.org" {
			return netip.MustParseAddr("203.0.113.9"), nil
		}
		return netip.Addr{}, errors.New("no such name")
	}
	for text, want := range map[string]Venues{
		"":                                 {},
		"none\n":                           {},
		"Frankfurt, 192.0.2.1":             {{"Frankfurt", at("192.0.2.1:7787"), "beacon"}},
		"Frankfurt,192.0.2.1:77":           {{"Frankfurt", at("192.0.2.1:77"), "beacon"}},
		" A B ,\t192.0.2.1:443,TCP # ours": {{"A B", at("192.0.2.1:443"), "tcp"}},
		"# these\n\nx, 2001:db8::1\ny, [2001:db8::1]:80, tcp\n": {{"x", at("[2001:db8::1]:7787"), "beacon"},
			{"y", at("[2001:db8::1]:80"), "tcp"}},
		"f, fra.example.org\ng, fra.example.org:27960, quake3": {{"f", at("203.0.113.9:7787"), "beacon"},
			{"g", at("203.0.113.9:27960"), "quake3"}},
		"d, `192.0.2.1 : 7799`": {{"d", at("192.0.2.1:7799"), "beacon"}},
		"a\x1b[31mb, 192.0.2.1": {{discovery.CleanText("a\x1b[31mb"), at("192.0.2.1:7787"), "beacon"}},
	} {
		if got, err := ParseVenues(text, lookUp); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	many := ""
	for i := range MaxVenues + 1 {
		many += fmt.Sprintf("p%d, 192.0.2.1:%d\n", i, i+1)
	}
	for what, text := range map[string]string{
		"no address": "Frankfurt", "an empty name": ", 192.0.2.1", "too much": "a, b, c, d",
		"a port of 0": "a, 192.0.2.1:0", "no port": "a, 192.0.2.1:x", "a large port": "a, 192.0.2.1:70000",
		"tcp without a port": "a, 192.0.2.1, tcp", "an unknown name": "a, lon.example.org", "multicast": "a, 224.0.0.1",
		"everybody": "a, 255.255.255.255", "nobody": "a, 0.0.0.0",
		"a command": "a, 192.0.2.1:1, x;y", "a long name": strings.Repeat("x", 49) + ", 192.0.2.1",
		"twins": "a, 192.0.2.1\na, 192.0.2.2", "too many": many,
	} {
		if got, err := ParseVenues(text, lookUp); err == nil {
			t.Errorf("%s: %v", what, got)
		}
	}
	if _, err := ParseVenues("f, fra.example.org", nil); err == nil {
		t.Error("a name is looked up by nobody")
	}
}

func TestVenuesInSettings(t *testing.T) {
	for patch, want := range map[string]int{
		`{"places":"a, 192.0.2.1\nb, 192.0.2.2"}`:                         2,
		`{"places":[{"name":"a","addr":"192.0.2.1:1","protocol":"tcp"}]}`: 1, `{"places":"none"}`: 0, `{"places":null}`: 0,
	} {
		s, err := Settings{By: "mean", Places: make(Venues, 3)}.Patched([]byte(patch), OnPage)
		if err != nil || len(s.Places) != want {
			t.Errorf("%s: %v, %v", patch, s.Places, err)
		}
	}
	for _, patch := range []string{`{"places":7}`, `{"places":"a"}`,
		`{"places":[{"name":"","addr":"192.0.2.1:1","protocol":"tcp"}]}`,
		`{"places":[{"name":"a","addr":"[::ffff:224.0.0.1]:1","protocol":"tcp"}]}`} {
		if s, err := (Settings{By: "mean"}).Patched([]byte(patch), OnPage); err == nil {
			t.Errorf("%s: %v", patch, s.Places)
		}
	}
	if private := (Venues{{Addr: netip.MustParseAddrPort("192.0.2.1:1")},
		{Addr: netip.MustParseAddrPort("10.0.0.1:1")}}); !private.Private() || private[:1].Private() {
		t.Error("what is private is not known")
	}
}

// FuzzVenues checks that all places that ParseVenues accepts can be sent on the wire.
func FuzzVenues(f *testing.F) {
	for _, text := range []string{"Frankfurt, 192.0.2.1", "a, 192.0.2.1:443, tcp # x\nb, [2001:db8::1]:80", "none",
		"a,b,c,d", ",,", "a, ::1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		venues, err := ParseVenues(text, nil)
		if err != nil {
			return
		}
		frame, err := Marshal(Survey{Attempt: 1, Places: venues, Samples: 3})
		if err != nil {
			t.Fatal(err)
		}
		back, err := Unmarshal(frame)
		if err != nil {
			t.Fatalf("%s: %v", frame.Data, err)
		}
		a, _ := json.Marshal(venues)
		b, _ := json.Marshal(back.(Survey).Places)
		if string(a) != string(b) {
			t.Fatalf("%s becomes %s", a, b)
		}
	})
}
