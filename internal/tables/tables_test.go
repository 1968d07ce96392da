package tables_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/geo"
	"muster/internal/release"
	"muster/internal/release/fetch"
	"muster/internal/release/releasetest"
	"muster/internal/tables"
)

// table returns a table of names, the only kind that a test can write by hand, perhaps labelled as another kind.
func table(t testing.TB, f geo.Field, text string, built time.Time) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Name, z.Comment, z.ModTime = string(f), "a test", built
	z.Write([]byte(text))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	future = time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC)
	past   = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// nothing is the body of a table without ranges, version 1.
const nothing = "\x01\x00\x00"

// tablesOf returns the three tables of a time, without a range in them.
func tablesOf(t testing.TB, built time.Time) map[string]string {
	return map[string]string{
		"muster-country.gz": table(t, geo.Country, nothing, built),
		"muster-asn.gz":     table(t, geo.ASN, nothing, built),
		"muster-names.gz":   table(t, geo.Names, "15169\tGoggle\n", built),
	}
}

func source(t *testing.T, r *releasetest.Release) fetch.Source {
	t.Helper()
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return fetch.Source{Page: server.URL + "/releases", Keys: releasetest.NewSigner(t, 1).Keys(t)}
}

// release1 signs its files' sums, but not the files themselves, as releases do.
func release1(t *testing.T, signer byte, files map[string]string) *releasetest.Release {
	r := releasetest.NewSigner(t, signer).Release(t, "1.3.0", files)
	for name := range files {
		delete(r.Files, name+release.SignatureEnding)
	}
	return r
}

func names(t *testing.T, folder string) string {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// TestUpdate checks that newer tables are kept and used, that equal or older ones change nothing, and that Forget
// undoes it.
func TestUpdate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "tables")
	from := source(t, release1(t, 1, tablesOf(t, future)))
	news, err := tables.Update(t.Context(), from, folder)
	if err != nil || len(news) != 3 || !news[1].Built.Equal(future) || news[1].Field != geo.ASN ||
		names(t, folder) != "asn.gz country.gz names.gz" {
		t.Fatalf("%+v, %v; there are %s", news, err, names(t, folder))
	}
	google := netip.MustParseAddr("8.8.8.8")
	locate := func() geo.Place {
		l, err := geo.Open(geo.Options{Tables: folder})
		if err != nil || l.Trouble() != nil {
			t.Fatal(err, l.Trouble())
		}
		defer l.Close()
		return l.Locate(google)
	}
	if got := locate(); got != (geo.Place{}) {
		t.Errorf("the tables that were fetched have nothing in them, and say %+v", got)
	}
	for what, built := range map[string]time.Time{"the same": future, "older ones": future.AddDate(0, -1, 0),
		"ones older than those carried": past} {
		if news, err := tables.Update(t.Context(), source(t, release1(t, 1, tablesOf(t, built))), folder); err != nil || len(news) > 0 {
			t.Errorf("%s: %+v, %v", what, news, err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "asn.gz"), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if news, err := tables.Update(t.Context(), from, folder); err != nil || len(news) != 1 || news[0].Field != geo.ASN {
		t.Errorf("a broken one is replaced: %+v, %v", news, err)
	}
	if there, err := tables.Forget(folder); !there || err != nil || names(t, folder) != "" {
		t.Errorf("%v, %v; there are %s", there, err, names(t, folder))
	}
	if got := locate(); got.ASN != 15169 {
		t.Errorf("forgotten, and they say %+v", got)
	}
	if there, err := tables.Forget(folder); there || err != nil {
		t.Errorf("%v, %v", there, err)
	}
}

// TestUpdateWrong checks that a table is not kept, and changes nothing, if it is unsigned, incomplete or not what its
// name says.
func TestUpdateWrong(t *testing.T) {
	const sums, minisig, asn = release.SumsName, release.SignatureEnding, "muster-asn.gz"
	for name, c := range map[string]struct {
		change func(r *releasetest.Release)
		want   error
		says   string
	}{
		"changed": {func(r *releasetest.Release) {
			r.Files[asn] = table(t, geo.ASN, nothing, future.AddDate(1, 0, 0))
		}, fetch.ErrWrong, "asn.gz"},
		"cut off": {func(r *releasetest.Release) { r.Files[asn] = r.Files[asn][:20] }, fetch.ErrWrong, "asn.gz"},
		"a stranger's": {func(r *releasetest.Release) {
			r.Files = release1(t, 2, tablesOf(t, future)).Files
		}, fetch.ErrWrong, "another key"},
		"a stranger's sums": {func(r *releasetest.Release) {
			r.Files[sums] = release1(t, 2, tablesOf(t, past)).Files[sums]
		}, fetch.ErrWrong, "SHA256SUMS"},
		"no signature": {func(r *releasetest.Release) { delete(r.Files, sums+minisig) }, fetch.ErrNone, "SHA256SUMS.minisig"},
		"no table":     {func(r *releasetest.Release) { delete(r.Files, asn) }, fetch.ErrNone, asn},
		"another's place": {func(r *releasetest.Release) {
			r.Files[asn] = r.Files["muster-country.gz"]
		}, fetch.ErrWrong, "it is muster-country.gz"},
		"without an end": {func(r *releasetest.Release) {
			r.Files[asn] = strings.Repeat("a", geo.MaxTable+1)
		}, fetch.ErrWrong, "more than 4096 KB"},
		"to another network": {func(r *releasetest.Release) { r.Redirect = "https://192.168.1.1/x" }, fetch.ErrAway, "private network"},
		// These are signed but unusable: a maintainer's mistake.
		"signed, of another": {func(r *releasetest.Release) {
			files := tablesOf(t, future)
			files[asn] = table(t, geo.Country, nothing, future.AddDate(0, 0, 1))
			r.Files = release1(t, 1, files).Files
		}, nil, "it is a table of country"},
		"signed, no table": {func(r *releasetest.Release) {
			files := tablesOf(t, future)
			files[asn] = table(t, geo.ASN, "\x02\x00\x00", future)
			r.Files = release1(t, 1, files).Files
		}, discovery.ErrMalformed, "version 2"},
		"signed, far too many rows": {func(r *releasetest.Release) {
			files := tablesOf(t, future)
			files[asn] = table(t, geo.ASN, strings.Repeat("\x01", 9<<20), future)
			r.Files = release1(t, 1, files).Files
		}, discovery.ErrMalformed, "more than 8388608 bytes"},
	} {
		folder := t.TempDir()
		r := release1(t, 1, tablesOf(t, future))
		c.change(r)
		news, err := tables.Update(t.Context(), source(t, r), folder)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) ||
			len(news) > 0 || names(t, folder) != "" {
			t.Errorf("%s: %+v, %v, want %q; there are %q", name, news, err, c.says, names(t, folder))
		}
	}
	unsigned := source(t, release1(t, 1, tablesOf(t, future)))
	unsigned.Keys = release.Keys{}
	if _, err := tables.Update(t.Context(), unsigned, t.TempDir()); !errors.Is(err, fetch.ErrWrong) {
		t.Errorf("without a key: %v", err)
	}
	plain := fetch.Source{Page: "http://example.org/releases"}
	if _, err := tables.Update(t.Context(), plain, t.TempDir()); err == nil || !strings.Contains(err.Error(), "https://") {
		t.Errorf("not encrypted: %v", err)
	}
}
