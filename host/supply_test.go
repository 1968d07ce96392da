package host_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"muster/host"
	"muster/host/public"
	"muster/host/wire"
)

// posts sends a body, compressed or not, with the sender's credential.
func posts(t *testing.T, url, body, secret string, packed bool) (status int, refusal wire.Refusal) {
	t.Helper()
	data := []byte(body)
	if packed {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(data)
		w.Close()
		data = b.Bytes()
	}
	request, err := http.NewRequest("POST", url, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Forwarded-For", "198.51.100.1")
	if packed {
		request.Header.Set("Content-Encoding", "gzip")
	}
	if secret != "" {
		request.Header.Set("Authorization", "Bearer "+secret)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	json.NewDecoder(response.Body).Decode(&refusal)
	return response.StatusCode, refusal
}

// TestOrganisersProgram checks that the organiser's program can send the room its list, repeatedly
// and compressed, and a game that this host does not know. The list is bounded before and after
// compression, and no one else may send as much.
func TestOrganisersProgram(t *testing.T) {
	t.Parallel()
	h, err := host.New(everybody(public.Limits{Servers: 200}))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h.Handler())
	t.Cleanup(func() { h.Close(); server.Close() })
	const mine = `"own_game":{"id":"mine","name":"Mine \u0007","protocol":"quake3","port":27960}`
	list := strings.Repeat(`"192.0.2.7:27960",`, 150) + `"192.0.2.8:27960"`
	opening := `{"game":"mine","renews":true,"look_around":true,` + mine + `,"servers":[` + list + `]}`
	for _, tt := range []struct {
		name, body string
		packed     bool
		want       int
		says       string
	}{
		{"an own game", opening, false, 201, ""},
		{"compressed", opening, true, 201, ""},
		{"without servers", `{"game":"mine",` + mine + `}`, false, 400, `the game "mine" isn’t known here`},
		{"with a template", `{"game":"mine","servers":["192.0.2.7:27960"],"own_game":{"id":"mine","name":"x","protocol":"quake3","port":1,"launch":["sh"]}}`, false, 201, ""},
		{"of another game", `{"game":"other",` + mine + `,"servers":["192.0.2.7:27960"]}`, false, 400, `no game "other" is known here`},
		{"with a strange id", `{"game":"../x","servers":["192.0.2.7:27960"],"own_game":{"id":"../x","name":"x","protocol":"quake3","port":1}}`, false, 400, "own_game: a game’s id"},
		{"without a port", `{"game":"x","servers":["192.0.2.7:27960"],"own_game":{"id":"x","name":"x","protocol":"quake3"}}`, false, 400, "own_game: a game needs a port"},
		{"a bomb", `{"game":"mine","servers":["` + strings.Repeat(" ", 1<<20) + `"]}`, true, 400, "is longer than"},
	} {
		status, refusal := posts(t, server.URL+"/api/rooms", tt.body, "", tt.packed)
		if status != tt.want || !strings.Contains(refusal.Message, tt.says) {
			t.Errorf("%s is answered %d %q, want %d", tt.name, status, refusal.Message, tt.want)
		}
	}
	for _, code := range h.Rooms() {
		if s, _ := h.Settings(code); s.OwnGame == nil || s.OwnGame.Protocol != "quake3" || strings.Contains(s.OwnGame.Name, "\a") {
			t.Errorf("a room is for %+v", s.OwnGame)
		}
	}
	code, secret, err := h.Open(wire.Settings{Game: "openarena", By: "mean"})
	if err != nil {
		t.Fatal(err)
	}
	at := server.URL + "/api/rooms/" + code + "/servers"
	supply := `{"game":"openarena","servers":[` + list + `]}`
	for _, tt := range []struct {
		name, body, secret string
		packed             bool
		want               int
	}{
		{"the organiser", supply, secret, false, 204},
		{"compressed", supply, secret, true, 204},
		{"another game", strings.ReplaceAll(supply, "openarena", "cs2"), secret, false, 409},
		{"nonsense", `{"game":3}`, secret, false, 400},
		{"no address", `{"game":"openarena","servers":["192.0.2.7"]}`, secret, false, 400},
		{"anybody", `{"game":"openarena","servers":["192.0.2.7:27960"]}`, "", false, 403},
		{"anybody at length", `{"game":"openarena","servers":[` + strings.Repeat(list+",", 3) + list + `]}`, "", false, 400},
		{"anybody's bomb", `{"game":"openarena","servers":["` + strings.Repeat(" ", 1<<20) + `"]}`, "", true, 400},
	} {
		if status, refusal := posts(t, at, tt.body, tt.secret, tt.packed); status != tt.want {
			t.Errorf("%s is answered %d %q, want %d", tt.name, status, refusal.Message, tt.want)
		}
	}
	if s, _ := h.Settings(code); len(s.Servers) != 151 || !s.Renews {
		t.Errorf("the room has %d servers, renewed: %v", len(s.Servers), s.Renews)
	}
}
