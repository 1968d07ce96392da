package cluster

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// lookEvery is how often a host looks which servers keep its streams.
	lookEvery = 5 * time.Second
	// lostAfter is how long a server may lack something before the log calls it lost. A moment's
	// delay is not worth a line.
	lostAfter = 10 * time.Second
	// hardlyBehind is how many messages a server may lack while it keeps up: the leader counts a
	// message as soon as most servers have it.
	hardlyBehind = 100
)

// Replicas is how many servers should have all of a stream, and how many do: none while the stream
// has no leader, who alone knows.
type Replicas struct{ Wanted, Current int }

// spare is how many more servers may be lost before the stream stops. It is negative once it has.
func (r Replicas) spare() int { return r.Current - (r.Wanted/2 + 1) }

// replicas knows which servers keep the streams of a host, by the newest look at them.
type replicas struct {
	mu      sync.Mutex // guards following
	streams map[string]Replicas
	servers []string            // all that should keep a stream
	missing map[string]*absence // those of them that lack something
}

// absence says since when a server lacks something, and whether the log has said so.
type absence struct {
	since time.Time
	told  bool
}

// news is what the log says of a server: it is lost, or it is back and has everything again.
type news struct {
	server string
	since  time.Time
	back   bool
	least  Replicas // of the stream that can spare fewest
}

// sight is what one look at the streams showed: the servers that have all of some stream, those that
// lack something, all of them, and the stream that can spare fewest.
type sight struct {
	have, lack, all map[string]bool
	least           Replicas
}

// add notes what a stream's leader says of its servers, and returns how many have all of it. Without
// a leader nobody knows that, and only what is known to be off counts as lost.
func (s *sight) add(info *jetstream.StreamInfo) (current int) {
	if isAlone(info) {
		return 1
	}
	leader := info.Cluster.Leader
	if leader != "" {
		s.have[leader], s.all[leader] = true, true
		current++
	}
	for _, r := range info.Cluster.Replicas {
		s.all[r.Name] = true
		switch {
		case leader == "" && !r.Offline:
		case isHeard(r) && (r.Current || r.Active > 0 && r.Lag <= hardlyBehind): // a new leader has heard some never
			s.have[r.Name] = true
			current++
		default:
			s.lack[r.Name] = true
		}
	}
	return current
}

// isAlone reports whether a stream's server is in no cluster.
func isAlone(info *jetstream.StreamInfo) bool { return info.Cluster == nil || info.Cluster.Name == "" }

// isHeard reports whether the stream's leader has just heard from a server that follows it.
func isHeard(r *jetstream.PeerInfo) bool { return !r.Offline && r.Active < heardOf }

// look takes what a look at the streams showed, nil for one that did not answer, and returns what
// the log should say. While most servers of a stream are lost it says nothing: the outage is told.
func (r *replicas) look(now time.Time, infos map[string]*jetstream.StreamInfo) (told []news) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.see(infos)
	for server := range s.lack {
		if r.missing[server] == nil {
			r.missing[server] = &absence{since: now}
		}
	}
	if s.least.spare() < 0 {
		return nil
	}
	for _, server := range slices.Sorted(maps.Keys(r.missing)) {
		switch a := r.missing[server]; {
		case !s.lack[server]:
			delete(r.missing, server)
			if a.told && s.have[server] { // otherwise it no longer belongs to the cluster
				told = append(told, news{server, a.since, true, s.least})
			}
		case !a.told && now.Sub(a.since) >= lostAfter:
			a.told = true
			told = append(told, news{server, a.since, false, s.least})
		}
	}
	return told
}

// see counts the servers of each stream; the caller holds mu.
func (r *replicas) see(infos map[string]*jetstream.StreamInfo) sight {
	s := sight{map[string]bool{}, map[string]bool{}, map[string]bool{}, Replicas{Current: math.MaxInt}}
	for _, name := range slices.Sorted(maps.Keys(infos)) {
		n := Replicas{Wanted: r.streams[name].Wanted}
		if info := infos[name]; info != nil {
			n = Replicas{info.Config.Replicas, s.add(info)}
		}
		r.streams[name] = n
		if n.spare() < s.least.spare() {
			s.least = n
		}
	}
	if len(s.all) > 0 {
		r.servers = slices.Sorted(maps.Keys(s.all))
	}
	return s
}

// hint returns what to do while JetStream does not answer, or has no leader, and names the servers
// that are lost. hears is the one to which this host is connected.
func (r *replicas) hint(hears string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	servers, known := "the NATS servers", "this host hears "+hears
	if len(r.servers) > 0 {
		servers = strings.Join(r.servers, ", ")
	}
	if len(r.missing) > 0 {
		known += "; known to be lost: " + strings.Join(slices.Sorted(maps.Keys(r.missing)), ", ")
	}
	return fmt.Sprintf("JetStream needs most of %s, in reach of each other (%s): look whether nats-server runs on each, with "+
		"JetStream on, and into its log (docs/serve/run.md, When JetStream is lost)", servers, known)
}

// count returns the counts of each stream.
func (r *replicas) count() map[string]Replicas {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.streams)
}

// watchReplicas looks at the streams until the host ends.
func (c *Cluster) watchReplicas() {
	for {
		c.lookAtReplicas(func(stream jetstream.Stream) *jetstream.StreamInfo {
			ctx, cancel := context.WithTimeout(c.ctx, askTime)
			defer cancel()
			info, _ := stream.Info(ctx) // nil after an error
			return info
		})
		if !pause(c.ctx, lookEvery) {
			return
		}
	}
}

// lookAtReplicas notes which servers keep the streams, and logs which is lost or back.
func (c *Cluster) lookAtReplicas(info func(jetstream.Stream) *jetstream.StreamInfo) {
	infos := map[string]*jetstream.StreamInfo{}
	infos["rooms"], infos["hosts"], infos["large"] = info(c.rooms), info(c.hosts), info(c.large.stream)
	for _, n := range c.replicas.look(time.Now(), infos) {
		c.tell(n)
	}
}

// tell logs that a server is lost while the others go on, or that it is back.
func (c *Cluster) tell(n news) {
	if n.back {
		c.log.Info("a NATS server has everything again", "server", n.server, "after", time.Since(n.since).Round(time.Second))
		return
	}
	stops := "one more loss stops all rooms"
	if spare := n.least.spare(); spare > 0 {
		stops = fmt.Sprintf("%d more losses stop all rooms", spare+1)
	}
	c.log.Warn("a NATS server is lost, or lags behind: the rooms go on with the others", "server", n.server,
		"since", n.since.UTC().Format(time.RFC3339), "left", fmt.Sprintf("%d of %d", n.least.Current, n.least.Wanted), "hint", stops+
			": look whether nats-server runs there, and into its log; if its store is damaged (it does not start, or stays behind), "+hintDamaged)
}
