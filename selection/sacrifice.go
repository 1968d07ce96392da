package selection

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/selection/rules"
)

// ownBests returns the players' own bests by name, nil if the rule does not count from them.
func (r *round) ownBests() map[string]OwnBest {
	if r.view.own == nil {
		return nil
	}
	all := make(map[string]OwnBest, len(r.view.own))
	for i, player := range r.view.players {
		server := r.view.own[i]
		best := r.view.table.cell(player, server)
		perhaps := best
		for other, fate := range r.fates {
			if c := r.view.table.cell(player, other); fate == Unmeasured && c.answered() && c < perhaps && r.allAgainst(other) == 1<<Unmeasured {
				perhaps = c
			}
		}
		own := OwnBest{Addr: hostport.At(r.servers.List[server].Addr), MS: millis(float64(best))}
		if perhaps < best {
			own.PerhapsMS = millis(float64(perhaps))
		}
		all[r.view.table.players[player]] = own
	}
	return all
}

// Above returns an objective whose extras count from the players' own bests of a selection, in milliseconds.
// The objective of another rule stays as it is.
func (s *Selection) Above(o *Objective, players []string) *Objective {
	if !o.Sacrifices() {
		return o
	}
	own := make([]float64, len(players))
	for i, name := range players {
		own[i] = s.Own[name].MS
	}
	return o.Above(own)
}

// WorstExtra returns the highest extra and its player, the first of several by name.
func (r *Ranked) WorstExtra() (player string, ms float64) {
	ms = math.Inf(-1)
	for name, extra := range r.Extra {
		if extra > ms || extra == ms && name < player {
			player, ms = name, extra
		}
	}
	return player, max(ms, 0)
}

// Figure returns a rule's figure of a server's bare RTTs, in ms, without limits, weights and
// quality. Unknown extras are nothing.
func (r *Ranked) Figure(by Rule) float64 {
	rule, rtts, own := rules.Of(by), []float64(nil), []float64(nil)
	switch {
	case rule.OwnBests && r.Extra == nil:
		return 0
	case rule.Sides && r.SideMeanMS == nil:
		return r.MeanMS
	case rule.Sides:
		return rules.Round(math.Abs(r.SideMeanMS.A - r.SideMeanMS.B))
	}
	for _, name := range slices.Sorted(maps.Keys(r.RTT)) {
		rtts, own = append(rtts, r.RTT[name]), append(own, r.RTT[name]-r.Extra[name])
	}
	return rules.Round(rule.Score(rules.Equal(rtts, own)))
}

// ownSentences returns the sentences on the players' own bests, and how certain they are.
func (s Selection) ownSentences() []sentence.Sentence {
	if s.Own == nil || s.Chosen == nil {
		return nil
	}
	type owner struct {
		name  string
		extra float64
	}
	var owners []owner
	for name := range s.Own {
		owners = append(owners, owner{name, s.Chosen.Extra[name]})
	}
	slices.SortFunc(owners, func(a, b owner) int { return cmp.Or(cmp.Compare(b.extra, a.extra), cmp.Compare(a.name, b.name)) })
	var parts, unsure []sentence.Sentence
	for _, o := range owners {
		own := s.Own[o.name]
		if len(parts) < maxNamed {
			parts = append(parts, sentence.Of("why.own-best", "player", o.name, "ms", rules.Exact(own.MS), "change", signed(o.extra)))
		}
		if own.PerhapsMS > 0 && len(unsure) < maxNamed {
			unsure = append(unsure, sentence.Of("why.own-best-perhaps", "player", o.name, "ms", rules.Exact(own.PerhapsMS)))
		}
	}
	if more := len(owners) - len(parts); more > 0 {
		parts = append(parts, sentence.Of("why.own-best-more", "n", more))
	}
	all := one("why.own-bests", "players", parts)
	if len(unsure) > 0 {
		all = append(all, sentence.Of("why.own-bests-perhaps", "players", unsure))
	}
	return all
}
