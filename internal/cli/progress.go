package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// lineEvery is how often progress is told where no bar can move.
const lineEvery = 5 * time.Second

// progress shows how far a measurement is: a bar on a terminal, a line now and
// then elsewhere.
type progress struct {
	w    io.Writer
	bar  *progressbar.ProgressBar
	what string
	told time.Time
	max  int
}

func (p *program) progress(what string, max int) *progress {
	g := &progress{w: p.streams.Err, what: what, max: max, told: time.Now()}
	if isTerminal(p.streams.Err) {
		g.bar = progressbar.NewOptions(max,
			progressbar.OptionSetWriter(p.streams.Err),
			progressbar.OptionSetDescription(what),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetWidth(30),
			progressbar.OptionEnableColorCodes(p.style(p.streams.Err).on),
			progressbar.OptionClearOnFinish(),
		)
	}
	return g
}

// set shows that so many are done, with a remark such as "812 answered".
func (g *progress) set(done int, remark string) {
	if g.bar != nil {
		g.bar.Describe(g.what + ", " + remark)
		g.bar.Set(done) // an error of the terminal is no reason to stop
		return
	}
	if now := time.Now(); now.Sub(g.told) >= lineEvery {
		g.told = now
		fmt.Fprintf(g.w, "%s: %d of %d, %s\n", g.what, done, g.max, remark)
	}
}

func (g *progress) finish() {
	if g.bar != nil {
		g.bar.Finish()
	}
}
