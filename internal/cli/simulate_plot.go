package cli

import (
	"cmp"
	"fmt"
	"image/color"
	"os"
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

// A picture has a panel a trial, one below the other.
const (
	panelWidth  = 18 * vg.Centimeter
	panelHeight = 7 * vg.Centimeter
	mostPanels  = 40
)

// draw draws the first run of each trial.
func (s *simulate) draw(trials []trial) error {
	if len(trials) > mostPanels {
		return hinted(usagef("--plot: %d pictures in one file", len(trials)), "choose with --strategy, --auto-stop and --place")
	}
	var panels [][]*plot.Plot
	for _, t := range trials {
		c, err := s.course(t)
		if err != nil {
			return err
		}
		panel, err := c.panel()
		if err != nil {
			return err
		}
		panels = append(panels, []*plot.Plot{panel})
	}
	canvas := vgsvg.New(panelWidth, panelHeight*vg.Length(len(panels)))
	tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadTop: vg.Centimeter / 2, PadRight: vg.Centimeter / 2, PadY: vg.Centimeter / 2}
	for i, row := range plot.Align(panels, tiles, draw.New(canvas)) {
		panels[i][0].Draw(row[0])
	}
	return writeFile(s.plot, canvas)
}

// writeFile writes a whole file, or says why not.
func writeFile(name string, content *vgsvg.Canvas) error {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, reason(err))
	}
	if _, err := content.WriteTo(file); err != nil {
		file.Close()
		return fmt.Errorf("cannot write %s: %w", name, reason(err))
	}
	return file.Close()
}

// course is how one run went, probe by probe, in milliseconds.
type course struct {
	title                string
	calibration, ordered plotter.XYs
	bottom               plotter.XYs
	probes               int
	limit                float64
	stopped              bool
}

func (s *simulate) course(t trial) (course, error) {
	plan, err := plans.New(t.strategy, t.vantage.Topology(), t.options)
	if err != nil {
		return course{}, err
	}
	results, _ := t.vantage.Replay(plan, sim.ReplayOptions{Rate: s.rate, Run: t.options.Seed})
	c := course{
		title:  fmt.Sprintf("%s, %s, auto-stop %s: %d of %d servers asked", t.vantage.Name, t.strategy, t.options.AutoStop, len(results), len(t.vantage.Servers)),
		probes: len(results), limit: ms(t.options.MaxRTT), stopped: plan.Summary().AutoStopped,
	}
	c.follow(results, t.options)
	return c, nil
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// follow sorts the results by what they are in the picture.
func (c *course) follow(results []discovery.Result, o discovery.PlanOptions) {
	window, share := o.Window, cmp.Or(o.Percentile, 0.02) // of the window lies below the bottom line, as in the papers
	var last []time.Duration
	every := max(1, len(results)/500) // points of the line
	for i, r := range results {
		if r.State != discovery.Answered {
			continue
		}
		point := plotter.XY{X: float64(r.Order), Y: ms(r.RTT)}
		if r.Phase == discovery.Calibration {
			c.calibration = append(c.calibration, point)
			continue
		}
		c.ordered = append(c.ordered, point)
		if last = append(last, r.RTT); len(last) > window {
			last = last[1:]
		}
		if len(last) == window && i%every == 0 {
			c.bottom = append(c.bottom, plotter.XY{X: point.X, Y: ms(calibrated.Bottom(last, share))})
		}
	}
}

// The colours keep apart for the colour-blind (Okabe and Ito).
var (
	blue   = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	orange = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
	black  = color.RGBA{0, 0, 0, 0xff}
	red    = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
)

// panel draws a course as figures 4 to 9 of the 2008 papers do.
func (c course) panel() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = c.title
	p.X.Label.Text, p.Y.Label.Text = "probe", "RTT (ms)"
	const besides = 1.25 // leaves room for the legend
	p.X.Min, p.X.Max, p.Y.Min = 0, float64(c.probes)*besides, 0
	p.Legend.Top = true
	for _, dots := range []struct {
		name string
		xys  plotter.XYs
		rgba color.RGBA
	}{{"ordered", c.ordered, blue}, {"calibration", c.calibration, orange}} {
		if err := addDots(p, dots.name, dots.xys, dots.rgba); err != nil {
			return nil, err
		}
	}
	lines := []struct {
		name   string
		xys    plotter.XYs
		rgba   color.RGBA
		dashes []vg.Length
	}{
		{"bottom", c.bottom, black, nil},
		{"limit", plotter.XYs{{X: 0, Y: c.limit}, {X: float64(c.probes), Y: c.limit}}, red, []vg.Length{4, 3}},
		{"stop", c.stop(), red, nil},
	}
	for _, line := range lines {
		if err := addLine(p, line.name, line.xys, line.rgba, line.dashes); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// stop is where auto-stop fired, if it did.
func (c course) stop() plotter.XYs {
	if !c.stopped {
		return nil
	}
	at := float64(c.probes)
	return plotter.XYs{{X: at, Y: 0}, {X: at, Y: 2 * c.limit}}
}

func addDots(p *plot.Plot, name string, xys plotter.XYs, rgba color.RGBA) error {
	if len(xys) == 0 {
		return nil
	}
	dots, err := plotter.NewScatter(xys)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: rgba, Radius: 0.7, Shape: draw.BoxGlyph{}}
	p.Add(dots)
	sample := *dots // in the legend, large enough to be seen
	sample.Radius = 2
	p.Legend.Add(name, &sample)
	return nil
}

func addLine(p *plot.Plot, name string, xys plotter.XYs, rgba color.RGBA, dashes []vg.Length) error {
	if len(xys) == 0 {
		return nil
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: rgba, Width: 1, Dashes: dashes}
	p.Add(line)
	p.Legend.Add(name, line)
	return nil
}
