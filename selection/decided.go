package selection

import (
	"math"
	"slices"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/selection/rules"
)

// Decision is the factor that decided a choice.
type Decision string

// These are the decisions.
const (
	ByRule    Decision = "rule"    // nothing else has a lower figure
	ByQuality Decision = "quality" // another has, but loses more packets, or jitters
	ByWeights Decision = "weights" // another has, but not with the players' weights
	BySeats   Decision = "seats"   // another has, and would be full with the group
	ByKeeping Decision = "kept"    // the last round's server: no other is worth the move
	ByOurs    Decision = "ours"    // another has, but is not the group's own
	ByVote    Decision = "vote"    // people voted for it
)

// Decided says what decided a choice, with the compared figures: bare RTTs in the rule's measure,
// in milliseconds.
type Decided struct {
	By      Decision `json:"by"`
	Measure Rule     `json:"measure"`
	// MS is the chosen server's figure. OtherMS is that of the server it is compared with: the next
	// best, or the one that would have been chosen without this decision. It is 0 if there is none.
	// Score and OtherScore are the rule's scores, with loss, jitter and weights.
	MS         float64           `json:"ms"`
	Other      hostport.AddrPort `json:"other,omitzero"`
	OtherMS    float64           `json:"other_ms,omitempty"`
	Score      float64           `json:"score,omitempty"`
	OtherScore float64           `json:"other_score,omitempty"`
	// Votes of Of votes are for it. Open says that people may still change their minds.
	Votes int  `json:"votes,omitempty"`
	Of    int  `json:"of,omitempty"`
	Open  bool `json:"open,omitempty"`
}

// decided returns what decided a finished round, nil if nothing was chosen.
func (r *round) decided(doc *Selection) *Decided {
	if doc.Chosen == nil {
		return nil
	}
	rule := r.view.objective.rule
	d, chosen, other := &Decided{By: ByRule, Measure: rule.Name}, doc.Chosen.Server, -1
	if next := slices.IndexFunc(doc.Ranking, func(next Ranked) bool { return next.Server != chosen }); next >= 0 {
		other = doc.Ranking[next].Server
	}
	better := r.bestOf(rule, r.suits)
	isBetter := r.view.figure(rule, better) < r.view.figure(rule, chosen) && r.view.order(rule, better) < r.view.order(rule, chosen)
	switch {
	case doc.Keep != nil && doc.Keep.Stays && doc.Ranking[0].Server != chosen:
		d.By, other = ByKeeping, doc.Ranking[0].Server
	case doc.Chosen.Ours && r.preference != nil && r.preference.MoreMS > 0:
		d.By, other = ByOurs, r.stranger
	case !isBetter: // the rule decided
	case r.tight != nil && r.tight[better] && !r.tight[chosen] && r.score(better) <= r.score(chosen):
		d.By, other = BySeats, better
	case r.view.score(better) >= r.view.score(chosen):
		d.By, other = ByWeights, better
	default:
		d.By, other = ByQuality, better
	}
	d.MS, d.Score = millis(r.view.figure(rule, chosen)), doc.Chosen.Score
	if other >= 0 {
		d.Other, d.OtherMS, d.OtherScore = hostport.At(r.servers.List[other].Addr), millis(r.view.figure(rule, other)), millis(r.score(other))
	}
	return d
}

// bestOf returns the server with the lowest figure by a rule, among those that is accepts, or -1 if
// there is none.
func (r *round) bestOf(rule *rules.Rule, is func(server int) bool) int {
	best, least := -1, 0.0
	for server := range r.fates {
		if !is(server) {
			continue
		}
		figure := r.view.order(rule, server)
		if best < 0 || figure < least || figure == least && r.servers.compare(server, best) < 0 {
			best, least = server, figure
		}
	}
	return best
}

// Voted returns the selection with the server chosen that people voted for, if the ranking has it.
// It won votes of all the votes, which are of. While open is true, people may still change their
// minds. If the rule chose another server, the explanation of its choice is left out.
func (s Selection) Voted(server, votes, of int, open bool) Selection {
	i := slices.IndexFunc(s.Ranking, func(ranked Ranked) bool { return ranked.Server == server })
	if i < 0 || s.Chosen == nil {
		return s
	}
	was, chosen := *s.Chosen, s.Ranking[i]
	d := Decided{By: ByVote, Measure: s.decision().Measure, Votes: votes, Of: of, Open: open}
	d.MS, d.Score = chosen.Figure(d.Measure), chosen.Score
	if was.Server != chosen.Server {
		d.Other, d.OtherMS, d.OtherScore = was.Addr, was.Figure(d.Measure), was.Score
		s.Why, s.Keep = nil, nil
	}
	s.Chosen, s.Decided = &chosen, &d
	return s
}

// decision returns what decided, also for a document that does not say so.
func (s Selection) decision() Decided {
	if s.Decided != nil {
		return *s.Decided
	}
	d := Decided{By: ByRule, Measure: rules.Of(s.By).Measure}
	if rule := rules.Of(d.Measure); rule.Sides && s.Chosen != nil && s.Chosen.SideMeanMS == nil {
		d.Measure = rule.Alone
	}
	if s.Keep != nil && s.Keep.Stays && s.Keep.Gain > 0 {
		d.By = ByKeeping
	}
	return d
}

// verdict returns the sentence on what decided, with the chosen server's figures.
func (s Selection) verdict() sentence.Sentence {
	c := s.Chosen
	if c.WorstOff == "" {
		return sentence.Of("why.verdict", "verdict", s.decides())
	}
	return sentence.Of("why.verdict-worst-off", "verdict", s.decides(), "player", c.WorstOff, "ms", rules.Exact(c.MaxMS))
}

// ways are the keys of the sentences on what decided, for all decisions but the rule's.
var ways = map[Decision]string{
	ByVote: "why.by-vote", ByKeeping: "why.kept", ByQuality: "why.best-by-quality", ByWeights: "why.best-by-weights",
	BySeats: "why.best-by-seats", ByOurs: "why.best-of-ours",
}

func (s Selection) decides() sentence.Sentence {
	c, d := s.Chosen, s.decision()
	rule, figures := rules.Of(d.Measure), rules.Figures{Mean: c.MeanMS, Worst: c.MaxMS, Figure: c.Figure(d.Measure)}
	key, is := ways[d.By]
	if !is {
		return rule.Praise(c.Addr.String(), figures, max(0, s.LimitMS))
	}
	has := rule.Describe(figures)
	if s.LimitMS > 0 {
		has = sentence.Of("why.figures-within", "figures", has, "limit", rules.Exact(s.LimitMS))
	}
	if d.By == ByVote && d.Open {
		key = "why.leads-vote"
	}
	if d.By == ByVote {
		return sentence.Of(key, "server", c.Addr, "votes", d.Votes, "n", d.Of, "figures", has)
	}
	return sentence.Of(key, "server", c.Addr, "figures", has)
}

// outvoted returns why the rule would take another server than people voted for: by its measure, or
// else by the factor that outweighs it.
func (s Selection) outvoted(d Decided) sentence.Sentence {
	at := slices.IndexFunc(s.Ranking, func(ranked Ranked) bool { return ranked.Addr == d.Other })
	switch {
	case isLess(d.OtherMS, d.MS):
		return rules.Of(d.Measure).Instead(d.OtherMS, d.MS)
	case isLess(d.OtherScore, d.Score):
		return twoFigures("why.but-scores", d.OtherScore, d.Score)
	case at >= 0 && s.Ranking[at].Ours && !s.Chosen.Ours:
		return sentence.Of("why.by-rule-ours")
	case at >= 0 && s.Chosen.Tight && !s.Ranking[at].Tight:
		return sentence.Of("why.by-rule-seat")
	}
	return sentence.Of("why.by-rule-first")
}

// isLess reports whether a figure is less than another as people read them.
func isLess(a, b float64) bool { return math.Round(10*a) < math.Round(10*b) }

// compared returns the sentence on the server that lost by the decision, unless the rivals cover
// it.
func (s Selection) compared() []sentence.Sentence {
	d := s.decision()
	if !d.Other.IsValid() || s.Why != nil && slices.ContainsFunc(s.Why.Rivals, func(rival Rival) bool { return rival.Addr == d.Other }) {
		return nil
	}
	var why sentence.Sentence
	switch d.By {
	case ByVote:
		return one("why.by-rule", "server", d.Other, "why", s.outvoted(d))
	case ByQuality:
		why = twoFigures("why.but-quality", d.OtherScore, d.Score)
	case ByWeights:
		why = twoFigures("why.but-weights", d.OtherScore, d.Score)
	case BySeats:
		why = sentence.Of("why.but-tight")
	default:
		return nil
	}
	return one("why.rival", "server", d.Other, "figures", rules.Of(d.Measure).Lower(d.OtherMS), "why", why)
}
