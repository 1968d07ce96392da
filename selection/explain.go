package selection

import (
	"maps"
	"math"
	"slices"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/selection/rules"
)

// Explain says the selection in short sentences, the most important first. Servers are arguments
// called "server", by their addresses.
func (s Selection) Explain() []sentence.Sentence {
	var all []sentence.Sentence
	switch {
	case s.Chosen == nil:
		all = append(all, sentence.Of("why.nothing"))
	case s.Chosen.Law != nil && s.Chosen.Law.Decides:
		all = append(all, s.byLaw()...)
	default:
		all = append(all, s.verdict())
		if s.Chosen.SeatsUnknown {
			all = append(all, sentence.Of("seats.unknown"))
		}
		all = append(all, s.sideSentences()...)
		all = append(all, s.ExcessSentences()...)
		all = append(all, s.preferred()...)
		all = append(all, s.looked()...)
		all = append(all, s.compared()...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Estimated)) {
		all = append(all, sentence.Of("why.estimated", "player", name, "ms", rules.Exact(math.Ceil(s.Estimated[name]))))
	}
	all = append(all, s.ownSentences()...)
	all = append(all, s.Keep.sentences(s.decision())...)
	if s.Why != nil {
		all = append(all, s.whySentences()...)
	}
	if s.Chosen != nil && (s.Chosen.Law == nil || !s.Chosen.Law.Decides) {
		all = append(all, s.runnerUp()...)
		all = append(all, s.byLaw()...)
	}
	all = append(all, s.Culled.sentences()...)
	for _, found := range s.Doubts {
		all = append(all, sentence.Of("why.doubt", "doubt", found.Sentence()))
	}
	return all
}

func one(key string, pairs ...any) []sentence.Sentence {
	return []sentence.Sentence{sentence.Of(key, pairs...)}
}

func (s *Stay) sentences(by Decided) []sentence.Sentence {
	switch {
	case s == nil || s.Stays && s.Gain == 0:
		return nil
	case s.Unlisted:
		return one("why.last-unlisted", "server", s.Addr)
	case s.Culled != nil:
		return one("why.last-out", "server", s.Addr, "cause", s.Culled.clause(nil))
	case s.Stays && by.Other.IsValid():
		return one("why.last-nearly-than", "server", by.Other, "ms", rules.Exact(s.Gain))
	case s.Stays:
		return one("why.last-nearly", "ms", rules.Exact(s.Gain))
	case s.Gain == 0:
		return nil // another sentence says why it was left
	}
	return one("why.last-left", "ms", rules.Exact(s.Gain), "server", s.Addr)
}

func (s Selection) whySentences() []sentence.Sentence {
	var all []sentence.Sentence
	if w := s.Why.Without; w != nil && w.Addr.IsValid() {
		all = append(all, w.sentence())
	}
	if most := s.Why.Influences; len(most) > 0 && most[0].Gain >= worthSaying {
		all = append(all, most[0].sentence())
	}
	if s.Chosen != nil { // a parsed selection may have rivals without a chosen server
		for _, rival := range s.Why.Rivals {
			all = append(all, s.against(rival))
		}
	}
	for _, way := range s.Why.Relax {
		all = append(all, way.sentence())
	}
	if len(s.Why.Relax) == 0 && s.Why.Nearest != nil {
		all = append(all, s.Why.Nearest.sentence())
	}
	return all
}

// worthSaying is how many milliseconds an influence must be worth before people read of it: less
// does not matter to a game.
const worthSaying = 2

// sentence returns "Without bob: −40.0 ms."
func (w *Without) sentence() sentence.Sentence {
	if w.Moves {
		return sentence.Of("why.without", "player", w.Player, "change", signed(-w.Gain), "server", w.Addr)
	}
	return sentence.Of("why.without-same", "player", w.Player, "change", signed(-w.Gain))
}

// against says why a server that is better by another measure lost.
func (s Selection) against(rival Rival) sentence.Sentence {
	var better []sentence.Sentence
	for _, measure := range rival.By {
		better = append(better, rules.Of(measure).Lower(rival.Figure(measure)))
	}
	return sentence.Of("why.rival", "server", rival.Addr, "figures", better, "why", s.drawback(rival))
}

// drawback returns the reason that outweighs a rival's advantage.
func (s Selection) drawback(rival Rival) sentence.Sentence {
	measure := rules.Of(s.By).Measure
	switch {
	case rival.Law != nil && len(rival.Law.Breaks) > 0:
		return rival.Law.Breaks[0].Clause(rival.Law.League)
	case len(rival.Over) > 0:
		return sentence.Of("why.but-over", "players", people(rival.Over))
	case s.Chosen.Ours && !rival.Ours && rival.Score < s.Chosen.Score:
		return sentence.Of("why.but-not-ours")
	case rival.Tight && !s.Chosen.Tight && rival.Score < s.Chosen.Score:
		return sentence.Of("why.but-tight")
	case s.isCloser(rival):
		return sentence.Of("why.but-sides-closer", "ms", rules.Exact(s.Chosen.Figure(measure)-rival.Figure(measure)))
	case rival.Score <= s.Chosen.Score && s.Keep != nil && s.Keep.Stays:
		return sentence.Of("why.but-not-worth")
	case rival.Score <= s.Chosen.Score:
		return sentence.Of("why.but-no-better")
	case !isLess(s.Chosen.Figure(measure), rival.Figure(measure)) && !isLess(s.Chosen.Score, rival.Score):
		return sentence.Of("why.but-no-better")
	case !isLess(s.Chosen.Figure(measure), rival.Figure(measure)):
		return twoFigures("why.but-scores", rival.Score, s.Chosen.Score)
	}
	return rules.Of(measure).Above(rival.Figure(measure))
}

// twoFigures returns a sentence with another server's figure, in ms, and the chosen one's.
func twoFigures(key string, other, chosen float64) sentence.Sentence {
	return sentence.Of(key, "ms", rules.Exact(other), "chosen", rules.Exact(chosen))
}

// runnerUp compares the next best server with the chosen one. If something other than the rule
// decided, another sentence has said that already.
func (s Selection) runnerUp() []sentence.Sentence {
	d := s.decision()
	if d.By == ByKeeping || d.By == ByVote {
		return nil
	}
	at := slices.IndexFunc(s.Ranking, func(r Ranked) bool { return r.Addr != s.Chosen.Addr })
	if at < 0 || d.By != ByRule && s.Ranking[at].Addr == d.Other {
		return nil
	}
	next := s.Ranking[at]
	pairs := []any{"server", next.Addr, "mean", signed(next.MeanMS - s.Chosen.MeanMS), "worst", signed(next.MaxMS - s.Chosen.MaxMS)}
	if isLess(next.Figure(d.Measure), s.Chosen.Figure(d.Measure)) {
		return one("why.next-but", append(pairs, "why", s.drawback(Rival{Ranked: next}))...)
	}
	return one("why.next", pairs...)
}

// sentence says how many servers a relaxation would free.
func (w Relax) sentence() sentence.Sentence {
	pairs := []any{"n", w.Frees, "server", w.Addr}
	switch {
	case w.Player != "" && w.Give == Unmeasured:
		return sentence.Of("why.relax-reach", append(pairs, "player", w.Player)...)
	case w.Player != "":
		return sentence.Of("why.relax-player", append(pairs, "player", w.Player)...)
	case w.Give == OverThreshold:
		return sentence.Of("why.relax-limit", "limit", rules.Exact(w.LimitMS), "server", w.Addr)
	case w.Give == Full && w.Seats != nil:
		return sentence.Of("why.relax-seats", append(pairs, "free", *w.Seats)...)
	}
	return sentence.Of("why.relax-cause", append(pairs, "cause", w.Give.clause(nil))...)
}

func (m *Miss) sentence() sentence.Sentence {
	var against []sentence.Sentence
	for _, o := range m.Obstacles {
		against = append(against, o.Cause.clause(o.Players))
	}
	return sentence.Of("why.nearest", "server", m.Addr, "causes", against)
}

func (c Culled) sentences() []sentence.Sentence {
	var counts []sentence.Sentence
	for cause, n := range c.counts() {
		if *n > 0 {
			counts = append(counts, sentence.Of("cause."+Cause(cause).String()+".count", "n", *n))
		}
	}
	if len(counts) == 0 {
		return nil
	}
	return one("why.left-out", "n", c.Total(), "causes", counts)
}

// clause returns the cause as part of a sentence, with the players whose cause it is.
func (c Cause) clause(players []string) sentence.Sentence {
	switch {
	case c >= none:
		return sentence.Plain(c.String()) // of a newer version
	case len(players) > 0:
		return sentence.Of("cause."+c.String()+".for", "players", people(players))
	}
	return sentence.Of("cause." + c.String() + ".is")
}

// signed returns a difference in ms with its sign, except for −0.0.
func signed(ms float64) sentence.Sentence {
	switch ms = rules.Tenths(ms); {
	case ms > 0:
		return sentence.Of("unit.ms-more", "n", ms)
	case ms < 0:
		return sentence.Of("unit.ms-less", "n", -ms)
	}
	return sentence.Of("unit.ms-same")
}

// maxNamed is the most people that a sentence names.
const maxNamed = 5

// people returns the names, or the first few of them and how many more there are.
func people(names []string) any {
	if len(names) <= maxNamed {
		return names
	}
	var named []sentence.Sentence
	for _, name := range names[:maxNamed] {
		named = append(named, sentence.Plain(discovery.CleanText(name)))
	}
	return append(named, sentence.Of("why.more-people", "n", len(names)-maxNamed))
}
