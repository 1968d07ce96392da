package adaptive

import (
	"math"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/testlist"
	"muster/discovery/plan/topology"
)

func TestSpread(t *testing.T) {
	of := func(rtts ...float64) (s spread) {
		for _, ms := range rtts {
			s.add(ms)
		}
		return s
	}
	// Student's t with four degrees of freedom is under -2.776 in one of forty cases.
	exact := of(100, 100)
	deviation := math.Sqrt((usualNetworks * 10 * 10) / (1. + usualNetworks) * 1.5)
	if p := exact.chanceUnder(100 - 2.776*deviation); math.Abs(p-0.025) > 1e-4 {
		t.Errorf("%v, want 0.025", p)
	}
	if p := exact.chanceUnder(100); p != 0.5 {
		t.Errorf("%v of the networks are under the mean", p)
	}
	narrow, wide := of(300, 310, 290, 305, 295, 300), of(300, 380, 220, 350, 250, 300)
	if n, w := narrow.chanceUnder(200), wide.chanceUnder(200); n > 0.01 || w < 5*n {
		t.Errorf("%v of a narrow country is near, %v of a wide one", n, w)
	}
	again := of(300, 380, 220, 350, 250, 300, 300, 380, 220, 350, 250, 300)
	if w, a := wide.chanceUnder(200), again.chanceUnder(200); a >= w {
		t.Errorf("%v of a wide country is near, and %v after twice the replies", w, a)
	}
}

// TestASurveyGoesOnWhereACountryMayHideNearServers checks that countries of the same
// size and distance are surveyed by how much their networks differ.
func TestASurveyGoesOnWhereACountryMayHideNearServers(t *testing.T) {
	const ases, size = 30, 20
	var networks []testlist.Network
	for range ases {
		networks = append(networks, testlist.Network{Country: "RU", Servers: size}, testlist.Network{Country: "DE", Servers: size})
	}
	servers, _ := testlist.Build(t, networks, 1)
	a := newAcquisition(newEstimator(topology.New(servers), 200*ms), 1)
	asked := make(map[string]int)
	for {
		probes := a.survey(0, nil)
		if len(probes) == 0 {
			break
		}
		for _, p := range probes {
			country := servers[p.Server].Country
			rtt := 310 * ms
			if country == "RU" && asked[country]%2 == 0 {
				rtt = 230 * ms
			}
			asked[country]++
			a.estimator.observe(p.Server, discovery.Answered, rtt)
		}
	}
	if asked["RU"] < ases/2 || asked["DE"] > nearNetworks+doubtNetworks {
		t.Errorf("the survey asked %v", asked)
	}
}
