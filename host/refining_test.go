package host

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// far is a list of a thousand servers in ten countries. A server is as far from
// a player as its country says, and a little more by its number.
func far() []discovery.Server {
	servers := make([]discovery.Server, 1000)
	for i := range servers {
		country, host := i/100, i%100
		servers[i] = discovery.Server{
			Addr:    netip.AddrPortFrom(netip.AddrFrom4([4]byte{20, byte(country), byte(host), 1}), 27960),
			Country: fmt.Sprintf("%c%c", 'A'+country, 'A'+country), ASN: uint32(1 + country),
		}
	}
	return servers
}

func farRTT(player, server int) time.Duration {
	country, host := server/100, server%100
	return time.Duration(20+15*abs(country-3*player-2))*time.Millisecond + time.Duration(host*37%101)*200*time.Microsecond
}

func abs(n int) int { return max(n, -n) }

// answers has a member answer all it was asked since the last time.
func (n *night) answers(player int, name string) (asked int) {
	messages := n.sent[name]
	delete(n.sent, name)
	for _, m := range messages {
		ask, ok := m.(wire.Ask)
		if !ok {
			continue
		}
		var results []discovery.Result
		infos := wire.Infos{Round: n.room.Round}
		for _, server := range ask.Servers {
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{MaxPlayers: 16}})
			results = append(results, discovery.Result{Server: server, State: discovery.Answered, RTT: farRTT(player, server)})
		}
		asked += len(results)
		n.says(name, infos)
		n.says(name, wire.Report{Round: n.room.Round, Results: results})
	}
	return asked
}

// coordinated is a room of two that has the long list.
func coordinated(t *testing.T) *night {
	s := settings(2)
	s.Strategy = wire.Coordinated
	n := newNight(t, s)
	n.join("ann", "bob")
	n.perform(n.room.Listed(far(), nil, n.now))
	n.inStage(wire.Refining)
	return n
}

func TestRefining(t *testing.T) {
	n := coordinated(t)
	asked := 0
	for range 200 {
		n.wait(200 * time.Millisecond)
		asked += n.answers(0, "ann") + n.answers(1, "bob")
		if n.room.Stage != wire.Refining {
			break
		}
	}
	n.inStage(wire.Chosen)
	if asked == 0 || asked > 1500 {
		t.Errorf("%d questions to two players about 1,000 servers", asked)
	}
	best := n.room.Selection.Chosen
	for server := range n.room.Servers {
		mean := float64(farRTT(0, server)+farRTT(1, server)) / 2e6
		if mean < best.MeanMS-2 {
			t.Fatalf("chosen with %.1f ms, server %d has %.1f", best.MeanMS, server, mean)
		}
	}
}

// TestRefiningSays: everyone is told how far the search is.
func TestRefiningSays(t *testing.T) {
	n := coordinated(t)
	var last *wire.Search
	for n.room.Stage == wire.Refining {
		n.wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
		if search := n.room.View().Search; search != nil {
			last = search
		}
	}
	if last == nil || !last.Found || last.GainMS == nil || last.Rounds < 5 {
		t.Fatalf("the last word of the search was %+v", last)
	}
	chosen := n.room.Selection.Chosen
	if off := last.MeanMS - chosen.MeanMS; off < -0.1 || off > 1 {
		t.Errorf("%s, chosen with %.1f", last.Sentence(n.room.Settings.By), chosen.MeanMS)
	}
	if n.room.View().Search != nil {
		t.Error("the search goes on after the choice")
	}
}

// TestRefiningAlone: who drops out in the middle does not stop the others.
func TestRefiningAlone(t *testing.T) {
	n := coordinated(t)
	n.wait(200 * time.Millisecond)
	n.answers(0, "ann")
	n.answers(1, "bob")
	n.room.Gone("bob", n.now)
	for range 300 {
		n.wait(200 * time.Millisecond)
		n.answers(0, "ann")
		if n.room.Stage != wire.Refining {
			break
		}
	}
	n.inStage(wire.Chosen)
	if waited := n.now.Sub(eight); waited < goneAfter {
		t.Errorf("chosen without bob after %v", waited)
	}
}

// TestRefiningResumed: a room that is saved and restored goes on searching.
func TestRefiningResumed(t *testing.T) {
	n := coordinated(t)
	n.wait(200 * time.Millisecond)
	n.answers(0, "ann")
	data, err := n.room.Save()
	if err != nil {
		t.Fatal(err)
	}
	if n.room, err = Restore(data); err != nil {
		t.Fatal(err)
	}
	n.perform(n.room.Returned(n.now))
	n.join("ann", "bob")
	for range 300 {
		n.wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
		if n.room.Stage != wire.Refining {
			break
		}
	}
	n.inStage(wire.Chosen)
}

// TestShortList: what can be measured whole is.
func TestShortList(t *testing.T) {
	s := settings(1)
	s.Strategy = wire.Coordinated
	n := newNight(t, s)
	n.join("ann")
	n.listed(3)
	n.inStage(wire.Measuring)
}
