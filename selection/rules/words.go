package rules

import (
	"math"
	"strconv"

	"muster/discovery/sentence"
)

// Docs holds a rule's words in the documentation.
type Docs struct {
	// Does is for players. Minimises and Note are for readers who know the algorithms.
	Does, Minimises, Note string
}

// Figures are a server's figures for the sentences, in ms.
type Figures struct{ Mean, Worst, Figure float64 }

// minFigure is the least figure, in ms, that is not shown as nothing.
const minFigure = 0.05

// Short returns the rule in a list of settings: "lowest average".
func (r *Rule) Short() sentence.Sentence { return r.says("short") }

// Describe returns the figures of a server: "58.0 ms on average".
func (r *Rule) Describe(f Figures) sentence.Sentence {
	return r.says("has"+r.nothingSuffix(f), f.pairs()...)
}

// Praise returns what the best server has: "10.0.0.1:27960 has the lowest average: 58.0 ms". With a
// limit in ms it is the best of those where nobody is over it.
func (r *Rule) Praise(server string, f Figures, limit float64) sentence.Sentence {
	pairs := append(f.pairs(), "server", server)
	if limit == 0 {
		return r.says("best"+r.nothingSuffix(f), pairs...)
	}
	return r.says("best-within"+r.nothingSuffix(f), append(pairs, "limit", Exact(limit))...)
}

// nothingSuffix returns the end of the keys of sentences about a server where nobody gives up
// anything. It is empty for other servers.
func (r *Rule) nothingSuffix(f Figures) string {
	if r.OwnBests && f.Figure < minFigure {
		return "-nothing"
	}
	return ""
}

// SoFar returns the figures of the best server so far, in whole milliseconds. If more is above 0,
// somebody may have a nearer server yet, so that the figure is up to that much higher.
func (r *Rule) SoFar(f Figures, more float64) sentence.Sentence {
	pairs := []any{"mean", Whole(f.Mean), "worst", Whole(f.Worst), "figure", Whole(f.Figure)}
	if r.OwnBests && more > 0 {
		return r.says("so-far-perhaps", append(pairs, "n", bounded(math.Ceil(f.Figure+more)))...)
	}
	return r.says("so-far", append(pairs, "n", bounded(math.RoundToEven(f.Figure)))...)
}

// Lower returns what a rival has: "a lower average (58.0 ms)".
func (r *Rule) Lower(ms float64) sentence.Sentence { return r.says("lower", "ms", Exact(ms)) }

// Above returns the sentence that says how a rival is worse: "its average (58.0 ms) is above the
// chosen server's".
func (r *Rule) Above(ms float64) sentence.Sentence { return r.says("above", "ms", Exact(ms)) }

// Instead compares a server with the chosen one: "58.0 ms, not 60.0 ms, on average".
func (r *Rule) Instead(ms, chosen float64) sentence.Sentence {
	return r.says("instead", "ms", Exact(ms), "chosen", Exact(chosen))
}

// says returns a sentence of the rule's measure. A rule that this version does not know has the
// average's, and some that say so.
func (r *Rule) says(what string, pairs ...any) sentence.Sentence {
	measure := string(r.Measure)
	if Find(r.Measure) == nil {
		measure = string(Mean)
		if what == "short" || what == "best" || what == "best-within" {
			measure, pairs = "unknown", append(pairs, "rule", string(r.Name))
		}
	}
	return sentence.Of("rule."+measure+"."+what, pairs...)
}

// pairs returns the figures as arguments of a sentence.
func (f Figures) pairs() []any {
	return []any{"mean", Exact(f.Mean), "worst", Exact(f.Worst), "figure", Exact(f.Figure)}
}

// Exact returns milliseconds with one decimal.
func Exact(ms float64) sentence.Sentence { return sentence.Of("unit.ms-exact", "n", Tenths(ms)) }

// Whole returns milliseconds without decimals.
func Whole(ms float64) sentence.Sentence {
	return sentence.Of("unit.ms", "n", bounded(math.RoundToEven(ms)))
}

// Tenths rounds a figure to the decimal that people read.
func Tenths(x float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(bounded(x), 'f', 1, 64), 64)
	return rounded
}

// maxMS is more than any figure; documents from elsewhere may say more, up to infinity.
const maxMS = 1e9

func bounded(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return max(-maxMS, min(x, maxMS))
}

// Round rounds milliseconds to the microsecond, as in documents.
func Round(ms float64) float64 { return math.Round(1000*ms) / 1000 }
