package option

import (
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/selection"
)

// TestPings checks that a plain number is in milliseconds wherever a flag takes a ping.
func TestPings(t *testing.T) {
	ms := time.Millisecond
	for text, want := range map[string][]time.Duration{
		"150": {150 * ms}, "150ms": {150 * ms}, "0.5s": {500 * ms}, "99.5": {99500 * time.Microsecond},
		"100,150ms, 0.2s,250": {100 * ms, 150 * ms, 200 * ms, 250 * ms}, "0": {0},
	} {
		var got []time.Duration
		if err := Pings(&got).Set(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "1e3", "-5", "150 ms", "ms", "1,,2", "inf", "0x10", "99999999999999999999"} {
		var got []time.Duration
		if err := Pings(&got).Set(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	var one time.Duration
	flag := Ping(&one, 200*ms)
	if one != 200*ms || flag.String() != "200ms" || flag.Set("90") != nil || one != 90*ms {
		t.Errorf("%v, %v", one, flag)
	}
}

// TestSides checks that a name may hold an equals sign, and a side is a or b.
func TestSides(t *testing.T) {
	var got map[string]selection.Side
	flag := Sides(&got)
	for _, text := range []string{"ann=a, ben=A", "emil=b", "x=y=b"} {
		if err := flag.Set(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	want := map[string]selection.Side{"ann": selection.SideA, "ben": selection.SideA, "emil": selection.SideB, "x=y": selection.SideB}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, text := range []string{"", "ann", "=a", "ann=", "ann=c", "ann=a,,ben=b", "a", "b=ab"} {
		if err := Sides(&got).Set(text); err == nil {
			t.Errorf("%q is taken for sides", text)
		}
	}
}

func TestPrefixes(t *testing.T) {
	var got []netip.Prefix
	flag := Networks(&got)
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
