package handout

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/discovery/sentence"
	"muster/internal/catalogue"
	"muster/internal/release"
	"muster/internal/release/fetch"
	"muster/internal/release/releasetest"
)

const onRelease = "muster_1.2.3_windows_amd64.exe"

// said records what the organiser's terminal was told.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

func (s *said) warn(errs ...error) {
	for _, err := range errs {
		s.say("warning: %v", err)
	}
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// gets returns a handout that downloads missing programs from a release.
func gets(t *testing.T, releases http.Handler) (*Handout, *said) {
	t.Helper()
	server := httptest.NewServer(releases)
	t.Cleanup(server.Close)
	keys, page := releasetest.NewSigner(t, 1).Keys(t), server.URL+"/releases"
	terminal := &said{}
	h, err := New(t.Context(), Config{
		Version: "1.2.3", Release: page, Keys: keys, Say: terminal.say, Warn: terminal.warn,
		Source: &fetch.Source{Page: page, Version: "1.2.3", Keys: keys, Folder: filepath.Join(t.TempDir(), "releases")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h, terminal
}

func offered(t *testing.T, h http.Handler, agent string) offer {
	t.Helper()
	var o offer
	if err := json.Unmarshal(get(h, "/get/programs.json", agent).Body.Bytes(), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func english(s sentence.Sentence) string { return catalogue.InEnglish().Say(s) }

// TestArrive checks that the host downloads a missing program from the project's release when somebody asks, once for
// all of them, and gives it as the project's own.
func TestArrive(t *testing.T) {
	r := releasetest.NewSigner(t, 1).Release(t, "1.2.3", map[string]string{onRelease: string(content)})
	h, terminal := gets(t, r)
	o := offered(t, h, "Windows")
	if o.System != "windows-amd64" || o.Direct != h.config.Release+"/download/v1.2.3/"+onRelease {
		t.Errorf("offered is %+v", o)
	}
	if i := slices.IndexFunc(o.Programs, func(p program) bool {
		return p.System == "windows-amd64"
	}); i < 0 || !o.Programs[i].Away || o.Programs[i].Version != "1.2.3" {
		t.Errorf("offered is %+v", o.Programs)
	}
	if page := html.UnescapeString(get(h, "/get/", "Windows").Body.String()); !strings.Contains(page,
		"first downloads it from the project") || !strings.Contains(page, h.config.Release+"/download/v1.2.3/"+onRelease) {
		t.Errorf("the page is\n%s", page)
	}
	if r.Asked.Load() != 0 || terminal.String() != "" {
		t.Error("it was got before anybody asked")
	}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if w := post(h, "/get/windows-amd64", roomLink); w.Code != http.StatusOK || w.Body.String() != string(content) {
				t.Errorf("answers %d, %.80s", w.Code, w.Body)
			}
		})
	}
	all.Wait()
	if n := r.Asked.Load(); n != 1 {
		t.Errorf("the release was asked %d times", n)
	}
	if w := post(h, "/get/windows-amd64.minisig", roomLink); fileName(t, w) != roomName+".exe.minisig" ||
		w.Body.String() != r.Files[onRelease+".minisig"] {
		t.Errorf("the signature: %d, %s", w.Code, w.Body)
	}
	o = offered(t, h, "Windows")
	if i := slices.IndexFunc(o.Programs, func(p program) bool {
		return p.System == "windows-amd64"
	}); o.Programs[i].Away || o.Programs[i].Origin != Project || o.Programs[i].Size != int64(len(content)) {
		t.Errorf("offered then is %+v", o.Programs[i])
	}
	for _, want := range []string{"somebody wants Muster for Windows: getting " + onRelease, "Muster for Windows is here, the project's own"} {
		if !strings.Contains(terminal.String(), want) {
			t.Errorf("the terminal says\n%s\nwithout %q", terminal, want)
		}
	}
}

// TestArriveNot checks that nobody gets a wrong file of the release, and that page and terminal explain the trouble.
func TestArriveNot(t *testing.T) {
	for name, c := range map[string]struct {
		change         func(r *releasetest.Release)
		page, terminal string
	}{
		"wrong": {func(r *releasetest.Release) {
			r.Files[onRelease] = "evil"
		}, "isn’t the one the project signed, so it isn’t offered here", "its signature is of something else"},
		"none": {func(r *releasetest.Release) {
			delete(r.Files, onRelease)
		}, "has no Muster 1.2.3 for Windows", "the project's releases do not have it"},
		"led astray": {func(r *releasetest.Release) { r.Redirect = "https://10.0.0.1/" + onRelease },
			"can’t reach 127.0.0.1", "private network"},
	} {
		t.Run(name, func(t *testing.T) {
			r := releasetest.NewSigner(t, 1).Release(t, "1.2.3", map[string]string{onRelease: string(content)})
			c.change(r)
			h, terminal := gets(t, r)
			for range 3 {
				if w := post(h, "/get/windows-amd64", roomLink); w.Code != http.StatusBadGateway || !strings.Contains(w.Body.String(), c.page) {
					t.Errorf("answers %d, %s", w.Code, w.Body)
				}
			}
			if strings.Count(terminal.String(), "warning") != 1 || !strings.Contains(terminal.String(), c.terminal) {
				t.Errorf("the terminal says\n%s\nwant %q once", terminal, c.terminal)
			}
			o := offered(t, h, "Windows")
			if i := slices.IndexFunc(o.Programs, func(p program) bool {
				return p.System == "windows-amd64"
			}); i < 0 || o.System != "windows-amd64" || (o.Direct == "") != (name == "wrong") || o.Programs[i].Wrong != (name == "wrong") || !strings.Contains(english(o.Programs[i].Trouble), c.page) {
				t.Errorf("offered then is %+v", o.Programs)
			}
			if page := html.UnescapeString(get(h, "/get/", "Windows").Body.String()); !strings.Contains(page, "can’t reach") &&
				!strings.Contains(page, "1.2.3 for Windows") && !strings.Contains(page, "signed, so it isn’t offered") {
				t.Errorf("the page is\n%s", page)
			}
		})
	}
}

// TestArriveNever checks that a host without downloads says what it lacks, and that nobody is asked for a program that
// nobody builds.
func TestArriveNever(t *testing.T) {
	h := gives(t, "linux-amd64")
	if w := get(h, "/get/windows-amd64", ""); w.Code != http.StatusNotFound {
		t.Errorf("answers %d", w.Code)
	}
	if page := html.UnescapeString(get(h, "/get/", "Windows").Body.String()); !strings.Contains(page,
		"This host has no program for Windows") || !strings.Contains(page, "--downloads") {
		t.Errorf("the page is\n%s", page)
	}
	h, terminal := gets(t, http.NotFoundHandler())
	for _, system := range []string{"darwin-arm64", "plan9-amd64", "windows-amd64.minisig", "..", "windows-amd64%2f.."} {
		if w := get(h, "/get/"+system, ""); w.Code != http.StatusNotFound || terminal.String() != "" {
			t.Errorf("%s answers %d: %s", system, w.Code, terminal)
		}
	}
}

// TestVouched checks that each file in a folder must be what its signature says. A program signed as something else is
// given to nobody, and page and terminal say so.
func TestVouched(t *testing.T) {
	project, stranger := releasetest.NewSigner(t, 1), releasetest.NewSigner(t, 2)
	text := string(content)
	for name, c := range map[string]struct {
		signature, version string
		origin             Origin
		why                string
	}{
		"signed":                  {project.Sign(t, text, "muster_1.2.3_windows_amd64", "1.2.3"), "1.2.3", Project, ""},
		"signed, and older":       {project.Sign(t, text, "muster_1.1.0_windows_amd64", "1.1.0"), "1.1.0", Project, ""},
		"not signed":              {"", "", Friend, ""},
		"signed by a stranger":    {stranger.Sign(t, text, "muster_1.2.3_windows_amd64", "1.2.3"), "", Friend, ""},
		"changed":                 {project.Sign(t, "muster", "muster_1.2.3_windows_amd64", "1.2.3"), "", "", "this file was changed"},
		"with half a signature":   {project.Sign(t, text, "muster_1.2.3_windows_amd64", "1.2.3")[:80], "", "", "its signature is damaged"},
		"with no signature in it": {"\x1b[2J<script>", "", "", "its signature is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			terminal := &said{}
			h, err := New(t.Context(), Config{Version: "1.2.3", Keys: project.Keys(t), Warn: terminal.warn})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			file := filepath.Join(t.TempDir(), "muster.exe")
			writes(t, file, text)
			if c.signature != "" {
				writes(t, file+release.SignatureEnding, c.signature)
			}
			p := adds(t, h, file, "windows-amd64")
			writes(t, file+".later", "evil")
			h.judge(p)
			o, page := offered(t, h, "Windows"), html.UnescapeString(get(h, "/get/", "Windows").Body.String())
			if c.origin == "" {
				if len(o.Programs) > 0 || len(o.Refused) != 1 || !strings.Contains(english(o.Refused[0].Why), c.why) || !strings.Contains(page, c.why) {
					t.Errorf("offered is %+v, on the page\n%s", o, page)
				}
				if !strings.Contains(terminal.String(), "muster.exe is not given to anybody: this file was changed") {
					t.Errorf("the terminal says\n%s", terminal)
				}
				if w := post(h, "/get/windows-amd64", roomLink); w.Code != http.StatusNotFound {
					t.Errorf("it is given: %d", w.Code)
				}
				return
			}
			if len(o.Programs) != 1 || o.Programs[0].Origin != c.origin || o.Programs[0].Version != c.version || terminal.String() != "" {
				t.Errorf("offered is %+v; the terminal says %q", o, terminal)
			}
			words := map[Origin]string{Project: "Official Muster", Friend: "Unsigned copy from your friend’s computer"}
			if !strings.Contains(page, words[c.origin]) {
				t.Errorf("the page is\n%s", page)
			}
			if w := get(h, "/get/windows-amd64.minisig", ""); (w.Code == http.StatusOK) != (c.origin == Project) {
				t.Errorf("its signature: %d", w.Code)
			}
		})
	}
}

// TestLanguages checks that page and refusals speak the visitor's language.
func TestLanguages(t *testing.T) {
	h := gives(t, "linux-amd64")
	for wanted, title := range map[string]string{
		"": "Get Muster", "tlh, en;q=0.5": "Get Muster", "en-XA;q=0.9": "[Gét Múštér", strings.Repeat("xx,", 99) + "en-XA": "Get Muster",
	} {
		for path, want := range map[string]string{"/get/": title, "/get/plan9-amd64": map[bool]string{true: "[théré", false: "there"}[title[0] == '[']} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Header.Set("Accept-Language", wanted)
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); !strings.Contains(w.Body.String(), want) {
				t.Errorf("%.20q gets\n%s", wanted, w.Body)
			}
		}
	}
}

// TestReplaced checks that visitors get exactly the file that was judged, even if another file has
// replaced it since.
func TestReplaced(t *testing.T) {
	h := gives(t, "windows-amd64")
	file := h.programs[0].file
	if err := os.Rename(file, file+".old"); err != nil {
		t.Skip(err) // Windows does not replace open files
	}
	writes(t, file, "evil")
	if w := get(h, "/get/windows-amd64", ""); w.Body.String() != string(content) {
		t.Errorf("given is %.40q", w.Body)
	}
}

// TestOwnSigned checks that the host's own program counts as the project's only under the name that was signed.
func TestOwnSigned(t *testing.T) {
	project := releasetest.NewSigner(t, 1)
	for version, origin := range map[string]Origin{"1.2.3": Project, "1.1.0": ""} {
		own := filepath.Join(t.TempDir(), "muster")
		writes(t, own, string(content))
		writes(t, own+release.SignatureEnding, project.Sign(t, string(content), "muster_"+version+"_linux_amd64", version))
		terminal := &said{}
		h, err := New(t.Context(), Config{Version: "1.2.3", Own: own, Keys: project.Keys(t), Warn: terminal.warn})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		o := offered(t, h, "")
		if origin == "" {
			if len(o.Programs) > 0 || !strings.Contains(terminal.String(), "this program itself is not given to "+
				"anybody: signed by the project, but not what it claims to be: it is signed as Muster 1.1.0 and says that it is 1.2.3; get it again") {
				t.Errorf("offered is %+v; the terminal says %q", o, terminal)
			}
		} else if len(o.Programs) != 1 || o.Programs[0].Origin != origin {
			t.Errorf("offered is %+v; the terminal says %q", o, terminal)
		}
	}
}
