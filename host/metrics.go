package host

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"muster/host/wire"
)

// metrics count what a host does, under names that begin with muster_.
type metrics struct {
	registry *prometheus.Registry
	rooms    prometheus.Gauge
	peers    prometheus.Gauge
	results  prometheus.Counter
	refusals *prometheus.CounterVec
	launches *prometheus.CounterVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		rooms:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "muster_rooms", Help: "Rooms that are open."}),
		peers:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "muster_peers", Help: "Peers that are connected."}),
		results:  prometheus.NewCounter(prometheus.CounterOpts{Name: "muster_results_total", Help: "Measurements that peers reported."}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "muster_refusals_total", Help: "Peers that were turned away, by reason."}, []string{"reason"}),
		launches: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "muster_launches_total", Help: "What came of sending players to a server."}, []string{"state"}),
	}
	m.registry.MustRegister(m.rooms, m.peers, m.results, m.refusals, m.launches,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// received counts a peer's message. States of a launch that we do not know are
// left out: labels must not grow at a stranger's will.
func (m *metrics) received(message wire.Message) {
	switch message := message.(type) {
	case wire.Report:
		m.results.Add(float64(len(message.Results)))
	case wire.Launched:
		switch message.State {
		case wire.LaunchStarted, wire.LaunchDeclined, wire.LaunchByHand, wire.LaunchFailed:
			m.launches.WithLabelValues(string(message.State)).Inc()
		}
	}
}
