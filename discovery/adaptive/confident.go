package adaptive

import (
	"muster/discovery"
	"muster/discovery/topology"
)

// confident ends any plan by the forecast of the adaptive one.
type confident struct {
	*search
	forecast *forecast
	missing  float64
	found    float64
	outlook  outlook
	fresh    int // results since the last forecast
	enough   bool
}

func NewStop(list *topology.Tree, o discovery.PlanOptions) *confident {
	servers := list.List()
	return &confident{search: newSearch(newTree(servers, o.MaxRTT), o.Seed), missing: o.Missing, forecast: newForecast()}
}

// forecastEvery is how many results make a new forecast worth its while.
const forecastEvery = 64

func (c *confident) Observe(r discovery.Result) {
	s := c.search
	s.expected[r.Server] = s.nodes[s.leaf[r.Server]].expectation()
	s.take(r.Server)
	s.tree.observe(r.Server, r.State, r.RTT)
	s.tried++
	if r.State == discovery.Answered {
		s.answered++
		near := r.RTT < s.limit
		if near {
			c.found++
		}
		c.forecast.note(s.expected[r.Server], near)
	}
	if c.fresh++; c.fresh >= forecastEvery {
		c.forecast.learn(c.fresh)
		c.outlook = s.outlook(c.forecast)
		c.enough = c.outlook.nothingLeft(c.found, c.missing, fewLeft)
		c.fresh = 0
	}
}

func (c *confident) Done() bool { return c.enough }

func (c *confident) Claim() discovery.Claim { return c.outlook.claim(c.found, c.limit) }
