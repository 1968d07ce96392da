package coordinate

import "muster/discovery/plan/topology"

// limit puts the batch's limit on a round that turned out to have nothing to survey, because
// forecasts tell of every country.
func (a *acquisition) limit() {
	if a.surveys && (a.p.trust() > 0 || a.p.isGuided()) {
		for player := range a.quotas {
			a.quotas[player] = min(a.quotas[player], a.batch)
		}
	}
}

// askEveryCountry asks for one server in each unknown country, and reports whether there are any.
func (a *acquisition) askEveryCountry() (unknown bool) {
	for c := topology.Root + 1; int(c) < a.p.tree.Nodes(); c = a.p.tree.End(c) {
		to := a.unknownTo(c)
		if len(to) == 0 {
			continue
		}
		if at, found := a.anyOf(c, func(topology.Node) bool { return true }); found {
			candidate := a.p.candidates.at(at)
			if unknown = true; len(to) == len(a.asked) {
				a.askAll(candidate)
				continue
			}
			for _, player := range to {
				a.ask(player, candidate.server)
			}
		}
	}
	return unknown
}

// unknownTo returns the players to whom a country is unknown: nobody has measured anything there,
// and nothing is remembered. Of a country that is only remembered, they are the players without a
// forecast, or all once the search doubts the forecasts.
func (a *acquisition) unknownTo(country topology.Node) (players []int) {
	r := a.p.estimator.predictor
	if a.posterior.guess(country) == nil {
		return a.twice[:len(a.asked)]
	}
	if r.recall.isEmpty() {
		return nil
	}
	on := r.line(country)
	for player := range a.asked {
		_, _, recalled := r.recall.forecast(player, on, false)
		if r.count(player, country) == 0 && (a.p.isSurveyed || !recalled) {
			players = append(players, player)
		}
	}
	return players
}
