package page_test

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host"
	"muster/host/hosttest"
	"muster/host/wire"
	"muster/host/wire/conn"
	"muster/selection"
	"muster/web"
)

// TestAsListed checks servers that say nothing themselves. The page shows what the list says about
// them, marked as such, with its age if it is old, and hostile text as text. Servers' own words
// have no mark.
func TestAsListed(t *testing.T) {
	t.Parallel()
	list := crowdList()[:4]
	word := discovery.Said{At: time.Now().Add(-12 * time.Minute), Infos: map[netip.AddrPort]*discovery.Info{
		list[0].Addr: {
			Name:       "The <b>Den</b> of the very long name that nobody can read to its end",
			Map:        "haven",
			Players:    3,
			MaxPlayers: 16,
			AsListed:   true,
		},
		list[1].Addr: {Name: "Listed", Players: 16, MaxPlayers: 16, AsListed: true},
	}}
	rooms, err := host.New(host.Config{
		Page: web.Handler(), List: func(context.Context, string) ([]discovery.Server, error) { return list, nil },
		Said: func(string) discovery.Said { return word },
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { server.Close(); rooms.Close() })
	code, _, _ := rooms.Open(wire.Settings{
		Name:     "Friday",
		Game:     "veloren",
		By:       selection.Mean,
		Strategy: "conventional",
		Players:  1,
		Agree:    wire.Yes,
	})
	ann := hosttest.Dial(t, server.URL, nil, answerQuietly, nil)
	ann.Send(wire.Hello{Version: wire.Version, Code: code, Name: "ann"})
	b := browse(t, server.URL+"/#"+code, desktop)
	b.sees("#stage", "The <b>Den</b> of the very long name")
	b.sees("#stage", "13 free seats")
	b.sees("#stage", "as the list said 12 min ago")
	b.sees("#ranking tbody", "as the list said") // the ranking comes after the stage
	rows := b.reads("#ranking tbody tr")
	if n := strings.Count(rows, "as the list said"); n != 2 {
		t.Errorf("%d rows are marked:\n%s", n, rows)
	}
	b.shoot("as-listed", desktop, phone, couch)
}

// answerQuietly is a player who gets an answer from all servers, but information only from the third.
func answerQuietly(player *conn.Conn, m wire.Message) {
	heard := func(server int) discovery.Info {
		if server == 2 {
			return discovery.Info{Name: "Heard", Map: "own", Mode: "ctf", Version: "1", MaxPlayers: 8}
		}
		return discovery.Info{}
	}
	switch m := m.(type) {
	case wire.List:
		report, infos := wire.Report{Round: m.Round}, wire.Infos{Round: m.Round}
		for server := range m.Servers {
			report.Results = append(report.Results, discovery.Result{
				Server: server,
				State:  discovery.Answered,
				RTT:    time.Duration(20+10*server) * time.Millisecond,
			})
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: heard(server)})
		}
		player.Send(infos)
		player.Send(report)
		player.Send(wire.Done{Round: m.Round})
	case wire.Finalists:
		v := wire.Verified{Round: m.Round, Attempt: m.Attempt}
		for _, server := range m.Servers {
			info := heard(server)
			v.Servers = append(v.Servers, wire.Finalist{
				Server: server,
				State:  discovery.Answered,
				RTTs:   []float64{float64(20 + 10*server)},
				Sent:   1,
				Info:   &info,
			})
		}
		player.Send(v)
	}
}
