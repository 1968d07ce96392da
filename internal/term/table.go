package term

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
)

// Table is text in columns.
type Table struct {
	Columns []Column
	Rows    [][]string
	// Spare are the titles of columns that a narrow terminal omits, the least important first.
	Spare []string
	// Below is the title of a column that moves to a line of its own below each row if the terminal
	// is too narrow even without the spare columns. Empty is none.
	Below string
}

// Column is a title and the alignment of the cells below it.
type Column struct {
	title string
	align align
	least int // the narrowest that a column of text becomes
}

type align int

const (
	left align = iota
	whole
	right
)

// Left returns a column of text, which is cut if there is no room.
func Left(title string) Column { return Column{title, left, minColumn} }

// AtLeast returns the column with a minimum width. To keep it, spare columns are dropped first.
func (c Column) AtLeast(width int) Column {
	c.least = width
	return c
}

// Whole returns a column whose cells are never cut, such as addresses.
func Whole(title string) Column { return Column{title: title, align: whole} }

// Right returns a column of numbers, aligned right and never cut.
func Right(title string) Column { return Column{title: title, align: right} }

// None stands for a missing value.
const None = "–"

const (
	columnGap = 2
	indent    = 2 // of a cell on a line of its own
	minColumn = 8 // the default minimum of a column of text
)

// Add appends a row; numbers are printed as they are.
func (t *Table) Add(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = fmt.Sprint(cell)
	}
	t.Rows = append(t.Rows, row)
}

// Write lays the table out so that it fits. First it cuts the widest text, then it drops spare
// columns, and at last it moves one column below. It returns the titles of the dropped columns.
func (t *Table) Write(to Terminal) (missing []string) {
	natural := t.natural()
	widths, below := t.fit(natural, to.Width())
	titles := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		titles[i] = c.title
		if widths[i] == 0 && natural[i] > 0 && i != below {
			missing = append(missing, c.title)
		}
	}
	for _, row := range append([][]string{titles}, t.Rows...) {
		var line strings.Builder
		for i, cell := range row {
			if widths[i] == 0 {
				continue
			}
			cell = runewidth.Truncate(cell, widths[i], "…")
			if t.Columns[i].align == right {
				cell = runewidth.FillLeft(cell, widths[i])
			} else {
				cell = runewidth.FillRight(cell, widths[i])
			}
			line.WriteString(cell + strings.Repeat(" ", columnGap))
		}
		fmt.Fprintln(to, strings.TrimRight(line.String(), " "))
		if below >= 0 {
			fmt.Fprintln(to, strings.Repeat(" ", indent)+row[below])
		}
	}
	return missing
}

// Fits reports whether there is room for all columns.
func (t *Table) Fits(to Terminal) bool { return total(t.squeezed(t.natural(), 0)) <= to.Width() }

// natural returns the natural width of each column. A column that is empty in every row is left
// out.
func (t *Table) natural() []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		for _, row := range t.Rows {
			widths[i] = max(widths[i], runewidth.StringWidth(row[i]))
		}
		if widths[i] > 0 || len(t.Rows) == 0 {
			widths[i] = max(widths[i], runewidth.StringWidth(c.title))
		}
	}
	return widths
}

// fit makes the table narrow enough. It returns the widths of the columns, and which column moves
// below its row, or -1.
func (t *Table) fit(natural []int, width int) (widths []int, below int) {
	widths = t.spared(natural, width)
	if below = t.column(t.Below); below < 0 || total(widths) <= width {
		return widths, -1
	}
	natural = slices.Clone(natural)
	natural[below] = 0
	return t.spared(natural, width), below
}

// column returns the index of the column with a title, or -1.
func (t *Table) column(title string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.title == title })
}

// spared cuts the widest text and, if that is not enough, drops spare columns.
func (t *Table) spared(natural []int, width int) []int {
	natural = slices.Clone(natural)
	widths := t.squeezed(natural, width)
	for _, title := range t.Spare {
		if total(widths) <= width {
			break
		}
		natural[t.column(title)] = 0
		widths = t.squeezed(natural, width)
	}
	return widths
}

// squeezed cuts the widest text until the table is narrow enough, or no text can shrink further.
func (t *Table) squeezed(natural []int, width int) []int {
	widths := slices.Clone(natural)
	for total(widths) > width {
		widest := -1
		for i, w := range widths {
			if t.Columns[i].align == left && w > t.Columns[i].least && (widest < 0 || w > widths[widest]) {
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

func total(widths []int) int {
	sum := -columnGap
	for _, w := range widths {
		if w > 0 {
			sum += w + columnGap
		}
	}
	return sum
}

// Live is a table that is redrawn in place on a terminal.
type Live struct {
	Terminal
	Max   int // the number of rows wanted
	drawn int // the number of lines on the terminal
	next  time.Time
}

// drawEvery limits redrawing, so that terminals on a slow connection stay usable.
const drawEvery = 200 * time.Millisecond

// Draw shows the current table with a line below, unless it was drawn just before.
func (l *Live) Draw(of func() (*Table, string)) {
	now := time.Now()
	if now.Before(l.next) {
		return
	}
	l.next = now.Add(drawEvery)
	columns, rows := l.Size()
	t, status := of()
	var lines strings.Builder
	up := l.up()
	l.drawn = 0
	for line := range strings.Lines(l.frame(t, status, columns, rows)) {
		lines.WriteString(strings.TrimSuffix(line, "\n") + "\x1b[K\n")
		l.drawn++
	}
	io.WriteString(l, up+lines.String()+"\x1b[J")
}

// frame returns the table and the line below, without wrapped lines and no longer than the
// terminal. Otherwise up could not return to the first line.
func (l *Live) frame(t *Table, status string, columns, rows int) string {
	const besides = 2 // the line below and the cursor's
	each := 1         // lines of a row, and of the titles
	if _, below := t.fit(t.natural(), columns-1); below >= 0 {
		each = 2
	}
	t.Rows = t.Rows[:min(len(t.Rows), max(0, (rows-besides)/each-1), l.Max)]
	var text, cut strings.Builder
	t.Write(Terminal{Writer: &text, Columns: columns - 1})
	text.WriteString(status + "\n")
	for line := range strings.Lines(text.String()) {
		cut.WriteString(runewidth.Truncate(strings.TrimSuffix(line, "\n"), columns-1, "…") + "\n")
	}
	return cut.String()
}

// up returns the escape sequence that moves to the first line.
func (l *Live) up() string {
	if l.drawn == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r", l.drawn)
}

// Erase removes the table.
func (l *Live) Erase() {
	if l.drawn > 0 {
		io.WriteString(l, l.up()+"\x1b[J")
	}
	l.drawn = 0
}
