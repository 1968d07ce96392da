package web_test

import (
	"bytes"
	"image/png"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"muster/web"
)

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
