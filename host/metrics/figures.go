package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Figure is a number that another part of the program knows, or one for each value of its labels.
type Figure struct {
	// Name and Help are as Prometheus shows them. The name of a number that only grows ends in
	// _total.
	Name, Help string
	// Labels are the names of the labels, if the figure has any. Outsiders must not be able to choose
	// their values freely.
	Labels []string
	Values []Value
}

// Value is a number, and the values of its figure's labels.
type Value struct {
	Number float64
	Labels []string
}

// One returns the value of a figure without labels.
func One[N int | uint64 | float64](n N) []Value { return []Value{{Number: float64(n)}} }

// Yes returns the value of a figure that answers a question: 1 for yes, 0 for no.
func Yes(is bool) []Value {
	if is {
		return One(1)
	}
	return One(0)
}

// Show adds figures to the metrics. Each collection calls now, so that its numbers are of one moment.
func (m *Metrics) Show(now func() []Figure) { m.registry.MustRegister(figureCollector(now)) }

// figureCollector collects figures.
type figureCollector func() []Figure

// Describe describes nothing, because there may be other figures at each collection.
func (figureCollector) Describe(chan<- *prometheus.Desc) {}

func (s figureCollector) Collect(to chan<- prometheus.Metric) {
	for _, f := range s() {
		kind := prometheus.GaugeValue
		if strings.HasSuffix(f.Name, "_total") {
			kind = prometheus.CounterValue
		}
		desc := prometheus.NewDesc(f.Name, f.Help, f.Labels, nil)
		for _, v := range f.Values {
			to <- prometheus.MustNewConstMetric(desc, kind, v.Number, v.Labels...)
		}
	}
}
