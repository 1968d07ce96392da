package hosttest

import (
	"cmp"
	"context"
	"net/http"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/host/wire/conn"
)

// Player is a player's program at a real socket that says what a test tells it to say.
type Player struct {
	testing.TB
	Conn *conn.Conn
	// Heard has all messages, and is closed at the connection's end. Then Ended has what ended it.
	Heard chan wire.Message
	Ended chan error
	// Welcome is what the host has let the player in with.
	Welcome wire.Welcome
}

// Connect connects a program to the host at a URL, with a header or none, until the test's end.
func Connect(t testing.TB, url string, header http.Header) *Player {
	t.Helper()
	p := &Player{TB: t, Heard: make(chan wire.Message, 10_000), Ended: make(chan error, 1)}
	p.Conn = Dial(t, url, header, func(_ *conn.Conn, m wire.Message) { p.Heard <- m }, func(err error) {
		p.Ended <- err
		close(p.Heard)
	})
	return p
}

// Join connects a program that says hello, and waits until it is in the room.
func Join(t testing.TB, url string, header http.Header, hello wire.Hello) *Player {
	t.Helper()
	p := Connect(t, url, header)
	hello.Version = wire.Version
	p.Conn.Send(hello)
	p.Welcome = Expect[wire.Welcome](p)
	return p
}

// Expect waits for the next message of a type, and skips all others.
func Expect[M wire.Message](p *Player) M {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), time.Minute)
	defer cancel()
	for {
		select {
		case m, open := <-p.Heard:
			if !open {
				p.Fatalf("the connection ended before a %T came", *new(M))
			}
			if wanted, ok := m.(M); ok {
				return wanted
			}
		case <-ctx.Done():
			p.Fatalf("no %T came", *new(M))
		}
	}
}

// Script is what a player sees of the world, and says about it by itself.
type Script struct {
	// RTT is that to a server of the round's list, 0 for a silent one.
	RTT func(server int) time.Duration
	// Info is what a server says about itself, or nil if all say the same.
	Info func(server int) discovery.Info
	// Measures says that the player measures as soon as the host asks for it. Otherwise a test calls
	// [Player.Measures].
	Measures bool
	// Launched is what becomes of the game.
	Launched wire.Launched
}

// Plays answers everything that the host asks for, until the connection's end.
func (p *Player) Plays(script Script) {
	var list wire.List
	told := 0
	for m := range p.Heard {
		switch m := m.(type) {
		case wire.List:
			list, told = m, 0
		case wire.Measure:
			if script.Measures && m.Strategy != wire.Coordinated {
				p.Measures(script, m.Round, 0, len(list.Servers))
				p.Conn.Send(wire.Done{Round: m.Round})
			}
		case wire.Ask:
			if len(m.Servers) > 0 {
				p.reports(script, m.Round, told, m.Servers)
				told += len(m.Servers)
			}
			p.Conn.Send(script.infos(m.Round, m.Names))
		case wire.Finalists:
			if len(m.Servers) > 0 {
				p.Conn.Send(script.Look(m))
			}
		case wire.Launch:
			launched := script.Launched
			launched.Round, launched.State = m.Round, cmp.Or(launched.State, wire.LaunchStarted)
			p.Conn.Send(launched)
		}
	}
}

// Measures reports the servers of a round's list from one to another.
func (p *Player) Measures(script Script, round, from, to int) {
	servers := make([]int, 0, to-from)
	for server := from; server < to; server++ {
		servers = append(servers, server)
	}
	p.reports(script, round, from, servers)
}

// reports tells results after so many earlier ones, and what the servers that answer say about themselves.
func (p *Player) reports(script Script, round, told int, servers []int) {
	infos, report := script.Report(round, told, servers, 0)
	p.Conn.Send(infos)
	p.Conn.Send(report)
}

// Report is what a player says of servers after so many earlier results, at a time of the player's.
func (s Script) Report(round, told int, servers []int, now time.Duration) (wire.Infos, wire.Report) {
	report := wire.Report{Round: round, First: told, Now: now}
	for _, server := range servers {
		result := discovery.Result{Server: server, State: discovery.Lost, Phase: discovery.Refining, At: now}
		if rtt := s.RTT(server); rtt > 0 {
			result.State, result.RTT = discovery.Answered, rtt
		}
		report.Results = append(report.Results, result)
	}
	return s.infos(round, servers), report
}

// infos is what those servers say about themselves that answer.
func (s Script) infos(round int, servers []int) wire.Infos {
	infos := wire.Infos{Round: round}
	for _, server := range servers {
		if s.RTT(server) > 0 {
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: s.info(server)})
		}
	}
	return infos
}

// Look is the second look at the finalists.
func (s Script) Look(m wire.Finalists) wire.Verified {
	v := wire.Verified{Round: m.Round, Attempt: m.Attempt}
	for _, server := range m.Servers {
		seen := wire.Finalist{Server: server, State: discovery.Lost, Sent: 3}
		if rtt := s.RTT(server); rtt > 0 {
			info, ms := s.info(server), rtt.Seconds()*1000
			seen.State, seen.RTTs, seen.Info = discovery.Answered, []float64{ms, ms, ms}, &info
		}
		v.Servers = append(v.Servers, seen)
	}
	return v
}

func (s Script) info(server int) discovery.Info {
	if s.Info == nil {
		return discovery.Info{Name: "a server", Map: "oa_dm1", MaxPlayers: 16}
	}
	return s.Info(server)
}
