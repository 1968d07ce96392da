package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"muster/web"
)

// get is an answer of the page's handler; known is the tag of what the browser
// has.
func get(t *testing.T, path, known string) (*http.Response, string) {
	t.Helper()
	request := httptest.NewRequest("GET", path, nil)
	request.Header.Set("If-None-Match", known)
	recorder := httptest.NewRecorder()
	web.Handler().ServeHTTP(recorder, request)
	body, err := io.ReadAll(recorder.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return recorder.Result(), string(body)
}

// TestPolicy: the page keeps the strict policy under which it is served, with
// nothing inline and nothing from elsewhere.
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

// TestFiles: all that the page loads is there, with its type, and not loaded
// twice.
func TestFiles(t *testing.T) {
	_, page := get(t, "/", "")
	files := regexp.MustCompile(`(?:src|href)="([^"#]+)"`).FindAllStringSubmatch(page, -1)
	if len(files) < 5 {
		t.Fatalf("the page loads %d files", len(files))
	}
	for _, file := range files {
		response, _ := get(t, "/"+file[1], "")
		kind := response.Header.Get("Content-Type")
		if response.StatusCode != http.StatusOK || !regexp.MustCompile(`javascript|css|svg`).MatchString(kind) {
			t.Errorf("%s is answered %s, %s", file[1], response.Status, kind)
		}
		if again, body := get(t, "/"+file[1], response.Header.Get("ETag")); again.StatusCode != http.StatusNotModified || body != "" {
			t.Errorf("%s is sent again: %s", file[1], again.Status)
		}
	}
}

// TestText: text goes into the page as text only.
func TestText(t *testing.T) {
	_, app := get(t, "/app.js", "")
	for _, module := range regexp.MustCompile(`from "\./([a-z]+\.js)"`).FindAllStringSubmatch(app, -1) {
		_, source := get(t, "/"+module[1], "")
		for _, markup := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"} {
			if source == "" || strings.Contains(source, markup) {
				t.Errorf("%s uses %s", module[1], markup)
			}
		}
	}
}
