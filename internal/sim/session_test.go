package sim

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
)

// TestSession checks that a session takes the time that it takes host and peers.
func TestSession(t *testing.T) {
	list := realList("DE", 10)
	see := func(name string, rtt func(server int) time.Duration) *Vantage {
		v := &Vantage{Name: name, Servers: list}
		for server := range list {
			v.RTT = append(v.RTT, rtt(server))
			v.Infos = append(v.Infos, discovery.Info{Name: "a server", Players: server, MaxPlayers: 8})
		}
		return v
	}
	near := func(server int) time.Duration { return time.Duration(20+server) * ms }
	tests := []struct {
		name     string
		ann, bob func(server int) time.Duration
		criteria selection.Criteria
		// Everybody is sent to a server in this span, or never if it is -1. Three samples more than
		// a second apart are 2.2 s of it.
		from, to time.Duration
		server   int
	}{
		{"all answer", near, near, selection.Criteria{}, 2300 * ms, 2800 * ms, 0},
		{"one is silent for bob, three times", near, func(server int) time.Duration {
			if server == 0 {
				return Silent
			}
			return near(server)
		}, selection.Criteria{}, 5300 * ms, 5800 * ms, 1},
		{"the farther, the longer it takes", near, func(int) time.Duration { return 600 * ms }, selection.Criteria{}, 3300 * ms, 4100 * ms, 0},
		{"so far that a sample gives up, and all are lost", near, func(int) time.Duration { return 950 * ms }, selection.Criteria{}, 0, 0, -1},
		{"nothing suits", near, near, selection.Criteria{Limits: []time.Duration{10 * ms}}, 0, 0, -1},
		{"seats for nine", near, near, selection.Criteria{Seats: 9}, 0, 0, -1},
		{"one server's seats for eight", near, near, selection.Criteria{Seats: 8}, 2300 * ms, 2800 * ms, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := NewGroup(see("ann", tt.ann), see("bob", tt.bob))
			if err != nil {
				t.Fatal(err)
			}
			s, err := g.NewSession(Full, GroupOptions{Criteria: tt.criteria}.WithDefaults(2), 0)
			if err == nil {
				err = s.Run()
			}
			if err != nil {
				t.Fatal(err)
			}
			server, choice := -1, s.Room.Snapshot().Choice
			if s.Launched > 0 {
				server = choice.Selection.Chosen.Server
				if card := choice.Servers[choice.Target]; card.Name != "a server" {
					t.Errorf("nobody asked the finalist for its name: %+v", card)
				}
			}
			if s.Launched < tt.from || s.Launched > tt.to || server != tt.server {
				var log strings.Builder
				for _, note := range s.Room.Snapshot().Log {
					log.WriteString(note.At.Format("\n05.000 ") + note.String())
				}
				t.Errorf("all are sent to server %d after %v, want %d after %v to %v; the log:%s", server, s.Launched, tt.server, tt.from, tt.to, &log)
			}
		})
	}
}

// TestHousehold checks that players behind one address ask no answering server twice, and that the
// group goes where it would go if each player had an address.
func TestHousehold(t *testing.T) {
	for _, servers := range []int{400, 2000} {
		w := Night2005(servers, 7)
		ann, bob := w.Vantage(0), w.Vantage(1)
		g, err := NewGroup(ann, bob, ann, ann)
		if err != nil {
			t.Fatal(err)
		}
		apart, err := g.Run(Coordinated, GroupOptions{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		home := netip.MustParseAddr("203.0.113.7")
		g.Homes = []netip.Addr{home, netip.MustParseAddr("198.51.100.7"), home, home}
		s, err := g.NewSession(Coordinated, GroupOptions{}.WithDefaults(4), 1)
		if err == nil {
			err = s.Run()
		}
		if err != nil {
			t.Fatal(err)
		}
		asked := map[int]int{}
		for _, i := range []int{0, 2, 3} {
			for _, r := range s.Peers[i].replay.results {
				if asked[r.Server]++; r.State == discovery.Answered && asked[r.Server] > 1 {
					t.Errorf("of %d servers %d was asked twice at home, and answers", servers, r.Server)
				}
			}
		}
		all := len(s.Peers[1].replay.results)
		if share := len(s.Peers[0].replay.results); 3*share < all || 2*share > all {
			t.Errorf("of %d servers one of three players asked %d, who is alone %d", servers, share, all)
		}
		together, _ := g.Truth(GroupOptions{}.WithDefaults(4).Criteria).Regret(s.Room.Snapshot().Choice.Selection.Chosen.Server)
		if together > apart.Score+1 {
			t.Errorf("of %d servers the group goes to one with %.1f ms, and to one with %.1f if each has an address", servers, together, apart.Score)
		}
	}
}

// TestRunsRepeat checks that the same run of the same group is the same, to the nanosecond. Another
// run has other packet pairs.
func TestRunsRepeat(t *testing.T) {
	for _, method := range []Method{Full, Naive, Coordinated, Discovered} {
		run := func(run uint64) GroupRun {
			g, err := GroupWorld("night2000", "au-jp", 5)
			if err != nil {
				t.Fatal(err)
			}
			r, err := g.Run(method, GroupOptions{}, run)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		first, again, other := run(1), run(1), run(2)
		if !reflect.DeepEqual(first, again) || !first.Found {
			t.Errorf("%s: first %+v\nthen %+v", method, first, again)
		}
		if first.Seconds == other.Seconds && first.Server == other.Server {
			t.Errorf("%s: another run is the same: %+v", method, other)
		}
		if want := map[Method]bool{Full: true}[method]; (first.Percent[0] == 100) != want {
			t.Errorf("%s asked %v %% of the list", method, first.Percent)
		}
	}
}
