// Package plot draws how simulated discoveries went, probe by probe, as figures 4
// to 9 of the 2008 papers do.
package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"muster/discovery"
	"muster/discovery/calibrated"
	"muster/discovery/plans"
	"muster/internal/sim"
)

// A picture has a panel a case, one below the other.
const (
	panelWidth  = 18 * vg.Centimeter
	panelHeight = 7 * vg.Centimeter
	margin      = vg.Centimeter / 2
	// besides leaves room for the legend.
	besides = 1.25
	// linePoints are enough for a line of that width.
	linePoints = 500
	// bottomShare of the window lies below the bottom line, as in the papers.
	bottomShare = 0.02
	// dot and legendDot are radii: in the legend a dot is large enough to be seen.
	dot       = 0.7
	legendDot = 2
)

// The colours keep apart for the colour-blind (Okabe and Ito).
var (
	blue   = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	orange = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
	black  = color.RGBA{0, 0, 0, 0xff}
	red    = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
)

// Write draws the first run of each case, at so many probes a second, as SVG.
func Write(w io.Writer, cases []sim.Case, rate float64) error {
	var panels [][]*plot.Plot
	for _, c := range cases {
		p, err := panel(c, rate)
		if err != nil {
			return err
		}
		panels = append(panels, []*plot.Plot{p})
	}
	canvas := vgsvg.New(panelWidth, panelHeight*vg.Length(len(panels)))
	tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadTop: margin, PadRight: margin, PadY: margin}
	for i, row := range plot.Align(panels, tiles, draw.New(canvas)) {
		panels[i][0].Draw(row[0])
	}
	_, err := canvas.WriteTo(w)
	return err
}

func panel(c sim.Case, rate float64) (*plot.Plot, error) {
	order, err := plans.New(c.Strategy, c.Vantage.Topology(), c.Plan)
	if err != nil {
		return nil, err
	}
	results, _ := c.Vantage.Replay(order, sim.ReplayOptions{Rate: rate, Run: c.Plan.Seed})
	calibration, ordered, bottom := courses(results, c.Plan)
	end, limit := float64(len(results)), ms(c.Plan.MaxRTT)
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s, %s, auto-stop %s: %d of %d servers asked", c.Vantage.Name, c.Strategy, c.Plan.AutoStop, len(results), len(c.Vantage.Servers))
	p.X.Label.Text, p.Y.Label.Text = "probe", "RTT (ms)"
	p.X.Min, p.X.Max, p.Y.Min = 0, end*besides, 0
	p.Legend.Top = true
	var stop plotter.XYs // where auto-stop fired, if it did
	if order.Summary().AutoStopped {
		stop = plotter.XYs{{X: end, Y: 0}, {X: end, Y: 2 * limit}}
	}
	for _, line := range []struct {
		name   string
		xys    plotter.XYs
		rgba   color.RGBA
		isDots bool
		dashes []vg.Length
	}{
		{name: "ordered", xys: ordered, rgba: blue, isDots: true},
		{name: "calibration", xys: calibration, rgba: orange, isDots: true},
		{name: "bottom", xys: bottom, rgba: black},
		{name: "limit", xys: plotter.XYs{{X: 0, Y: limit}, {X: end, Y: limit}}, rgba: red, dashes: []vg.Length{4, 3}},
		{name: "stop", xys: stop, rgba: red},
	} {
		switch {
		case len(line.xys) == 0:
		case line.isDots:
			err = addDots(p, line.name, line.xys, line.rgba)
		default:
			err = addLine(p, line.name, line.xys, draw.LineStyle{Color: line.rgba, Width: 1, Dashes: line.dashes})
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// courses sorts the results by what they are in the picture.
func courses(results []discovery.Result, o discovery.PlanOptions) (calibration, ordered, bottom plotter.XYs) {
	share := cmp.Or(o.Percentile, bottomShare)
	var last []time.Duration
	every := max(1, len(results)/linePoints)
	for i, r := range results {
		if r.State != discovery.Answered {
			continue
		}
		point := plotter.XY{X: float64(r.Order), Y: ms(r.RTT)}
		if r.Phase == discovery.Calibration {
			calibration = append(calibration, point)
			continue
		}
		ordered = append(ordered, point)
		if last = append(last, r.RTT); len(last) > o.Window {
			last = last[1:]
		}
		if len(last) == o.Window && i%every == 0 {
			bottom = append(bottom, plotter.XY{X: point.X, Y: ms(calibrated.Bottom(last, share))})
		}
	}
	return calibration, ordered, bottom
}

func addDots(p *plot.Plot, name string, xys plotter.XYs, rgba color.RGBA) error {
	dots, err := plotter.NewScatter(xys)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: rgba, Radius: dot, Shape: draw.BoxGlyph{}}
	p.Add(dots)
	sample := *dots
	sample.Radius = legendDot
	p.Legend.Add(name, &sample)
	return nil
}

func addLine(p *plot.Plot, name string, xys plotter.XYs, style draw.LineStyle) error {
	line, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	line.LineStyle = style
	p.Add(line)
	p.Legend.Add(name, line)
	return nil
}
