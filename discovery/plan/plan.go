// Package plan makes the plan of a strategy: one of the papers', or ours.
package plan

import (
	"muster/discovery"
	"muster/discovery/plan/adaptive"
	"muster/discovery/plan/calibrated"
	"muster/discovery/plan/topology"
)

// New returns the plan of a strategy for the list of a topology. All plans for that
// list share the topology. An unknown strategy is an error, and so is what
// [discovery.PlanOptions.Complete] refuses.
func New(strategy discovery.Strategy, list *topology.Tree, options discovery.PlanOptions) (discovery.Plan, error) {
	o, err := options.Complete(strategy)
	if err != nil {
		return nil, err
	}
	var plan discovery.Plan
	switch servers := list.List(); strategy {
	case discovery.Conventional:
		return discovery.NewConventional(len(servers)), nil
	case discovery.Adaptive:
		plan = adaptive.New(list, o)
		if o.Nearest > 0 || o.AutoStop == discovery.StopConfident {
			return plan, nil // it stops by its own estimate
		}
	default:
		plan = calibrated.New(strategy, servers, o)
	}
	switch o.AutoStop {
	case discovery.StopPercentile, discovery.StopSmooth:
		plan = calibrated.Until(plan, calibrated.NewWindow(o))
	case discovery.StopConfident:
		plan = calibrated.Until(plan, adaptive.NewStop(list, o))
	}
	return plan, nil
}
