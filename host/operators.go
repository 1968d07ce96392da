package host

import (
	"net/http"
	"net/netip"

	"muster/host/access"
	"muster/host/admission"
	"muster/host/metrics"
	"muster/host/turns"
	"muster/host/wire"
)

// operators answers programs that monitor the host.
type operators struct {
	*site
	rooms *lifecycle
	// metricsFrom is [Config.MetricsFrom].
	metricsFrom []netip.Prefix
}

// serveHealth says that the host is alive.
func (operators) serveHealth(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) }

// serveReady says whether to send people here. A host that drains, or cannot save rooms, is alive
// but not ready.
func (o operators) serveReady(w http.ResponseWriter, _ *http.Request) {
	switch why := o.rooms.keeper.storeTrouble(); {
	case o.rooms.isClosed():
		http.Error(w, "draining", http.StatusServiceUnavailable)
	case why != "":
		http.Error(w, why, http.StatusServiceUnavailable)
	default:
		w.Write([]byte("ready\n"))
	}
}

// serveMetrics answers programs on this machine, and on the networks that the organiser named,
// because the metrics reveal how busy the host is.
func (o operators) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if !isFromHere(r) && !access.IsIn(o.asker(r), o.metricsFrom) {
		const why = "the figures are for this machine; the organiser says with --metrics-from who else may have them"
		http.Error(w, why, http.StatusForbidden)
		return
	}
	o.rooms.metrics.Handler().ServeHTTP(w, r)
}

// figuresOf returns the figures of whatever bounds a host: its store, processors, open connections,
// and the limits on rooms of a public host.
func figuresOf(t *turns.Turns, b admission.Bounds, rooms *lifecycle) []metrics.Figure {
	searching, waiting := t.Load()
	stay, asleep := rooms.standing()
	figures := []metrics.Figure{byPhase(rooms.stages()), {
		Name: "muster_store_up", Values: metrics.Yes(rooms.keeper.storeTrouble() == ""),
		Help: "1 while the store keeps what rooms do, 0 while it does not.",
	}, {
		Name: "muster_searches_running", Values: metrics.One(searching),
		Help: "Searches for a server that compute now, as many as there are processors at most.",
	}, {
		Name: "muster_searches_waiting", Values: metrics.One(waiting),
		Help: "Searches for a server that wait for a processor.",
	}, {
		Name: "muster_rooms_standing", Values: metrics.One(stay),
		Help: "Rooms that stay after a session, awake or asleep.",
	}, {
		Name: "muster_rooms_asleep", Values: metrics.One(asleep),
		Help: "Rooms that sleep until their next session.",
	}}
	if p := rooms.limits.Load(); p != nil {
		figures = append(figures, metrics.Figure{
			Name: "muster_rooms_limit", Values: metrics.One(p.Rooms),
			Help: "Rooms that this host holds at most, without those that sleep until their next session.",
		}, metrics.Figure{
			Name: "muster_rooms_standing_limit", Values: metrics.One(p.Standing.Rooms),
			Help: "Rooms that stay after a session which this host keeps at most.",
		})
	}
	if most := b.Connections(); most > 0 {
		figures = append(figures, metrics.Figure{
			Name: "muster_connections_limit", Values: metrics.One(most),
			Help: "Connections that this host keeps open at most: its descriptors without those that it reserves.",
		})
	}
	return figures
}

// byPhase counts rooms by phase. Phases without rooms are 0.
func byPhase(rooms []wire.Stage) metrics.Figure {
	of := map[wire.Stage]int{
		wire.Gathering: 0, wire.Listing: 0, wire.Measuring: 0, wire.Refining: 0,
		wire.Chosen: 0, wire.Launching: 0, wire.Waiting: 0, wire.Failed: 0,
	}
	for _, phase := range rooms {
		of[phase]++
	}
	figure := metrics.Figure{Name: "muster_rooms_by_phase", Help: "Rooms that are open, by phase.", Labels: []string{"phase"}}
	for phase, n := range of {
		figure.Values = append(figure.Values, metrics.Value{Number: float64(n), Labels: []string{string(phase)}})
	}
	return figure
}
