package ingress

import (
	"net/netip"
	"strings"
	"testing"

	"muster/host/access"
	"muster/internal/catalogue"
	"muster/internal/invite"
	"muster/internal/portmap"
)

func TestMapped(t *testing.T) {
	home := invite.Link{Host: "192.168.1.7:7777", Code: "BAKODI"}
	for _, c := range []struct {
		name, external string
		to             invite.Link
		want           []string
	}{
		{"a public address", "203.0.113.7:7778", home, []string{"muster join http://203.0.113.7:7778/#BAKODI", "(PCP)"}},
		{"a certificate's name", "203.0.113.7:7777", invite.Link{Host: "night.example:7777", Code: "BAKODI", TLS: true},
			[]string{"https://night.example:7777/#BAKODI"}},
		{"a fingerprint", "203.0.113.7:7777",
			invite.Link{Host: "192.168.1.7:7777", Code: "BAKODI", TLS: true, Pin: "PIN"}, []string{"https://203.0.113.7:7777/#BAKODI~PIN"}},
		{"another router", "10.0.0.7:7778", home,
			[]string{"another router", "forward TCP port 7778 on that other router to 10.0.0.7:7778", "join http://PUBLIC-ADDRESS:7778/#BAKODI", "tunnel"}},
		{"the provider's NAT", "100.64.3.4:7777", home, []string{"the provider shares its address 100.64.3.4", "tunnel"}},
	} {
		got := catalogue.InEnglish().Say(mapped(portmap.Mapping{External: netip.MustParseAddrPort(c.external), Protocol: "PCP"}, c.to))
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is missing in\n%s", c.name, want, got)
			}
		}
	}
	at, pinned := netip.MustParseAddrPort("192.168.1.7:7777"), invite.Link{Host: "192.168.1.7:7777", Code: "BAKODI", TLS: true, Pin: "PIN"}
	if got := catalogue.InEnglish().Say(unmapped(at, pinned)); !strings.Contains(got,
		"forward TCP port 7777 on the router to 192.168.1.7:7777") || !strings.Contains(got, "https://PUBLIC-ADDRESS:7777/#BAKODI~PIN") {
		t.Errorf("without a router: %s", got)
	}
}

// TestMappedLink checks that friends on the internet have a link once the router has opened a port.
func TestMappedLink(t *testing.T) {
	at, key := netip.MustParseAddrPort("192.168.1.7:7777"), access.Key{Code: "BAKODI", Link: "ABCDEFGHIJKLMNOP"}
	in := &Ingress{}
	if link := in.Mapped(at, key); link != "" {
		t.Errorf("without a port the link is %s", link)
	}
	port := netip.MustParseAddrPort("203.0.113.7:7778")
	in.mapped.Store(&port)
	if link := in.Mapped(at, key); link != "http://203.0.113.7:7778/#BAKODI_ABCDEFGHIJKLMNOP" {
		t.Errorf("the link is %s", link)
	}
}
