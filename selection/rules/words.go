package rules

import (
	"fmt"
	"math"
	"strings"
)

// Words are a rule's sentences, in the terminal and on the page. They are templates: {mean},
// {worst} and {figure} are a server's figures in ms, {bare} is the rule's figure without its unit,
// and {among} names the servers it is compared with.
type Words struct {
	// Short is the rule in a list of settings: "lowest average".
	Short string
	// Figure names what the rule compares, and Where says what the figure belongs to.
	Figure, Where string
	// Best praises the best server, and Has tells another one's figures. Nothing replaces Has if
	// the figure is 0.
	Best, Has, Nothing string
	// Search tells the figures of the best server so far, while the search goes on.
	Search string
}

// Docs holds a rule's words in the documentation.
type Docs struct {
	// Does is for players. Minimises and Note are for readers who know the algorithms.
	Does, Minimises, Note string
}

// Figures are a server's figures for the sentences, in ms.
type Figures struct{ Mean, Worst, Figure float64 }

// leastFigure is the least figure, in ms, that is not printed as nothing.
const leastFigure = 0.05

// Describe returns the sentence on a server's figures.
func (w *Words) Describe(f Figures) string {
	if w.Nothing != "" && f.Figure < leastFigure {
		return fill(w.Nothing, f, "%.1f", "")
	}
	return fill(w.Has, f, "%.1f", "")
}

// Praise returns the sentence on the best server. among names the servers that it is compared with.
func (w *Words) Praise(f Figures, among string) string {
	best := w.Best
	if w.Nothing != "" && f.Figure < leastFigure {
		best = strings.Replace(best, w.Has, w.Nothing, 1)
	}
	return fill(best, f, "%.1f", among)
}

// SoFar returns the sentence on the best server so far, in whole milliseconds.
func (w *Words) SoFar(f Figures) string { return fill(w.Search, f, "%.0f", "") }

func fill(template string, f Figures, format, among string) string {
	number := func(ms float64) string { return fmt.Sprintf(format, ms) }
	return strings.NewReplacer(
		"{mean}", number(f.Mean)+" ms", "{worst}", number(f.Worst)+" ms", "{figure}", number(f.Figure)+" ms",
		"{bare}", number(f.Figure), "{among}", among,
	).Replace(template)
}

// Round rounds milliseconds to the microsecond, as in documents.
func Round(ms float64) float64 { return math.Round(1000*ms) / 1000 }
