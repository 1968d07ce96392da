package metrics

import "github.com/prometheus/client_golang/prometheus"

// Figure is a number that another part of the program knows. The metrics ask for it at each
// collection.
type Figure struct {
	// Name and Help are as Prometheus shows them. The name of a number that only grows ends in
	// _total.
	Name, Help string
	// Grows says that the number only grows.
	Grows bool
	// Labels are the names of the labels, if the figure has any. Outsiders must not be able to choose
	// their values freely.
	Labels []string
	// Now returns the numbers at this moment, none if there are none.
	Now func() []Value
}

// Value is a number, and the values of its figure's labels.
type Value struct {
	Number float64
	Labels []string
}

// One returns a function for [Figure.Now] of a figure without labels.
func One[N int | uint64 | float64](now func() N) func() []Value {
	return func() []Value { return []Value{{Number: float64(now())}} }
}

// Show adds figures to the metrics.
func (m *Metrics) Show(figures ...Figure) {
	for _, f := range figures {
		kind := prometheus.GaugeValue
		if f.Grows {
			kind = prometheus.CounterValue
		}
		m.registry.MustRegister(shown{f, kind, prometheus.NewDesc(f.Name, f.Help, f.Labels, nil)})
	}
}

// shown collects a figure.
type shown struct {
	Figure
	kind prometheus.ValueType
	desc *prometheus.Desc
}

func (s shown) Describe(to chan<- *prometheus.Desc) { to <- s.desc }

func (s shown) Collect(to chan<- prometheus.Metric) {
	for _, v := range s.Now() {
		to <- prometheus.MustNewConstMetric(s.desc, s.kind, v.Number, v.Labels...)
	}
}
