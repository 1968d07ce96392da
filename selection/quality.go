package selection

import (
	"maps"
	"math"
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/selection/rules"
)

// Quality is what a burst of probes showed of the way between a player and one of the finalists.
type Quality struct {
	// Loss is the share of probes without a reply, 0 to 1.
	Loss float64
	// Jitter is the mean difference between successive RTTs.
	Jitter time.Duration
	// Sent is the number of probes. Worst is how much the RTT that 95 of 100 replies keep exceeds
	// the lowest. It needs a long look to tell, and is 0 after a short one.
	Sent  int           `json:",omitempty"`
	Worst time.Duration `json:",omitempty"`
}

// Quality has a cost in RTT. A game that waits for late packets waits some two jitters, the rule of
// thumb of voice over IP. Players would rather have 80 ms without loss than 30 ms with 10 %, so 1 %
// costs over 5 ms.
const (
	jitterWeight = 2
	lossPenalty  = time.Second // for losing everything: 10 ms for 1 %
	// presumed is how many answered probes are added to those of a long look. One lost of 24 says
	// little, three say more (a Beta prior of so many, bench/experiments/long-look.md).
	presumed = 50
)

// Cost returns how many milliseconds of RTT the quality is worth: score = RTT + 2 · jitter + 10 ms
// for each per cent of loss. After a long look the wait is what 95 of 100 packets need, if that
// exceeds two jitters.
func (q Quality) Cost() time.Duration {
	loss := min(max(q.Loss, 0), 1)
	if q.Sent > 0 {
		loss *= float64(q.Sent) / float64(q.Sent+presumed)
	}
	return max(jitterWeight*max(q.Jitter, 0), q.Worst) + time.Duration(loss*float64(lossPenalty))
}

// fewestLooks is how many finalists it takes to tell a player's bad line from a bad finalist.
const fewestLooks = 3

// SetQuality records the quality of the way between a player and a server. It makes the server a
// finalist. The score of a finalist counts the costs of all players' qualities, 0 for a player who
// has none. With several players, each one's cost counts only above that player's median: a problem
// at every finalist is the player's own line, and so nobody can pick a finalist by speaking ill of all
// the others. A finalist must not lose because its quality was measured. So every other server is
// assumed to cost as much as the finalists do in the median.
func (t *Table) SetQuality(player, server int, q Quality) {
	if t.quality == nil {
		t.quality = make(map[int][]Quality)
	}
	if t.quality[server] == nil {
		t.quality[server] = make([]Quality, len(t.players))
	}
	t.quality[server][player] = q
}

// looked returns the sentence on a long look at the chosen server.
func (s Selection) looked() []sentence.Sentence {
	if s.LookedS == 0 || len(s.Chosen.WorstMS) == 0 {
		return nil
	}
	loss, jitter, worst, who := 0.0, 0.0, 0.0, ""
	for _, name := range slices.Sorted(maps.Keys(s.Chosen.WorstMS)) {
		loss += s.Chosen.Loss[name] / float64(len(s.Chosen.WorstMS))
		jitter += s.Chosen.JitterMS[name] / float64(len(s.Chosen.WorstMS))
		if s.Chosen.WorstMS[name] > worst {
			worst, who = s.Chosen.WorstMS[name], name
		}
	}
	return one("why.looked", "s", math.RoundToEven(s.LookedS), "lost", rules.Tenths(100*loss), "jitter", rules.Exact(jitter),
		"ms", rules.Exact(worst), "player", who)
}

// qualify finds what quality adds to the scores of the finalists, and to those of the others.
func (r *round) qualify() {
	if len(r.view.table.quality) == 0 {
		return
	}
	r.extra = make(map[int]float64)
	lines := r.view.lines()
	var all []float64
	for server := range r.view.table.quality {
		if r.suits(server) {
			extra := r.view.costed(server, lines) - r.view.score(server)
			r.extra[server] = extra
			all = append(all, extra)
		}
	}
	if len(all) > 0 {
		slices.Sort(all)
		r.usual = all[(len(all)-1)/2]
	}
}

// lines returns each player's cost of quality in the median of the finalists, in microseconds,
// where there are enough players and finalists to tell.
func (v *view) lines() []int64 {
	lines := make([]int64, len(v.players))
	if len(v.table.quality) < fewestLooks || len(v.players) < 2 {
		return lines
	}
	for i, player := range v.players {
		var costs []int64
		for _, qualities := range v.table.quality {
			costs = append(costs, qualities[player].Cost().Microseconds())
		}
		slices.Sort(costs)
		lines[i] = costs[len(costs)/2]
	}
	return lines
}

// score returns the view's score plus the cost of quality. A score of rounded sums is rounded to
// the nanosecond, so that servers do not differ by rounding alone.
func (r *round) score(server int) float64 {
	score := r.view.score(server)
	if r.extra == nil && r.view.scores == nil {
		return score
	}
	extra, finalist := r.extra[server]
	if !finalist {
		extra = r.usual
	}
	return math.Round((score+extra)*1000) / 1000
}

// candidate returns a server with its score, and the figure that orders it among others.
func (r *round) candidate(server int) candidate {
	c := candidate{server: server, score: r.score(server)}
	c.order = c.score
	if r.view.means != nil {
		order := r.view.objective.rule.Order(c.score, r.view.means[r.view.table.rows[server]], microseconds)
		c.order = math.Round(order*1000) / 1000
	}
	return c
}
