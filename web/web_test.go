package web_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"muster/web"
)

// handler is the page's handler; it compresses the files once.
var handler = sync.OnceValue(web.Handler)

// get returns an answer of the page's handler; known is the tag of the browser's copy.
func get(t *testing.T, at, known string) (*http.Response, string) {
	t.Helper()
	request := httptest.NewRequest("GET", at, nil)
	request.Header.Set("If-None-Match", known)
	recorder := httptest.NewRecorder()
	handler().ServeHTTP(recorder, request)
	body, err := io.ReadAll(recorder.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return recorder.Result(), string(body)
}

// TestPolicy checks that the page obeys the strict policy under which it is served: nothing is
// inline, and nothing comes from elsewhere.
func TestPolicy(t *testing.T) {
	_, page := get(t, "/", "")
	for what, pattern := range map[string]string{
		"a script inline":   `<script[^>]*>[^<]`,
		"a style inline":    `<style|\sstyle=`,
		"a handler inline":  `\son[a-z]+=`,
		"something foreign": `(src|href)="(https?:)?//`,
	} {
		if found := regexp.MustCompile(pattern).FindString(page); found != "" {
			t.Errorf("the page has %s: %s", what, found)
		}
	}
}

// TestTime checks that the page's modules read the time from one of them, which a test can hold. again.js
// is no module: it is there when modules are not.
func TestTime(t *testing.T) {
	clock := regexp.MustCompile(`Date\.now|new Date\(\)|performance\.now|\b(set|clear)(Timeout|Interval)\(|AnimationFrame\(`)
	err := filepath.WalkDir("static", func(file string, _ fs.DirEntry, err error) error {
		name := filepath.ToSlash(file)
		if err != nil || path.Ext(name) != ".js" || strings.HasPrefix(name, "static/vendor/") || name == "static/time.js" || name == "static/again.js" {
			return err
		}
		module, err := os.ReadFile(file)
		if found := clock.FindString(string(module)); found != "" {
			t.Errorf("%s has %s instead of what time.js exports", name, found)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// shortest is the size in bytes above which gzip helps.
const shortest = 200

// TestFiles checks that everything that the page loads exists, with its type, gzipped for clients
// that accept it, and cached forever. The page itself is not sent twice.
func TestFiles(t *testing.T) {
	first, page := get(t, "/", "")
	if again, body := get(t, "/", first.Header.Get("ETag")); again.StatusCode != http.StatusNotModified || body != "" {
		t.Errorf("the page is sent again: %s", again.Status)
	}
	if caching := first.Header.Get("Cache-Control"); caching != "no-cache" {
		t.Errorf("browsers keep the page unasked: %q", caching)
	}
	files := regexp.MustCompile(`(?:src|href)="([^"#]+)"`).FindAllStringSubmatch(page, -1)
	if len(files) < 5 {
		t.Fatalf("the page loads %d files", len(files))
	}
	for _, file := range files {
		response, plain := get(t, "/"+file[1], "")
		kind := response.Header.Get("Content-Type")
		if response.StatusCode != http.StatusOK || !regexp.MustCompile(`javascript|css|svg|font/woff2`).MatchString(kind) {
			t.Errorf("%s is answered %s, %s", file[1], response.Status, kind)
		}
		if caching := response.Header.Get("Cache-Control"); !strings.Contains(caching, "immutable") {
			t.Errorf("%s is asked for again: %q", file[1], caching)
		}
		if kind == "font/woff2" || len(plain) < shortest {
			continue // already compressed, or not worth it
		}
		if unpacked := gzipped(t, "/"+file[1]); unpacked != plain {
			t.Errorf("%s is another one when it is gzipped", file[1])
		}
	}
	if response, _ := get(t, "/nothing.js", ""); response.StatusCode != http.StatusNotFound {
		t.Errorf("what is not there is answered %s", response.Status)
	}
}

// TestHomeFiles checks that everything that Home's page loads exists, with its type. A font is
// already compressed, and is sent as it is.
func TestHomeFiles(t *testing.T) {
	home := func(path string) *http.Response {
		request := httptest.NewRequest("GET", path, nil)
		request.Header.Set("Accept-Encoding", "gzip")
		recorder := httptest.NewRecorder()
		web.Home().ServeHTTP(recorder, request)
		return recorder.Result()
	}
	read := func(r *http.Response) string {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(unzipped)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := read(home("/"))
	tokens := regexp.MustCompile(`"([^"]*)tokens\.css"`).FindStringSubmatch(page)
	if tokens == nil {
		t.Fatal("the page has no tokens")
	}
	var files []string
	for _, file := range regexp.MustCompile(`(?:src|href)="([^"#]+)"`).FindAllStringSubmatch(page, -1) {
		files = append(files, "/"+file[1])
	}
	for _, font := range regexp.MustCompile(`url\(([^)]+)\)`).FindAllStringSubmatch(read(home("/"+tokens[1]+"tokens.css")), -1) {
		files = append(files, "/"+tokens[1]+font[1])
	}
	fonts := 0
	for _, file := range files {
		response := home(file)
		kind := response.Header.Get("Content-Type")
		if response.StatusCode != http.StatusOK || !regexp.MustCompile(`javascript|css|svg|font/woff2`).MatchString(kind) {
			t.Errorf("%s is answered %s, %s", file, response.Status, kind)
		}
		if isFont := kind == "font/woff2"; isFont {
			fonts++
			if response.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s is packed twice", file)
			}
		}
	}
	if fonts < 2 {
		t.Errorf("%d fonts of %v", fonts, files)
	}
}

// gzipped requests a file with gzip, and returns it uncompressed.
func gzipped(t *testing.T, path string) string {
	t.Helper()
	request := httptest.NewRequest("GET", path, nil)
	request.Header.Set("Accept-Encoding", "br, gzip")
	recorder := httptest.NewRecorder()
	handler().ServeHTTP(recorder, request)
	zipped, err := gzip.NewReader(recorder.Body)
	if err != nil || recorder.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("%s is not gzipped: %v", path, err)
	}
	plain, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

const (
	atOnce     = `(?:from|import) "(\.[^"]+)"`
	everImport = `(?:from|import)[ (]"(\.[^"]+)"`
)

// modules returns the page's modules by path: app.js, and all that it imports, at once or ever.
func modules(t *testing.T, imports string) map[string]string {
	t.Helper()
	sources := map[string]string{}
	for left := []string{"app.js"}; len(left) > 0; left = left[1:] {
		name := left[0]
		if _, known := sources[name]; known {
			continue
		}
		response, source := get(t, "/"+name, "")
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s is answered %s", name, response.Status)
		}
		sources[name] = source
		for _, other := range regexp.MustCompile(imports).FindAllStringSubmatch(source, -1) {
			left = append(left, path.Join(path.Dir(name), other[1]))
		}
	}
	return sources
}

// TestPreloaded checks that the page preloads exactly the modules that it needs, so that the
// browser does not discover them one after the other.
func TestPreloaded(t *testing.T) {
	_, page := get(t, "/", "")
	needed := modules(t, atOnce)
	for name := range needed {
		if !regexp.MustCompile(`"v/[^/"]*/` + regexp.QuoteMeta(name) + `"`).MatchString(page) {
			t.Errorf("the browser hears of %s from another module", name)
		}
	}
	for _, preloaded := range regexp.MustCompile(`rel="modulepreload" href="v/[^/"]*/([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if _, is := needed[preloaded[1]]; !is {
			t.Errorf("nothing needs %s", preloaded[1])
		}
	}
}

// TestNoDialogs checks that the room's page asks in its own words, never by the browser's dialogs.
func TestNoDialogs(t *testing.T) {
	for name, source := range modules(t, everImport) {
		if found := regexp.MustCompile(`(?:^|[^.\w])(?:confirm|alert|prompt)\(`).FindString(source); found != "" {
			t.Errorf("%s has %s", name, found)
		}
	}
}

// TestText checks that text enters the page only as text.
func TestText(t *testing.T) {
	for name, source := range modules(t, everImport) {
		for _, markup := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"} {
			if source == "" || strings.Contains(source, markup) {
				t.Errorf("%s uses %s", name, markup)
			}
		}
	}
}
