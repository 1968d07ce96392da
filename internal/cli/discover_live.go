package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"muster/discovery"
	"muster/discovery/report"
)

// view is what people look at while servers are asked.
type view struct {
	servers  []discovery.Server
	keeps    func(*report.Measurement) bool
	limit    time.Duration
	progress *progress // instead of a live table; nil with one
	live     *live

	asked, answered, near int
	nearest               []report.Measurement // sorted, as many as may be shown
}

// view is a live table if the result will be a table on the same terminal, and
// else a bar or lines.
func (d *discover) view(servers []discovery.Server) *view {
	v := &view{servers: servers, keeps: d.filter.keeps, limit: d.options.MaxRTT}
	if d.format == formatTable && d.animated(d.streams.Err) && isTerminal(d.streams.Out) {
		v.live = &live{w: d.streams.Err, most: d.shown(mostLive)}
	} else {
		v.progress = d.progress("probing", len(servers))
	}
	return v
}

// add takes a result.
func (v *view) add(r discovery.Result) {
	v.asked++
	if r.State == discovery.Answered {
		v.answered++
		v.rank(r)
	}
	if v.progress != nil {
		v.progress.set(v.asked, fmt.Sprintf("%d answered", v.answered))
		return
	}
	v.live.draw(time.Now(), func() (*table, string) {
		return serverTable(v.nearest), fmt.Sprintf("%d of %d asked, %d answered, %d under %s", v.asked, len(v.servers), v.answered, v.near, wholeMS(v.limit))
	})
}

// mostLive is more rows than any terminal shows.
const mostLive = 200

// rank puts a server that answered to its place among the nearest.
func (v *view) rank(r discovery.Result) {
	m := report.New(report.Report{}, v.servers, []discovery.Result{r}).Servers[0]
	if !v.keeps(&m) {
		return
	}
	if r.RTT < v.limit {
		v.near++
	}
	at, _ := slices.BinarySearchFunc(v.nearest, m, byRTT)
	if at < mostLive {
		v.nearest = slices.Insert(v.nearest, at, m)
		v.nearest = v.nearest[:min(len(v.nearest), mostLive)]
	}
}

// end leaves the terminal to the result.
func (v *view) end() {
	if v.progress != nil {
		v.progress.finish()
	} else {
		v.live.erase()
	}
}

// live is a table on a terminal that is drawn anew in its place.
type live struct {
	w     io.Writer
	most  int // rows that are wanted
	drawn int // lines on the terminal
	next  time.Time
}

// drawEvery keeps terminals at the other end of a slow line usable.
const drawEvery = 200 * time.Millisecond

// draw shows the table of now, with a line below, if it is time for it.
func (l *live) draw(now time.Time, of func() (*table, string)) {
	if now.Before(l.next) {
		return
	}
	l.next = now.Add(drawEvery)
	columns, rows := size(l.w)
	t, status := of()
	var frame strings.Builder
	frame.WriteString(l.up())
	l.drawn = 0
	for line := range strings.Lines(l.frame(t, status, columns, rows)) {
		frame.WriteString(strings.TrimSuffix(line, "\n") + "\x1b[K\n")
		l.drawn++
	}
	io.WriteString(l.w, frame.String()+"\x1b[J")
}

// frame is the table and the line below, so that no line wraps and all of them fit
// on the terminal: else the way back would be longer.
func (l *live) frame(t *table, status string, columns, rows int) string {
	t.rows = t.rows[:min(len(t.rows), max(0, rows-3), l.most)]
	var text, cut strings.Builder
	t.write(&text, columns-1)
	text.WriteString(status + "\n")
	for line := range strings.Lines(text.String()) {
		cut.WriteString(runewidth.Truncate(strings.TrimSuffix(line, "\n"), columns-1, "…") + "\n")
	}
	return cut.String()
}

// up is the way back to the first line.
func (l *live) up() string {
	if l.drawn == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r", l.drawn)
}

// erase takes the table away.
func (l *live) erase() {
	io.WriteString(l.w, l.up())
	if l.drawn > 0 {
		io.WriteString(l.w, "\x1b[J")
	}
	l.drawn = 0
}
