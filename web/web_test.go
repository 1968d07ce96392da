package web_test

import (
	"bytes"
	"compress/gzip"
	"image/png"
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

// TestPlaces compares the map's table of countries with the one for estimating pings. Both have
// where the people of a country live, and how far from there, from the same source.
func TestPlaces(t *testing.T) {
	const place = `(-?\d+\.\d -?\d+\.\d \d+)`
	read := func(file, row string) map[string]string {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		places := map[string]string{}
		for _, found := range regexp.MustCompile(`(?m)(?:^|,\s*)`+row).FindAllStringSubmatch(string(data), -1) {
			if _, twice := places[found[1]]; twice {
				t.Errorf("%s has %s twice", file, found[1])
			}
			places[found[1]] = found[2]
		}
		return places
	}
	const ofMap, ofPings = "static/map/places.js", "../discovery/countries/centres.txt"
	drawn, estimated := read(ofMap, `([A-Z]{2}) \d{3} `+place), read(ofPings, `([A-Z]{2}) `+place)
	if len(estimated) < 240 {
		t.Fatalf("%s has %d countries", ofPings, len(estimated))
	}
	for country, at := range estimated {
		if drawn[country] != at {
			t.Errorf("%s: %q in %s, %q in %s", country, at, ofPings, drawn[country], ofMap)
		}
	}
	for country, at := range drawn {
		if estimated[country] == "" {
			t.Errorf("%s: %q in %s alone", country, at, ofMap)
		}
	}
}

// TestPreview checks that a chat's preview is the same for every room, has whole addresses where
// chats want them, and is harmless whatever the link's host is called. The picture is small.
func TestPreview(t *testing.T) {
	handler := web.Handler()
	ask := func(path, host, proto, known string) *httptest.ResponseRecorder {
		request := httptest.NewRequest("GET", path, nil)
		request.Host = host
		request.Header.Set("X-Forwarded-Proto", proto)
		request.Header.Set("If-None-Match", known)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		return recorder
	}
	for _, c := range []struct{ host, proto, want string }{
		{"192.0.2.1:7777", "", "http://192.0.2.1:7777/preview.png"},
		{"muster.example", "https", "https://muster.example/preview.png"},
		{`"><script>alert(1)</script>`, "javascript", "http://&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;/preview.png"},
	} {
		page := ask("/", c.host, c.proto, "").Body.String()
		image := regexp.MustCompile(`<meta property="og:image" content="([^"]*)">`).FindStringSubmatch(page)
		if image == nil || image[1] != c.want {
			t.Errorf("asked at %q, the picture is at %q", c.host, image)
		}
		for _, tag := range []string{"og:title", "og:description", "og:image:alt"} {
			if !strings.Contains(page, `<meta property="`+tag+`" content="`) {
				t.Errorf("there is no %s", tag)
			}
		}
		if strings.Contains(page, "<script>alert") {
			t.Error("the host's name is markup")
		}
	}
	one := ask("/", "192.0.2.1:7777", "", "").Header().Get("ETag")
	if again, other := ask("/", "192.0.2.1:7777", "", one), ask("/", "elsewhere.example", "", one); again.Code != 304 || other.Code != 200 {
		t.Errorf("asked for again at the same name and at another, the page answers %d and %d", again.Code, other.Code)
	}
	answer := ask("/"+web.PreviewImage, "192.0.2.1:7777", "", "")
	picture := answer.Body.String()
	config, err := png.DecodeConfig(bytes.NewReader([]byte(picture)))
	if err != nil || config.Width != 1200 || config.Height != 630 || answer.Header().Get("Content-Type") != "image/png" {
		t.Errorf("the picture is %d by %d, %s, %v", config.Width, config.Height, answer.Header().Get("Content-Type"), err)
	}
	const fewBytes = 30_000 // a chat fetches it for each of its readers
	if len(picture) > fewBytes {
		t.Errorf("the picture has %d bytes", len(picture))
	}
}

// TestWordsOfOthers checks that the room's page loads all sentences it may say. It leaves out
// sentences that only Home and terminals say.
func TestWordsOfOthers(t *testing.T) {
	left := regexp.MustCompile("[\"'`](term|computer|favourites|find|home|invited|standing)\\.[a-z]")
	for _, root := range []string{"static", "../peer", "../host", "../discovery", "../selection", "../internal/game", "../internal/listing", "../internal/webhook", "../internal/which"} {
		err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
			if err == nil && entry.IsDir() && name == "static/home" {
				return filepath.SkipDir
			}
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".js") && (!strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go")) {
				return err
			}
			data, err := os.ReadFile(name)
			if found := left.Find(data); found != nil {
				t.Errorf("%s says %s…, which the room's page does not load", name, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestWordsOfPlaces checks that what Home and every room load says nothing that only rooms load which look for a place,
// but for the vote and the failure of such a room.
func TestWordsOfPlaces(t *testing.T) {
	of := regexp.MustCompile("[\"'`](place|recipe)\\.[a-z]")
	others := regexp.MustCompile(`^static/(places/|recipe\.js|stages/(recipe|vote|failed)\.js)|\.css$`)
	err := filepath.WalkDir("static", func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || others.MatchString(filepath.ToSlash(name)) {
			return err
		}
		data, err := os.ReadFile(name)
		if found := of.Find(data); found != nil {
			t.Errorf("%s says %s…, which few rooms load", name, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
