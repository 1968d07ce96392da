// Package term writes for people at a terminal: colours, a progress bar, questions, tables, a QR
// code. Without a terminal it writes plain lines.
package term

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
	"rsc.io/qr"
)

// Terminal is the destination of lines: a terminal, a file or a pipe.
type Terminal struct {
	io.Writer
	// IsTerminal says that people look at it.
	IsTerminal bool
	// IsAnimated says that the terminal's lines can be redrawn.
	IsAnimated bool
	// HasColours says that it shows colours, and the user wants them (https://no-color.org).
	HasColours bool
	// Columns is the width if this is no terminal; 0 is any.
	Columns int
}

// New examines w. env is [os.Getenv], or a test's replacement.
func New(w io.Writer, env func(string) string) Terminal {
	t := Terminal{Writer: w}
	f, isFile := w.(*os.File)
	t.IsTerminal = isFile && term.IsTerminal(int(f.Fd()))
	t.IsAnimated = t.IsTerminal && env("TERM") != "dumb" && understandsEscapes(f)
	t.HasColours = t.IsAnimated && env("NO_COLOR") == ""
	return t
}

// IsTerminal reports whether the input is a terminal.
func IsTerminal(in io.Reader) bool {
	f, isFile := in.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// Size returns the columns and rows. Without a terminal, lines may have any length.
func (t Terminal) Size() (columns, rows int) {
	if f, ok := t.Writer.(*os.File); ok {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	if t.Columns > 0 {
		return t.Columns, usualRows
	}
	return math.MaxInt32, usualRows
}

const usualRows = 25

// Width returns the number of columns.
func (t Terminal) Width() int {
	columns, _ := t.Size()
	return columns
}

// Bold returns the text in bold, if the terminal shows that.
func (t Terminal) Bold(text string) string  { return t.style("1", text) }
func (t Terminal) Faint(text string) string { return t.style("2", text) }

func (t Terminal) style(code, text string) string {
	if !t.HasColours {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// minRoom is how many columns a text keeps, however narrow the terminal is.
const minRoom = 7

// Wrap breaks a text between words so that its lines fit, and within words that Chinese and Japanese
// write without blanks. The text starts in the given column, and later lines are indented to that
// column.
func (t Terminal) Wrap(text string, column int) string {
	var b strings.Builder
	at, room := 0, max(t.Width()-column, minRoom)
	for i, word := range strings.Fields(text) {
		blank := min(i, 1)
		for _, part := range parts(word) {
			w := runewidth.StringWidth(part)
			if at > 0 && at+blank+w > room {
				b.WriteString("\n" + strings.Repeat(" ", column))
				at, blank = 0, 0
			}
			b.WriteString(strings.Repeat(" ", blank) + part)
			at += blank + w
			blank = 0
		}
	}
	return b.String()
}

// Marks that do not begin a line, and those that do not end one (w3.org/TR/jlreq, appendix A).
const (
	notFirst = "、。，．・：；？！）」』】〕〉》”’…‥ーゝゞ々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ.,:;?!)]}%"
	notLast  = "（「『【〔〈《“‘([{"
)

// parts splits a word where a line may end within it: beside letters and marks of Chinese and Japanese.
func parts(word string) (all []string) {
	begins, before := 0, rune(0)
	for i, r := range word {
		if i > 0 && (isIdeograph(before) || isIdeograph(r)) &&
			!strings.ContainsRune(notFirst, r) && !strings.ContainsRune(notLast, before) {
			all, begins = append(all, word[begins:i]), i
		}
		before = r
	}
	return append(all, word[begins:])
}

// isIdeograph reports whether lines may end beside a letter or mark. Korean has blanks between words.
func isIdeograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= '\u3001' && r <= '\u3011' || r >= '\uff01' && r <= '\uff1f'
}

// QR draws a link for phones. With colours it is always black on white, because phones need dark
// dots on light. If the terminal is too narrow, QR draws nothing and returns the columns that it
// needs.
func (t Terminal) QR(link string) (needed int) {
	code, err := qr.Encode(link, qr.L)
	if err != nil {
		return 0 // the link is too long for any code
	}
	const margin = 4 // modules
	side := code.Size + 2*margin
	if side > t.Width() {
		return side
	}
	for y := 0; y < side; y += 2 { // two rows of modules a line
		var line strings.Builder
		for x := range side {
			above, below := code.Black(x-margin, y-margin), y+1 == side || code.Black(x-margin, y+1-margin)
			switch {
			case above && below:
				line.WriteString(" ")
			case above:
				line.WriteString("▄")
			case below:
				line.WriteString("▀")
			default:
				line.WriteString("█")
			}
		}
		fmt.Fprintln(t, t.style("97;40", line.String()))
	}
	return 0
}

// Count returns a number of things in words.
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
