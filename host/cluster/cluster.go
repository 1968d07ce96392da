// Package cluster keeps the rooms of many hosts in NATS JetStream, each owned by one
// host at a time, as [store.Store] has it:
//
//	host a ──┐ Save: compare and set                   ┌──▶ directory of a
//	         ├──▶ room.BAKODI: epoch 7, owner a, data ─┼──▶ directory of b   (headers only)
//	host b ──┘ Claim: epoch 8, owner b                 └──▶ …
//	         ├──▶ host.a, host.b: leases, 3 s, renewed each second
//	         └──▶ part.…, blob.…, list.…: what is large
//
// Nothing that binds rests on a clock. Each write of a room names the sequence of the
// one before it, and JetStream refuses it if there has been another: whoever claims a
// room writes the next epoch, and from then on the owner before can write nothing. The
// lease only says when others may claim, and when an owner is to pause. A room that
// nobody changes costs nothing: leases are of hosts, not of rooms.
//
// # What is promised
//
// What Save has acknowledged is in the memory of most of the servers that keep the
// stream, as many as Replicas. JetStream acknowledges before it syncs its files (each
// two minutes, if sync_interval is not set): with three replicas it survives that any one
// server is lost, disk and all, at any moment, and that all of them are stopped in order
// or their processes killed. It does not survive that most of them lose power within the
// same two minutes; sync_interval: always in the servers' configuration does, for slower
// saves. With one replica that holds for the one server. Where a server has lost what
// was acknowledged, an owner that still has the room writes it again.
//
// # What is forgotten
//
// End replaces a room by a tombstone, which has its code, and purges its parts. After 30
// days the tombstone is gone, too. Blobs and lists are of game servers, not of players.
// JetStream's files have what was replaced until it writes them anew, which it does as
// they fill up.
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
)

// Config says where the cluster is, and who this host is in it.
type Config struct {
	// URL are the NATS servers, separated by commas: nats://, tls:// or wss://.
	URL string
	// Credentials is the file of credentials that the servers ask for, CA that of the
	// certificates which signed theirs; empty where there is none.
	Credentials, CA string
	// Node is this host's name in the cluster, which no other living host has.
	Node string
	// Replicas is on how many servers everything is kept; 0 stands for as many as there
	// are, three at most.
	Replicas int
	// Prefix begins all subjects, and the names of all streams; empty stands for muster.
	// Hosts of different prefixes know nothing of each other.
	Prefix string
	// Takes is the newest version of a saved room that this host reads.
	Takes int
	// Door returns what the lease says of how other hosts reach this one, where NATS sees it
	// at an address, nil if NATS does not say; a Door that is nil is none.
	Door func(seen net.IP) string
	// Logger takes what operators may need to read; nil discards it.
	Logger *slog.Logger
}

// servers are those of NATS, and the prefix under which this cluster keeps things there.
type servers struct {
	conn   *nats.Conn
	js     jetstream.JetStream
	prefix string
}

// Cluster is this host's part in the hosts' common memory. Any goroutine may use it.
type Cluster struct {
	*servers
	config       Config
	log          *slog.Logger
	rooms, hosts jetstream.Stream
	// life tells this process from others of the same name, before and after it.
	life   string
	door   string        // what the lease says of how others reach this host
	claims atomic.Uint64 // counts this process's
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	lease     lease
	outage    store.Outage // of the goroutine that keeps the lease
	directory directory
	large     large
	lists     *lists
}

// Open joins the cluster under the node's name. It waits until the lease of a
// predecessor that crashed has ended, which takes [leaseTime] at most, and for as long as
// JetStream has no leader.
func Open(ctx context.Context, config Config) (*Cluster, error) {
	config.Prefix = cmp.Or(config.Prefix, "muster")
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	c := &Cluster{servers: &servers{prefix: config.Prefix}, config: config, log: config.Logger, life: rand.Text()[:lifeLength]}
	c.directory.init(owner{config.Node, c.life})
	c.lease.changed, c.lease.renew = make(chan struct{}), make(chan struct{}, 1)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if err := c.open(ctx); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// lifeLength is how many letters tell processes of one name apart: 50 bits.
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
	c.lists = &lists{servers: c.servers, large: &c.large, locks: c.hosts, node: c.config.Node, log: c.log, ctx: c.ctx}
	if err := c.takeLease(ctx); err != nil {
		return err
	}
	if err := c.list(ctx); err != nil {
		return err
	}
	if lasted, wasTold := c.outage.Ends(time.Now()); wasTold {
		c.log.Info("JetStream answers: this host begins", "after", lasted.Round(time.Second))
	}
	c.work.Go(c.keepLease)
	return nil
}

// Node is this host's name.
func (c *Cluster) Node() string { return c.config.Node }

// Close leaves the cluster. The rooms that this host has are adopted at once by others.
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
	c.large.close()
}

func (s *servers) subject(kind, name string) string { return s.prefix + "." + kind + "." + name }

// publish sends a message once, over the one of a sequence, 0 over none, which lives for
// ttl, or for ever if that is 0.
func (s *servers) publish(ctx context.Context, m *nats.Msg, over uint64, ttl time.Duration) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err // the client would ask first, and wait where it connects anew
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

// attemptTime is how long the servers may take to acknowledge a message before it is
// sent again: an election, or a connection that has died, may have lost it.
const attemptTime = time.Second

// isWrongSequence reports whether JetStream refused a message because of what was
// written before it.
func isWrongSequence(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == errWrongSequence || api.ErrorCode == errWrongSequenceFlight)
}
