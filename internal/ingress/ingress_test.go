package ingress

import (
	"net/netip"
	"testing"

	"muster/host/access"
	"muster/internal/invite"
)

// TestPublicURL checks that links behind a proxy or a tunnel have its URL, while the advice of --port-map still names
// this machine.
func TestPublicURL(t *testing.T) {
	home := netip.MustParseAddrPort("192.168.1.7:7777")
	for _, c := range []struct{ url, link, joins string }{
		{"https://night.example", "https://night.example/#BAKODI_KEY", "night.example:443"},
		{"http://night.example:8080/", "http://night.example:8080/#BAKODI_KEY", "night.example:8080"},
		{"https://[2001:db8::1]:7443", "https://[2001:db8::1]:7443/#BAKODI_KEY", "[2001:db8::1]:7443"},
		{url: "night.example"}, {url: "ftp://night.example"}, {url: "https://"}, {url: "https://ann@night.example"},
		{url: "https://night.example/muster"}, {url: "https://night.example/?room"}, {url: "https://night.example/#BAKODI"},
	} {
		var in Ingress
		var err error
		in.Public, err = invite.ParseBase(c.url)
		if c.link == "" {
			if err == nil {
				t.Errorf("%s is taken", c.url)
			}
			continue
		}
		if got := in.Outside(home, access.Key{Code: "BAKODI", Link: "KEY"}).String(); err != nil || got != c.link {
			t.Errorf("%s: link %s, %v, want %s", c.url, got, err, c.link)
		}
		if got, err := invite.Parse(c.link, ""); err != nil || got.Host != c.joins || got.TLS != (in.Public.Scheme == "https") {
			t.Errorf("%s: muster join takes it as %+v, %v", c.url, got, err)
		}
		if got := in.direct(home, access.Key{}).Host; got != home.String() {
			t.Errorf("%s: the router would be told of %s", c.url, got)
		}
	}
}
