package coordinate_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection"
	"muster/selection/coordinate"
)

// country is a country of a list, equally far from all players except for one of its networks.
type country struct {
	networks, perNetwork int
	away                 time.Duration
	// odd is the RTT to the servers of its last network, 0 if it is the same as to the others.
	odd time.Duration
}

// TestLimits checks that the search finds a server that keeps a stricter limit in a country that
// was hardly explored. Where it does not find one, Reach says whether there may be one.
func TestLimits(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name      string
		countries []country
		budget    int
		keeps     bool          // a server that keeps the limit of 200 ms is found
		reach     time.Duration // the limit that an unknown server may keep
	}{
		{"a near country", []country{{30, 10, 230 * ms, 0}, {5, 10, 190 * ms, 0}}, 0, true, 0},
		{"one network of a far country", []country{{40, 10, 230 * ms, 0}, {20, 16, 215 * ms, 185 * ms}}, 0, true, 0},
		{"none, all far over", []country{{20, 10, 260 * ms, 0}, {20, 10, 280 * ms, 0}}, 0, false, 0},
		{"hardly anything asked", []country{{40, 10, 230 * ms, 0}, {40, 10, 205 * ms, 0}}, 3, false, 200 * ms},
	} {
		for _, by := range []selection.Rule{selection.Threshold, selection.FairThreshold} {
			t.Run(fmt.Sprintf("%s/%s", test.name, by), func(t *testing.T) {
				list, rtt := countriesOf(test.countries)
				criteria := selection.Criteria{By: by, Limits: []time.Duration{200 * ms, 300 * ms}}
				p := coordinate.New(topology.New(list), selection.Servers{},
					selection.NewTable([]string{"ann", "bob", "cem"}, len(list)), criteria, coordinate.Options{Seed: 1, Budget: test.budget})
				for !p.Progress().Done {
					for _, b := range p.Next() {
						for _, server := range b.Servers {
							p.Observe(b.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt[server] + time.Duration(b.Player)*ms})
						}
					}
				}
				o := p.Progress()
				if keeps := o.Best >= 0 && rtt[o.Best] < 198*ms; keeps != test.keeps || o.Reach != test.reach {
					t.Errorf("found %v, which may be bettered within %v after %d rounds of %.0f probes, want %v and %v",
						rtt[o.Best], o.Reach, o.Rounds, o.Probes, test.keeps, test.reach)
				}
			})
		}
	}
}

// countriesOf returns a list with such countries, and each server's RTT.
func countriesOf(countries []country) (list []discovery.Server, rtt []time.Duration) {
	for c, country := range countries {
		for n := range country.networks {
			for i := range country.perNetwork {
				away := country.away
				if country.odd > 0 && n == country.networks-1 {
					away = country.odd
				}
				addr := netip.AddrFrom4([4]byte{byte(30 + c), byte(n), byte(i), 1})
				list = append(list, discovery.Server{
					Addr:    netip.AddrPortFrom(addr, 27960),
					Country: fmt.Sprintf("%cA", 'A'+c),
					ASN:     uint32(1000*c + n + 1),
				})
				rtt = append(rtt, away+time.Duration(n*7%11+i%3)*time.Millisecond/2)
			}
		}
	}
	return list, rtt
}
