package host_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"muster/host"
	"muster/host/access"
	"muster/host/wire"
)

// answer sends a request with a header, and returns the answer and its body.
func answer(t testing.TB, server *httptest.Server, method, path, body string, header map[string]string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequest(method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

// asks does the same, and returns the answer's status.
func asks(t testing.TB, server *httptest.Server, method, path, body string, header map[string]string) (int, string) {
	t.Helper()
	response, text := answer(t, server, method, path, body, header)
	return response.StatusCode, text
}

func get(t *testing.T, server *httptest.Server, path string) string {
	t.Helper()
	status, body := asks(t, server, "GET", path, "", nil)
	if status != http.StatusOK {
		t.Errorf("%s answers %d", path, status)
	}
	return body
}

func TestAPI(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the page") })
	h, server := serve(t, host.Config{List: listOf(1), Page: page})
	settings := friday(0)
	settings.Password = "club"
	code, secret, _ := h.Open(settings)
	ann := joinAs(t, server, code, "ann", secret)
	(&night{t, h, nil, code}).await(func(room wire.Snapshot) bool { return len(room.People) == 1 })
	do := func(method, path, authorization string) (int, string) {
		t.Helper()
		response, body := answer(t, server, method, path, "", map[string]string{"Authorization": authorization})
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s has the header %s: %q", path, name, got)
			}
		}
		return response.StatusCode, body
	}
	hyphened := strings.ToLower(code[:2] + "-" + code[2:])
	tests := []struct {
		method, path, authorization string
		status                      int
		body                        string // must contain this
	}{
		{"GET", "/", "", 200, "the page"},
		{"GET", "/healthz", "", 200, "ok\n"},
		{"GET", "/metrics", "", 200, "muster_peers 1\n"},
		{"GET", "/api/rooms/" + code, "", 200, `"members":[{"name":"ann","organiser":true,"connected":true,`},
		{"GET", "/api/rooms/" + hyphened, "", 200, `"stage":"gathering"`},
		{"GET", "/api/rooms/NOSUCH", "", 404, `{"reason":"code","says":{"key":"refused.code-unknown"},"message":"no room has this code"}`},
		{"POST", "/api/rooms/" + code, "", 405, ""},
		{"POST", "/api/rooms/" + code + "/go", "", 403, `"says":{"key":"refused.organiser-only"},"message":"only the organiser can do this"}`},
		{"POST", "/api/rooms/" + code + "/go", "Bearer ", 403, "secret"},
		{"POST", "/api/rooms/" + code + "/go", "Bearer " + ann.token, 403, "secret"},
		{"POST", "/api/rooms/" + code + "/go", secret[1:], 403, "secret"},
		{"POST", "/api/rooms/NOSUCH/go", "Bearer " + secret, 404, "code"},
		{"POST", "/api/rooms/" + hyphened + "/go", "Bearer " + secret, 204, ""},
	}
	for _, tt := range tests {
		status, body := do(tt.method, tt.path, tt.authorization)
		if status != tt.status || !strings.Contains(body, tt.body) {
			t.Errorf("%s %s answers %d %s\nwant %d and %s", tt.method, tt.path, status, body, tt.status, tt.body)
		}
		for _, private := range []string{secret, ann.token, ann.page, h.Keys(code).Link, "club"} {
			if strings.Contains(body, private) {
				t.Errorf("%s %s tells %q", tt.method, tt.path, private)
			}
		}
	}
	expect[wire.Measure](ann) // so the go has had its effect
}

// TestCodes checks that codes find their room however people say and type them.
func TestCodes(t *testing.T) {
	for _, typed := range []string{"BAKODI", "bakodi", "ba ko di", "#BA-KO-DI", " Bakodi "} {
		if got := access.CanonicalCode(typed); got != "BAKODI" {
			t.Errorf("%q is the code %q", typed, got)
		}
	}
	h, _ := serve(t, host.Config{List: listOf(1)})
	seen := map[string]bool{}
	for range 200 {
		code, secret, _ := h.Open(friday(1))
		if len(code) < 8 || len(code) > 10 || access.CanonicalCode(code) != code || seen[code] || len(secret) < 26 {
			t.Fatalf("a room has the code %q and the secret %q", code, secret)
		}
		seen[code] = true
	}
}

// TestRoomJSON checks that the API returns the same room that peers get.
func TestRoomJSON(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(1)})
	code, _, _ := h.Open(friday(2))
	ann := join(t, server, code, "ann")
	var told wire.Snapshot
	if err := told.Merge(expect[wire.Room](ann)); err != nil || told.Room.Code != code || len(told.People) != 1 {
		t.Errorf("ann is told %+v, %v", told, err)
	}
	for room := range h.Watch(t.Context(), code) {
		if len(room.People) == 0 {
			continue
		}
		var fetched wire.Document
		if err := json.Unmarshal([]byte(get(t, server, "/api/rooms/"+code)), &fetched); err != nil {
			t.Fatal(err)
		}
		if fetched.Code != code || !reflect.DeepEqual(fetched.Members, room.Document().Members) || fetched.Stage != room.Room.Stage {
			t.Errorf("the API says %+v, Watch %+v", fetched, room)
		}
		break
	}
}
