package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// These hints tell the operator what to do while JetStream stores nothing.
const (
	hintConnect = "no NATS server answers: look whether nats-server runs, and whether this host reaches it"
	hintOff     = "JetStream is off on the NATS servers, and their log says why: nats-server shuts it down when its disk is full, " +
		"and does not start it again; free the disk, then restart nats-server (docs/serve/run.md, When JetStream is lost)"
	hintSpace = "the NATS servers have no space: raise max_file_store or free the disk; where the log of " +
		"nats-server says that JetStream was shut down, restart it (docs/serve/run.md, When JetStream is lost)"
	hintDamaged = "stop nats-server there, move its store's folder aside and start it: it copies from the others (docs/serve/run.md, " +
		"When JetStream is lost)"
	hintTaken = "give each host a --node of its own"
)

// hint returns what the operator can do about an error of JetStream. Nothing answers a message if
// JetStream is off, and with several servers also if the stream has no leader.
func (c *Cluster) hint(err error) string {
	if errors.Is(err, jetstream.ErrNoStreamResponse) && isAlone(c.hosts.CachedInfo()) {
		err = jetstream.ErrJetStreamNotEnabled
	}
	return hintFor(err, c.conn.IsConnected(), c.replicas.hint(c.conn.ConnectedServerName()))
}

// hintFor returns the hint for an error; servers is the one if most of them may be lost.
func hintFor(err error, isConnected bool, servers string) string {
	switch {
	case errors.Is(err, errNameTaken):
		return hintTaken
	case !isConnected, errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrConnectionReconnecting):
		return hintConnect
	case isFull(err):
		return hintSpace
	case isOff(err):
		return hintOff
	}
	return servers
}

// isOff reports whether no server has JetStream running.
func isOff(err error) bool {
	return errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) ||
		errors.Is(err, nats.ErrNoResponders)
}

// tellOutage logs that JetStream stores nothing, at once and each minute, and also when it works
// again. err is the error of the newest attempt to renew the lease.
func (c *Cluster) tellOutage(err error) {
	now := c.config.Clock.Now()
	if trusted, _ := c.Trust(); trusted {
		if lasted, wasTold := c.outage.Ends(now); wasTold {
			c.log.Info("JetStream keeps rooms again: all of this host's go on", "after", lasted.Round(time.Second))
		}
		return
	}
	if err == nil || errors.Is(err, context.Canceled) {
		return // it is back and this host is catching up, or the host ends
	}
	since, tell := c.outage.Fails(now)
	if tell {
		c.log.Error("JetStream keeps nothing: all rooms of this host wait, players read so, and nobody can open one",
			"for", now.Sub(since).Round(time.Second), "error", withoutPrefix(err), "hint", c.hint(err))
	}
}

// tellWaiting logs that a starting host waits for JetStream, at once and each minute.
func (c *Cluster) tellWaiting(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	now := c.config.Clock.Now()
	if since, tell := c.outage.Fails(now); tell {
		c.log.Warn("JetStream does not answer yet: this host waits for it, and serves nobody meanwhile", "for",
			now.Sub(since).Round(time.Second), "error", withoutPrefix(err), "hint", c.hint(err))
	}
}
