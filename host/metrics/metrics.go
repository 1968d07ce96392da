// Package metrics counts what a host does, for Prometheus.
package metrics

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
)

// Metrics count what a host does, under names that begin with muster_. Outsiders cannot choose the
// value of any label.
type Metrics struct {
	// Rooms, Peers and Pages are open now. Relayed counts the peers and pages that other hosts
	// serve, and Opened the rooms that strangers have opened.
	Rooms, Peers, Pages, Relayed prometheus.Gauge
	Opened                       prometheus.Counter

	connections prometheus.Gauge

	registry  *prometheus.Registry
	results   prometheus.Counter
	refusals  *prometheus.CounterVec
	limited   *prometheus.CounterVec // refusals because of a limit, by the limit
	takeovers *prometheus.CounterVec // rooms of other hosts, by why those gave them up
	lost      prometheus.Counter     // rooms that other hosts took from this one
	launches  *prometheus.CounterVec
	saves     *prometheus.HistogramVec // how long saves took, by result
	steps     *prometheus.HistogramVec // how long a room took to handle one input, by its phase
	answers   *prometheus.HistogramVec // how long people waited for a place in a room, a page, or a request
	choices   prometheus.Histogram     // from the list to the choice
	planner   prometheus.Histogram     // one round of a search
	waits     prometheus.Histogram     // how long a room waited for its turn
}

// choiceBuckets are in seconds. Most choices take 2 to 8 s, and there half a second tells a slow
// session from a usual one.
var choiceBuckets = []float64{0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 10, 15, 30, 60, 120}

// New returns metrics with all counts at zero.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		Rooms:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "muster_rooms", Help: "Rooms that are open."}),
		Peers:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "muster_peers", Help: "Peers that are connected."}),
		Pages:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "muster_pages", Help: "Pages of rooms that are open."}),
		Opened: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "muster_rooms_opened_total",
			Help: "Rooms that strangers have opened.",
		}),
		Relayed: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "muster_relayed",
			Help: "Peers and pages that are passed on to other hosts, which have their rooms.",
		}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "muster_connections",
			Help: "Connections that people, programs and proxies have open to this host.",
		}),
		results: prometheus.NewCounter(prometheus.CounterOpts{Name: "muster_results_total", Help: "Measurements that peers reported."}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "muster_refusals_total",
			Help: "Who was turned away, by reason: limited are too many wrong codes.",
		}, []string{"reason"}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "muster_limited_total",
			Help: "Refusals because a limit was reached, by the limit. docs/serve/run.md says which setting raises it.",
		}, []string{"limit"}),
		takeovers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "muster_takeovers_total",
			Help: "Rooms that this host took over, by cause: ended (the other host died or lost its lease) or released (it gave them up).",
		}, []string{"cause"}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "muster_rooms_lost_total",
			Help: "Rooms of this host that another host took while this one still had them.",
		}),
		launches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "muster_launches_total",
			Help: "What came of sending players to a server.",
		}, []string{"state"}),
		saves: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "muster_save_seconds",
			Help:    "Time in which the store has kept a room, by result.",
			Buckets: prometheus.ExponentialBuckets(1e-4, 4, 9),
		}, []string{"result"}),
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "muster_step_seconds",
			Help:    "Time that a room takes for one thing that happens to it, by its phase.",
			Buckets: prometheus.ExponentialBuckets(1e-5, 4, 10),
		}, []string{"phase"}),
		answers: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "muster_answer_seconds",
			Help:    "Time until somebody has an answer: a join its place, a page its text, the API what is asked.",
			Buckets: prometheus.ExponentialBuckets(1e-3, 4, 8),
		}, []string{"of"}),
		choices: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "muster_choice_seconds",
			Help:    "Time from the list of servers to the choice.",
			Buckets: choiceBuckets,
		}),
		planner: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "muster_planner_seconds",
			Help:    "Time that one round of a room's search for the best server takes.",
			Buckets: prometheus.ExponentialBuckets(1e-3, 2, 10),
		}),
		waits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "muster_planner_wait_seconds",
			Help:    "Time that a room's search has waited for its turn, as the processors were at others'.",
			Buckets: prometheus.ExponentialBuckets(1e-3, 4, 9),
		}),
	}
	m.registry.MustRegister(m.Rooms, m.Peers, m.Pages, m.Relayed, m.Opened, m.connections, m.results, m.refusals, m.limited,
		m.takeovers, m.lost, m.launches, m.saves, m.steps, m.answers, m.choices, m.planner, m.waits,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.begin()
	return m
}

// begin shows each label from 0 on, because a rate does not count the event with which a series begins.
func (m *Metrics) begin() {
	for _, limit := range limits {
		m.limited.WithLabelValues(limit)
	}
	for _, cause := range []string{ended, released} {
		m.takeovers.WithLabelValues(cause)
	}
	for _, reason := range reasons {
		m.refusals.WithLabelValues(reason)
	}
	for _, state := range []wire.LaunchState{wire.LaunchStarted, wire.LaunchDeclined, wire.LaunchByHand, wire.LaunchFailed} {
		m.launches.WithLabelValues(string(state))
	}
	for _, result := range []string{kept, failed} {
		m.saves.WithLabelValues(result)
	}
	for _, of := range []string{"join", "page", "api"} {
		m.answers.WithLabelValues(of)
	}
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Refused counts a caller who was turned away, by the reason, and by the limit if there was one.
func (m *Metrics) Refused(why wire.Refusal) {
	m.refusals.WithLabelValues(why.Reason).Inc()
	if limit := limits[why.Says.Key]; limit != "" {
		m.limited.WithLabelValues(limit).Inc()
	}
}

// TakenOver counts a room that another host had before.
func (m *Metrics) TakenOver(before store.Place) {
	cause := ended
	if before.Released {
		cause = released
	}
	m.takeovers.WithLabelValues(cause).Inc()
}

// These are the causes of a takeover.
const ended, released = "ended", "released"

// Lost counts a room that another host took while this one still had it.
func (m *Metrics) Lost() { m.lost.Inc() }

// Received counts a peer's message. It ignores unknown states of a launch, because strangers must
// not be able to make more labels.
func (m *Metrics) Received(message wire.Message) {
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

// Stepped counts a step of a room in a phase, and a choice if the step led to one at a time of the room.
func (m *Metrics) Stepped(r *room.Room, in room.Input, phase wire.Stage, took time.Duration, at time.Time) {
	m.steps.WithLabelValues(string(phase)).Observe(took.Seconds())
	if _, plans := in.(room.Turn); plans {
		m.planner.Observe(took.Seconds())
	}
	if (phase == wire.Measuring || phase == wire.Refining) && r.Stage() == wire.Chosen {
		m.choices.Observe(at.Sub(r.Snapshot().Room.Began).Seconds())
	}
}

// Answering measures how long the page and the API take to answer. It leaves out WebSockets.
func (m *Metrics) Answering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		next.ServeHTTP(w, r)
		switch {
		case r.Pattern == "GET /":
			m.Answered("page", began)
		case strings.Contains(r.Pattern, " /api/"):
			m.Answered("api", began)
		}
	})
}

// Answered measures how long one answer took, by its kind.
func (m *Metrics) Answered(what string, began time.Time) {
	m.answers.WithLabelValues(what).Observe(time.Since(began).Seconds())
}

// Waited measures how long a room has waited for its turn.
func (m *Metrics) Waited(d time.Duration) { m.waits.Observe(d.Seconds()) }

// Timed returns a store that counts its saves.
func (m *Metrics) Timed(s store.Store) store.Store { return timed{s, m} }

// timed is a store that counts its saves.
type timed struct {
	store.Store
	metrics *Metrics
}

func (t timed) Create(ctx context.Context, code, id string, data []byte) (store.Claim, error) {
	began := time.Now()
	claim, err := t.Store.Create(ctx, code, id, data)
	if claim != nil {
		t.metrics.saved(began, err)
		claim = timedClaim{claim, t.metrics}
	}
	return claim, err
}

func (t timed) Claim(ctx context.Context, code string) (store.Claim, []byte, error) {
	claim, data, err := t.Store.Claim(ctx, code)
	if claim != nil {
		claim = timedClaim{claim, t.metrics}
	}
	return claim, data, err
}

type timedClaim struct {
	store.Claim
	metrics *Metrics
}

func (c timedClaim) Save(ctx context.Context, data []byte) error {
	began := time.Now()
	err := c.Claim.Save(ctx, data)
	c.metrics.saved(began, err)
	return err
}

// The results of a save.
const kept, failed = "kept", "failed"

func (m *Metrics) saved(began time.Time, err error) {
	result := kept
	if err != nil {
		result = failed
	}
	m.saves.WithLabelValues(result).Observe(time.Since(began).Seconds())
}

// Listening returns a listener that counts the open connections.
func (m *Metrics) Listening(l net.Listener) net.Listener { return counting{l, m.connections} }

type counting struct {
	net.Listener
	open prometheus.Gauge
}

func (l counting) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.open.Inc()
	return &counted{conn, sync.OnceFunc(l.open.Dec)}, nil
}

// counted is a connection that counts until it is closed.
type counted struct {
	net.Conn
	closed func()
}

func (c *counted) Close() error {
	c.closed()
	return c.Conn.Close()
}

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

// reasons are all reasons of a refusal.
var reasons = []string{
	wire.ReasonVersion, wire.ReasonCode, wire.ReasonNameTaken, wire.ReasonName, wire.ReasonFull, wire.ReasonClosed,
	wire.ReasonMalformed, wire.ReasonSecret, wire.ReasonReplaced, wire.ReasonLocked, wire.ReasonRemoved, wire.ReasonAction,
	wire.ReasonOrigin, wire.ReasonBusy, wire.ReasonLimited, wire.ReasonCrowded, wire.ReasonLeft, wire.ReasonEnded, wire.ReasonMoved,
}

// limits maps the sentence of a refusal to the limit behind it. A limit has its setting's name, if there
// is one. Only these names become labels.
var limits = map[string]string{
	"refused.rooms-taken":       "max_rooms",
	"refused.network-rooms":     "rooms_per_address",
	"refused.networks-rooms":    "rooms_per_network",
	"refused.many-opened":       "opening_rate",
	"refused.league-rooms":      "league_rooms",
	"refused.standing-taken":    "standing_rooms",
	"refused.network-stays":     "standing_per_address",
	"refused.networks-stays":    "standing_per_network",
	"refused.players-most-here": "max_players",
	"refused.places-most":       "max_places",
	"refused.own-most":          "max_servers",
	"refused.full":              "room_players",
	"refused.guests-full":       "room_guests",
	"refused.too-much":          "request_rate",
	"refused.guesses":           "wrong_codes",
	"refused.guesses-network":   "wrong_codes",
	"refused.connections":       "connections",
	"refused.crowded":           "pages",
}
