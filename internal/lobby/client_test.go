package lobby

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/wire"
)

// TestMain runs many tests at once, because they mostly wait between two attempts.
func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "12")
	os.Exit(m.Run())
}

// answering returns a client of a host that answers each path in its own way. Other paths are 404,
// as on any web server.
func answering(t *testing.T, paths map[string]http.HandlerFunc) *Client {
	t.Helper()
	mux := http.NewServeMux()
	for path, answer := range paths {
		mux.HandleFunc(path, answer)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	h := NewClient(base, nil)
	t.Cleanup(h.http.CloseIdleConnections)
	return h
}

func says(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, text)
	}
}

func leadsTo(location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusMovedPermanently)
	}
}

// endless repeats a text until the client hangs up.
func endless(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
		}
	}
}

// TestService checks that a public host is recognised, and that anything else gets its own error.
func TestService(t *testing.T) {
	const refused = `{"reason":"code","message":"no room has this code"}`
	for name, tt := range map[string]struct {
		service, room http.HandlerFunc
		want          error
	}{
		"a public host": {service: says(200,
			`{"format":"muster.service/1","games":[{"id":"openarena","listed":true}],"max_servers":7}`)},
		"of a later version":       {service: says(200, `{"format":"muster.service/9","more":[1]}`)},
		"somebody’s own":           {service: says(404, "404 page not found"), room: says(404, refused), want: ErrNotPublic},
		"a web server":             {service: says(404, "<html>"), want: ErrNotMuster},
		"one that answers all":     {service: says(200, "<html>"), want: ErrNotMuster},
		"one that says yes to all": {service: says(200, "{}"), room: says(200, "{}"), want: ErrNotMuster},
		"another program's JSON":   {service: says(200, `{"format":3}`), want: ErrNotMuster},
		"no JSON at all":           {service: says(200, `{"format":"muster.service/1"`), want: ErrNotMuster},
		"an end that never comes":  {service: endless(" "), want: ErrNotMuster},
		"depth":                    {service: says(200, strings.Repeat("[", 1<<20)), want: ErrNotMuster},
		"elsewhere":                {service: leadsTo("https://ann:secret@other.example/path?q=1#x"), want: &Moved{"https://other.example"}},
		"no place":                 {service: leadsTo("javascript:alert(1)"), want: ErrNotMuster},
		"nowhere":                  {service: says(302, ""), want: ErrNotMuster},
		"a proxy without its host": {service: says(502, "<html>bad gateway"), want: &Trouble{502}},
		"a proxy that is busy":     {service: says(503, "{}"), want: &Trouble{503}},
		"one that refuses": {
			service: says(429, `{"reason":"busy","message":"that was too much at once\u001b[2J","hint":"wait\na second","link":"https://x.example/\u001b[31m"}`),
			want:    wire.Refusal{Reason: "busy", Message: "that was too much at once[2J", Hint: "wait a second", Link: "https://x.example/[31m"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			paths := map[string]http.HandlerFunc{"GET /api/service": tt.service}
			if tt.room != nil {
				paths["GET /api/rooms/-"] = tt.room
			}
			got, err := answering(t, paths).Service(t.Context())
			if !errors.Is(err, tt.want) && !reflect.DeepEqual(err, tt.want) {
				t.Errorf("%+v, %#v; want %#v", got, err, tt.want)
			}
			if known, listed := got.Knows("openarena"); name == "a public host" && (!known || !listed || got.MaxServers != 7) {
				t.Errorf("the host offers %+v", got)
			}
		})
	}
}

// TestNobodyElse checks that a room's key goes to its host alone, and appears in no URL.
func TestNobodyElse(t *testing.T) {
	other := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { other++ }))
	defer elsewhere.Close()
	var heard *http.Request
	h := answering(t, map[string]http.HandlerFunc{
		"GET /api/rooms/-":      func(w http.ResponseWriter, r *http.Request) { heard = r; io.WriteString(w, `{"room":{}}`) },
		"POST /api/rooms/-/go":  func(w http.ResponseWriter, r *http.Request) { leadsTo(elsewhere.URL+"/api/rooms/-/go")(w, r) },
		"POST /api/rooms/-/bad": says(http.StatusNoContent, ""),
	})
	key := Key{"BAKODITA", "the link's key", "the secret"}
	if _, err := h.Room(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if heard.Header.Get("Muster-Code") != key.Code || heard.Header.Get("Muster-Key") != key.Link ||
		heard.Header.Get("Authorization") != "Bearer "+key.Credential || heard.URL.String() != "/api/rooms/-" {
		t.Errorf("the host hears %s %v", heard.URL, heard.Header)
	}
	var moved *Moved
	if err := h.Order(t.Context(), key, "go", map[string]string{}); !errors.As(err, &moved) || moved.To != elsewhere.URL || other != 0 {
		t.Errorf("%v; the other host is asked %d times", err, other)
	}
	if err := h.Order(t.Context(), key, "bad", nil); err != nil {
		t.Error(err)
	}
}

// TestOpen checks that a long list is sent compressed, and that a new room has an organiser's link.
func TestOpen(t *testing.T) {
	servers := make([]string, 3000)
	for i := range servers {
		servers[i] = fmt.Sprintf("192.0.2.1:%d", i+1)
	}
	for name, tt := range map[string]struct {
		answer string
		want   error
	}{
		"a room":          {answer: `{"organiser_link":"http://muster.example/#BAKODITA_ABCDEFGHIJKLMNOP.secret"}`},
		"no link":         {answer: `{"code":"BAKODITA"}`, want: ErrNotMuster},
		"nobody's link":   {answer: `{"organiser_link":"http://muster.example/#BAKODITA_ABCDEFGHIJKLMNOP"}`, want: ErrNotMuster},
		"no room's link":  {answer: `{"organiser_link":"http://muster.example/"}`, want: ErrNotMuster},
		"a curse":         {answer: `{"organiser_link":"\u001b[2J"}`, want: ErrNotMuster},
		"another kind":    {answer: `{"organiser_link":["http://muster.example/#A"]}`, want: ErrNotMuster},
		"nothing":         {answer: "", want: ErrNotMuster},
		"something huge":  {answer: `{"x":"` + strings.Repeat("x", maxAnswer) + `"}`, want: ErrNotMuster},
		"the same, twice": {answer: `{"organiser_link":"http://muster.example/#BAKODITA_ABCDEFGHIJKLMNOP.secret"}{}`, want: ErrNotMuster},
	} {
		t.Run(name, func(t *testing.T) {
			var got map[string]any
			packed := ""
			h := answering(t, map[string]http.HandlerFunc{"POST /api/rooms": func(w http.ResponseWriter, r *http.Request) {
				packed = r.Header.Get("Content-Encoding")
				if body, err := gzip.NewReader(r.Body); err != nil || json.NewDecoder(body).Decode(&got) != nil {
					t.Errorf("the body is %v, %v", r.Header, err)
				}
				io.WriteString(w, tt.answer)
			}})
			l, err := h.Open(t.Context(), map[string]any{"game": "openarena", "servers": servers})
			if !errors.Is(err, tt.want) || err == nil && (l.Code != "BAKODITA" || l.Secret != "secret") {
				t.Errorf("%+v, %v; want %v", l, err, tt.want)
			}
			if list, _ := got["servers"].([]any); packed != "gzip" || len(list) != len(servers) {
				t.Errorf("%q: the host hears of %d servers", packed, len(list))
			}
		})
	}
}

// TestHostAway checks that a host that does not answer gives an error that names the cause.
func TestHostAway(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	base, err := url.Parse(gone.URL)
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	var failed *url.Error
	if _, err := NewClient(base, nil).Service(t.Context()); !errors.As(err, &failed) {
		t.Errorf("nobody there: %v", err)
	}
	began := make(chan struct{})
	h := answering(t, map[string]http.HandlerFunc{"GET /api/service": func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
	}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	if _, err := h.Service(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits any more: %v", err)
	}
}

// scene is what a host does on one connection of a watcher.
type scene func(t *testing.T, ws *websocket.Conn)

func shows(texts ...string) scene {
	return func(t *testing.T, ws *websocket.Conn) {
		for _, text := range texts {
			// Nobody reads a frame over the limit to its end.
			if err := ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil && len(text) < maxFrame {
				t.Error(err)
			}
		}
	}
}

func state(stage string) string {
	return fmt.Sprintf(`{"type":"state","now":1,"you":{"name":"x"},"room":{"code":"BAKODITA","stage":%q}}`, stage)
}

// TestWatch checks that the watcher reconnects while the host may still have the room, and
// otherwise ends with the reason.
func TestWatch(t *testing.T) {
	const limited, busy, moved, closed = `{"type":"refused","reason":"limited"}`, `{"type":"refused","reason":"busy"}`,
		`{"type":"refused","reason":"moved"}`, `{"type":"refused","reason":"closed","message":"room BAKODITA is over"}`
	over := wire.Refusal{Reason: wire.ReasonClosed, Message: "room BAKODITA is over"}
	binary := func(_ *testing.T, ws *websocket.Conn) { ws.WriteMessage(websocket.BinaryMessage, []byte{1, 2, 3}) }
	both := func(scenes ...scene) scene {
		return func(t *testing.T, ws *websocket.Conn) {
			for _, s := range scenes {
				s(t, ws)
			}
		}
	}
	for name, tt := range map[string]struct {
		scenes []scene
		stages string
		aways  int
		end    error
	}{
		"it is over": {
			scenes: []scene{shows(state("gathering"), state("listing"), closed)},
			stages: "gathering listing",
			end:    over,
		},
		"nobody's room": {scenes: []scene{shows(closed)}, end: over},
		"the host restarts": {
			scenes: []scene{shows(state("gathering")), shows(state("listing"), closed)},
			stages: "gathering listing",
			aways:  1,
			end:    over,
		},
		"the room moves": {
			scenes: []scene{shows(state("gathering"), moved), shows(moved), shows(state("listing"), closed)},
			stages: "gathering listing",
			aways:  2,
			end:    over,
		},
		"the host is busy at first": {
			scenes: []scene{shows(limited), shows(busy), shows(state("listing"), closed)},
			stages: "listing",
			aways:  2,
			end:    over,
		},
		"what is new beside what is known": {
			scenes: []scene{both(binary, shows(`{"type":"news"}`, `{}`, `{"type":3}`, state("gathering"), `{"type":"state","now":2}`, closed))},
			stages: "gathering",
			end:    over,
		},
		"nonsense at first": {scenes: []scene{shows(`{"type":`)}, end: wire.ErrMalformed},
		"nonsense later": {
			scenes: []scene{shows(state("gathering"), `[1]`), shows(`{"type":"state","room":7}`), shows(state("listing"), closed)},
			stages: "gathering listing",
			aways:  2,
			end:    over,
		},
		"far too much": {
			scenes: []scene{shows(state("gathering"), `{"type":"state","x":"`+strings.Repeat("x", maxFrame)+`"}`), shows(closed)},
			stages: "gathering",
			aways:  1,
			end:    over,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits between its attempts
			scenes := make(chan scene, len(tt.scenes))
			for _, s := range tt.scenes {
				scenes <- s
			}
			h := answering(t, map[string]http.HandlerFunc{"GET /live": func(w http.ResponseWriter, r *http.Request) {
				ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
				if err != nil {
					t.Error(err)
					return
				}
				defer ws.Close()
				var first map[string]string
				if err := ws.ReadJSON(&first); err != nil ||
					!reflect.DeepEqual(first, map[string]string{"code": "BAKODITA", "key": "link", "token": ""}) {
					t.Errorf("the first word is %v, %v", first, err)
				}
				select {
				case s := <-scenes:
					s(t, ws)
				default:
					t.Error("the watcher comes once more than there is to see")
					shows(closed)(t, ws)
				}
				ws.WriteControl(websocket.CloseMessage, nil, time.Now().Add(time.Second))
				ws.ReadMessage() // until the watcher has read everything
			}})
			var stages []string
			var end error
			aways := 0
			for s, err := range h.Watch(t.Context(), Key{Code: "BAKODITA", Link: "link"}, func(error) { aways++ }) {
				if end = err; err == nil {
					stages = append(stages, string(s.Room.Stage))
				}
			}
			if got := strings.Join(stages, " "); got != tt.stages || aways != tt.aways ||
				!errors.Is(end, tt.end) && !reflect.DeepEqual(end, tt.end) {
				t.Errorf("seen %q, away %d times, ends with %v; want %q, %d, %v", got, aways, end, tt.stages, tt.aways, tt.end)
			}
		})
	}
}

// TestWatchEnds checks that a watch ends with its context, and when its caller stops reading.
func TestWatchEnds(t *testing.T) {
	h := answering(t, map[string]http.HandlerFunc{"GET /live": func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.Close()
		shows(state("gathering"))(t, ws)
		ws.ReadMessage() // the key
		ws.ReadMessage() // the end
	}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	for s, err := range h.Watch(ctx, Key{Code: "BAKODITA"}, func(err error) { t.Error(err) }) {
		if seen++; err != nil || s.Room.Stage != wire.Gathering {
			t.Errorf("%+v, %v", s, err)
		}
		cancel()
	}
	for range h.Watch(t.Context(), Key{Code: "BAKODITA"}, func(err error) { t.Error(err) }) {
		seen++
		break
	}
	if seen != 2 {
		t.Errorf("seen %d states", seen)
	}
}

// FuzzRead checks that any frame is news of a room, a refusal, or an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(state("gathering")))
	f.Add([]byte(`{"type":"refused","reason":"closed","message":"over"}`))
	f.Add([]byte(`{"type":"state","people":[{"name":"\u001b"}],"choice":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		news, err := read(data)
		if err != nil && news != nil {
			t.Fatalf("%v beside %v", news, err)
		}
		var room wire.Snapshot
		room.Merge(news)
	})
}
