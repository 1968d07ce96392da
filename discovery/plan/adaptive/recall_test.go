package adaptive

import (
	"math"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/testlist"
	"muster/discovery/plan/history"
	"muster/discovery/plan/topology"
)

// recalling returns an estimator with memories of its servers, and its expectation of
// one server.
func recalling(t *testing.T, o discovery.PlanOptions, priors []discovery.Prior, lines ...string) (*recall, func(server int) float64) {
	t.Helper()
	servers := testlist.Of(t, lines...)
	o.Priors = priors
	e := newEstimator(topology.New(servers), 200*ms)
	return newRecall(e, o), func(server int) float64 {
		e.estimate()
		return e.share(server)
	}
}

func TestAMemoryCountsOnceConfirmed(t *testing.T) {
	lines := []string{"80.1.1.1:1 DE 1", "80.1.2.1:1 DE 1", "80.1.2.2:1 DE 1", "80.2.1.1:1 DE 2"}
	far := priorsOf(testlist.Of(t, lines...), []int{400, 400, 400, 400})
	_, bold := recalling(t, discovery.PlanOptions{Nearest: 5}, far, lines...)
	m, p := recalling(t, discovery.PlanOptions{}, far, lines...)
	none, without := recalling(t, discovery.PlanOptions{}, nil, lines...)
	if p, bold := p(1), bold(1); p != rootShare || bold >= rootShare/3 {
		t.Errorf("an unconfirmed memory makes p %v, and %v for the nearest, of %v", p, bold, rootShare)
	}
	for _, one := range []*recall{m, none} {
		one.estimator.observe(0, discovery.Answered, 400*ms)
		one.compare(0, 400*ms)
	}
	if p, without := p(1), without(1); p >= without/2 {
		t.Errorf("a confirmed memory makes p %v, without one it is %v", p, without)
	}
	if weight := weightOf(m, 0); weight != 1 {
		t.Errorf("the measured /24 counts %v observations, want the fresh one only", weight)
	}
	if weight, asked := weightOf(m, 1), m.estimator.asked(m.estimator.above(1, topology.Prefix24)); weight >= 1 || asked != 0 {
		t.Errorf("the remembered /24 counts %v observations, %d servers asked", weight, asked)
	}
}

func TestAContradictedMemoryIsAsIfItNeverWas(t *testing.T) {
	lines := []string{"80.1.1.1:1 DE 1", "80.1.2.1:1 DE 1", "80.3.2.2:1 DE 1", "80.2.1.1:1 DE 2"}
	far := priorsOf(testlist.Of(t, lines[:3]...), []int{400, 400, 400})
	for _, o := range []discovery.PlanOptions{{}, {Nearest: 5}} {
		m, p := recalling(t, o, far, lines...)
		none, without := recalling(t, o, nil, lines...)
		for _, one := range []*recall{m, none} {
			one.estimator.observe(0, discovery.Answered, 40*ms)
			one.compare(0, 40*ms)
		}
		for _, limit := range []time.Duration{200 * ms, 150 * ms} {
			m.estimator.relimit(limit)
			none.estimator.relimit(limit)
			for i := range lines {
				if p, want := p(i), without(i); math.Abs(p-want) > 1e-9 {
					t.Errorf("under %v p of server %d is %v, without the memory %v", limit, i, p, want)
				}
			}
		}
	}
}

// weightOf returns how many observations the /24 of a server counts.
func weightOf(m *recall, server int) float64 {
	return m.estimator.outcomes[m.estimator.above(server, topology.Prefix24)].below.weight
}

// priorsOf returns the memories of a visit that measured all servers, in ms.
func priorsOf(servers []discovery.Server, rtts []int) []discovery.Prior {
	var results []discovery.Result
	for i, rtt := range rtts {
		results = append(results, discovery.Result{Server: i, State: discovery.Answered, RTT: time.Duration(rtt) * ms})
	}
	then := time.Date(2008, 5, 28, 20, 0, 0, 0, time.UTC)
	return history.Memory{}.After(servers, results, then).Priors(then.Add(24 * time.Hour))
}
