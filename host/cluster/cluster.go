// Package cluster keeps the rooms of many hosts in NATS JetStream. As [store.Store] demands, each
// room has one owner at a time:
//
//	host a ──┐ Save: compare and set                   ┌──▶ directory of a
//	         ├──▶ room.BAKODI: epoch 7, owner a, data ─┼──▶ directory of b   (headers only)
//	host b ──┘ Claim: epoch 8, owner b                 └──▶ …
//	         ├──▶ host.a, host.b: leases, 3 s, renewed each second
//	         └──▶ part.…, blob.…, list.…: what is large
//
// Ownership never rests on a clock. Each write of a room names the sequence of the one before it,
// and JetStream refuses the write if another came between. A host that claims a room writes the
// next epoch, and from then on the previous owner can write nothing. The lease only says when other
// hosts may claim, and when an owner must pause. An unchanged room costs nothing, because leases
// belong to hosts and not to rooms.
//
// # Promises
//
// What Save has acknowledged is in the memory of most of the servers that keep the stream, as many
// as Replicas. JetStream acknowledges before it syncs its files, which it does every two minutes
// unless sync_interval is set. With three replicas, acknowledged data survives the loss of any one
// server with its disk, at any moment. It also survives an orderly stop of all servers, and kills
// of their processes. It does not survive a power loss of most servers within the same two minutes.
// For that, set sync_interval: always in the servers' configuration, which makes saves slower. With
// one replica the same holds for the one server. If a server has lost acknowledged data, an owner
// that still has the room writes it again.
//
// A host calls a room unknown only if its directory is whole, and no server that has led the stream
// since has found the room: one damaged server says that there is no message where it cannot read one.
//
// # What is forgotten
//
// End replaces a room by a tombstone with its code, and purges its parts. After 30 days the
// tombstone is gone, too. Blobs and lists hold data on game servers, not on players. JetStream's
// files keep replaced messages until it compacts them, which it does as they fill up.
package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"muster/host/store"
	"muster/internal/clock"
)

// Config says where the cluster is and which host this is.
type Config struct {
	// URL lists the NATS servers, separated by commas: nats://, tls:// or wss://.
	URL string
	// Credentials is the file with the credentials that the servers ask for, and CA the file with
	// the certificates of their authority. Both may be empty.
	Credentials, CA string
	// Node is this host's name in the cluster. No other living host has it.
	Node string
	// Replicas is how many servers keep a copy of everything; 0 stands for as many as there are, at
	// most three.
	Replicas int
	// Prefix begins all subjects and the names of all streams; empty stands for muster. Hosts with
	// different prefixes know nothing of each other.
	Prefix string
	// Takes is the newest version of a saved room that this host reads.
	Takes int
	// Door returns the text of the lease that tells other hosts how to reach this one. seen is the
	// address at which NATS sees this host, nil if NATS does not say. A nil Door stands for a host
	// that others cannot reach.
	Door func(seen net.IP) string
	// Logger receives messages for operators; nil discards them.
	Logger *slog.Logger
	// Dial connects to a server, in the order of URL; nil stands for a connection over TCP, to the
	// servers in any order.
	Dial func(network, address string) (net.Conn, error)
	// Clock is this machine's clock, by which the host trusts its lease.
	Clock clock.Clock
}

// servers is the NATS servers and the prefix of this cluster's subjects.
type servers struct {
	conn   *nats.Conn
	js     jetstream.JetStream
	prefix string
}

// Cluster is this host's access to the store that all hosts share. Any goroutine may use it.
type Cluster struct {
	*servers
	config       Config
	log          *slog.Logger
	rooms, hosts jetstream.Stream
	// life tells this process from earlier and later ones with the same name.
	life   string
	door   string        // the lease's text on how others reach this host
	claims atomic.Uint64 // how many claims this process has made
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	lease     lease
	replicas  replicas
	outage    store.Outage // only for the goroutine that keeps the lease
	directory directory
	large     large
	lists     *lists
}

// Open joins the cluster under the node's name. If a predecessor crashed, it waits until that one's
// lease has ended, which takes [leaseTime] at most. It also waits while JetStream has no leader.
func Open(ctx context.Context, config Config) (*Cluster, error) {
	config.Prefix = cmp.Or(config.Prefix, "muster")
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	c := &Cluster{servers: &servers{prefix: config.Prefix}, config: config, log: config.Logger, life: rand.Text()[:lifeLength]}
	c.directory.init(owner{config.Node, c.life}, config.Clock)
	c.lease.clock = config.Clock
	c.replicas.streams, c.replicas.missing = map[string]Replicas{}, map[string]*absence{}
	c.lease.changed, c.lease.renew = make(chan struct{}), make(chan struct{}, 1)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if err := c.open(ctx); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// lifeLength is how many letters tell processes with the same name apart: 50 bits.
const lifeLength = 10

func (c *Cluster) open(ctx context.Context) (err error) {
	if err = c.large.init(c.servers); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	if c.conn, err = connect(ctx, c.config, c.directory.reconnected); err != nil {
		return err
	}
	if c.config.Door != nil {
		seen, _ := c.conn.GetClientIP() // an old server does not say
		c.door = c.config.Door(seen)
	}
	if c.js, err = jetstream.New(c.conn, jetstream.WithDefaultTimeout(askTime)); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	if err := c.prepare(ctx); err != nil {
		return err
	}
	c.lookAtReplicas(jetstream.Stream.CachedInfo) // counts are there from the beginning
	c.lists = &lists{servers: c.servers, large: &c.large, locks: c.hosts, node: c.config.Node, log: c.log, ctx: c.ctx}
	if err := c.takeLease(ctx); err != nil {
		return err
	}
	if err := c.list(ctx); err != nil {
		return err
	}
	if lasted, wasTold := c.outage.Ends(c.config.Clock.Now()); wasTold {
		c.log.Info("JetStream answers: this host begins", "after", lasted.Round(time.Second))
	}
	c.work.Go(c.keepLease)
	c.work.Go(c.watchReplicas)
	return nil
}

// Node returns this host's name.
func (c *Cluster) Node() string { return c.config.Node }

// Close leaves the cluster. Other hosts adopt this host's rooms at once.
func (c *Cluster) Close() error {
	c.cancel()
	c.work.Wait()
	c.endLease()
	c.stop()
	return nil
}

func (c *Cluster) stop() {
	c.cancel()
	c.work.Wait()
	if c.conn != nil {
		c.conn.Close()
	}
}

func (s *servers) subject(kind, name string) string { return s.prefix + "." + kind + "." + name }

// publish sends a message once, over the message with the given sequence, 0 over none. The message
// lives for ttl, 0 for ever.
func (s *servers) publish(ctx context.Context, m *nats.Msg, over uint64, ttl time.Duration) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err // the client would try first, and wait while it reconnects
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	options := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(over), jetstream.WithRetryAttempts(0)}
	if ttl > 0 {
		options = append(options, jetstream.WithMsgTTL(ttl))
	}
	ack, err := s.js.PublishMsg(ctx, m, options...)
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// attemptTime is how long the servers may take to acknowledge a message before it is sent again. An
// election or a dead connection may have lost it.
const attemptTime = time.Second

// isWrongSequence reports whether JetStream refused a message because another one was written
// before it.
func isWrongSequence(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == errWrongSequence || api.ErrorCode == errWrongSequenceFlight)
}
