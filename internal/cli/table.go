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
}

type column struct {
	title string
	align align
}

type align bool

const (
	left  align = false
	right align = true
)

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write lays the table out within width columns; the widest column gives way.
func (t *table) write(w io.Writer, width int) {
	widths := t.widths(width)
	titles := make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.title
	}
	for _, row := range append([][]string{titles}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			cell = runewidth.Truncate(cell, widths[i], "…")
			if t.columns[i].align == right {
				cell = runewidth.FillLeft(cell, widths[i])
			} else {
				cell = runewidth.FillRight(cell, widths[i])
			}
			line.WriteString(cell + "  ")
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

func (t *table) widths(width int) []int {
	const gap, least = 2, 8
	widths := make([]int, len(t.columns))
	total := 0
	for i, c := range t.columns {
		widths[i] = runewidth.StringWidth(c.title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], runewidth.StringWidth(row[i]))
		}
		total += widths[i] + gap
	}
	for total > width {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= least {
			break
		}
		widths[widest]--
		total--
	}
	return widths
}
