// Package term writes for people who look at a terminal, and plain lines where
// there is none: colours, a bar, questions, tables, a QR code.
package term

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
	"rsc.io/qr"
)

// Terminal is where lines go: a terminal, a file or a pipe.
type Terminal struct {
	io.Writer
	// IsTerminal: people look at it.
	IsTerminal bool
	// IsAnimated: its lines can be written anew.
	IsAnimated bool
	// HasColours: they show, and the user does not mind (https://no-color.org).
	HasColours bool
	// Columns is the width of what is no terminal; 0 is any.
	Columns int
}

// New finds out what w is. env is [os.Getenv], or a test's.
func New(w io.Writer, env func(string) string) Terminal {
	t := Terminal{Writer: w}
	f, isFile := w.(*os.File)
	t.IsTerminal = isFile && term.IsTerminal(int(f.Fd()))
	t.IsAnimated = t.IsTerminal && env("TERM") != "dumb" && understandsEscapes(f)
	t.HasColours = t.IsAnimated && env("NO_COLOR") == ""
	return t
}

// IsTerminal reports whether what is read comes from somebody in front of a terminal.
func IsTerminal(in io.Reader) bool {
	f, isFile := in.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// Size is how many columns and rows there are. Without a terminal lines may be of
// any length.
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

// Width is how many columns there are.
func (t Terminal) Width() int {
	columns, _ := t.Size()
	return columns
}

// Bold and Faint are a text in that style, where that shows.
func (t Terminal) Bold(text string) string  { return t.style("1", text) }
func (t Terminal) Faint(text string) string { return t.style("2", text) }

func (t Terminal) style(code, text string) string {
	if !t.HasColours {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// leastRoom is how many columns a text keeps on however narrow a terminal.
const leastRoom = 7

// Wrap breaks a text that begins in a column between words, so that its lines
// fit; those after the first begin there, too.
func (t Terminal) Wrap(text string, column int) string {
	var b strings.Builder
	at, room := 0, max(t.Width()-column, leastRoom)
	for i, word := range strings.Fields(text) {
		w := runewidth.StringWidth(word)
		switch {
		case i == 0:
		case at+1+w > room:
			b.WriteString("\n" + strings.Repeat(" ", column))
			at = 0
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += w
	}
	return b.String()
}

// QR draws a link for phones. With colours it is white on black whatever the
// terminal's own are: phones want dark dots on light. Where the width does not
// suffice nothing is drawn, and needed is how many columns it takes.
func (t Terminal) QR(link string) (needed int) {
	code, err := qr.Encode(link, qr.L)
	if err != nil {
		return 0 // no code has room for such a link
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

// Count is a number of things.
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// IsTyped reports whether somebody types what is read.
func IsTyped(in io.Reader) bool {
	f, isFile := in.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}
