package cluster

import (
	"context"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host"
	"muster/host/between"
	"muster/host/wire"
	"muster/selection"
)

// TestHostsPause checks how soon players learn that everything waits once NATS is away. Those at
// another host than the room's learn it hardly later than those at the room's own.
func TestHostsPause(t *testing.T) {
	t.Parallel()
	nats := startNATS(t)
	w := world(nats)
	hosts, at := map[string]*host.Host{}, map[string]*httptest.Server{}
	for _, name := range []string{"a", "b"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		others, err := between.New(listener, name, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { others.Close() })
		w.Door = others.Door
		c := join(t, w, name)
		others.Join(c.Doors)
		h, err := host.New(host.Config{
			Store: c,
			Relay: others,
			List:  func(context.Context, string) ([]discovery.Server, error) { return nil, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(h.Handler())
		t.Cleanup(func() {
			server.CloseClientConnections()
			hurry, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			h.Drain(hurry)
			h.Close()
			server.Close()
		})
		hosts[name], at[name] = h, server
	}
	code, _, err := hosts["a"].Open(wire.Settings{Game: "openarena", By: selection.Mean, Players: 3, Strategy: "conventional"})
	if err != nil {
		t.Fatal(err)
	}
	// hears joins at a host, and returns the time at which that player learns of the pause.
	hears := func(host, name string) <-chan time.Time {
		ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(at[host].URL, "http")+"/peer", nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		if err := ws.WriteJSON(map[string]any{"type": "hello", "version": wire.Version, "code": code, "name": name}); err != nil {
			t.Fatal(err)
		}
		if _, said, err := ws.ReadMessage(); err != nil || !strings.Contains(string(said), "welcome") {
			t.Fatalf("%s is told %s, %v", name, said, err)
		}
		told := make(chan time.Time, 1)
		go func() {
			for {
				_, said, err := ws.ReadMessage()
				if err != nil {
					close(told)
					return
				}
				if strings.Contains(string(said), `"refused.held"`) {
					told <- time.Now()
					return
				}
			}
		}()
		return told
	}
	here, afar := hears("a", "ann"), hears("b", "bob")
	pause(t.Context(), time.Second)
	gone := time.Now()
	nats.Stop(0)
	ann, bob := <-here, <-afar
	t.Logf("ann hears after %v, bob after %v", ann.Sub(gone), bob.Sub(gone))
	if ann.IsZero() || bob.IsZero() || bob.Sub(gone) > 10*leaseTime {
		t.Errorf("ann hears after %v, bob, at the other host, after %v", ann.Sub(gone), bob.Sub(gone))
	}
}
