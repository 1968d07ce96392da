package host

import (
	"crypto/tls"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
)

// A link leads where friends get in, whatever strangers write into headers.
func TestLink(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	public := &url.URL{Scheme: "https", Host: "night.example"}
	for _, c := range []struct {
		name, socket, at, forwarded string
		tls                         bool
		config                      Config
		want                        string
	}{
		{name: "plain", socket: "198.51.100.1:5000", at: "192.0.2.7:7777", want: "http://192.0.2.7:7777/#BAKODI"},
		{name: "the organiser's own page", socket: "127.0.0.1:5000", at: "localhost:7777", config: Config{Address: "192.0.2.7:7777"}, want: "http://192.0.2.7:7777/#BAKODI"},
		{name: "our certificate", socket: "198.51.100.1:5000", at: "192.0.2.7:7777", tls: true, config: Config{Fingerprint: "PIN"}, want: "https://192.0.2.7:7777/#BAKODI~PIN"},
		{name: "our proxy's TLS", socket: "192.0.2.9:5000", at: "night.example", forwarded: "https", config: Config{Proxies: proxies}, want: "https://night.example/#BAKODI"},
		{name: "our proxy without", socket: "192.0.2.9:5000", at: "night.example", forwarded: "http", config: Config{Proxies: proxies}, want: "http://night.example/#BAKODI"},
		{name: "a stranger's claim", socket: "198.51.100.1:5000", at: "192.0.2.7:7777", forwarded: "https", config: Config{Proxies: proxies}, want: "http://192.0.2.7:7777/#BAKODI"},
		{name: "a claim without any proxy", socket: "127.0.0.1:5000", at: "192.0.2.7:7777", forwarded: "https", want: "http://192.0.2.7:7777/#BAKODI"},
		{name: "a public URL", socket: "127.0.0.1:5000", at: "localhost:7777", config: Config{PublicURL: public, Address: "192.0.2.7:7777"}, want: "https://night.example/#BAKODI"},
		{name: "a tunnel that passes our certificate on", socket: "127.0.0.1:5000", at: "tunnel:443", tls: true, config: Config{PublicURL: public, Fingerprint: "PIN"}, want: "https://night.example/#BAKODI~PIN"},
	} {
		r := httptest.NewRequest("GET", "/live", nil)
		r.RemoteAddr, r.Host = c.socket, c.at
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-Proto", c.forwarded)
		}
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := (&Host{config: c.config}).link(r, "BAKODI"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
