// Package plot draws simulated discoveries, probe by probe, like figures 4 to 9 of the 2008 papers.
package plot

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"muster/discovery"
	"muster/discovery/plan"
	"muster/discovery/plan/calibrated"
	"muster/internal/sim"
)

// A picture has one panel for each case, one below the other. Lengths are in SVG's own unit, which
// browsers take for pixels.
const (
	panelWidth, panelHeight = 720, 280
	// left, right, top and bottom are the margins around a panel's axes. They hold numbers and
	// their label, the legend, the title, and numbers again.
	left, right, top, bottom = 60, 130, 30, 45
	// letter is the height of a line of text.
	letter = 14
	// linePoints are enough for a line of that width.
	linePoints = 500
	// bottomShare is the share of the window below the bottom line, as in the papers.
	bottomShare = 0.02
	// dot and legendDot are the sides of squares. The legend's is large enough to see.
	dot, legendDot = 1.4, 6
	// headroom is the scale over the highest point, as a factor of it.
	headroom = 1.05
)

// These colours differ for the colour-blind, too (Okabe and Ito).
const (
	blue   = "#0072b2"
	orange = "#e69f00"
	black  = "#000000"
	red    = "#d55e00"
)

// point is a probe's number and a time in milliseconds.
type point struct{ x, y float64 }

// Write draws the first run of each case as SVG, at so many probes a second.
func Write(w io.Writer, cases []sim.Case, rate float64) error {
	var out bytes.Buffer
	height := panelHeight * len(cases)
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" `+
		`font-family="sans-serif" font-size="11">`+"\n", panelWidth, height)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", panelWidth, height)
	for i, c := range cases {
		fmt.Fprintf(&out, `<g transform="translate(0 %d)">`+"\n", i*panelHeight)
		if err := panel(&out, c, rate); err != nil {
			return err
		}
		out.WriteString("</g>\n")
	}
	out.WriteString("</svg>\n")
	_, err := out.WriteTo(w)
	return err
}

func panel(out *bytes.Buffer, c sim.Case, rate float64) error {
	order, err := plan.New(c.Strategy, c.Vantage.Topology(), c.Plan)
	if err != nil {
		return err
	}
	results, _ := c.Vantage.Replay(order, sim.ReplayOptions{Rate: rate, Run: c.Plan.Seed})
	calibration, ordered, lowest := courses(results, c.Plan)
	end, limit := float64(len(results)), discovery.MS(c.Plan.MaxRTT)
	highest := limit
	for _, p := range append(calibration[:len(calibration):len(calibration)], ordered...) {
		highest = max(highest, p.y)
	}
	f := frame{out: out, xMax: max(1, end), yMax: highest * headroom}
	f.text(left, top-letter, "start",
		fmt.Sprintf("%s, %s, auto-stop %s: %d of %d servers asked", c.Vantage.Name, c.Strategy, c.Plan.AutoStop,
			len(results), len(c.Vantage.Servers)))
	f.axes()
	f.dots("ordered", blue, ordered)
	f.dots("calibration", orange, calibration)
	f.line("bottom", black, "none", lowest)
	f.line("limit", red, "4 3", []point{{0, limit}, {end, limit}})
	if order.Summary().AutoStopped {
		f.line("stop", red, "none", []point{{end, 0}, {end, min(2*limit, f.yMax)}})
	}
	return nil
}

// courses sorts the results by their part in the picture.
func courses(results []discovery.Result, o discovery.PlanOptions) (calibration, ordered, lowest []point) {
	share := cmp.Or(o.Percentile, bottomShare)
	var last []time.Duration
	every := max(1, len(results)/linePoints)
	for i, r := range results {
		if r.State != discovery.Answered {
			continue
		}
		p := point{float64(r.Order), discovery.MS(r.RTT)}
		if r.Phase == discovery.Calibration {
			calibration = append(calibration, p)
			continue
		}
		ordered = append(ordered, p)
		if last = append(last, r.RTT); len(last) > o.Window {
			last = last[1:]
		}
		if len(last) == o.Window && i%every == 0 {
			lowest = append(lowest, point{p.x, discovery.MS(calibrated.Bottom(last, share))})
		}
	}
	return calibration, ordered, lowest
}

// frame is a panel's axes, from 0 to the highest values, and its contents.
type frame struct {
	out        *bytes.Buffer
	xMax, yMax float64
	named      int // lines of the legend so far
}

func (f *frame) x(v float64) float64 { return left + v/f.xMax*(panelWidth-left-right) }
func (f *frame) y(v float64) float64 {
	return panelHeight - bottom - v/f.yMax*(panelHeight-top-bottom)
}

// text writes at a point. anchor says which part of the text is there.
func (f *frame) text(x, y float64, anchor, text string) {
	fmt.Fprintf(f.out, `<text x="%s" y="%s" text-anchor="%s">`, length(x), length(y), anchor)
	xml.EscapeText(f.out, []byte(text)) // fails only as the buffer does, which does not
	f.out.WriteString("</text>\n")
}

// axes draws both axes, with a number at every step and their units.
func (f *frame) axes() {
	fmt.Fprintf(f.out, `<path d="M%s %sV%sH%s" fill="none" stroke="#000000"/>`+"\n", length(left), length(top),
		length(f.y(0)), length(f.x(f.xMax)))
	for v := 0.0; v <= f.xMax; v += step(f.xMax) {
		f.text(f.x(v), f.y(0)+letter, "middle", number(v))
	}
	for v := 0.0; v <= f.yMax; v += step(f.yMax) {
		f.text(left-5, f.y(v)+4, "end", number(v))
	}
	f.text(f.x(f.xMax/2), panelHeight-letter, "middle", "probe")
	f.text(left, top-2, "end", "RTT (ms)")
}

// step returns the distance of an axis' numbers: one, two or five times a power of ten, for four to
// nine of them.
func step(most float64) float64 {
	const fewest = 4
	tens := math.Pow(10, math.Floor(math.Log10(most/fewest)))
	for _, times := range []float64{5, 2} {
		if most/(times*tens) >= fewest {
			return times * tens
		}
	}
	return tens
}

// legend returns the point of the next sample. Its name stands to the right of it.
func (f *frame) legend(name string) (x, y float64) {
	const before, sample = 15, 24
	x, y = f.x(f.xMax)+before, top+float64(f.named*letter)
	f.named++
	f.text(x+sample, y+4, "start", name)
	return x, y
}

// dots draws a square for each point, all in one path.
func (f *frame) dots(name, colour string, points []point) {
	if len(points) == 0 {
		return
	}
	x, y := f.legend(name)
	fmt.Fprintf(f.out, `<rect x="%s" y="%s" width="%d" height="%[3]d" fill="%s"/>`+"\n", length(x+legendDot),
		length(y-legendDot/2), legendDot, colour)
	fmt.Fprintf(f.out, `<path fill="%s" d="`, colour)
	for _, p := range points {
		fmt.Fprintf(f.out, "M%s %sh%sv%[3]sh-%[3]sz", length(f.x(p.x)-dot/2), length(f.y(p.y)-dot/2), length(dot))
	}
	f.out.WriteString("\"/>\n")
}

// line draws a line through the points. dashes are SVG's, or none.
func (f *frame) line(name, colour, dashes string, points []point) {
	if len(points) == 0 {
		return
	}
	style := fmt.Sprintf(`fill="none" stroke="%s" stroke-dasharray="%s"`, colour, dashes)
	x, y := f.legend(name)
	fmt.Fprintf(f.out, `<path %s d="M%s %sh%d"/>`+"\n", style, length(x), length(y), 3*legendDot)
	fmt.Fprintf(f.out, `<polyline %s points="`, style)
	for _, p := range points {
		fmt.Fprintf(f.out, "%s,%s ", length(f.x(p.x)), length(f.y(p.y)))
	}
	f.out.WriteString("\"/>\n")
}

// length formats a length in SVG, to a tenth.
func length(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
