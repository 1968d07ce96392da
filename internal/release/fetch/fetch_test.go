package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/internal/release"
	"muster/internal/release/releasetest"
)

const (
	program = "muster_1.2.0_windows_amd64.exe"
	content = "the program"
)

// serve serves a release on loopback, and returns its source.
func serve(t *testing.T, h http.Handler) Source {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return Source{Page: server.URL + "/releases", Version: "1.2.0", Keys: releasetest.NewSigner(t, 1).Keys(t), Folder: t.TempDir()}
}

func ignored(_, _ int64) {}

func get(t *testing.T, s Source) (string, error) {
	t.Helper()
	data, v, err := s.Get(t.Context(), program, ignored)
	if err != nil {
		if left, _ := filepath.Glob(filepath.Join(s.Folder, "*")); len(left) > 0 {
			t.Errorf("%v stays behind after %v", left, err)
		}
		return "", err
	}
	defer data.Close()
	text, err := io.ReadAll(data)
	if v.Standing != release.Own || v.File != program || len(v.Signature) == 0 {
		t.Errorf("got with the verdict %+v", v)
	}
	return string(text), err
}

// TestGet checks that a signed file is downloaded once, however often it is requested, and kept.
func TestGet(t *testing.T) {
	r := releasetest.NewSigner(t, 1).Release(t, "1.2.0", map[string]string{program: content})
	s := serve(t, r)
	older := filepath.Join(s.Folder, "muster_1.1.0_windows_amd64.exe")
	if err := os.Mkdir(older, 0o700); err != nil {
		t.Fatal(err)
	}
	var got, of int64
	data, _, err := s.Get(t.Context(), program, func(g, o int64) { got, of = g, o })
	if err != nil {
		t.Fatal(err)
	}
	data.Close()
	if got != int64(len(content)) || of != got {
		t.Errorf("told of %d of %d bytes", got, of)
	}
	for range 2 {
		if text, err := get(t, s); text != content || err != nil || r.Asked.Load() != 1 {
			t.Errorf("got %q, %v, after asking %d times", text, err, r.Asked.Load())
		}
	}
	if _, err := os.Stat(older); err == nil {
		t.Error("what an older version got is kept")
	}
	if err := os.WriteFile(filepath.Join(s.Folder, program, program), []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := get(t, s); text != content || err != nil || r.Asked.Load() != 2 {
		t.Errorf("a changed one: got %q, %v, after asking %d times", text, err, r.Asked.Load())
	}
}

// TestGetWrong checks that a file is neither delivered nor kept unless it is the project's own, and the requested
// version and file.
func TestGetWrong(t *testing.T) {
	project, stranger := releasetest.NewSigner(t, 1), releasetest.NewSigner(t, 2)
	const sums, minisig = release.SumsName, release.SignatureEnding
	for name, tt := range map[string]struct {
		change func(r *releasetest.Release)
		want   error
		says   string
	}{
		"a changed program": {func(r *releasetest.Release) { r.Files[program] = "evil" }, ErrWrong, "its signature is of something else"},
		"a changed program with sums for it": {func(r *releasetest.Release) {
			evil := stranger.Release(t, "1.2.0", map[string]string{program: "evil"})
			r.Files[program], r.Files[sums] = "evil", evil.Files[sums]
		}, ErrWrong, "SHA256SUMS: its signature is of something else"},
		"all of it a stranger's": {func(r *releasetest.Release) {
			r.Files = stranger.Release(t, "1.2.0", map[string]string{program: "evil"}).Files
		}, ErrWrong, "another key"},
		"a stranger's signature on the program": {func(r *releasetest.Release) {
			r.Files[program+minisig] = stranger.Sign(t, content, program, "1.2.0")
		}, ErrWrong, "another key"},
		"no sum for it": {func(r *releasetest.Release) {
			other := project.Release(t, "1.2.0", map[string]string{"muster_1.2.0_linux_amd64": "other"})
			r.Files[sums], r.Files[sums+minisig] = other.Files[sums], other.Files[sums+minisig]
		}, ErrWrong, "does not list it"},
		"an older release in its place": {func(r *releasetest.Release) {
			r.Files = project.Release(t, "1.1.0", map[string]string{program: "old, with holes"}).Files
		}, ErrWrong, "of Muster 1.1.0"},
		"an older program with the sums of now": {func(r *releasetest.Release) {
			r.Files[program], r.Files[program+minisig] = "old", project.Sign(t, "old", program, "1.1.0")
		}, ErrWrong, "Muster 1.1.0"},
		"another system's program": {func(r *releasetest.Release) {
			r.Files[program], r.Files[program+minisig] = "other", project.Sign(t, "other", "muster_1.2.0_linux_amd64", "1.2.0")
		}, ErrWrong, "it is muster_1.2.0_linux_amd64"},
		"a list of sums without an end": {func(r *releasetest.Release) {
			r.Files[sums] = strings.Repeat("a", 1<<20)
		}, ErrWrong, "more than 64 KB"},
		"not this file":                   {func(r *releasetest.Release) { delete(r.Files, program) }, ErrNone, program},
		"no signature of it":              {func(r *releasetest.Release) { delete(r.Files, program+minisig) }, ErrNone, program},
		"no signature of the sums":        {func(r *releasetest.Release) { delete(r.Files, sums+minisig) }, ErrNone, sums},
		"not this version":                {func(r *releasetest.Release) { r.Version = "1.3.0" }, ErrNone, "Muster 1.2.0"},
		"a redirect to this machine":      {func(r *releasetest.Release) { r.Redirect = "https://127.0.0.1:9/x" }, ErrAway, "private network"},
		"a redirect to a private network": {func(r *releasetest.Release) { r.Redirect = "https://192.168.1.1/x" }, ErrAway, "private network"},
		"a redirect to a private network's name, encrypted no more": {func(r *releasetest.Release) {
			r.Redirect = "http://router.local/x"
		}, ErrAway, "not"},
		"a redirect to a file":     {func(r *releasetest.Release) { r.Redirect = "file:///etc/passwd" }, ErrAway, "not"},
		"a redirect with a way in": {func(r *releasetest.Release) { r.Redirect = "https://ann:secret@192.0.2.1/x" }, ErrAway, "password"},
		"redirects without an end": {func(r *releasetest.Release) { r.Redirect = "/releases/download/v1.2.0/" + sums }, ErrAway, "without end"},
	} {
		t.Run(name, func(t *testing.T) {
			r := project.Release(t, "1.2.0", map[string]string{program: content})
			tt.change(r)
			text, err := get(t, serve(t, r))
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %q, %v; want that %v, and %q", text, err, tt.want, tt.says)
			}
		})
	}
}

// TestGetBroken checks that a release page that stops halfway, answers nonsense or is absent delays nobody.
func TestGetBroken(t *testing.T) {
	r := releasetest.NewSigner(t, 1).Release(t, "1.2.0", map[string]string{program: content})
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Write([]byte(content))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "stopped before it was whole"},
		"stuck": {func(w http.ResponseWriter, request *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Write([]byte(content))
			w.(http.Flusher).Flush()
			<-request.Context().Done()
		}, "stopped before it was whole"},
		"enormous":  {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1000000000") }, "976562 KB"},
		"overtaxed": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "503"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
				if strings.HasSuffix(request.URL.Path, "/"+program) {
					tt.answer(w, request)
					return
				}
				r.ServeHTTP(w, request)
			}))
			s.patience = 200 * time.Millisecond
			if text, err := get(t, s); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %q, %v; want %q", text, err, tt.says)
			}
		})
	}
	gone := httptest.NewServer(r)
	gone.Close()
	s := serve(t, r)
	s.Page = gone.URL + "/releases"
	if _, err := get(t, s); !errors.Is(err, ErrAway) {
		t.Errorf("nobody there: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := serve(t, r).Get(ctx, program, ignored); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody wants it any more: %v", err)
	}
	s = serve(t, r)
	s.Keys = release.Keys{}
	if _, err := get(t, s); !errors.Is(err, ErrWrong) {
		t.Errorf("without a key: %v", err)
	}
}

// TestCheck checks that the address of releases must be encrypted, except on loopback.
func TestCheck(t *testing.T) {
	for page, good := range map[string]bool{
		"https://github.com/OWNER/muster/releases": true, "http://127.0.0.1:8080/releases": true, "http://[::1]:8080/": true,
		"http://github.com/OWNER/muster/releases": false, "http://localhost/releases": false,
		"http://192.168.1.7/releases": false, "ftp://example.org/": false, "file:///etc": false,
		"https://ann:secret@example.org/": false, "https://example.org/?a=b": false, "https://example.org/#a": false,
		"releases": false, "https://": false, "": false, "https://a\x1b[2J/": false,
	} {
		if err := Check(page); (err == nil) != good {
			t.Errorf("%q: %v", page, err)
		}
	}
	if got := URL("https://example.org/releases/", "1.2.0", program); got != "https://example.org/releases/download/v1.2.0/"+program {
		t.Error(got)
	}
}
