package memory

import (
	"math"
	"slices"
	"time"

	"muster/discovery/plan/topology"
)

// Forecast is what earlier sessions tell of a player's RTTs to the addresses below a node.
type Forecast struct {
	Node topology.Node
	// MS is the mean, and SD the standard deviation of an address's RTT from it, in ms.
	MS, SD float64
	// Error is the standard deviation of MS from the mean of all addresses below the node, in ms. It
	// is less than SD, which includes how far the addresses are from that mean.
	Error float64
	// Age is the age of the oldest result in the forecast.
	Age time.Duration
	// IsVague says that nobody measured it: see [Guess].
	IsVague bool
}

// usual is how far an address is from the mean of the part that it shares with others, in ms, by
// the part's level. It counts like usualWeight addresses. These are the errors that coordinate's
// predictor begins with.
var usual = [topology.Levels]float64{60, 28, 14, 8, 5}

const usualWeight = 3

// remeasureError is how far the mean of a part is off, in ms, although all its addresses were measured
// a moment ago. A second measurement would give another mean.
const remeasureError = 0.5

// drift is how far a route changes in the long run, as a share of its RTT: the standard deviation
// after a time that is long against settles.
const (
	drift   = 0.12
	settles = 300 * 24 * time.Hour
)

// Forecasts returns what memories say of the parts of a list, in the order of its tree. A part
// without a cell has the mean of the parts below it. Of two cells for a part the one of the later
// memory counts.
func Forecasts(tree *topology.Tree, now time.Time, memories ...[]Cell) []Forecast {
	known := map[Part]*Cell{}
	for _, cells := range memories {
		for i := range cells {
			if c := &cells[i]; age(*c, now) < forgotten {
				known[c.Part] = c
			}
		}
	}
	if len(known) == 0 {
		return nil
	}
	below := make([]moments, tree.Nodes()) // of the parts below a node
	oldest := make([]time.Duration, tree.Nodes())
	var forecasts []Forecast
	for node := topology.Node(tree.Nodes() - 1); node > topology.Root; node-- { // children first
		l := tree.Level(node)
		if l > topology.Prefix24 {
			continue
		}
		m, spread, n, old := 0.0, 0.0, 0, oldest[node]
		if part, is := partOf(tree, node); is && known[part] != nil {
			c := known[part]
			m, spread, n, old = c.MS, c.Spread, c.Count, age(*c, now)
		} else if b := below[node]; b.n > 0 {
			m, spread, n = b.mean(), b.deviation(), b.n
		} else {
			continue
		}
		parent := tree.Parent(node)
		below[parent], oldest[parent] = below[parent].plus(m), max(oldest[parent], old)
		own := (usualWeight*usual[l]*usual[l] + float64(n)*spread*spread) / (usualWeight + float64(n))
		off := drift * m
		changed := remeasureError*remeasureError + off*off*-math.Expm1(-float64(old)/float64(settles))
		missed := 1/float64(n) - 1/float64(max(n, tree.Children(node)))
		forecasts = append(forecasts, Forecast{
			Node: node, MS: m, SD: math.Sqrt(own + changed), Error: math.Sqrt(own*missed + changed), Age: old,
		})
	}
	slices.Reverse(forecasts)
	return forecasts
}
