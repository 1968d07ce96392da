package selection

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"muster/discovery"
	"muster/selection/rules"
)

// Explain puts the selection in short sentences, the most important first, for
// a terminal or a page. Names of players are cleaned for display.
func (s Selection) Explain() []string {
	var lines []string
	if s.Chosen == nil {
		lines = append(lines, "No server suits everyone.")
	} else {
		lines = append(lines, s.verdict())
		lines = append(lines, s.preferred()...)
		lines = append(lines, s.looked()...)
		lines = append(lines, s.compared()...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Estimated)) {
		lines = append(lines, fmt.Sprintf(
			"The pings of %s are estimated, give or take %s: by where the address is, and what those nearby measure.",
			person(name), ms(math.Ceil(s.Estimated[name]))))
	}
	lines = append(lines, s.ownSentences()...)
	lines = append(lines, s.Keep.sentences(s.decision())...)
	if s.Why != nil {
		lines = append(lines, s.whySentences()...)
	}
	if s.Chosen != nil {
		lines = append(lines, s.runnerUp()...)
	}
	if culled := s.Culled.sentence(); culled != "" {
		lines = append(lines, culled)
	}
	for _, found := range s.Doubts {
		lines = append(lines, found.String())
	}
	return lines
}

func (s *Stay) sentences(by Decided) []string {
	switch {
	case s == nil || s.Stays && s.Gain == 0:
		return nil
	case s.Unlisted:
		return []string{fmt.Sprintf("%s, the last server, is no longer listed.", s.Addr)}
	case s.Culled != nil:
		return []string{fmt.Sprintf("%s, the last server, is out: %s.", s.Addr, s.Culled.clause())}
	case s.Stays && by.Other.IsValid():
		return []string{fmt.Sprintf("The best server, %s, would gain only %s.", by.Other, ms(s.Gain))}
	case s.Stays:
		return []string{fmt.Sprintf("The best server would gain only %s.", ms(s.Gain))}
	case s.Gain == 0:
		return nil // another sentence says why it was left
	}
	return []string{fmt.Sprintf("It gains %s over the last server, %s.", ms(s.Gain), s.Addr)}
}

func (s Selection) whySentences() []string {
	var lines []string
	if w := s.Why.Without; w != nil && w.Addr.IsValid() {
		lines = append(lines, w.sentence())
	}
	if all := s.Why.Influences; len(all) > 0 && all[0].Gain >= worthSaying {
		lines = append(lines, all[0].sentence())
	}
	if s.Chosen != nil { // a parsed selection may have rivals without a chosen server
		for _, rival := range s.Why.Rivals {
			lines = append(lines, s.against(rival))
		}
	}
	for _, way := range s.Why.Relax {
		lines = append(lines, way.sentence())
	}
	if len(s.Why.Relax) == 0 && s.Why.Nearest != nil {
		lines = append(lines, s.Why.Nearest.sentence())
	}
	return lines
}

// worthSaying is how many milliseconds an influence must be worth before people read of it: less
// does not matter to a game.
const worthSaying = 2

// sentence returns "Without bob: −40.0 ms."
func (w *Without) sentence() string {
	change := fmt.Sprintf("Without %s: %s", person(w.Player), signed(-w.Gain))
	if w.Moves {
		return fmt.Sprintf("%s, on %s.", change, w.Addr)
	}
	return change + ", on the same server."
}

// against says why a server that is better by another measure lost.
func (s Selection) against(rival Rival) string {
	var better []string
	for _, measure := range rival.By {
		better = append(better, "a lower "+figure(measure, &rival.Ranked))
	}
	return fmt.Sprintf("%s has %s, but %s.", rival.Addr, strings.Join(better, " and "), s.but(rival))
}

// but returns what outweighs a rival's advantage.
func (s Selection) but(rival Rival) string {
	measure := rules.Of(s.By).Measure
	switch {
	case len(rival.Over) > 0:
		return people(rival.Over) + " would be over the limit"
	case s.Chosen.Ours && !rival.Ours && rival.Score < s.Chosen.Score:
		return "it is none of yours"
	case rival.Tight && !s.Chosen.Tight && rival.Score < s.Chosen.Score:
		return "no seat to spare"
	case rival.Score <= s.Chosen.Score && s.Keep != nil && s.Keep.Stays:
		return "that is not worth a move"
	case rival.Score <= s.Chosen.Score:
		return "by the rule it is no better"
	case !isLess(s.Chosen.Figure(measure), rival.Figure(measure)) && !isLess(s.Chosen.Score, rival.Score):
		return "by the rule it is no better"
	case !isLess(s.Chosen.Figure(measure), rival.Figure(measure)):
		return fmt.Sprintf("with weights and quality it scores %s, not %s", ms(rival.Score), ms(s.Chosen.Score))
	}
	return fmt.Sprintf("its %s is above the chosen server's", figure(measure, &rival.Ranked))
}

// figure puts a server's figure by a measure into words.
func figure(measure Rule, r *Ranked) string {
	return fmt.Sprintf("%s (%s)", rules.Of(measure).Words.Figure, ms(r.Figure(measure)))
}

// runnerUp compares the next best server with the chosen one. If something other than the rule
// decided, another sentence has said that already.
func (s Selection) runnerUp() []string {
	d := s.decision()
	if d.By == ByKeeping || d.By == ByVote {
		return nil
	}
	for _, next := range s.Ranking {
		if next.Addr != s.Chosen.Addr {
			if d.By != ByRule && next.Addr == d.Other {
				return nil
			}
			why := ""
			if measure := d.Measure; isLess(next.Figure(measure), s.Chosen.Figure(measure)) {
				why = ", but " + s.but(Rival{Ranked: next})
			}
			return []string{fmt.Sprintf("Next best is %s, %s on average and %s for the worst off%s.",
				next.Addr, signed(next.MeanMS-s.Chosen.MeanMS), signed(next.MaxMS-s.Chosen.MaxMS), why)}
		}
	}
	return nil
}

// sentence says how many servers a relaxation would free.
func (w Relax) sentence() string {
	do := fmt.Sprintf("%s would do", discovery.ServersInWords(w.Frees))
	best := fmt.Sprintf("%s, best %s", do, w.Addr)
	switch {
	case w.Player != "" && w.Give == Unmeasured:
		return fmt.Sprintf("%s if %s reached them, best %s: not measured yet.", do, person(w.Player), w.Addr)
	case w.Player != "":
		return fmt.Sprintf("Without %s %s.", person(w.Player), best)
	case w.Give == OverThreshold:
		return fmt.Sprintf("With a limit of %s %s would do.", ms(w.LimitMS), w.Addr)
	case w.Give == Full && w.Seats != nil:
		return fmt.Sprintf("With fewer seats %s: it has %d free.", best, *w.Seats)
	}
	return fmt.Sprintf("%s; now %s.", best, w.Give.clause())
}

func (m *Miss) sentence() string {
	var against []string
	for _, o := range m.Obstacles {
		clause := o.Cause.clause()
		if len(o.Players) > 0 {
			clause += " (" + people(o.Players) + ")"
		}
		against = append(against, clause)
	}
	return fmt.Sprintf("Nearest to it is %s: %s.", m.Addr, strings.Join(against, ", "))
}

func (c Culled) sentence() string {
	var parts []string
	for cause, n := range c.counts() {
		if *n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", *n, Cause(cause).clause()))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Left out %s: %s.", discovery.ServersInWords(c.Total()), strings.Join(parts, ", "))
}

var causeClauses = [none]string{
	"spam or no real address", "blacklisted", "vetoed", "hidden by someone", "unreachable for someone", "not measured by everyone",
	"silent about themselves", "without enough free seats", "with another map, mode or mod", "with a password",
	"of another version", "closed to someone's ping", "over the limit for someone",
}

// clause returns the cause as part of a sentence.
func (c Cause) clause() string {
	if c < none {
		return causeClauses[c]
	}
	return c.String()
}

func ms(millis float64) string { return fmt.Sprintf("%.1f ms", millis) }

// signed returns a difference with its sign, except for −0.0.
func signed(millis float64) string {
	if millis > -0.05 && millis < 0.05 {
		return "±0 ms"
	}
	return strings.Replace(fmt.Sprintf("%+.1f ms", millis), "-", "−", 1)
}

func person(name string) string { return discovery.CleanText(name) }

// mostNamed is the most people that a sentence names.
const mostNamed = 5

func people(names []string) string {
	var clean []string
	for _, name := range names[:min(len(names), mostNamed)] {
		clean = append(clean, person(name))
	}
	if rest := len(names) - len(clean); rest > 0 {
		clean = append(clean, fmt.Sprintf("%d more", rest))
	}
	return strings.Join(clean, ", ")
}
