package handout

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/release"
	"muster/internal/release/releasetest"
)

const (
	roomLink = "http://192.0.2.1:7777/#TABOMI_ABCDEFGHIJKLMNOP"
	roomName = "muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP"
)

// content stands in for a program.
var content = bytes.Repeat([]byte("muster "), 1000)

// gives returns a handout of one program for each of some systems, all signed by the project.
func gives(t *testing.T, names ...string) *Handout {
	t.Helper()
	project := releasetest.NewSigner(t, 1)
	h, err := New(t.Context(), Config{Version: "1.2.3", Keys: project.Keys(t)})
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range names {
		file := filepath.Join(t.TempDir(), system)
		writes(t, file, string(content))
		writes(t, file+".minisig", project.Sign(t, string(content), "muster_1.2.3_"+system, "1.2.3"))
		h.judge(adds(t, h, file, system))
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func writes(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func adds(t *testing.T, h *Handout, file, system string) *program {
	t.Helper()
	data, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	p := h.add(data, file, system, release.Verdict{})
	if p == nil {
		t.Fatal(file, "is not added")
	}
	return p
}

func get(h http.Handler, path, agent string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("User-Agent", agent)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// fileName returns the name under which a browser saves an answer.
func fileName(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	_, says, err := mime.ParseMediaType(w.Header().Get("Content-Disposition"))
	if err != nil || w.Code != http.StatusOK {
		t.Errorf("answered %d, %v", w.Code, err)
	}
	return says["filename"]
}

// TestGive checks that a program arrives unchanged and executable. If it is requested on a room's page, its name
// carries the room. Its signature comes beside it, so that anyone who has Muster can verify it.
func TestGive(t *testing.T) {
	h := gives(t, "windows-amd64", "darwin", "linux-amd64")
	keys := releasetest.NewSigner(t, 1).Keys(t)
	for _, c := range []struct {
		system, ending, executable string
		unpack                     func(t *testing.T, data []byte, into string) []string
	}{
		{"windows-amd64", ".exe", ".exe", nil},
		{"darwin", ".zip", "", unzip},
		{"linux-amd64", ".tar.gz", "", untar},
	} {
		for asked, want := range map[string]string{"": "muster", roomLink: roomName, roomLink + ".SECRET": roomName,
			"http://[fe80::1%25eth0]/#TABOMI": "muster"} {
			folder := t.TempDir()
			if c.unpack == nil {
				for _, ending := range []string{"", ".minisig"} {
					w := post(h, "/get/"+c.system+ending, asked)
					writes(t, filepath.Join(folder, fileName(t, w)), w.Body.String())
				}
			} else {
				w := post(h, "/get/"+c.system, asked)
				if name := fileName(t, w); name != want+c.ending {
					t.Errorf("for %s at %q the file is %q, want %q", c.system, asked, name, want+c.ending)
				}
				if names := c.unpack(t, w.Body.Bytes(), folder); !slices.Equal(names, []string{want, want + ".minisig"}) {
					t.Errorf("for %s %q are in it", c.system, names)
				}
			}
			file := filepath.Join(folder, want+c.executable)
			if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, content) {
				t.Errorf("for %s %d bytes arrive, not those %d, %v", c.system, len(got), len(content), err)
			}
			if info, err := os.Stat(file); err != nil || c.unpack != nil && info.Mode().Perm()&0o100 == 0 && runtime.GOOS != "windows" {
				t.Errorf("for %s it cannot be run: %v, %v", c.system, info.Mode(), err)
			}
			if v, err := keys.Verify(t.Context(), file); err != nil || v.Standing != release.Own {
				t.Errorf("for %s whoever got %s is told: %v, %v", c.system, file, v, err)
			}
		}
	}
}

// post requests a program that knows a room, or without a link one that does not.
func post(h http.Handler, path, link string) *httptest.ResponseRecorder {
	if link == "" {
		return get(h, path, "")
	}
	r := httptest.NewRequest("POST", path, strings.NewReader(link))
	r.RemoteAddr = "192.168.1.7:5555" // in the visitor's network, which has no bound
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func unzip(t *testing.T, data []byte, into string) (names []string) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.File {
		file, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		unpack(t, file, filepath.Join(into, f.Name), f.Mode())
		names = append(names, f.Name)
	}
	return names
}

func untar(t *testing.T, data []byte, into string) (names []string) {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		unpack(t, archive, filepath.Join(into, header.Name), header.FileInfo().Mode())
		names = append(names, header.Name)
	}
}

func unpack(t *testing.T, from io.Reader, file string, mode os.FileMode) {
	t.Helper()
	all, err := io.ReadAll(from)
	if err == nil {
		err = os.WriteFile(file, all, mode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestGiveNot checks that nonsense is refused, and so is more than the line can carry.
func TestGiveNot(t *testing.T) {
	h := gives(t, "windows-amd64")
	for path, want := range map[string]int{"/get/plan9-amd64": 404, "/get/../../etc/passwd": 404,
		"/get/windows-amd64/x": 404, "/get/linux-amd64": 404, "/get/linux-amd64.minisig": 404} {
		if w := get(h, path, ""); w.Code != want {
			t.Errorf("%s answers %d, want %d", path, w.Code, want)
		}
	}
	for _, link := range []string{"", "no link", "javascript:alert(1)", "http://192.0.2.1:7777/#TABOMI" + strings.Repeat("A", maxLink)} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/get/windows-amd64", strings.NewReader(link)))
		if w.Code != http.StatusBadRequest {
			t.Errorf("the link %.40q answers %d", link, w.Code)
		}
	}
	for range atOnce {
		h.giving.begin(netip.Addr{})
	}
	if w := get(h, "/get/windows-amd64", ""); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("one more than %d at once answers %d", atOnce, w.Code)
	}
}

// TestVisitorOf checks how the visitor's system follows from a browser's headers.
func TestVisitorOf(t *testing.T) {
	for _, c := range []struct{ agent, platform, want string }{
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 " +
			"Safari/537.36 Edg/140.0.0.0", `"Windows"`, "Windows"},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0", "", "Windows"},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15", "", "macOS"},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) " +
			"Chrome/140.0.0.0 Safari/537.36", `"macOS"`, "macOS"},
		{"Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", "", "Linux"},
		{"Mozilla/5.0 (X11; Linux aarch64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36", `"Linux"`, "Linux on ARM"},
		{"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 " +
			"Safari/537.36", `"Chrome OS"`, "Linux"},
		{"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile " +
			"Safari/537.36", `"Android"`, "a phone or tablet"},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/19.0 Mobile/15E148 Safari/604.1", "", "a phone or tablet"},
		{"curl/8.5.0", "", ""},
		{"", "", ""},
	} {
		if got := visitorOf(c.agent, c.platform); english(got.name) != c.want {
			t.Errorf("%q, %s: %q, want %q", c.agent, c.platform, english(got.name), c.want)
		}
	}
}

// TestOffer checks that the list names all programs, and the visitor's own.
func TestOffer(t *testing.T) {
	h := gives(t, "linux-amd64", "darwin-arm64")
	for agent, want := range map[string]string{"Macintosh": "darwin-arm64", "Linux x86_64": "linux-amd64", "Windows": "", "Android": ""} {
		var o offer
		if err := json.Unmarshal(get(h, "/get/programs.json", agent).Body.Bytes(), &o); err != nil {
			t.Fatal(err)
		}
		if o.System != want || o.Version != "1.2.3" || len(o.Programs) != 2 || o.Phone != (agent == "Android") {
			t.Errorf("with %s the offer is %+v, want %s", agent, o, want)
		}
		for _, p := range o.Programs {
			if p.Size != int64(len(content)) || p.Origin != Project || p.Advice.IsZero() {
				t.Errorf("the program %+v", p)
			}
		}
	}
	if page := get(h, "/get/", "Windows <script>").Body.String(); !strings.Contains(page, "no program for Windows") ||
		strings.Contains(page, "<script>") || !strings.Contains(page, "/get/darwin-arm64") {
		t.Errorf("the page is\n%s", page)
	}
}

// TestFolder checks that a folder's builds of Muster are given, whatever their names, and nothing else: above all
// nothing that a link leads to outside.
func TestFolder(t *testing.T) {
	source, folder, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"go.mod": "module " + mainPath + "\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", filepath.Join(folder, "what is this"), ".")
	build.Dir, build.Env = source, append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{filepath.Join(folder, "README.md"): "# read me", filepath.Join(elsewhere, "secret"): "secret"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "old"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(elsewhere, "secret"), filepath.Join(folder, "muster.exe")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	var warned []string
	warn := func(errs ...error) {
		for _, err := range errs {
			warned = append(warned, err.Error())
		}
	}
	h, err := New(t.Context(), Config{Folder: folder, Warn: warn})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if want := runtime.GOOS + "-" + runtime.GOARCH; len(h.programs) != 1 || h.programs[0].System != want ||
		h.offer(httptest.NewRequest("GET", "/", nil)).Programs[0].Origin != Friend {
		t.Errorf("of the folder %+v is given, want one for %s, a friend's", h.programs, want)
	}
	if runtime.GOOS != "windows" && (len(warned) != 1 || !strings.Contains(warned[0], "muster.exe is not given to anybody")) {
		t.Errorf("warned of %q", warned)
	}

	warned = nil
	if empty, err := New(t.Context(), Config{Folder: elsewhere, Warn: warn}); err != nil || len(empty.programs) > 0 ||
		!slices.ContainsFunc(warned, func(text string) bool {
			return strings.Contains(text, "no build of Muster")
		}) {
		t.Errorf("of a folder without any: %v, warned of %q", err, warned)
	}
	if _, err := New(t.Context(), Config{Folder: filepath.Join(elsewhere, "nowhere"), Warn: warn}); err == nil {
		t.Error("a folder that is not there will do")
	}
}

// TestOwn checks that a visitor with the host's system gets the host's own program, however old its file is.
func TestOwn(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(t.Context(), Config{Own: own})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	info, err := os.Stat(own)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.programs) != 1 || h.programs[0].Size != info.Size() || h.programs[0].changed.After(time.Now()) {
		t.Errorf("given is %+v", h.programs)
	}
}
