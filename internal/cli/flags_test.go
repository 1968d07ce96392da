package cli

import (
	"net/netip"
	"slices"
	"testing"
)

func TestPrefixes(t *testing.T) {
	var got []netip.Prefix
	flag := networks(&got)
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
