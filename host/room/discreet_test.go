package room

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/evidence"
	"muster/host/wire"
)

// TestDiscreet: who shows their address to few servers is asked for no more, also behind
// one address with somebody who does not mind, who is asked in their place; it is told,
// and kept.
func TestDiscreet(t *testing.T) {
	n := newSession(t, settings(0))
	for _, most := range []int{50, 50, 20} {
		if err := n.step(Join{Hello: wire.Hello{Version: wire.Version, Code: "BAKODI", Name: "dora", Token: "dora's token", Discreet: most}, Token: "dora's token"}); err != nil {
			t.Fatal(err)
		}
	}
	n.join("ann")
	n.noted("dora asks at most 50 servers a round: the search works round that", "dora asks at most 20 servers a round: the search works round that")
	if err := n.step(Join{Hello: wire.Hello{Version: wire.Version, Code: "BAKODI", Name: "dora", Token: "dora's token", Discreet: 20}, Token: "dora's token"}); err != nil {
		t.Fatal(err)
	}
	same(t, n.room, restored(t, n.room))
}

// TestUntried: what is likely better and was not measured by who asks few is looked at along
// with the finalists, in the places that she has left, and chosen once she has measured it.
// Ann has measured all, and is near to ten servers of the country F; dora has measured one or
// two of each country, and is nearest to F.
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
		name                   string
		most, measured, venues int // of dora; places count like servers
		untried                int
	}{
		{"few", 20, 12, 0, 8},
		{"as few as can be", wire.LeastDiscreet, 8, 0, 8},
		{"and has been asked for more than that leaves", 20, 15, 0, 5},
		{"for all that may be seen", 20, 20, 0, 0},
		{"and measures places, too", 20, 12, 5, 3},
		{"and many places", 20, 12, 12, 0},
		{"of many", 100, 12, 0, 8},
		{"who does not mind", 0, 12, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := settings(2)
			s.Strategy = wire.Coordinated
			for i := range tt.venues {
				s.Places = append(s.Places, venues(fmt.Sprint("place ", i))...)
			}
			n := newSession(t, s)
			n.join("ann")
			n.step(Join{Hello: wire.Hello{Version: wire.Version, Code: "BAKODI", Name: "dora", Discreet: tt.most}, Token: "token of dora"})
			n.gets(far())
			n.inStage(wire.Refining)
			round := &n.room.round
			for player, p := range round.players {
				p.witness = evidence.Witness{}
				for i := range len(round.servers.List) {
					server := (i*100 + i/10 + 50) % 1000 // one of each country, and so on; none of those near to ann soon
					if player == 1 && i >= tt.measured {
						break
					}
					p.witness.Admit(server)
					p.witness.Report(discovery.Result{Server: server, State: discovery.Answered, RTT: rtt(player, server)}, 0, n.now)
					round.hearsay.Hear(p.name, server, discovery.Info{MaxPlayers: 16}, 0)
				}
			}
			round.search = nil
			n.room.searching()
			n.took("dora")
			n.goes()
			look := got[wire.Finalists](n, "dora")
			dora, untried := round.player("dora"), 0
			for _, server := range look.Servers {
				untried += count(!dora.witness.IsAsked(server))
				if !dora.witness.IsAsked(server) && (server < country || server >= country+near) {
					t.Errorf("dora is to look at %d, which is near to nobody", server)
				}
			}
			if said := strings.Contains(n.log(), "that may be better: what ping dora has there is not known yet"); untried != tt.untried || said != (tt.untried > 0) {
				t.Errorf("of %v dora is to look at %d for the first time, want %d; the log:\n%s", look.Servers, untried, tt.untried, n.log())
			}
			for player, name := range []string{"ann", "dora"} {
				v := wire.Verified{Round: 1, Attempt: look.Attempt}
				for _, server := range look.Servers {
					ms := float64(rtt(player, server).Milliseconds())
					v.Servers = append(v.Servers, wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{ms, ms}, Sent: 2})
				}
				n.says(name, v)
			}
			if mean := round.choice.Newest().Chosen.MeanMS; (mean == 30) != (tt.untried > 0) {
				t.Errorf("chosen is one of %v ms", mean)
			}
		})
	}
}
