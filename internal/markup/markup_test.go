package markup

import "testing"

// TestAdd checks that a text stays a text, wherever it stands.
func TestAdd(t *testing.T) {
	var p Page
	p.Add(`<a href="%s">%s</a>`, `/"onclick='go()'`, `<b>%s & co`)
	p.Add("<hr>")
	if want := `<a href="/&#34;onclick=&#39;go()&#39;">&lt;b&gt;%s &amp; co</a><hr>`; p.String() != want {
		t.Errorf("%s, want %s", p.String(), want)
	}
}
