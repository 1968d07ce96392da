package selection

import (
	"math"
	"slices"

	"muster/discovery/hostport"
	"muster/selection/rules"
)

// Why says what decided a choice, or what prevents one.
type Why struct {
	// Bottleneck is the player who raises the chosen server's score most. That is the one with the
	// highest RTT, for fairness the one furthest from the mean, for even sides the one who keeps them
	// furthest apart, and for extras the one who gives up most. Players without a say do not count.
	Bottleneck string `json:"bottleneck,omitempty"`
	// Without is the others' choice without the bottleneck.
	Without *Without `json:"without,omitempty"`
	// Influences say how much the choice hangs on each player's word, the most first. The caller
	// sets them.
	Influences []Influence `json:"influences,omitempty"`
	// Rivals are the servers that lost although they are best by another measure.
	Rivals []Rival `json:"rivals,omitempty"`
	// Relax lists what the group could give up for a server to survive, the most effective first.
	// It is set only if nothing was chosen.
	Relax []Relax `json:"relax,omitempty"`
	// Nearest is the server with the fewest obstacles, if nothing was chosen.
	Nearest *Miss `json:"nearest,omitempty"`
}

// Without is the choice for everyone but one player.
type Without struct {
	Player string `json:"player"`
	// Addr is the zero value if nothing suits the others either.
	Addr  hostport.AddrPort `json:"addr"`
	Score float64           `json:"score"`
	// Gain is how much lower the score is, in milliseconds.
	Gain float64 `json:"gain_ms"`
	// Moves says that it is another server: the player decides where everyone plays.
	Moves bool `json:"moves"`
}

// Rival is a server that is best by other measures than the rule's.
type Rival struct {
	// By are the measures: mean, minimax or fairness.
	By []Rule `json:"by"`
	Ranked
	// Over are the players over the limit, if that is why it lost.
	Over []string `json:"over,omitempty"`
}

// why explains a finished round.
func (r *round) why(doc *Selection) *Why {
	if doc.Chosen == nil {
		return r.whyNone()
	}
	w := &Why{Rivals: r.rivals(doc.Chosen.Server)}
	bottleneck := r.bottleneck(doc.Chosen.Server)
	w.Bottleneck = r.view.table.players[bottleneck]
	if r.view.needed > 1 {
		w.Without = r.without(bottleneck, doc.Chosen)
	}
	return w
}

// bottleneck returns the player who raises the score of a server most. Of several such players it
// returns the first by name.
func (r *round) bottleneck(server int) int {
	found, height := 0, math.Inf(-1)
	mean := r.view.sumsOf(server).mean()
	raises := r.view.raises(server)
	for i, player := range r.view.players {
		if r.view.objective.weights[i] == 0 || raises != nil && raises[i] == 0 {
			continue
		}
		h := float64(r.view.table.cell(player, server))
		switch rule := r.view.objective.rule; {
		case rule.Sides:
			h = raises[i] * (h - mean)
		case rule.Deviates:
			h = math.Abs(h - mean)
		case rule.OwnBests:
			h = r.view.extra(i, server)
		}
		if h > height {
			found, height = player, h
		}
	}
	return found
}

// without returns the others' choice without a player. It is nil if that empties a side, because
// another rule would make it.
func (r *round) without(player int, chosen *Ranked) *Without {
	w := &Without{Player: r.view.table.players[player]}
	rest := newRound(r.Filter, r.view.table, player)
	if r.losesSide(rest) {
		return nil
	}
	if len(rest.best) == 0 {
		return w
	}
	best := rest.best[0]
	w.Addr = hostport.At(r.servers.List[best.server].Addr)
	w.Score = millis(best.score)
	w.Gain = millis((chosen.Score - w.Score) * 1000)
	w.Moves = w.Addr != chosen.Addr
	return w
}

// rivals returns the best servers by each plain measure, without limits and weights, if they are
// better than the chosen one.
func (r *round) rivals(chosen int) []Rival {
	var rivals []Rival
	for _, measure := range []Rule{Mean, Minimax, Fairness} {
		rule := rules.Of(measure)
		best := r.bestBy(rule)
		if !(r.view.figure(rule, best) < r.view.figure(rule, chosen)) {
			continue
		}
		addr := r.servers.List[best].Addr
		known := slices.IndexFunc(rivals, func(rival Rival) bool { return rival.Addr.AddrPort == addr })
		if known < 0 {
			known = len(rivals)
			rivals = append(rivals, r.rival(best))
		}
		rivals[known].By = append(rivals[known].By, measure)
	}
	return rivals
}

func (r *round) rival(server int) Rival {
	rival := Rival{Ranked: r.ranked(r.candidate(server))}
	if r.fates[server] == OverThreshold {
		rival.Over = r.concerned(server, OverThreshold)
	}
	return rival
}

// bestBy returns the best server by a rule's figure, even if it is over the limit or breaks the law.
func (r *round) bestBy(rule *rules.Rule) int {
	return r.bestOf(rule, func(server int) bool { return r.fates[server] >= Lawless })
}
