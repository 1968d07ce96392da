package cli

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/schollz/progressbar/v3"
)

const (
	// barEvery is how often a bar moves, lineEvery how often a line tells of
	// progress where no bar can move.
	barEvery  = 100 * time.Millisecond
	lineEvery = 5 * time.Second
)

// unknown is the number of steps of which nobody knows how many there will be.
const unknown = -1

// progress shows how far a measurement is: a bar on a terminal, a line now and
// then elsewhere.
type progress struct {
	w    io.Writer
	bar  *progressbar.ProgressBar // nil without a terminal, or without an end
	line bool                     // one line that changes stands in for the bar
	what string
	max  int
	next time.Time // when it may be shown again
}

func (p *program) progress(what string, max int) *progress {
	g := &progress{w: p.streams.Err, what: what, max: max, next: time.Now()}
	if !p.animated(g.w) {
		g.next = g.next.Add(lineEvery)
		return g
	}
	if g.line = max == unknown; g.line {
		return g
	}
	g.bar = progressbar.NewOptions(max,
		progressbar.OptionSetWriter(g.w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetWidth(barWidth(width(g.w))),
		progressbar.OptionEnableColorCodes(p.style(g.w).on),
		progressbar.OptionClearOnFinish(),
	)
	return g
}

// barWidth leaves the description and the counts their place on the line.
func barWidth(columns int) int { return min(30, max(5, columns-60)) }

// set shows that so many are done, with a remark such as "812 answered". It
// shows not every step.
func (g *progress) set(done int, remark string) {
	now := time.Now()
	if now.Before(g.next) {
		return
	}
	if g.line {
		g.next = now.Add(barEvery)
		line := fmt.Sprintf("%s: %s", g.what, with(strconv.Itoa(done), remark))
		fmt.Fprint(g.w, "\r\x1b[K"+runewidth.Truncate(line, width(g.w)-1, "…"))
		return
	}
	if g.bar == nil {
		g.next = now.Add(lineEvery)
		fmt.Fprintf(g.w, "%s: %s\n", g.what, with(g.count(done), remark))
		return
	}
	g.next = now.Add(barEvery)
	g.bar.Describe(with(g.what, remark))
	g.bar.Set(done) // an error of the terminal is no reason to stop
}

// with is a text and a remark, if there is one.
func with(text, remark string) string {
	if remark == "" {
		return text
	}
	return text + ", " + remark
}

func (g *progress) count(done int) string {
	if g.max == unknown {
		return strconv.Itoa(done)
	}
	return fmt.Sprintf("%d of %d", done, g.max)
}

// clear takes the bar from the line until it is set again.
func (g *progress) clear() {
	if g.bar != nil {
		g.bar.Clear()
		g.next = time.Time{}
	}
	if g.line {
		fmt.Fprint(g.w, "\r\x1b[K")
		g.next = time.Time{}
	}
}

func (g *progress) finish() {
	if g.line {
		fmt.Fprint(g.w, "\r\x1b[K")
	}
	if g.bar != nil {
		g.bar.Finish()
	}
}
