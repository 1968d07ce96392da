package invite

import (
	"strings"
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

// TestURL checks that a link that opens Muster means the same as the page's.
func TestURL(t *testing.T) {
	for want, link := range map[string]Link{
		"muster://join/http/192.0.2.1:7777/TABOMI_ABCDEFGHIJKLMNOP": {Host: "192.0.2.1:7777", Code: "TABOMI", Key: someKey},
		"muster://join/https/192.0.2.1:7777/TABOMI_ABCDEFGHIJKLMNOP~6GGEBGUZQS72K5ZWN3CQCTQWVA": {
			Host: "192.0.2.1:7777",
			Code: "TABOMI",
			Key:  someKey,
			TLS:  true,
			Pin:  somePin,
		},
		"muster://join/https/muster.example/TABOMI_ABCDEFGHIJKLMNOP.QRSTUVWXYZ234567": {
			Host:   "muster.example:443",
			Code:   "TABOMI",
			Key:    someKey,
			TLS:    true,
			Secret: "QRSTUVWXYZ234567",
		},
		"muster://join/http/[2001:db8::1]:7777/TABOMI": {Host: "[2001:db8::1]:7777", Code: "TABOMI"},
	} {
		if got := link.URL(); got != want {
			t.Errorf("%+v is %s, want %s", link, got, want)
		}
		for _, text := range []string{want, want + "/", strings.Replace(want, "muster", "MUSTER", 1)} {
			if got, err := ParseURL(text); err != nil || got != link {
				t.Errorf("%s is %+v, %v; want %+v", text, got, err, link)
			}
		}
	}
}

// hostile are links that other sites may make.
var hostile = []string{
	"", "muster:", "muster://", "muster://join", "muster://join/", "muster://launch/calc", "muster://open/http/192.0.2.1:7777/TABOMI",
	"http://192.0.2.1:7777/#TABOMI", "javascript:alert(1)", "file:///etc/passwd", "--launch-command=calc", "-v",
	"muster://join/http/192.0.2.1:7777/TABOMI --launch-command calc",
	`muster://join/http/192.0.2.1:7777/TABOMI" --launch-command calc "`,
	"muster://join/http/192.0.2.1:7777/--launch-command", "muster://join/http/192.0.2.1:7777/-v",
	"muster://join/http/192.0.2.1:7777/TABOMI%0a--launch%20auto", "muster://join/http/192.0.2.1:7777/TABOMI%00",
	"muster://join/http/192.0.2.1%3a7777/TABOMI",
	"muster://join/http/192.0.2.1:7777/TABOMI\n", "muster://join/http/192.0.2.1:7777/TABOMI\x00", "muster://join/http/\x1b]0;x\x07/TABOMI",
	"muster://join/http/192.0.2.1:7777/TABOMI\u202eexe", "muster://join/http/n\u0456ght.example/TABOMI",
	"muster://join/http/192.0.2.1:7777/TABOMI&calc", "muster://join/http/192.0.2.1:7777/TABOMI|calc", "muster://join/http/%PATH%/TABOMI",
	"muster://join/ftp/192.0.2.1:7777/TABOMI", "muster://join/http/ann@192.0.2.1:7777/TABOMI",
	"muster://join/http/192.0.2.1:7777/../TABOMI", "muster://join/http/192.0.2.1:7777/TABOMI?x=y",
	"muster://join/http/192.0.2.1:7777/TABOMI#x", "muster://join/http/192.0.2.1:99999/TABOMI",
	"muster://join/http/192.0.2.1:7777/" + strings.Repeat("A", maxURL), "muster://join/http/" + strings.Repeat("a.", 300) + "/TABOMI",
}

// TestHostileURL checks that such a link leads nowhere, and that the error shows it as it is.
func TestHostileURL(t *testing.T) {
	for _, text := range hostile {
		got, err := ParseURL(text)
		if err == nil {
			t.Errorf("%q leads to %+v", text, got)
			continue
		}
		if strings.ContainsFunc(err.Error(), func(r rune) bool { return unicode.Is(unicode.C, r) }) || len(err.Error()) > 300 {
			t.Errorf("%.80q is refused with %q", text, err)
		}
	}
}

// FuzzParseURL checks accepted links: people could paste them, command lines and terminals take all of it for text, and
// they read the same again.
func FuzzParseURL(f *testing.F) {
	for _, text := range append(hostile, "muster://join/https/muster.example/TABOMI_ABCDEFGHIJKLMNOP~6GGEBGUZQS72K5ZWN3CQCTQWVA.QRSTUVWX") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		link, err := ParseURL(text)
		if err != nil {
			return
		}
		written := link.Personal(link.Secret)
		if strings.ContainsFunc(written, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'`%&|<>^$\\;!()", r) }) {
			t.Errorf("%q is taken for %q", text, written)
		}
		if again, err := ParseURL(link.URL()); err != nil || again != link {
			t.Errorf("%q is %+v, written %q, and then %+v, %v", text, link, link.URL(), again, err)
		}
	})
}
