package invite

import (
	"errors"
	"strings"
	"testing"
)

const (
	someKey = "ABCDEFGHIJKLMNOP"
	somePin = "6GGEBGUZQS72K5ZWN3CQCTQWVA"
)

// TestFileName checks that a program's name carries the whole link.
func TestFileName(t *testing.T) {
	for _, c := range []struct {
		link Link
		want string
	}{
		{Link{Host: "192.0.2.1:7777", Code: "TABOMI", Key: someKey}, "muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP"},
		{Link{Host: "192.0.2.1:7777", Code: "TABOMI"}, "muster-join_192.0.2.1_7777_TABOMI"},
		{Link{
			Host: "192.0.2.1:7777",
			Code: "TABOMI",
			Key:  someKey,
			TLS:  true,
			Pin:  somePin,
		}, "muster-join_192.0.2.1_7777s_TABOMI_ABCDEFGHIJKLMNOP_6GGEBGUZQS72K5ZWN3CQCTQWVA"},
		{Link{Host: "192.0.2.1:7777", Code: "TABOMI", TLS: true, Pin: somePin}, "muster-join_192.0.2.1_7777s_TABOMI_6GGEBGUZQS72K5ZWN3CQCTQWVA"},
		{Link{
			Host: "muster.example:443",
			Code: "BAKODITALUME",
			Key:  someKey,
			TLS:  true,
		}, "muster-join_muster.example_443s_BAKODITALUME_ABCDEFGHIJKLMNOP"},
		{Link{Host: "ann_s-pc.local:80", Code: "TABOMI", Key: someKey}, "muster-join_ann_s-pc.local_80_TABOMI_ABCDEFGHIJKLMNOP"},
		{Link{Host: "[2001:db8::1]:7777", Code: "TABOMI", Key: someKey}, "muster-join_2001-db8--1.ipv6-literal.net_7777_TABOMI_ABCDEFGHIJKLMNOP"},
		// A personal secret is left out, but a page's ticket is not.
		{Link{Host: "192.0.2.1:7777", Code: "TABOMI", Key: someKey, Secret: "MINE"}, "muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP"},
		{Link{Host: "192.0.2.1:7777", Code: "TABOMI", Key: someKey, Secret: "QRSTUVWXYZ234567"}, "muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP_tQRSTUVWXYZ234567"},
		{Link{Host: strings.Repeat("a", 42) + ".example:7777", Code: "TABOMI", Key: someKey, TLS: true, Pin: somePin, Secret: "QRSTUVWXYZ234567"}, "muster-join_" + strings.Repeat("a", 42) + ".example_7777s_TABOMI_ABCDEFGHIJKLMNOP_" + somePin},
		{Link{Host: "[fe80::1%eth0]:7777", Code: "TABOMI", Key: someKey}, ""},
		{Link{Host: "münster.example:7777", Code: "TABOMI", Key: someKey}, ""},
		{Link{Host: strings.Repeat("a.", 60) + "example:7777", Code: "TABOMI", Key: someKey}, ""},
		{Link{Host: "192.0.2.1:7777"}, ""},
	} {
		if got := c.link.FileName(); got != c.want {
			t.Errorf("%v: the name %q, want %q", c.link, got, c.want)
		}
	}
}

// TestFromFileName checks that browsers' and file managers' changes to the name do no harm.
func TestFromFileName(t *testing.T) {
	bare := Link{Host: "192.0.2.1:7777", Code: "TABOMI"}
	whole := bare
	whole.Key = someKey
	ticketed := whole
	ticketed.Secret = "QRSTUVWXYZ234567"
	for name, want := range map[string]Link{
		"muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP_tQRSTUVWXYZ234567 (1).exe": ticketed,
		"muster-join_192.0.2.1_7777_tabomi_abcdefghijklmnop_tqrstuvwxyz234567.exe":     ticketed,
		"muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP.exe":                       whole,
		"muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP (1).exe":                   whole, // Edge, Chrome
		"muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP(1).exe":                    whole, // Firefox
		"muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP - Copy.exe":                whole, // Windows
		"muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP-2":                         whole, // Safari
		"muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP 2":                         whole, // Finder
		"muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP (copy)":                    whole, // Nautilus
		"muster-join_192.0.2.1_7777_tabomi_abcdefghijklmnop.EXE":                       whole,
		"muster-join_192.0.2.1_7777_TABOMI.exe":                                        bare,
		"muster-join_192.0.2.1_7777_TABOMI (2).exe":                                    bare,
		"muster-join_192.0.2.1_7777_TABOMI":                                            bare,
		"muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP.tar.gz":                    whole,
		"muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP.exe\u202e(gnp.exe":         whole, // text after the name is ignored
		"muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP --launch auto -v.exe":      whole,
	} {
		if got, err := FromFileName(name); err != nil || got != want {
			t.Errorf("%q leads to %+v, %v; want %+v", name, got, err, want)
		}
	}
	for _, name := range []string{"", "muster", "muster.exe", "muster (1).exe", "muster-1.2.0.exe", "MUSTER-JOIN_192.0.2.1_7777_TABOMI"} {
		if _, err := FromFileName(name); !errors.Is(err, ErrPlainName) {
			t.Errorf("%q: %v, want a plain name", name, err)
		}
	}
	for _, name := range []string{
		"muster-join_.exe", "muster-join_192.0.2.1_7777.exe", "muster-join_192.0.2.1_99999_TABOMI.exe",
		"muster-join_192.0.2.1_7777_TABOMI_ABCDEF.exe",
		"muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP_6GGEB.exe", "muster-join_a b_7777_TABOMI.exe",
		"muster-join_a/../b_7777_TABOMI", "muster-join_a\x1b]0;x_7777_TABOMI", "muster-join_host_7777_--launch",
	} {
		if got, err := FromFileName(name); err == nil || errors.Is(err, ErrPlainName) {
			t.Errorf("%q leads to %+v, %v; want a complaint", name, got, err)
		}
	}
}

// FuzzFromFileName checks that a file name leads only where a link can, and that writing the link again keeps its
// meaning.
func FuzzFromFileName(f *testing.F) {
	for _, name := range []string{"muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP (1).exe",
		"muster-join_2001-db8--1.ipv6-literal.net_443s_TABOMI_6GGEBGUZQS72K5ZWN3CQCTQWVA", "muster-join_a_b_1_A"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		link, err := FromFileName(name)
		if err != nil {
			return
		}
		if again, err := Parse(link.Personal(link.Secret), ""); err != nil || again != link {
			t.Errorf("%q leads to %+v, which as a link is %+v, %v", name, link, again, err)
		}
		if written := link.FileName(); written != "" {
			if again, err := FromFileName(written); err != nil || again != link {
				t.Errorf("%q leads to %+v, is written %q, and leads to %+v, %v", name, link, written, again, err)
			}
		}
	})
}
