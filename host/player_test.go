package host_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host"
	"muster/host/hosttest"
	"muster/host/wire"
	"muster/internal/leak"
	"muster/selection"
)

func friday(players int) wire.Settings {
	return wire.Settings{Name: "Friday", Game: "openarena", By: selection.Mean, Players: players, Strategy: "conventional"}
}

func listOf(servers int) func(context.Context, string) ([]discovery.Server, error) {
	return func(context.Context, string) ([]discovery.Server, error) {
		list := make([]discovery.Server, servers)
		for i := range list {
			addr := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
			list[i] = discovery.Server{Addr: netip.AddrPortFrom(addr, 27960)}
		}
		return list, nil
	}
}

// serve starts a host behind a real socket. At the test's end no goroutine may be left.
func serve(t *testing.T, config host.Config) (*host.Host, *httptest.Server) {
	t.Helper()
	leak.Check(t)
	return serveToo(t, config)
}

// serveToo starts another host.
func serveToo(t *testing.T, config host.Config) (*host.Host, *httptest.Server) {
	t.Helper()
	h, err := host.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return h, served(t, h)
}

// served puts a host behind a real socket.
func served(t *testing.T, h *host.Host) *httptest.Server {
	server := httptest.NewServer(h.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// player is a member's end of a connection, which the test drives.
type player struct {
	*hosttest.Player
	token string
	// page is the credential of the player's own pages.
	page string
}

func dial(t *testing.T, server *httptest.Server) *player {
	t.Helper()
	return dialWith(t, server, nil)
}

func dialWith(t testing.TB, server *httptest.Server, header http.Header) *player {
	t.Helper()
	return &player{Player: hosttest.Connect(t, server.URL, header)}
}

// socket opens a bare WebSocket until the test's end.
func socket(t testing.TB, server *httptest.Server, path string, header http.Header) *websocket.Conn {
	t.Helper()
	ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http")+path, header)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// says sends a program's hello, from an address if it is not empty; the player gets the answer.
func says(t testing.TB, server *httptest.Server, from string, hello wire.Hello) *player {
	t.Helper()
	var header http.Header
	if from != "" {
		header = http.Header{"X-Forwarded-For": {from}}
	}
	p := dialWith(t, server, header)
	hello.Version = wire.Version
	p.Conn.Send(hello)
	return p
}

func join(t *testing.T, server *httptest.Server, code, name string) *player {
	t.Helper()
	return joinAs(t, server, code, name, "")
}

// joinAs joins with the organiser's secret or with a ticket.
func joinAs(t *testing.T, server *httptest.Server, code, name, as string) *player {
	t.Helper()
	p := says(t, server, "", wire.Hello{Code: code, Name: name, As: as})
	welcome := expect[wire.Welcome](p)
	p.token, p.page = welcome.Token, welcome.Page
	return p
}

// inEnglish returns a refusal as programs without a catalogue read it.
func inEnglish(r wire.Refusal) wire.Refusal {
	r.Says, r.Advises = sentence.Sentence{}, sentence.Sentence{}
	return r
}

// expect waits for the next message of a type, and skips all others.
func expect[M wire.Message](p *player) M {
	p.Helper()
	return hosttest.Expect[M](p.Player)
}

// plays does what the host asks for: every server answers in ms.
func (p *player) plays(ms int) wire.Launch {
	p.Helper()
	p.measures(ms)
	return p.finishes()
}

func (p *player) measures(ms int) {
	p.Helper()
	list := expect[wire.List](p)
	expect[wire.Measure](p)
	report, infos := wire.Report{Round: list.Round}, wire.Infos{Round: list.Round}
	for server := range list.Servers {
		rtt := time.Duration(ms+server%100) * time.Millisecond
		report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt})
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{Map: "oa_dm1", MaxPlayers: 16}})
	}
	p.Conn.Send(report)
	p.Conn.Send(infos)
	p.Conn.Send(wire.Done{Round: list.Round})
}

func (p *player) finishes() wire.Launch {
	p.Helper()
	p.looks()
	launch := expect[wire.Launch](p)
	p.Conn.Send(wire.Launched{Round: launch.Round, State: wire.LaunchStarted})
	return launch
}

// looks answers the second look at the finalists at once.
func (p *player) looks() {
	p.Helper()
	finalists := expect[wire.Finalists](p)
	v := wire.Verified{Round: finalists.Round, Attempt: finalists.Attempt}
	for _, server := range finalists.Servers {
		v.Servers = append(v.Servers, wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{5}, Sent: 3})
	}
	p.Conn.Send(v)
}
