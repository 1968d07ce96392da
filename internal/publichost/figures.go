package publichost

import (
	"runtime"
	"time"

	"muster/host/cluster"
	"muster/host/metrics"
	"muster/host/store"
	"muster/internal/release"
)

// figures returns what operators watch beyond the host itself: the program, the lists, and the cluster
// if the host is in one.
func (h *Host) figures(kept store.Store) []metrics.Figure {
	ages, failing := h.Lists.Watch()
	figures := []metrics.Figure{build(release.Running().Version), ofLists(ages), {
		Name: "muster_lists_failing", Values: metrics.One(failing),
		Help: "Games whose list of servers could not be fetched within the last hour, and not since.",
	}}
	if many, is := kept.(*cluster.Cluster); is {
		figures = append(figures, ofCluster(many.Counts(), h.others.Unreached())...)
	}
	return figures
}

// build returns which program runs. A version is the release's, or empty.
func build(version string) metrics.Figure {
	return metrics.Figure{
		Name: "muster_build_info", Labels: []string{"version", "goversion"},
		Help:   "Always 1; the labels say which release of Muster runs, and what compiled it.",
		Values: []metrics.Value{{Number: 1, Labels: []string{version, runtime.Version()}}},
	}
}

// ofLists returns how old games' lists are.
func ofLists(ages map[string]time.Duration) metrics.Figure {
	figure := metrics.Figure{
		Name: "muster_list_age_seconds", Labels: []string{"game"},
		Help: "Age of the newest list of servers, for each game whose list was fetched within an hour, or should have been.",
	}
	for game, age := range ages {
		figure.Values = append(figure.Values, metrics.Value{Number: age.Seconds(), Labels: []string{game}})
	}
	return figure
}

// ofCluster returns the figures of a cluster's counts, and of hosts that this one does not reach.
func ofCluster(n cluster.Counts, unreached int) []metrics.Figure {
	wanted, current := metrics.Figure{
		Name: "muster_cluster_replicas", Labels: []string{"stream"},
		Help: "NATS servers that should have all of a stream.",
	}, metrics.Figure{
		Name: "muster_cluster_replicas_current", Labels: []string{"stream"},
		Help: "NATS servers that have all of a stream; 0 while it has no leader, or this host does not reach it.",
	}
	for stream, n := range n.Replicas {
		wanted.Values = append(wanted.Values, metrics.Value{Number: float64(n.Wanted), Labels: []string{stream}})
		current.Values = append(current.Values, metrics.Value{Number: float64(n.Current), Labels: []string{stream}})
	}
	return []metrics.Figure{wanted, current, {
		Name: "muster_cluster_trusted", Values: metrics.Yes(n.Trusted),
		Help: "1 while this host can be sure of its rooms, because its lease holds; 0 while its rooms wait.",
	}, {
		Name: "muster_cluster_connected", Values: metrics.Yes(n.Connected),
		Help: "1 while a NATS server answers this host.",
	}, {
		Name: "muster_cluster_lease_left_seconds", Values: metrics.One(n.Lease.Seconds()),
		Help: "Time for which this host may trust its lease without another renewal.",
	}, {
		Name: "muster_cluster_lease_renewals_total", Values: metrics.One(n.Renewed),
		Help: "Renewals of this host's lease that succeeded.",
	}, {
		Name: "muster_cluster_lease_failures_total", Values: metrics.One(n.Unrenewed),
		Help: "Renewals of this host's lease that failed.",
	}, {
		Name: "muster_cluster_lease_ends_total", Values: metrics.One(n.Ends),
		Help: "How often this host could no longer trust its lease, so that all its rooms waited.",
	}, {
		Name: "muster_cluster_hosts", Values: metrics.One(n.Hosts),
		Help: "Hosts with a lease, this one included.",
	}, {
		Name: "muster_cluster_rooms_orphaned", Values: metrics.One(n.Orphaned),
		Help: "Rooms that no living host has, as this host sees it.",
	}, {
		Name: "muster_cluster_hosts_unreached", Values: metrics.One(unreached),
		Help: "Hosts with a lease that do not answer this host, so that people here wait for rooms of theirs.",
	}}
}
