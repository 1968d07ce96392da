package selection

import (
	"fmt"
	"math"
	"net/netip"
	"slices"

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
	MS         float64        `json:"ms"`
	Other      netip.AddrPort `json:"other,omitzero"`
	OtherMS    float64        `json:"other_ms,omitempty"`
	Score      float64        `json:"score,omitempty"`
	OtherScore float64        `json:"other_score,omitempty"`
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
	d, chosen := &Decided{By: ByRule, Measure: rule.Name}, doc.Chosen.Server
	other := -1 // the next best
	for _, next := range doc.Ranking {
		if next.Server != chosen {
			other = next.Server
			break
		}
	}
	better := r.bestOf(rule, func(server int) bool { return r.suits(server) })
	isBetter := r.view.by(rule, better) < r.view.by(rule, chosen)
	switch {
	case doc.Keep != nil && doc.Keep.Stays && doc.Ranking[0].Server != chosen:
		d.By, other = ByKeeping, doc.Ranking[0].Server
	case doc.Chosen.Ours && r.preference != nil && r.preference.MoreMS > 0:
		d.By = ByOurs
		for server := range r.fates {
			if r.servers.List[server].Addr == r.preference.Other && r.suits(server) {
				other = server
				break
			}
		}
	case isBetter && r.tight != nil && r.tight[better] && !r.tight[chosen] && r.score(better) <= r.score(chosen):
		d.By, other = BySeats, better
	case isBetter && r.view.score(better) >= r.view.score(chosen):
		d.By, other = ByWeights, better
	case isBetter:
		d.By, other = ByQuality, better
	}
	d.MS, d.Score = millis(r.view.by(rule, chosen)), doc.Chosen.Score
	if other >= 0 {
		d.Other, d.OtherMS, d.OtherScore = r.servers.List[other].Addr, millis(r.view.by(rule, other)), millis(r.score(other))
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
		figure := r.view.by(rule, server)
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
	if s.Keep != nil && s.Keep.Stays && s.Keep.Gain > 0 {
		d.By = ByKeeping
	}
	return d
}

// verdict returns the sentence on what decided, with the chosen server's figures.
func (s Selection) verdict() string {
	c, d := s.Chosen, s.decision()
	words := &rules.Of(d.Measure).Words
	figures := rules.Figures{Mean: c.MeanMS, Worst: c.MaxMS, Figure: c.Figure(d.Measure)}
	has := words.Describe(figures)
	within := ""
	if s.LimitMS > 0 {
		within = ", and nobody is over " + ms(s.LimitMS)
	}
	sentence := ""
	switch d.By {
	case ByVote:
		how := "was chosen by vote"
		if d.Open {
			how = "leads the vote"
		}
		sentence = fmt.Sprintf("%s, with %d of %d votes: %s", how, d.Votes, d.Of, has)
		if d.Of == 1 {
			sentence = fmt.Sprintf("%s, with the only vote: %s", how, has)
		}
	case ByKeeping:
		sentence = "stays from the last round: " + has
	case ByQuality:
		sentence = "is best after loss and jitter: " + has
	case ByWeights:
		sentence = "is best by the players' weights: " + has
	case BySeats:
		sentence = "is best with a seat to spare: " + has
	case ByOurs:
		sentence = "is the best of yours: " + has
	default:
		if s.LimitMS > 0 {
			within = " where nobody is over " + ms(s.LimitMS)
		}
		sentence, within = words.Praise(figures, within), ""
	}
	sentence = fmt.Sprintf("%s %s%s", c.Addr, sentence, within)
	if c.WorstOff != "" {
		sentence += fmt.Sprintf("; %s is worst off with %s", person(c.WorstOff), ms(c.MaxMS))
	}
	return sentence + "."
}

// outvoted returns why the rule would take another server than people voted for: by its measure, or
// else by the factor that outweighs it.
func (s Selection) outvoted(d Decided) string {
	at := slices.IndexFunc(s.Ranking, func(ranked Ranked) bool { return ranked.Addr == d.Other })
	switch {
	case isLess(d.OtherMS, d.MS):
		return fmt.Sprintf("%s, not %s, %s", ms(d.OtherMS), ms(d.MS), rules.Of(d.Measure).Words.Where)
	case isLess(d.OtherScore, d.Score):
		return fmt.Sprintf("with weights and quality it scores %s, not %s", ms(d.OtherScore), ms(d.Score))
	case at >= 0 && s.Ranking[at].Ours && !s.Chosen.Ours:
		return "it is one of yours"
	case at >= 0 && s.Chosen.Tight && !s.Ranking[at].Tight:
		return "it has a seat to spare"
	}
	return "it came first before the vote"
}

// isLess reports whether a figure is less than another as people read them.
func isLess(a, b float64) bool { return math.Round(10*a) < math.Round(10*b) }

// compared returns the sentence on the server that lost by the decision, unless the rivals cover
// it.
func (s Selection) compared() []string {
	d := s.decision()
	if !d.Other.IsValid() || s.Why != nil && slices.ContainsFunc(s.Why.Rivals, func(rival Rival) bool { return rival.Addr == d.Other }) {
		return nil
	}
	name, lower := rules.Of(d.Measure).Words.Figure, ""
	switch d.By {
	case ByVote:
		return []string{fmt.Sprintf("By the rule it would be %s: %s.", d.Other, s.outvoted(d))}
	case ByQuality:
		lower = fmt.Sprintf("but loss and jitter make it %s, not %s", ms(d.OtherScore), ms(d.Score))
	case ByWeights:
		lower = fmt.Sprintf("but as the players are weighted it is %s, not %s", ms(d.OtherScore), ms(d.Score))
	case BySeats:
		lower = "but no seat to spare"
	default:
		return nil
	}
	return []string{fmt.Sprintf("%s has a lower %s (%s), %s.", d.Other, name, ms(d.OtherMS), lower)}
}
