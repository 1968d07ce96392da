package invite

import (
	"testing"
	"unicode"
)

// TestParse checks that a link names the host, the room and the certificate, however it is pasted.
func TestParse(t *testing.T) {
	const pin = "6GGEBGUZQS72K5ZWN3CQCTQWVA"
	full := Link{Host: "192.0.2.1:7777", Code: "BAKODI", TLS: true, Pin: pin}
	if got, want := full.String(), "https://192.0.2.1:7777/#BAKODI~"+pin; got != want {
		t.Errorf("link %s, want %s", got, want)
	}
	for _, c := range []struct {
		where, code string
		want        Link
		fails       bool
	}{
		{where: full.String(), want: full},
		{where: "192.0.2.1:7777", code: "bakodi~" + pin, want: full},
		{
			where: "https://192.0.2.1:7777/#BAKODI.SECRET~" + pin,
			want:  Link{Host: full.Host, Code: full.Code, TLS: true, Pin: pin, Secret: "SECRET"},
		},
		{
			where: "https://night.example/#BAKODI_KEY.SECRET",
			want:  Link{Host: "night.example:443", Code: "BAKODI", Key: "KEY", TLS: true, Secret: "SECRET"},
		},
		{where: "night.example", code: "ba-ko-di_key", want: Link{Host: "night.example:7777", Code: "BAKODI", Key: "KEY"}},
		{where: "https://night.example/#BAKODI", want: Link{Host: "night.example:443", Code: "BAKODI", TLS: true}},
		{where: "http://192.0.2.1:7777/#BAKODI", want: Link{Host: "192.0.2.1:7777", Code: "BAKODI"}},
		{where: "https://night.example/?side=b#BAKODI", want: Link{Host: "night.example:443", Code: "BAKODI", TLS: true, Side: "b"}},
		{where: "https://night.example/?side=c&lang=de#BAKODI", want: Link{Host: "night.example:443", Code: "BAKODI", TLS: true}},
		{where: "http://night.example/#BAKODI", want: Link{Host: "night.example:80", Code: "BAKODI"}},
		{where: "night.example", code: "BAKODI", want: Link{Host: "night.example:7777", Code: "BAKODI"}},
		{where: "https://192.0.2.1:7777/#BAKODI~6GGEBGU", fails: true},
		{where: "https://192.0.2.1:7777/#BAKODI~", fails: true},
		{where: "https://192.0.2.1:7777/#~" + pin, fails: true},
		{where: "münster.example", code: "BAKODI", want: Link{Host: "münster.example:7777", Code: "BAKODI"}},
		{where: "http://night\x1b]0;x\x07.example/#BAKODI", fails: true},
		{where: "night%1b.example", code: "BAKODI", fails: true},
		{where: "night\u202e.example", code: "BAKODI", fails: true},
		{where: "a b", code: "BAKODI", fails: true},
		{where: "[fe80::1%25\x1bx]:1", code: "BAKODI", fails: true},
	} {
		got, err := Parse(c.where, c.code)
		if c.fails != (err != nil) || !c.fails && got != c.want {
			t.Errorf("%s with code %q: %+v, %v; want %+v", c.where, c.code, got, err, c.want)
		}
	}
}

// FuzzParse reads what people paste and strangers send. An accepted link reads the same again, and is safe to show on a
// terminal.
func FuzzParse(f *testing.F) {
	for _, where := range []string{"https://192.0.2.1:7777/#BAKODI~6GGEBGUZQS72K5ZWN3CQCTQWVA", "night.example",
		"[fe80::1%eth0]:7777", "http://[::1]/#a.b~c"} {
		f.Add(where, "")
		f.Add(where, "BAKODI")
	}
	f.Fuzz(func(t *testing.T, where, code string) {
		link, err := Parse(where, code)
		if err != nil {
			return
		}
		text := link.Personal(link.Secret)
		again, err := Parse(text, "")
		if err != nil || again != link {
			t.Errorf("%q with code %q is %+v; written as %q and read again it is %+v, %v", where, code, link, text, again, err)
		}
		for _, r := range text {
			if unicode.Is(unicode.C, r) {
				t.Errorf("%q is a link to %q, with %U in it", where, text, r)
			}
		}
	})
}
