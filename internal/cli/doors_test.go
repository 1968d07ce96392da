package cli

import (
	"net/netip"
	"slices"
	"testing"
)

// A link says where, which room, and whose certificate; whatever way it is
// pasted it means the same.
func TestInvitation(t *testing.T) {
	const pin = "6GGEBGUZQS72K5ZWN3CQCTQWVA"
	full := invitation{host: "192.0.2.1:7777", code: "BAKODI", tls: true, pin: pin}
	if got, want := full.link(), "https://192.0.2.1:7777/#BAKODI~"+pin; got != want {
		t.Errorf("link %s, want %s", got, want)
	}
	for _, c := range []struct {
		where, code string
		want        invitation
		fails       bool
	}{
		{where: full.link(), want: full},
		{where: "192.0.2.1:7777", code: "bakodi~" + pin, want: full},
		{where: "https://192.0.2.1:7777/#BAKODI.SECRET~" + pin, want: full},
		{where: "https://night.example/#BAKODI", want: invitation{host: "night.example:443", code: "BAKODI", tls: true}},
		{where: "http://192.0.2.1:7777/#BAKODI", want: invitation{host: "192.0.2.1:7777", code: "BAKODI"}},
		{where: "http://night.example/#BAKODI", want: invitation{host: "night.example:80", code: "BAKODI"}},
		{where: "night.example", code: "BAKODI", want: invitation{host: "night.example:7777", code: "BAKODI"}},
		{where: "https://192.0.2.1:7777/#BAKODI~6GGEBGU", fails: true},
		{where: "https://192.0.2.1:7777/#BAKODI~", fails: true},
		{where: "https://192.0.2.1:7777/#~" + pin, fails: true},
	} {
		got, err := parseInvitation(c.where, c.code)
		if c.fails != (err != nil) || !c.fails && got != c.want {
			t.Errorf("%s with code %q: %+v, %v; want %+v", c.where, c.code, got, err, c.want)
		}
	}
}

// A machine that has no IPv4 is reached by IPv6, and one without a network by
// nobody.
func TestLikeliest(t *testing.T) {
	addr := netip.MustParseAddr
	var none netip.Addr
	loopback, link := addr("127.0.0.1"), addr("fe80::1")
	for _, c := range []struct {
		name           string
		route4, route6 netip.Addr
		own            []netip.Addr
		want           string
	}{
		{"both", addr("192.168.1.7"), addr("2001:db8::7"), []netip.Addr{loopback, addr("172.17.0.1"), addr("192.168.1.7")}, "192.168.1.7"},
		{"a party without a router", none, none, []netip.Addr{loopback, link, addr("2001:db8::7"), addr("10.9.0.1")}, "10.9.0.1"},
		{"IPv6 alone", none, addr("2001:db8::7"), []netip.Addr{loopback, link, addr("fd00::7"), addr("2001:db8::7")}, "2001:db8::7"},
		{"IPv6 without a router", none, none, []netip.Addr{loopback, link, addr("fd00::7")}, "fd00::7"},
		{"no network", none, none, []netip.Addr{loopback, addr("::1")}, "127.0.0.1"},
	} {
		if got := likeliest(c.route4, c.route6, c.own); got.String() != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

func TestPrefixes(t *testing.T) {
	var got []netip.Prefix
	flag := prefixes{&got}
	for _, text := range []string{"127.0.0.1", "192.0.2.0/24, ::1"} {
		if err := flag.Set(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	want := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("::1/128")}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := flag.Set("caddy"); err == nil {
		t.Error("a name is taken for a network")
	}
}

// Behind a proxy or a tunnel the link has its URL, and what --port-map says to
// forward is still this machine's.
func TestPublicURL(t *testing.T) {
	home := invitation{host: "192.168.1.7:7777", code: "BAKODI"}
	for _, c := range []struct{ url, link, joins string }{
		{"https://night.example", "https://night.example/#BAKODI", "night.example:443"},
		{"http://night.example:8080/", "http://night.example:8080/#BAKODI", "night.example:8080"},
		{"https://[2001:db8::1]:7443", "https://[2001:db8::1]:7443/#BAKODI", "[2001:db8::1]:7443"},
		{url: "night.example"}, {url: "ftp://night.example"}, {url: "https://"}, {url: "https://ann@night.example"},
		{url: "https://night.example/muster"}, {url: "https://night.example/?room"}, {url: "https://night.example/#BAKODI"},
	} {
		var d doors
		err := publicURL{&d.public}.Set(c.url)
		if c.link == "" {
			if err == nil {
				t.Errorf("%s is taken", c.url)
			}
			continue
		}
		if got := d.outside(home).link(); err != nil || got != c.link {
			t.Errorf("%s: link %s, %v, want %s", c.url, got, err, c.link)
		}
		if got, err := parseInvitation(c.link, ""); err != nil || got.host != c.joins || got.tls != (d.public.Scheme == "https") {
			t.Errorf("%s: muster join takes it as %+v, %v", c.url, got, err)
		}
		if got := d.direct(home).host; got != home.host {
			t.Errorf("%s: the router would be told of %s", c.url, got)
		}
	}
}
