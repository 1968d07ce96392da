package cluster

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// heartbeat is how often the servers say that a watch is alive while there is
	// nothing to say; after two that do not come it begins again.
	heartbeat = time.Second
	// watchExpiry is how long a watch's request for more stands.
	watchExpiry = 10 * time.Second
	// watchLife is how long the servers keep a watch that nobody reads.
	watchLife = 30 * time.Second
	// heardOf is when a stream's leader has last heard of a server that is with it: leaders
	// speak each second.
	heardOf = 3 * time.Second
)

// errGap is the error of a watch that has missed messages.
var errGap = errors.New("messages were missed")

// errBehind is the error of a watch on a server that has not all there is.
var errBehind = errors.New("the server has not caught up with the others")

// isCurrent reports whether the server that a watch is on has all that the stream's leader
// has. A watch is on one server, any of the stream's: one that was just started again, or
// was cut off, tells less, and says that this is all.
func isCurrent(ctx context.Context, stream jetstream.Stream, consumer jetstream.Consumer) bool {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	info, err := stream.Info(ctx) // the leader's word
	if err != nil {
		return false
	}
	on := consumer.CachedInfo().Cluster
	switch {
	case !isLed(info):
		return false
	case info.Cluster == nil || on == nil || on.Leader == info.Cluster.Leader:
		return true // there is but one server, or it is the leader
	}
	return slices.ContainsFunc(info.Cluster.Replicas, func(r *jetstream.PeerInfo) bool {
		return r.Name == on.Leader && r.Current && !r.Offline && r.Lag == 0
	})
}

// isLed reports whether whoever speaks for a stream has most of its servers behind it. One
// that was cut off takes itself for the leader until it hears of the next.
func isLed(info *jetstream.StreamInfo) bool {
	if info.Cluster == nil {
		return true
	}
	behind := 1
	for _, r := range info.Cluster.Replicas {
		if r.Current && !r.Offline && r.Active < heardOf {
			behind++
		}
	}
	return 2*behind > len(info.Cluster.Replicas)+1
}

// watch tells of what a stream has.
type watch struct {
	log         *slog.Logger
	directory   *directory
	stream      jetstream.Stream
	subject     string // ends in *
	headersOnly bool
	// listed says, once, that all were told that were there; tell tells of a message; lost,
	// if it is not nil, says that the servers have lost some.
	listed func()
	tell   func(name string, header nats.Header, data []byte, seq uint64)
	lost   func()

	last uint64 // the message that it told of last
}

// run tells of the newest message of each subject, and of each that follows, until the
// host ends. Whatever goes wrong, it goes on behind the last that it told of. When all
// have been told that were there, it says so, once.
func (w *watch) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.follow(ctx); err != nil && ctx.Err() == nil {
			w.log.Debug("watching again", "subject", w.subject, "error", err)
			pause(ctx, 5*retryPause)
		}
	}
}

// follow is one try of watch, which begins behind the last message.
func (w *watch) follow(life context.Context) error {
	w.directory.mu.Lock()
	restart := w.directory.restart
	w.directory.mu.Unlock()
	until, cancel := context.WithCancel(life)
	var waiter sync.WaitGroup
	defer waiter.Wait()
	defer cancel()
	waiter.Go(func() {
		select {
		case <-restart:
			cancel()
		case <-until.Done():
		}
	})
	config := jetstream.ConsumerConfig{
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: watchLife,
		FilterSubject: w.subject, HeadersOnly: w.headersOnly, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy,
	}
	if w.last > 0 {
		if err := w.rewound(until); err != nil {
			return err
		}
	}
	if w.last > 0 {
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, w.last+1
	}
	ctx, asked := context.WithTimeout(until, askTime)
	consumer, err := w.stream.CreateConsumer(ctx, config)
	asked()
	if err != nil {
		return err
	}
	name := consumer.CachedInfo().Name
	defer func() {
		if life.Err() != nil {
			return // in watchLife the servers forget it by themselves
		}
		ctx, cancel := context.WithTimeout(life, askTime/4)
		defer cancel()
		w.stream.DeleteConsumer(ctx, name)
	}()
	if !isCurrent(until, w.stream, consumer) {
		return errBehind
	}
	if consumer.CachedInfo().NumPending == 0 {
		w.listed()
	}
	messages, err := consumer.Messages(jetstream.PullHeartbeat(heartbeat), jetstream.PullExpiry(watchExpiry),
		jetstream.WithMessagesErrOnMissingHeartbeat(true))
	if err != nil {
		return err
	}
	defer messages.Stop()
	defer context.AfterFunc(until, messages.Stop)()
	prefix := len(w.subject) - len("*")
	for told := uint64(1); ; told++ {
		m, err := messages.Next()
		if err != nil {
			return err
		}
		at, err := m.Metadata()
		if err != nil {
			return err
		}
		if at.Sequence.Consumer != told {
			return errGap
		}
		w.last = at.Sequence.Stream
		w.tell(m.Subject()[prefix:], m.Headers(), m.Data(), at.Sequence.Stream)
		if at.NumPending == 0 {
			w.listed()
		}
	}
}

// rewound begins anew where the stream has not come as far as this host has seen: it was
// made again, or has lost what it had.
func (w *watch) rewound(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	info, err := w.stream.Info(ctx)
	switch {
	case err != nil || info.State.LastSeq >= w.last:
		return err
	case !isLed(info):
		return errBehind
	}
	w.log.Error("NATS has lost messages", "stream", info.Config.Name, "of", w.last, "left", info.State.LastSeq)
	if w.last = 0; w.lost != nil {
		w.lost()
	}
	return nil
}

// isToken reports whether a text may stand between two dots of a subject.
func isToken(text string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsAny(text, ".*> \t\r\n\x00")
}
