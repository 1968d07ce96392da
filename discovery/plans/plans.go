// Package plans makes the plan of a strategy: one of the papers', or ours.
package plans

import (
	"muster/discovery"
	"muster/discovery/adaptive"
	"muster/discovery/calibrated"
	"muster/discovery/topology"
)

// New is the plan of a strategy for the list of a topology, which it shares with
// all other plans for that list.
func New(strategy discovery.Strategy, list *topology.Tree, options discovery.PlanOptions) (discovery.Plan, error) {
	o, err := options.Complete(strategy)
	if err != nil {
		return nil, err
	}
	var plan discovery.Plan
	switch servers := list.List(); strategy {
	case discovery.Conventional:
		return discovery.NewConventional(len(servers)), nil
	case discovery.ByCountry:
		plan = calibrated.NewByCountry(servers, o)
	case discovery.ByCountryPrefix:
		plan = calibrated.NewByCountryPrefix(servers, o)
	case discovery.ByAS:
		plan = calibrated.NewByAS(servers, o)
	case discovery.Adaptive:
		plan = adaptive.New(list, o)
		if o.Nearest > 0 || o.AutoStop == discovery.StopConfident {
			return plan, nil // it stops by its own estimate
		}
	}
	switch o.AutoStop {
	case discovery.StopPercentile:
		plan = calibrated.Until(plan, calibrated.NewPercentile(o))
	case discovery.StopSmooth:
		plan = calibrated.Until(plan, calibrated.NewSmooth(o))
	case discovery.StopConfident:
		plan = calibrated.Until(plan, adaptive.NewStop(list, o))
	}
	return plan, nil
}
