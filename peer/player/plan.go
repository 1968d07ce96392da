package player

import (
	"math/rand/v2"
	"time"

	"muster/discovery"
	"muster/discovery/plan"
	"muster/discovery/plan/topology"
	"muster/host/wire"
)

// ownNearest is how many near servers a player looks for while people vote.
const ownNearest = 50

// NewPlan returns the plan that the host asks for. In a room, a plan covers its whole list, because a server that one
// player skips is lost to everyone. If the host coordinates, this is the player's own plan, which runs only as far as
// the host allows.
func NewPlan(m wire.Measure, servers []discovery.Server) (discovery.Plan, error) {
	options := discovery.PlanOptions{Seed: m.Seed, MaxRTT: time.Duration(m.MaxRTT), AutoStop: discovery.StopOff}
	strategy := discovery.Strategy(m.Strategy)
	if m.Strategy == wire.Coordinated {
		strategy, options.AutoStop, options.Nearest = discovery.Adaptive, "", ownNearest
	}
	if strategy == discovery.Conventional && len(servers) > 0 {
		first := rand.New(rand.NewPCG(m.Seed, 0)).IntN(len(servers))
		return turned{discovery.NewConventional(len(servers)), first, len(servers)}, nil
	}
	return plan.New(strategy, topology.New(servers), options)
}

// turned starts a list at another server than the first. Otherwise all players would ask each server at the same
// moment.
type turned struct {
	discovery.Plan
	first, servers int
}

func (t turned) Next() (discovery.Probe, discovery.Verdict) {
	probe, verdict := t.Plan.Next()
	probe.Server = (probe.Server + t.first) % t.servers
	return probe, verdict
}
