package coordinate

import (
	"slices"

	"muster/discovery/plan/topology"
)

// On a first evening nobody remembers anything. But the players' countries tell vaguely how far each of the
// list's countries is (memory.Guess). These forecasts guide the search: its first round asks only about the
// countries that may have the best server, not about all. A reply from a country replaces a player's
// forecast for it. A forecast that fails ends no trust, because nobody expected more of it. But if a player's
// are much farther off than they say, the player is not where the host believes, and the search goes on
// as without any.

const (
	// guidedSaves is how many questions vague forecasts save, and ownSaves where own bests count, which have to be
	// found, too. A search that may then still find a server better by worthAll ms asks as many as without
	// forecasts. Tuned (bench/experiments/country-pairs.md).
	guidedSaves, ownSaves, worthAll = 350, 250, 4.0
	// Where own bests count, the first round includes the ownCountries that should be the nearest to
	// each player.
	ownCountries = 8
)

// isGuided reports whether vague forecasts guide the search, as long as they hold.
func (p *Planner) isGuided() bool {
	r := &p.estimator.predictor.recall
	for player := range r.doubts {
		if r.doubt(player, topology.Country) >= disbelieved {
			return false
		}
	}
	return r.isVague && !p.isSurveyed
}

// guided returns the options of a round that vague forecasts guide.
func (p *Planner) guided() Options {
	few, saves := p.options, guidedSaves
	if p.estimator.objective.Sacrifices() {
		saves = ownSaves
	}
	if few.Beyond || few.Budget <= guidedSaves {
		return few
	}
	few.Budget -= saves
	few.Batch = min(few.Batch, max(minBatch, few.Budget/budgetRounds))
	if p.questions.longest()+few.Batch > few.Budget && p.better.bound() > worthAll {
		return p.options
	}
	return few
}

// withOwn puts the countries that should be the nearest to a player before the other leaders of the first
// round, if own bests count.
func (a *acquisition) withOwn(leaders []valued) []valued {
	if a.p.round > 0 || !a.p.estimator.objective.Sacrifices() || !a.p.isGuided() {
		return leaders
	}
	r := a.p.estimator.predictor
	var own []valued
	for player := range a.asked {
		near := slices.Clone(leaders)
		for i := range near {
			near[i].value, _ = r.predictMean(player, r.line(near[i].at))
		}
		sortValued(near)
		own = append(own, near[:min(len(near), ownCountries)]...)
	}
	var all []valued
	for _, v := range append(own, leaders...) {
		if !slices.ContainsFunc(all, func(o valued) bool { return o.at == v.at }) {
			all = append(all, v)
		}
	}
	return all
}
