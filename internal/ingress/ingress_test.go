package ingress

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/host/access"
	"muster/internal/catalogue"
	"muster/internal/invite"
	"muster/internal/portmap"
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

// TestRenewed checks that a host uses a certificate that was renewed while it runs, and keeps the old one while only
// half of the new one is there.
func TestRenewed(t *testing.T) {
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	write := func(file string, blocks ...*pem.Block) {
		t.Helper()
		var text []byte
		for _, b := range blocks {
			text = append(text, pem.EncodeToMemory(b)...)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fresh := func() (pair tls.Certificate, leaf, secret *pem.Block) {
		t.Helper()
		pair, err := access.OwnCertificate(filepath.Join(t.TempDir(), "own.pem"), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		return pair, &pem.Block{Type: "CERTIFICATE", Bytes: pair.Leaf.Raw}, &pem.Block{Type: "PRIVATE KEY", Bytes: private}
	}
	first, leaf, secret := fresh()
	write(cert, leaf)
	write(key, secret)
	var in Ingress
	if err := in.EncryptRenewed(cert, key, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	r := &renewed{cert: cert, key: key, log: slog.New(slog.DiscardHandler), pair: in.pair}
	r.of = r.times()
	now := time.Now()
	shows := func(when string, want tls.Certificate) {
		t.Helper()
		now = now.Add(2 * lookEvery)
		if got := r.newest(now); !got.Leaf.Equal(want.Leaf) {
			t.Errorf("%s another certificate is shown", when)
		}
	}
	shows("at first", first)
	second, leaf, secret := fresh()
	write(cert, leaf)
	os.Chtimes(cert, now, now.Add(time.Hour)) // otherwise both might be written within one tick of the clock
	shows("with the old key", first)
	write(key, secret)
	os.Chtimes(key, now, now.Add(time.Hour))
	shows("when both are there", second)
	os.Remove(cert)
	shows("when they are gone", second)
	if got, err := in.TLS().GetCertificate(nil); err != nil || !got.Leaf.Equal(first.Leaf) { // it has just checked
		t.Errorf("a connection is shown another, %v", err)
	}
}

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
