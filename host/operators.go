package host

import (
	"net/http"
	"net/netip"

	"muster/host/access"
	"muster/host/admission"
	"muster/host/metrics"
	"muster/host/public"
	"muster/host/turns"
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
	switch why := o.rooms.keeper.unkept(); {
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

// figuresOf returns the figures of what bounds a host: processors, open connections, and the limits on
// rooms of a public host.
func figuresOf(t *turns.Turns, b admission.Bounds, rooms *lifecycle) []metrics.Figure {
	limit := func(of func(public.Limits) int) func() []metrics.Value {
		return metrics.One(func() int { return of(*rooms.limits.Load()) })
	}
	figures := []metrics.Figure{{
		Name: "muster_searches_running",
		Help: "Searches for a server that compute now, as many as there are processors at most.",
		Now:  metrics.One(func() int { searching, _ := t.Load(); return searching }),
	}, {
		Name: "muster_searches_waiting",
		Help: "Searches for a server that wait for a processor.",
		Now:  metrics.One(func() int { _, waiting := t.Load(); return waiting }),
	}}
	if rooms.limits.Load() != nil {
		figures = append(figures, metrics.Figure{
			Name: "muster_rooms_limit",
			Help: "Rooms that this host holds at most, without those that sleep until their next session.",
			Now:  limit(func(l public.Limits) int { return l.Rooms }),
		}, metrics.Figure{
			Name: "muster_rooms_standing_limit",
			Help: "Rooms that stay after a session which this host keeps at most.",
			Now:  limit(func(l public.Limits) int { return l.Standing.Rooms }),
		})
	}
	figures = append(figures, metrics.Figure{
		Name: "muster_rooms_standing",
		Help: "Rooms that stay after a session, awake or asleep.",
		Now:  metrics.One(func() int { stay, _ := rooms.standing(); return stay }),
	}, metrics.Figure{
		Name: "muster_rooms_asleep",
		Help: "Rooms that sleep until their next session.",
		Now:  metrics.One(func() int { _, asleep := rooms.standing(); return asleep }),
	})
	if most := b.Connections(); most > 0 {
		figures = append(figures, metrics.Figure{
			Name: "muster_connections_limit",
			Help: "Connections that this host keeps open at most: its descriptors without those that it reserves.",
			Now:  metrics.One(func() int { return most }),
		})
	}
	return figures
}
