package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/singleflight"

	"muster/host/store"
)

const (
	// fetchTime is how long a fetch may take. lockTime is how long other hosts leave a fetch to the
	// host that began it; servers count in whole seconds.
	fetchTime = time.Minute
	lockTime  = 10 * time.Second
	// failedTime is how long other hosts accept a failure as their own.
	failedTime = 2 * time.Second
	// patience is how long a caller waits who could have an older list.
	patience = 3 * time.Second
	// lookAgain is how often a host checks whether another has fetched.
	lookAgain = 200 * time.Millisecond
	// listsInMemory is how many of the newest lists a host keeps in memory.
	listsInMemory = 64
)

// lists holds what one host fetches for all, such as games' lists of servers.
type lists struct {
	*servers
	large *large
	locks jetstream.Stream
	node  string
	log   *slog.Logger
	ctx   context.Context // until the host leaves

	flights singleflight.Group
	mu      sync.Mutex // guards following
	known   map[string]list
}

// list is what was fetched, and when.
type list struct {
	data []byte
	at   time.Time
	err  error // why there is no newer one
}

func (l list) isFresh(maxAge time.Duration) bool {
	age := time.Since(l.at) // a list does not become newer when a clock jumps
	return !l.at.IsZero() && age < maxAge && age > -maxAge
}

// lock says that a host fetches a list, or failed to.
type lock struct {
	By     string `json:"by"`
	Failed string `json:"failed,omitempty"`
}

// FetchOnce returns what all hosts know under a key; see [lists.FetchOnce].
func (c *Cluster) FetchOnce(ctx context.Context, key string, maxAge time.Duration,
	fetch func(context.Context) ([]byte, error)) (data []byte, at time.Time, err error) {
	return c.lists.FetchOnce(ctx, key, maxAge, fetch)
}

// FetchOnce returns what all hosts know under a key, such as a game's list, if it is not older than
// maxAge. Otherwise one of the hosts calls fetch, and the others share the result. If that fails or
// takes long, FetchOnce returns the older list beside the error. at is when the list was fetched. A
// fetch may go on after ctx has ended.
func (l *lists) FetchOnce(ctx context.Context, key string, maxAge time.Duration,
	fetch func(context.Context) ([]byte, error)) (data []byte, at time.Time, err error) {
	l.mu.Lock()
	old := l.known[key]
	l.mu.Unlock()
	if old.isFresh(maxAge) {
		return old.data, old.at, nil
	}
	done := l.flights.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
		defer cancel()
		stop := context.AfterFunc(l.ctx, cancel)
		defer stop()
		got := l.fetch(ctx, key, maxAge, old, fetch)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.known == nil || len(l.known) >= listsInMemory {
			l.known = map[string]list{}
		}
		if got.data != nil {
			l.known[key] = list{data: got.data, at: got.at}
		}
		return got, nil
	})
	var tired <-chan time.Time
	if old.data != nil {
		tired = time.After(patience)
	}
	select {
	case r := <-done:
		got := r.Val.(list)
		return got.data, got.at, got.err
	case <-tired:
		return old.data, old.at, errors.New("cluster: the list takes long to come")
	case <-ctx.Done():
		return old.data, old.at, ctx.Err()
	}
}

// fetch returns the newest list. This host fetches it if no other does.
func (l *lists) fetch(ctx context.Context, key string, maxAge time.Duration, old list, fetch func(context.Context) ([]byte, error)) list {
	for {
		newest, err := l.readList(ctx, key)
		if err == nil && !newest.at.Before(old.at) {
			old = newest
		}
		if old.isFresh(maxAge) {
			return old
		}
		at, other, err := l.tryLock(ctx, key)
		switch {
		case err == nil && other.Failed != "":
			old.err = errors.New(other.Failed)
			return old
		case err == nil && other.By != "": // another host fetches it
			if pause(ctx, lookAgain) {
				continue
			}
			old.err = ctx.Err()
			return old
		}
		// The lock is ours, or the servers are away. The lock's previous holder may have fetched
		// just now.
		if newest, failed := l.readList(ctx, key); failed == nil && newest.isFresh(maxAge) {
			l.writeLock(ctx, key, at, lock{}, time.Second)
			return newest
		}
		data, failed := fetch(ctx)
		if failed != nil {
			l.writeLock(ctx, key, at, lock{l.node, failed.Error()}, failedTime)
			old.err = failed
			return old
		}
		got := list{data: data, at: time.Now()}
		if err == nil {
			if err := l.writeList(ctx, key, data); err != nil {
				l.log.Warn("a list is not shared", "error", err)
			}
			l.writeLock(ctx, key, at, lock{}, time.Second)
		}
		return got
	}
}

// tryLock takes the lock of a key, or says which host has it.
func (l *lists) tryLock(ctx context.Context, key string) (at uint64, other lock, err error) {
	m, err := l.locks.GetLastMsgForSubject(ctx, l.subject("lock", store.HashOf([]byte(key))))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
	case err != nil:
		return 0, other, err
	default:
		at = m.Sequence
		if json.Unmarshal(m.Data, &other); other.By != "" {
			return 0, other, nil
		}
	}
	at, err = l.writeLock(ctx, key, at, lock{By: l.node}, lockTime)
	if isWrongSequence(err) {
		return 0, lock{By: "somebody who was faster"}, nil
	}
	return at, lock{}, err
}

func (l *lists) writeLock(ctx context.Context, key string, over uint64, says lock, ttl time.Duration) (uint64, error) {
	data, err := json.Marshal(says)
	if err != nil {
		return 0, err
	}
	return l.publish(ctx, &nats.Msg{Subject: l.subject("lock", store.HashOf([]byte(key))), Data: data}, over, ttl)
}

// writeList shares a list. It writes a blob, and then the blob's hash under the key.
func (l *lists) writeList(ctx context.Context, key string, data []byte) error {
	hash, err := l.large.Keep(ctx, data)
	if err != nil {
		return err
	}
	_, err = l.js.PublishMsg(ctx, &nats.Msg{
		Subject: l.subject("list", store.HashOf([]byte(key))),
		Data:    []byte(hash),
	}, jetstream.WithMsgTTL(keptFor))
	return err
}

// readList returns the list that was shared last. The servers say when that was.
func (l *lists) readList(ctx context.Context, key string) (list, error) {
	m, err := l.large.readLarge(ctx, l.subject("list", store.HashOf([]byte(key))))
	if err != nil {
		return list{}, err
	}
	data, err := l.large.readBlob(ctx, string(m.Data))
	if err != nil {
		return list{}, fmt.Errorf("cluster: list not read: %w", err)
	}
	return list{data: data, at: m.Time}, nil
}
