package host_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host"
	"muster/host/hosttest"
	"muster/host/wire"
	"muster/host/wire/conn"
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
	*testing.T
	conn  *conn.Conn
	heard chan wire.Message
	ended chan error
	token string
	// page is the credential of the player's own pages.
	page string
}

func dial(t *testing.T, server *httptest.Server) *player {
	t.Helper()
	return dialWith(t, server, nil)
}

func dialWith(t *testing.T, server *httptest.Server, header http.Header) *player {
	t.Helper()
	p := &player{T: t, heard: make(chan wire.Message, 10_000), ended: make(chan error, 1)}
	p.conn = hosttest.Dial(t, server.URL, header, func(_ *conn.Conn, m wire.Message) { p.heard <- m }, func(err error) {
		p.ended <- err
		close(p.heard)
	})
	return p
}

func join(t *testing.T, server *httptest.Server, code, name string) *player {
	t.Helper()
	return joinAs(t, server, code, name, "")
}

// joinAs joins with the organiser's secret or with a ticket.
func joinAs(t *testing.T, server *httptest.Server, code, name, as string) *player {
	t.Helper()
	p := dial(t, server)
	p.conn.Send(wire.Hello{Version: wire.Version, Code: code, Name: name, As: as})
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
	deadline := time.After(time.Minute)
	for {
		select {
		case m, open := <-p.heard:
			if !open {
				p.Fatalf("the connection ended before a %T came", *new(M))
			}
			if wanted, ok := m.(M); ok {
				return wanted
			}
		case <-deadline:
			p.Fatalf("no %T came", *new(M))
		}
	}
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
	p.conn.Send(report)
	p.conn.Send(infos)
	p.conn.Send(wire.Done{Round: list.Round})
}

func (p *player) finishes() wire.Launch {
	p.Helper()
	p.looks()
	launch := expect[wire.Launch](p)
	p.conn.Send(wire.Launched{Round: launch.Round, State: wire.LaunchStarted})
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
	p.conn.Send(v)
}
