package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// table is text in columns.
type table struct {
	columns []column
	rows    [][]string
	// spare are the titles of columns that a narrow terminal goes without, the
	// first to be missed least.
	spare []string
}

type column struct {
	title string
	align align
}

// align is how a column's cells stand.
type align int

const (
	left  align = iota // on the left, and cut if there is no room
	whole              // on the left, never cut: an address
	right              // on the right, never cut: a number
)

// none stands where there is no value.
const none = "–"

const (
	columnGap   = 2
	leastColumn = 8 // what a column of text keeps
)

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write lays the table out within width columns; the widest text gives way, then
// spare columns.
func (t *table) write(w io.Writer, width int) {
	widths := t.fit(width)
	titles := make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.title
	}
	t.line(w, titles, widths)
	for _, row := range t.rows {
		t.line(w, row, widths)
	}
}

func (t *table) line(w io.Writer, cells []string, widths []int) {
	var line strings.Builder
	for i, cell := range cells {
		if widths[i] == 0 {
			continue
		}
		cell = runewidth.Truncate(cell, widths[i], "…")
		if t.columns[i].align == right {
			cell = runewidth.FillLeft(cell, widths[i])
		} else {
			cell = runewidth.FillRight(cell, widths[i])
		}
		line.WriteString(cell + strings.Repeat(" ", columnGap))
	}
	fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
}

// natural is how wide each column is; one in which no row has anything is left
// out.
func (t *table) natural() []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		for _, row := range t.rows {
			widths[i] = max(widths[i], runewidth.StringWidth(row[i]))
		}
		if widths[i] > 0 || len(t.rows) == 0 {
			widths[i] = max(widths[i], runewidth.StringWidth(c.title))
		}
	}
	return widths
}

// fit makes the table narrow enough: it takes from the widest text, and where that
// does not do, spare columns out.
func (t *table) fit(width int) []int {
	natural := t.natural()
	widths := t.squeezed(natural, width)
	for _, title := range t.spare {
		if total(widths) <= width {
			break
		}
		natural[slices.IndexFunc(t.columns, func(c column) bool { return c.title == title })] = 0
		widths = t.squeezed(natural, width)
	}
	return widths
}

// squeezed takes from the widest text until the table is narrow enough, or no text
// can give way any more.
func (t *table) squeezed(natural []int, width int) []int {
	widths := slices.Clone(natural)
	for total(widths) > width {
		widest := -1
		for i, w := range widths {
			if t.columns[i].align == left && w > leastColumn && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// least is the width below which the table cannot be laid out with all its columns.
func (t *table) least() int { return total(t.squeezed(t.natural(), 0)) }

// missing are the titles of the columns that so narrow a terminal goes without.
func (t *table) missing(width int) []string {
	var titles []string
	natural := t.natural()
	for i, w := range t.fit(width) {
		if w == 0 && natural[i] > 0 {
			titles = append(titles, t.columns[i].title)
		}
	}
	return titles
}

// total is the width of a line.
func total(widths []int) int {
	sum := -columnGap
	for _, w := range widths {
		if w > 0 {
			sum += w + columnGap
		}
	}
	return sum
}
