package rules

import (
	"fmt"
	"math"
	"strings"
)

// Words are a rule's sentences, at the terminal and on the page. They are templates:
// {mean}, {worst} and {figure} are a server's figures in ms, {bare} is the rule's figure
// without its unit, and {among} says among which servers.
type Words struct {
	// Short stands in a list of what is wanted: "lowest average".
	Short string
	// Figure names what the rule compares, and Where says what it is of.
	Figure, Where string
	// Best says what the best server is, and Has what figures another one has. Nothing
	// stands in for Has where the figure is nothing.
	Best, Has, Nothing string
	// Search says what the best so far has, while the search goes on.
	Search string
}

// Page is what pages say of a rule.
type Page struct {
	// Name and Hint stand where people choose a rule, and Wish where it is chosen.
	Name, Hint, Wish string
	// Figure names the rule's figure on a card of a server.
	Figure string
}

// Docs is what the documentation says of a rule.
type Docs struct {
	// Does is for players. Minimises and Note are for who knows the algorithms.
	Does, Minimises, Note string
}

// Figures are what the sentences tell of a server, in ms.
type Figures struct{ Mean, Worst, Figure float64 }

// leastFigure is the least figure, in ms, that is not printed as nothing.
const leastFigure = 0.05

// Describe says what figures a server has.
func (w *Words) Describe(f Figures) string {
	if w.Nothing != "" && f.Figure < leastFigure {
		return fill(w.Nothing, f, "%.1f", "")
	}
	return fill(w.Has, f, "%.1f", "")
}

// Praise says what the best server is; among names the servers that it is compared with.
func (w *Words) Praise(f Figures, among string) string {
	best := w.Best
	if w.Nothing != "" && f.Figure < leastFigure {
		best = strings.Replace(best, w.Has, w.Nothing, 1)
	}
	return fill(best, f, "%.1f", among)
}

// SoFar says what the best server so far has, in whole milliseconds.
func (w *Words) SoFar(f Figures) string { return fill(w.Search, f, "%.0f", "") }

func fill(template string, f Figures, format, among string) string {
	number := func(ms float64) string { return fmt.Sprintf(format, ms) }
	return strings.NewReplacer(
		"{mean}", number(f.Mean)+" ms", "{worst}", number(f.Worst)+" ms", "{figure}", number(f.Figure)+" ms",
		"{bare}", number(f.Figure), "{among}", among,
	).Replace(template)
}

// Round rounds milliseconds to the microsecond, as documents tell them.
func Round(ms float64) float64 { return math.Round(1000*ms) / 1000 }
