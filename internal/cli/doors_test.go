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
