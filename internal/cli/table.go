package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// table is text in columns.
type table struct {
	columns []column
	rows    [][]string
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

// write lays the table out within width columns; the widest text gives way.
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

// fit takes from the widest text until the table is narrow enough.
func (t *table) fit(width int) []int {
	widths := t.natural()
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

// least is the width below which the table cannot be laid out.
func (t *table) least() int { return total(t.fit(0)) }

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
