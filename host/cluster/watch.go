package cluster

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// heartbeat is how often the servers say that an idle watch is alive. A watch begins again
	// after two missing heartbeats.
	heartbeat = time.Second
	// watchExpiry is how long a watch's request for more messages is valid.
	watchExpiry = 10 * time.Second
	// watchLife is how long the servers keep a watch without a reader.
	watchLife = 30 * time.Second
	// unreadAfter is how long a watch waits, at first and at most, for messages that its server counts
	// and does not send: it cannot read them if its disk is damaged.
	unreadAfter, unreadAtMost = 5 * time.Second, 40 * time.Second
	// shortTries is how often a watch looks for a server that counts as many messages as the leader.
	shortTries = 30
	// heardOf is how recently a stream's leader must have heard from a server that follows it.
	// Leaders speak each second.
	heardOf = 3 * time.Second
)

// errGap is the error of a watch that has missed messages.
var errGap = errors.New("messages were missed")

// errUnread is the error of a watch on a server that cannot read all messages.
var errUnread = errors.New("the server does not send all that it counts")

// errBehind is the error of a watch on a server that lags behind the others.
var errBehind = errors.New("the server has not caught up with the others")

// isCurrent reports whether the watch's server has everything that the stream's leader has. A watch
// may be on any of the stream's servers. A server that has just started or was cut off sends fewer
// messages, and claims that these are all.
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
		return true // it is the only server, or the leader
	}
	return slices.ContainsFunc(info.Cluster.Replicas, func(r *jetstream.PeerInfo) bool {
		return r.Name == on.Leader && r.Current && !r.Offline && r.Lag == 0
	})
}

// isLed reports whether a stream's leader has most of its servers behind it. A leader that was cut
// off believes in itself until it learns of the next one.
func isLed(info *jetstream.StreamInfo) bool {
	if info.Cluster == nil {
		return true
	}
	behind := 1
	for _, r := range info.Cluster.Replicas {
		if r.Current && isHeard(r) {
			behind++
		}
	}
	return 2*behind > len(info.Cluster.Replicas)+1
}

// watch reports the content of a stream.
type watch struct {
	log         *slog.Logger
	directory   *directory
	stream      jetstream.Stream
	subject     string // ends in *
	headersOnly bool
	isAll       bool // all of the stream's messages have such a subject
	// mark, unless nil, writes such a message, so that the watch can tell that its server is not behind.
	mark func(context.Context) (uint64, error)
	// listed is called once, when tell has been called for all existing messages, or for all that any
	// server sends. whole is told whether it has been called for all of them. tell is called for each
	// message; lost, unless nil, when the servers have lost some.
	listed func()
	whole  func(bool)
	tell   func(name string, header nats.Header, data []byte, seq uint64)
	lost   func()

	last     uint64        // the last message that was reported
	patience time.Duration // with a server that does not send all that it counts
	short    int           // how many servers counted too few messages
}

// run reports the newest message of each subject, and each message that follows, until the host
// ends. After a failure it continues behind the last message that it reported. If a server cannot read
// all messages, it begins again, mostly on another one.
func (w *watch) run(ctx context.Context) {
	w.patience = unreadAfter
	for ctx.Err() == nil {
		if err := w.follow(ctx); err != nil && ctx.Err() == nil {
			w.log.Debug("watching again", "subject", w.subject, "error", err)
			pause(ctx, 5*retryPause+apart(retryPause, w.directory.self.node, w.subject))
		}
	}
}

// follow runs one watch, which begins behind the last reported message.
func (w *watch) follow(life context.Context) error {
	w.directory.mu.Lock()
	restart := w.directory.restart
	w.directory.mu.Unlock()
	until, cancel := context.WithCancelCause(life)
	var waiter sync.WaitGroup
	defer waiter.Wait()
	defer cancel(nil)
	waiter.Go(func() {
		select {
		case <-restart:
			cancel(nil)
		case <-until.Done():
		}
	})
	consumer, all, err := w.begin(until)
	if consumer != nil {
		name := consumer.CachedInfo().Name
		defer func() {
			if life.Err() != nil {
				return // in watchLife the servers forget it by themselves
			}
			ctx, cancel := context.WithTimeout(life, askTime/4)
			defer cancel()
			w.stream.DeleteConsumer(ctx, name)
		}()
	}
	if err != nil {
		return err
	}
	defer w.whole(false)
	unread := time.AfterFunc(w.patience, func() { cancel(errUnread) })
	defer unread.Stop()
	note := func(subject string, pending uint64) {
		isComplete, isNearer := all.note(subject, w.last, pending)
		switch {
		case isComplete:
			unread.Stop()
			w.patience = unreadAfter
			w.whole(!all.isShort)
			w.listed()
		case isNearer:
			unread.Reset(w.patience)
		}
	}
	note("", consumer.CachedInfo().NumPending)
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
		if errors.Is(context.Cause(until), errUnread) {
			w.log.Warn("a NATS server does not send all that it counts: its store may be damaged", "stream", w.stream.CachedInfo().Config.Name,
				"server", serverOf(consumer), "hint", hintDamaged)
			if w.patience == unreadAtMost { // none does
				w.listed()
			}
			w.last, w.patience = 0, min(2*w.patience, unreadAtMost)
			return errUnread
		}
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
		note(m.Subject(), at.NumPending)
	}
}

// begin asks for what follows the last reported message, and returns what has to come until that is all. On an
// error the servers may have the consumer already.
func (w *watch) begin(until context.Context) (consumer jetstream.Consumer, all listing, err error) {
	config := jetstream.ConsumerConfig{
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: watchLife,
		FilterSubject: w.subject, HeadersOnly: w.headersOnly, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy,
	}
	if w.last > 0 {
		if err := w.rewound(until); err != nil {
			return nil, all, err
		}
	}
	if w.last > 0 {
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, w.last+1
	}
	ctx, cancel := context.WithTimeout(until, askTime)
	defer cancel()
	all = listing{heard: map[string]bool{}, rest: math.MaxUint64}
	if w.mark != nil {
		if all.passes, err = w.mark(ctx); err != nil {
			return nil, all, err
		}
	}
	if w.last == 0 && w.isAll {
		info, err := w.stream.Info(ctx)
		if err != nil {
			return nil, all, err
		}
		all.subjects = info.State.NumSubjects
	}
	if consumer, err = w.stream.CreateConsumer(ctx, config); err != nil {
		return nil, all, err
	}
	pending := consumer.CachedInfo().NumPending
	if all.isShort = pending < all.subjects; !all.isShort {
		w.short = 0
	} else if w.short++; w.short < shortTries { // otherwise it is the leader that counts wrongly
		return consumer, all, errBehind
	}
	all.subjects = min(all.subjects, pending)
	if !isCurrent(until, w.stream, consumer) {
		return consumer, all, errBehind
	}
	return consumer, all, nil
}

// listing is what a server has to send until a watch has everything.
type listing struct {
	passes   uint64          // a message that has to come
	subjects uint64          // how many subjects have to have one
	isShort  bool            // the server counts fewer than the leader
	heard    map[string]bool // whose messages have come, until there are enough
	rest     uint64          // how few messages were still to come
}

// note notes the newest message, with its subject, its sequence and how many are to come by the server's word;
// the subject is empty before the first. It returns whether that is everything, or less is to come than ever.
func (l *listing) note(subject string, seq, pending uint64) (isComplete, isNearer bool) {
	if subject != "" && uint64(len(l.heard)) < l.subjects {
		l.heard[subject] = true
	}
	if pending == 0 && seq >= l.passes && uint64(len(l.heard)) >= l.subjects {
		l.rest = math.MaxUint64
		return true, false
	}
	isNearer = pending < l.rest
	l.rest = min(l.rest, pending)
	return false, isNearer
}

// rewound starts from the beginning if the stream ends before the last message that this host has
// seen. Then the stream was made again, or has lost messages.
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

// serverOf returns the name of the server on which a watch is, "" if it is in no cluster.
func serverOf(consumer jetstream.Consumer) string {
	if on := consumer.CachedInfo().Cluster; on != nil {
		return on.Leader
	}
	return ""
}

// isToken reports whether a text may stand between two dots of a subject.
func isToken(text string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsAny(text, ".*> \t\r\n\x00")
}
