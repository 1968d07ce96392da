package room_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/room/evidence"
	"muster/host/room/infos"
	"muster/host/room/people"
	"muster/host/room/roomtest"
	"muster/host/room/roomtime"
	"muster/host/room/saved"
	"muster/host/wire"
)

// TestUntried checks that everyone looks at a server that is likely better although the discreet
// player has not measured it, within her number of servers. The room chooses it once she has
// measured it.
//
// Ann has measured all, and is near to ten servers of the country F. Dora has measured one or two
// of each country, and is nearest to F.
func TestUntried(t *testing.T) {
	const country, near = 500, 10
	rtt := func(player, server int) time.Duration {
		ms := 100
		switch {
		case player == 0 && server >= country && server < country+near:
			ms = 20
		case player == 1 && server/100 == country/100:
			ms = 40
		}
		return time.Duration(ms) * time.Millisecond
	}
	for _, tt := range []struct {
		name           string
		most, measured int // by dora
		looks          bool
	}{
		{"few", 20, 6, true},
		{"as few as can be", wire.MinDiscreet, 4, true},
		{"for all that may be seen", 20, 20, false},
		{"of many", 100, 12, true},
		{"who does not mind", 0, 12, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := settings(2)
			s.Strategy = wire.Coordinated
			n := newSession(t, s)
			dora := room.Join{
				Hello: wire.Hello{Version: wire.Version, Code: "BAKODI", Name: "dora", Token: "token of dora", Discreet: tt.most},
				Token: "token of dora",
			}
			n.Join("ann")
			n.Step(dora)
			n.Gets(far())
			n.InStage(wire.Refining)
			n.rewrites(func(s *saved.Room) {
				var heard infos.Infos
				for player := range s.Players {
					var measured evidence.PlayerResults
					for i := range 1000 {
						server := (i*100 + i/10 + 50) % 1000 // one of each country in turn; ann's nearest come late
						if player == 1 && i >= tt.measured {
							break
						}
						measured.Admit(server)
						measured.Report(discovery.Result{Server: server, State: discovery.Answered, RTT: rtt(player, server)}, 0, roomtime.Opening)
						heard.Hear(s.Players[player].ID, server, discovery.Info{MaxPlayers: 16}, 0)
					}
					var err error
					if s.Players[player].Evidence, err = measured.Save(); err != nil {
						t.Fatal(err)
					}
				}
				var err error
				if s.Infos, err = heard.Save([]people.ID{s.Players[0].ID, s.Players[1].ID}); err != nil {
					t.Fatal(err)
				}
			})
			n.Step(room.Resume{})
			clear(n.Asked)
			n.Join("ann")
			n.Step(dora)
			n.Wait(tick) // the search begins
			isAsked, isMeasured := map[int]bool{}, map[int]bool{}
			for _, result := range got[wire.Report](n, "dora").Results {
				isAsked[result.Server], isMeasured[result.Server] = true, true
			}
			for _, server := range n.Asked["dora"] {
				isAsked[server] = true
			}
			n.Goes()
			look, untried := got[wire.Finalists](n, "dora"), 0
			for _, server := range look.Servers {
				untried += count(!isMeasured[server])
				if !isMeasured[server] && (server < country || server >= country+near) {
					t.Errorf("dora is to look at %d, which is near to nobody", server)
				}
			}
			want := 0
			if tt.most > 0 {
				want = max(0, min(wire.SearchFinalists, tt.most-len(isAsked)))
			}
			if untried != want || (untried > 0) != tt.looks {
				t.Errorf("of %v dora is to look at %d for the first time, who was asked for %d of %d; want %d; "+
					"the log:\n%s", look.Servers, untried, len(isAsked), tt.most, want, n.Story())
			}
			if said := strings.Contains(n.Story(), "that may be better: no ping there yet from dora"); said != tt.looks {
				t.Errorf("that is said: %v; the log:\n%s", said, n.Story())
			}
			for player, name := range []string{"ann", "dora"} {
				v := wire.Verified{Round: 1, Attempt: look.Attempt}
				for _, server := range look.Servers {
					ms := float64(rtt(player, server).Milliseconds())
					v.Servers = append(v.Servers, wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{ms, ms}, Sent: 2})
				}
				n.Says(name, v)
			}
			if mean := n.Chosen().MeanMS; (mean == 30) != tt.looks {
				t.Errorf("chosen is one of %v ms", mean)
			}
		})
	}
}

func (n *session) rewrites(change func(s *saved.Room)) {
	n.Helper()
	s, err := saved.Read(roomtest.Saved(n, n.Room))
	if err != nil {
		n.Fatal(err)
	}
	change(&s)
	data, err := json.Marshal(s)
	if err != nil {
		n.Fatal(err)
	}
	n.GoesOnWith(roomtest.Read(n, data))
}
