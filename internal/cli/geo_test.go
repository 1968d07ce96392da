package cli_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/internal/release/releasetest"
)

// TestGeo checks several addresses at once, of both families, and the source of each answer.
func TestGeo(t *testing.T) {
	out := succeeds(t, "geo", "8.8.8.8", "[2001:4860:4860::8888]:27960", "10.0.0.1", "1.1.1.1:27015")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[0], "ADDRESS ") {
		t.Fatalf("%s", out)
	}
	for i, words := range []string{"8.8.8.8 US AS15169 Google LLC Muster's table of 2026",
		"2001:4860:4860::8888 US AS15169 Google LLC", "10.0.0.1 – – no one place", "1.1.1.1 AS13335 Cloudflare"} {
		for word := range strings.FieldsSeq(words) {
			if !strings.Contains(lines[1+i], word) {
				t.Errorf("%q does not say %q", lines[1+i], word)
			}
		}
	}
	if out := succeeds(t, "geo"); !strings.Contains(out, "country") || !strings.Contains(out, "asn") ||
		!strings.Contains(out, "in this program") || !strings.Contains(out, "DB-IP") {
		t.Errorf("the tables:\n%s", out)
	}
	overrides := writeFile(t, "o.csv", "10.0.0.0/8,DE,\n")
	o := musterWith(t, "# mine\n8.8.8.8:1\n\n10.0.0.1\n2fff::1\n", "geo", "--json", "--geo-overrides", overrides, "-")
	document := decode[struct {
		Format string
		Tables []map[string]any
		Places []map[string]any
	}](t, []byte(o.out))
	if document.Format != "muster.places/1" || len(document.Tables) != 2 || len(document.Places) != 3 {
		t.Fatalf("%s%s", o.out, o.err)
	}
	for i, want := range []string{
		`{"addr":"8.8.8.8","as_name":"Google LLC","asn":15169,"asn_by":1,"country":"US","country_by":0}`,
		`{"addr":"10.0.0.1","country":"DE","unrouted":true}`, `{"addr":"2fff::1"}`,
	} {
		if got, _ := json.Marshal(document.Places[i]); string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, c := range []struct {
		in   string
		args []string
		code int
		says string
	}{
		{"", []string{"geo", "example.org"}, 2, "names are not looked up"},
		{"", []string{"geo", "8.8.8"}, 2, `"8.8.8" is no address`},
		{"", []string{"geo", ""}, 2, "is no address"},
		{"", []string{"geo", "1.2.3.4:99999"}, 2, "is no address"},
		{"8.8.8.8\n\x1b[2Jevil\n", []string{"geo", "-"}, 1, "line 2: "},
		{"", []string{"geo", "8.8.8.8", "--country-db", "none.mmdb"}, 1, "none.mmdb"},
		{"", []string{"geo", "--update", "--forget"}, 2, "update"},
		{"", []string{"geo", "--update"}, 1, "--releases URL"},
		{"", []string{"geo", "--update", "--releases", "https://127.0.0.1/releases"}, 1, "--key"},
		{"", []string{"geo", "--update", "--releases", "http://example.org/releases", "--key",
			releasetest.NewSigner(t, 1).Public.String()}, 2, "not encrypted"},
		{"", []string{"geo", "--update", "--key", "RWQ"}, 2, "minisign.pub"},
	} {
		if o := musterWith(t, c.in, c.args...); o.code != c.code || !strings.Contains(o.err, c.says) || strings.Contains(o.err, "\x1b") {
			t.Errorf("%q: exit status %d, %q; want %d and %q", c.args, o.code, o.err, c.code, c.says)
		}
	}
}

// TestGeoUpdate checks that all commands use the fetched tables until they are removed, and that a
// bad release page changes nothing.
func TestGeoUpdate(t *testing.T) {
	folder := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "muster", "tables")
	t.Cleanup(func() { os.RemoveAll(folder) })
	table := func(name, body string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Name, z.Comment, z.ModTime = name, "a test", time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC)
		z.Write([]byte(body))
		z.Close()
		return b.String()
	}
	const nothing = "\x01\x00\x00"
	// A hand-made table: from 8.0.0.0 on it is AS 7, one value and one range.
	files := map[string]string{"muster-country.gz": table("country", nothing),
		"muster-asn.gz": table("asn", "\x01\x01\x07\x01\x1b\x00\x00"), "muster-names.gz": table("names", "7\tSeven\n")}
	signer := releasetest.NewSigner(t, 1)
	r := signer.Release(t, "1.3.0", files)
	server := httptest.NewServer(r)
	defer server.Close()
	update := []string{"geo", "--update", "--releases", server.URL + "/releases", "--key", signer.Public.String(), "8.8.8.8"}
	good := r.Files["muster-asn.gz"]
	r.Files["muster-asn.gz"] = table("asn", nothing)
	if o := muster(t, update...); o.code != 1 || !strings.Contains(o.err, "not what the project signed") ||
		!strings.Contains(o.err, "nothing was changed") {
		t.Errorf("a changed one: %+v", o)
	}
	if out := succeeds(t, "geo", "8.8.8.8"); !strings.Contains(out, "AS15169") {
		t.Errorf("%s", out)
	}
	r.Files["muster-asn.gz"] = good
	if out := succeeds(t, update...); !strings.Contains(out, "asn of 2090-01-01") || !strings.Contains(out, "AS7") ||
		!strings.Contains(out, "Seven") || !strings.Contains(out, "the table fetched, of 2090-01-01") {
		t.Errorf("%s", out)
	}
	if out := succeeds(t, update...); !strings.Contains(out, "no newer tables") {
		t.Errorf("%s", out)
	}
	list := writeFile(t, "list.txt", "127.0.0.1:9\n")
	if o := muster(t, "discover", "--game", "openarena", "--servers", list, "--timeout", "1s", "--json"); o.code == 1 {
		t.Errorf("discover: %+v", o)
	}
	if out := succeeds(t, "geo"); !strings.Contains(out, filepath.Join(folder, "asn.gz")) {
		t.Errorf("%s", out)
	}
	if err := os.WriteFile(filepath.Join(folder, "asn.gz"), []byte(good[:30]), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := muster(t, "geo", "8.8.8.8"); o.code != 0 || !strings.Contains(o.out, "AS15169") || !strings.Contains(o.err, "--update") {
		t.Errorf("a broken one: %+v", o)
	}
	if o := muster(t, "doctor"); !strings.Contains(strings.Join(strings.Fields(o.out), " "), "muster geo --update fetches it again") {
		t.Errorf("a broken one:\n%s", o.out)
	}
	if out := succeeds(t, "geo", "--forget"); !strings.Contains(out, "came with Muster serve again") {
		t.Errorf("%s", out)
	}
	if out := succeeds(t, "geo", "--forget"); !strings.Contains(out, "no fetched tables") {
		t.Errorf("%s", out)
	}
}
