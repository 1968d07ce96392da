package hostport_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"muster/discovery/hostport"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1:27960":                           "192.0.2.1:27960",
		"[2001:db8::1]:27960":                       "[2001:db8::1]:27960",
		"anna.example.org:25565":                    "anna.example.org:25565",
		"Anna.Example.ORG.:1":                       "anna.example.org:1",
		"localhost:25565":                           "localhost:25565",
		"_sip.under_score.org:5":                    "_sip.under_score.org:5",
		"xn--mnchen-3ya.org:27015":                  "xn--mnchen-3ya.org:27015",
		"":                                          "",
		"anna.example.org":                          "",
		"anna.example.org:":                         "",
		"anna.example.org:0":                        "",
		"anna.example.org:65536":                    "",
		"anna.example.org:http":                     "",
		"-anna.example.org:1":                       "",
		"anna..example.org:1":                       "",
		"anna example.org:1":                        "",
		"1.2.3:1":                                   "",
		"1.2.3.400:1":                               "",
		"[fe80::1%eth0]:1":                          "",
		"a:1;quit:1":                                "",
		"[2001:db8:6e61::%anna.example.org]:1":      "",
		"[2001:db8:6e61::%a;quit]:1":                "",
		strings.Repeat("a", 64) + ".org:1":          "",
		strings.Repeat("a.", 127) + "example.org:1": "",
	} {
		at, err := hostport.Parse(text)
		if want == "" {
			if err == nil {
				t.Errorf("%q is read as %v", text, hostport.Text(at))
			}
			continue
		}
		if err != nil || hostport.Text(at) != want {
			t.Errorf("%q is %q, %v; want %q", text, hostport.Text(at), err, want)
		}
		if again, err := hostport.Parse(hostport.Text(at)); err != nil || again != at {
			t.Errorf("%q comes back as %v, %v", text, again, err)
		}
	}
}

// TestOf checks that a name has one key whatever its spelling, and each name its own.
func TestOf(t *testing.T) {
	anna, ben := hostport.Of("anna.example.org", 25565), hostport.Of("ben.example.org", 25565)
	if anna != hostport.Of("ANNA.example.org.", 25565) || anna == ben || anna == hostport.Of("anna.example.org", 25566) {
		t.Errorf("the keys are %v and %v", anna, ben)
	}
	if a, b := anna.Addr().WithZone(""), ben.Addr().WithZone(""); a == b {
		t.Errorf("both names are in the network of %v", a)
	}
	for _, a := range []netip.Addr{anna.Addr(), ben.Addr()} {
		if !hostport.IsName(a) || !strings.HasSuffix(hostport.Host(a), ".example.org") {
			t.Errorf("%v is no name: %s", a, hostport.Host(a))
		}
	}
	for _, text := range []string{"192.0.2.1", "2001:db8:6e61::1", "fe80::1%eth0", "::ffff:192.0.2.1"} {
		if a := netip.MustParseAddr(text); hostport.IsName(a) || hostport.Host(a) != text {
			t.Errorf("%s is a name", text)
		}
	}
	if key := hostport.Of("no name", 1); key.IsValid() || hostport.Of("anna", 0).IsValid() {
		t.Errorf("what is no name has the key %v", key)
	}
}

func TestAddrPort(t *testing.T) {
	type document struct {
		Addr hostport.AddrPort `json:"addr,omitzero"`
	}
	for _, text := range []string{
		`{"addr":"192.0.2.1:27960"}`, `{"addr":"[2001:db8::1]:27960"}`, `{"addr":"anna.example.org:25565"}`, `{}`,
	} {
		var d document
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if again, err := json.Marshal(d); err != nil || string(again) != text {
			t.Errorf("%s comes back as %s, %v", text, again, err)
		}
	}
	for _, text := range []string{`{"addr":"anna.example.org"}`, `{"addr":"[fe80::1%eth0]:1"}`, `{"addr":"a b:1"}`, `{"addr":1}`} {
		var d document
		if err := json.Unmarshal([]byte(text), &d); err == nil {
			t.Errorf("%s is %v", text, d.Addr)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("192.0.2.1:27960")
	f.Add("[2001:db8::1]:27960")
	f.Add("anna.example.org:25565")
	f.Add("[2001:db8:6e61::%anna]:1")
	f.Fuzz(func(t *testing.T, text string) {
		at, err := hostport.Parse(text)
		if err != nil {
			return
		}
		written := hostport.Text(at)
		if again, err := hostport.Parse(written); err != nil || again != at {
			t.Errorf("%q is %q, which is %v, %v", text, written, again, err)
		}
		if strings.ContainsAny(written, " \t\r\n%;\"'") {
			t.Errorf("%q is %q", text, written)
		}
	})
}
