package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/singleflight"

	"muster/host/store"
)

const (
	// fetchTime is how long a fetch may take, and lockTime how long other hosts leave it
	// to the one that began: servers count in whole seconds.
	fetchTime = time.Minute
	lockTime  = 10 * time.Second
	// failedTime is how long the others take a failure for theirs, too.
	failedTime = 2 * time.Second
	// patience is how long somebody waits who could have an older list.
	patience = 3 * time.Second
	// lookAgain is how often a host looks whether another has fetched.
	lookAgain = 200 * time.Millisecond
	// listsInMemory are the newest lists that a host need not read again.
	listsInMemory = 64
)

// fetching is this process's part in fetching lists.
type fetching struct {
	flights singleflight.Group
	mu      sync.Mutex // guards following
	known   map[string]list
}

// list is what was fetched, and when.
type list struct {
	data []byte
	at   time.Time
	err  error // why there is none that is newer
}

func (l list) isFresh(maxAge time.Duration) bool {
	age := time.Since(l.at) // a clock that jumped makes no list newer
	return !l.at.IsZero() && age < maxAge && age > -maxAge
}

// lock is what a host says that fetches a list, or could not.
type lock struct {
	By     string `json:"by"`
	Failed string `json:"failed,omitempty"`
}

// FetchOnce returns what all hosts know under a key, such as a game's list, if it is not
// older than maxAge. Else one of them calls fetch, and the others take what it gets. Where
// that fails, or takes long, it returns what there was before, beside the error; at is
// when it was fetched. A fetch may go on when ctx has ended.
func (c *Cluster) FetchOnce(ctx context.Context, key string, maxAge time.Duration, fetch func(context.Context) ([]byte, error)) (data []byte, at time.Time, err error) {
	f := &c.fetching
	f.mu.Lock()
	old := f.known[key]
	f.mu.Unlock()
	if old.isFresh(maxAge) {
		return old.data, old.at, nil
	}
	done := f.flights.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
		defer cancel()
		stop := context.AfterFunc(c.ctx, cancel)
		defer stop()
		got := c.fetch(ctx, key, maxAge, old, fetch)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.known == nil || len(f.known) >= listsInMemory {
			f.known = map[string]list{}
		}
		if got.data != nil {
			f.known[key] = list{data: got.data, at: got.at}
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

// fetch is the newest list, fetched by this host if no other does.
func (c *Cluster) fetch(ctx context.Context, key string, maxAge time.Duration, old list, fetch func(context.Context) ([]byte, error)) list {
	for {
		newest, err := c.readList(ctx, key)
		if err == nil && !newest.at.Before(old.at) {
			old = newest
		}
		if old.isFresh(maxAge) {
			return old
		}
		at, other, err := c.tryLock(ctx, key)
		switch {
		case err == nil && other.Failed != "":
			old.err = errors.New(other.Failed)
			return old
		case err == nil && other.By != "": // is at it
			if pause(ctx, lookAgain) {
				continue
			}
			old.err = ctx.Err()
			return old
		}
		// The lock is ours, or the servers are away. Who had it before may have fetched
		// just now.
		if newest, failed := c.readList(ctx, key); failed == nil && newest.isFresh(maxAge) {
			c.writeLock(ctx, key, at, lock{}, time.Second)
			return newest
		}
		data, failed := fetch(ctx)
		if failed != nil {
			c.writeLock(ctx, key, at, lock{c.config.Node, failed.Error()}, failedTime)
			old.err = failed
			return old
		}
		got := list{data: data, at: time.Now()}
		if err == nil {
			if err := c.writeList(ctx, key, data); err != nil {
				c.log.Warn("a list is not shared", "error", err)
			}
			c.writeLock(ctx, key, at, lock{}, time.Second)
		}
		return got
	}
}

// tryLock takes the lock of a key, or says who has it.
func (c *Cluster) tryLock(ctx context.Context, key string) (at uint64, other lock, err error) {
	m, err := c.hosts.GetLastMsgForSubject(ctx, c.subject("lock", store.HashOf([]byte(key))))
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
	at, err = c.writeLock(ctx, key, at, lock{By: c.config.Node}, lockTime)
	if isWrongSequence(err) {
		return 0, lock{By: "somebody who was faster"}, nil
	}
	return at, lock{}, err
}

func (c *Cluster) writeLock(ctx context.Context, key string, over uint64, l lock, ttl time.Duration) (uint64, error) {
	data, err := json.Marshal(l)
	if err != nil {
		return 0, err
	}
	return c.publish(ctx, &nats.Msg{Subject: c.subject("lock", store.HashOf([]byte(key))), Data: data}, over, ttl)
}

// writeList shares a list: a blob, and under its key the hash of that.
func (c *Cluster) writeList(ctx context.Context, key string, data []byte) error {
	hash, err := c.Keep(ctx, data)
	if err != nil {
		return err
	}
	_, err = c.js.PublishMsg(ctx, &nats.Msg{Subject: c.subject("list", store.HashOf([]byte(key))), Data: []byte(hash)}, jetstream.WithMsgTTL(keptFor))
	return err
}

// readList is the list that was shared last, with the servers' word on when that was.
func (c *Cluster) readList(ctx context.Context, key string) (list, error) {
	m, err := c.readLarge(ctx, c.subject("list", store.HashOf([]byte(key))))
	if err != nil {
		return list{}, err
	}
	data, err := c.kept(ctx, string(m.Data))
	if err != nil {
		return list{}, fmt.Errorf("cluster: list not read: %w", err)
	}
	return list{data: data, at: m.Time}, nil
}
