package publichost

import (
	"maps"
	"runtime"
	"slices"

	"muster/host/cluster"
	"muster/host/metrics"
	"muster/host/store"
	"muster/internal/release"
)

// figures returns what operators watch beyond the host itself: the program, the lists, and the cluster
// if the host is in one.
func (h *Host) figures(kept store.Store) []metrics.Figure {
	figures := []metrics.Figure{build(release.Running().Version), {
		Name: "muster_list_age_seconds", Labels: []string{"game"},
		Help: "Age of the newest list of servers, for each game whose list was fetched within an hour, or should have been.",
		Now: func() (values []metrics.Value) {
			ages, _ := h.Lists.Watch()
			for _, game := range slices.Sorted(maps.Keys(ages)) {
				values = append(values, metrics.Value{Number: ages[game].Seconds(), Labels: []string{game}})
			}
			return values
		},
	}, {
		Name: "muster_lists_failing",
		Help: "Games whose list of servers could not be fetched within the last hour, and not since.",
		Now:  metrics.One(func() int { _, failing := h.Lists.Watch(); return failing }),
	}}
	if many, is := kept.(*cluster.Cluster); is {
		figures = append(figures, ofCluster(many.Counts)...)
		figures = append(figures, metrics.Figure{
			Name: "muster_cluster_rooms_orphaned",
			Help: "Rooms that no living host has, as this host sees it.",
			Now:  metrics.One(many.Orphaned),
		}, metrics.Figure{
			Name: "muster_cluster_hosts_unreached",
			Help: "Hosts with a lease that do not answer this host, so that people here wait for rooms of theirs.",
			Now:  metrics.One(h.others.Unreached),
		})
	}
	return figures
}

// build returns which program runs. A version is the release's, or empty.
func build(version string) metrics.Figure {
	return metrics.Figure{
		Name: "muster_build_info", Labels: []string{"version", "goversion"},
		Help: "Always 1; the labels say which release of Muster runs, and what compiled it.",
		Now: func() []metrics.Value {
			return []metrics.Value{{Number: 1, Labels: []string{version, runtime.Version()}}}
		},
	}
}

// ofCluster returns the figures of a cluster's counts.
func ofCluster(counts func() cluster.Counts) []metrics.Figure {
	gauge := func(name, help string, of func(cluster.Counts) float64) metrics.Figure {
		return metrics.Figure{Name: name, Help: help, Now: metrics.One(func() float64 { return of(counts()) })}
	}
	grows := func(name, help string, of func(cluster.Counts) uint64) metrics.Figure {
		return metrics.Figure{Name: name, Help: help, Grows: true, Now: metrics.One(func() uint64 { return of(counts()) })}
	}
	return []metrics.Figure{
		gauge("muster_cluster_trusted", "1 while this host can be sure of its rooms, because its lease holds; 0 while its rooms wait.",
			func(n cluster.Counts) float64 { return one(n.Trusted) }),
		gauge("muster_cluster_connected", "1 while a NATS server answers this host.",
			func(n cluster.Counts) float64 { return one(n.Connected) }),
		gauge("muster_cluster_lease_left_seconds", "Time for which this host may trust its lease without another renewal.",
			func(n cluster.Counts) float64 { return n.Lease.Seconds() }),
		grows("muster_cluster_lease_renewals_total", "Renewals of this host's lease that succeeded.",
			func(n cluster.Counts) uint64 { return n.Renewed }),
		grows("muster_cluster_lease_failures_total", "Renewals of this host's lease that failed.",
			func(n cluster.Counts) uint64 { return n.Unrenewed }),
		grows("muster_cluster_lease_ends_total", "How often this host could no longer trust its lease, so that all its rooms waited.",
			func(n cluster.Counts) uint64 { return n.Ends }),
		gauge("muster_cluster_hosts", "Hosts with a lease, this one included.",
			func(n cluster.Counts) float64 { return float64(n.Hosts) }),
	}
}

// one is the number of a yes, 0 of a no.
func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
