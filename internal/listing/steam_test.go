package listing

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"muster/discovery/lists/master"
	"muster/host"
	"muster/host/hosttest"
	"muster/host/wire"
	"muster/host/wire/conn"
	"muster/internal/await"
	"muster/internal/game"
	"muster/selection"
)

// heard records everything that anybody says.
type heard struct {
	mu   sync.Mutex // guards the fields below
	text bytes.Buffer
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// TestSteamKeyStaysHere checks a room whose list comes from Steam, or fails to. The key goes to Steam alone: no player,
// page, caller of the API or log sees it.
func TestSteamKeyStaysHere(t *testing.T) {
	const key = "0123456789ABCDEF0123456789ABCDEF"
	for _, c := range []struct {
		name   string
		steam  http.HandlerFunc
		listed string // what all of them hear then
	}{
		{"a list", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"response":{"servers":[{"addr":"127.0.0.1:27015","name":"One","players":3,"max_players":24}]}}`)
		}, "27015"},
		{"the key is refused", func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "no such key: "+r.URL.String(), http.StatusForbidden)
		}, "does not take the key"},
		{"nonsense", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL) }, "list"},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/?"+r.URL.RawQuery, http.StatusFound)
		}, "list"},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := make(chan string, 100)
			steam := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked <- r.FormValue("key")
				c.steam(w, r)
			}))
			defer steam.Close()
			said := &heard{}
			log := slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug}))
			games := builtIn(t)
			cache := t.TempDir()
			rooms := &Rooms{Games: games, Public: func() netip.Addr { return netip.Addr{} },
				Warn: func(errs ...error) { fmt.Fprintf(said, "%+v\n", errs) },
				Sources: Sources{LAN: Off, Cache: master.Cache(cache), Log: log, Say: func(format string, args ...any) {
					fmt.Fprintf(said, format+"\n", args...)
				},
					User: func() (game.User, error) { return game.User{Steam: key, SteamURL: steam.URL}, nil }},
			}
			ctx, cancel := context.WithCancel(t.Context())
			wait := rooms.Begin(ctx)
			defer wait()
			defer cancel()
			h, err := host.New(host.Config{List: rooms.List, Age: rooms.Age, Said: rooms.Said, Local: rooms.Local, Logger: log})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			server := httptest.NewServer(h.Handler())
			defer server.Close()
			code, secret, err := h.Open(wire.Settings{Game: "tf2", By: selection.Mean, Players: 1, Strategy: "conventional"})
			if err != nil {
				t.Fatal(err)
			}
			live := "ws" + strings.TrimPrefix(server.URL, "http")
			page, _, err := websocket.DefaultDialer.Dial(live+"/live", nil)
			if err != nil {
				t.Fatal(err)
			}
			var listening sync.WaitGroup
			defer listening.Wait()
			defer page.Close()
			if err := page.WriteJSON(map[string]string{"code": code, "token": secret}); err != nil {
				t.Fatal(err)
			}
			listening.Go(func() {
				for {
					_, frame, err := page.ReadMessage()
					if err != nil {
						return
					}
					said.Write(frame)
				}
			})
			players := &heard{}
			peer := hosttest.Dial(t, server.URL, nil, func(_ *conn.Conn, m wire.Message) {
				text, err := json.Marshal(m)
				fmt.Fprintf(players, "%T %s %+v %v\n", m, text, m, err)
			}, nil)
			peer.Send(wire.Hello{Version: wire.Version, Code: code, Name: "ann"})
			await.Until(t, func() bool {
				return strings.Contains(players.String(), c.listed) && strings.Contains(said.String(), "ann")
			}, "nobody hears %q:\n%s\n%s", c.listed, players, said)
			if got := <-asked; got != key {
				t.Errorf("Steam is given %q", got)
			}
			for _, path := range []string{"/", "/api/rooms/" + code, "/metrics"} {
				answer, err := http.Get(server.URL + path)
				if err != nil {
					t.Fatal(err)
				}
				io.Copy(said, answer.Body)
				answer.Body.Close()
			}
			if text := said.String() + players.String(); strings.Contains(text, key) {
				t.Errorf("the key is in what is said:\n%s", text)
			}
		})
	}
}
