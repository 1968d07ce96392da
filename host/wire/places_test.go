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
	"muster/discovery/hostport"
	. "muster/host/wire"
)

func TestParseVenues(t *testing.T) {
	at := func(text string) hostport.AddrPort { return hostport.At(netip.MustParseAddrPort(text)) }
	lookUp := func(host string) (netip.Addr, error) {
		if host == "fra.example.org" {
			return netip.MustParseAddr("203.0.113.9"), nil
		}
		return netip.Addr{}, errors.New("no such name")
	}
	for text, want := range map[string]Venues{
		"":                                 {},
		"none\n":                           {},
		"Frankfurt, 192.0.2.1":             {{Name: "Frankfurt", Addr: at("192.0.2.1:7787"), Protocol: "beacon"}},
		"Frankfurt,192.0.2.1:77":           {{Name: "Frankfurt", Addr: at("192.0.2.1:77"), Protocol: "beacon"}},
		" A B ,\t192.0.2.1:443,TCP # ours": {{Name: "A B", Addr: at("192.0.2.1:443"), Protocol: "tcp"}},
		"# these\n\nx, 2001:db8::1\ny, [2001:db8::1]:80, tcp\n": {{Name: "x", Addr: at("[2001:db8::1]:7787"), Protocol: "beacon"},
			{Name: "y", Addr: at("[2001:db8::1]:80"), Protocol: "tcp"}},
		"f, fra.example.org\ng, fra.example.org:27960, quake3": {{Name: "f", Addr: at("203.0.113.9:7787"), Protocol: "beacon"},
			{Name: "g", Addr: at("203.0.113.9:27960"), Protocol: "quake3"}},
		"d, `192.0.2.1 : 7799`": {{Name: "d", Addr: at("192.0.2.1:7799"), Protocol: "beacon"}},
		"a\x1b[31mb, 192.0.2.1": {{Name: discovery.CleanText("a\x1b[31mb"), Addr: at("192.0.2.1:7787"), Protocol: "beacon"}},
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
}

func TestDescribedVenue(t *testing.T) {
	const head = `[{"name":"a","addr":"lon.example.net:443","protocol":"tcp"`
	offers := func(n int) string {
		return `,"offers":[` + strings.TrimSuffix(strings.Repeat(`{"provider":"A","region":"x"},`, n), ",") + `]`
	}
	for _, good := range []string{
		"", `,"url":"https://lon.example.net/backend/empty.php?cors=true"`, `,"url":"https://lon.example.net:8443"`,
		`,"url":"https://192.0.2.1/"`, `,"country":"GB","lat":-90,"lon":180`, offers(12),
	} {
		var venues Venues
		if err := json.Unmarshal([]byte(head+good+"}]"), &venues); err != nil || venues[0].Addr != hostport.At(hostport.Of("lon.example.net", 443)) {
			t.Errorf("%s: %v, %v", good, venues, err)
			continue
		}
		text, _ := json.Marshal(venues)
		var again Venues
		if err := json.Unmarshal(text, &again); err != nil || !again.Equal(venues) {
			t.Errorf("%s becomes %s: %v", good, text, err)
		}
	}
	for _, bad := range []string{
		`,"url":"http://lon.example.net/"`, `,"url":"https://"`, `,"url":"https://u@lon.example.net/"`,
		`,"url":"https://lon.example.net/#x"`, `,"url":"https://a;b/"`, `,"url":"https://a.example/ x"`, `,"url":"//a.example/"`,
		`,"url":"https://a.example/` + strings.Repeat("x", 200) + `"`, `,"url":"https://ä.example/"`,
		`,"country":"gb"`, `,"country":"GBR"`, `,"lat":91`, `,"lon":-181`, offers(13),
		`,"offers":[{"region":"x"}]`, `,"offers":[{"provider":"` + strings.Repeat("x", 49) + `"}]`, `,"offers":[{"provider":"a\nb"}]`,
	} {
		var venues Venues
		if err := json.Unmarshal([]byte(head+bad+"}]"), &venues); err == nil {
			t.Errorf("%s: %+v", bad, venues)
		}
	}
	if err := json.Unmarshal([]byte(`[{"name":"a","addr":"[fe80::1%eth0]:1","protocol":"tcp"}]`), new(Venues)); err == nil {
		t.Error("a place on a network of its own")
	}
}

func TestPrivateVenues(t *testing.T) {
	at := func(text string) hostport.AddrPort { return hostport.At(netip.MustParseAddrPort(text)) }
	named := hostport.At(hostport.Of("lon.example.net", 443))
	for _, test := range []struct {
		venue Venue
		want  bool
	}{
		{Venue{Addr: at("192.0.2.1:1")}, false},
		{Venue{Addr: at("10.0.0.1:1")}, true},
		{Venue{Addr: named}, false},
		{Venue{Addr: named, URL: "https://lon.example.net/"}, false},
		{Venue{Addr: named, URL: "https://[fd00::1]:8443/"}, true},
		{Venue{Addr: named, URL: "https://127.0.0.1/"}, true},
	} {
		if got := (Venues{{Addr: named}, test.venue}).Private(); got != test.want {
			t.Errorf("%+v is private: %v", test.venue, got)
		}
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
