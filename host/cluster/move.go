package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"muster/host/store"
)

const (
	// epochLeap is by how much the epoch of an imported room grows. The file may be a backup, and
	// the room may have been claimed since. Players refuse an epoch lower than one they have seen.
	epochLeap = 1 << 16
	// movesAtOnce is how many rooms are on their way at a time.
	movesAtOnce = 16
	// moveTime is how long one of them may take. Nobody waits for it to play, so it may be ten times
	// what a save may take: a slow disk of the servers would end a move that only needs time.
	moveTime = 10 * saveTime
)

// Moved counts what an import or export has done.
type Moved struct {
	// Rooms, Tombstones and Blobs were written. Present counts rooms and tombstones that were
	// already there, such as after a move that was interrupted.
	Rooms, Tombstones, Blobs, Present int
}

// count counts a room or tombstone that was taken, or that was already there. If there is an error,
// it names the room that was not taken.
func (m *Moved) count(s store.Saved, taken bool, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("room %s: %w", s.ID, err)
	case !taken:
		m.Present++
	case s.Over.IsZero():
		m.Rooms++
	default:
		m.Tombstones++
	}
	return nil
}

// Import copies the rooms, tombstones and server lists of a file that no host serves any longer.
// The rooms then have no owner, and hosts adopt them at once. Import overwrites nothing: what is
// there already stays. Another room with the same code is an error, but the remaining rooms are
// still imported. An interrupted import can be repeated.
func (c *Cluster) Import(ctx context.Context, from *store.File) (moved Moved, err error) {
	for blob, err := range from.Blobs() {
		if err == nil {
			_, err = c.Keep(ctx, blob)
		}
		if err != nil {
			return moved, err
		}
		moved.Blobs++
	}
	var all []store.Saved
	var failed []error
	for s, err := range from.All() {
		if err != nil {
			failed = append(failed, fmt.Errorf("room %s: %w", s.ID, err))
			continue
		}
		all = append(all, s)
	}
	var mu sync.Mutex // guards moved and failed
	each(len(all), movesAtOnce, func(n int) error {
		s := all[n]
		taken, err := c.take(ctx, s)
		mu.Lock()
		defer mu.Unlock()
		failed = append(failed, moved.count(s, taken, err))
		return nil
	})
	return moved, errors.Join(failed...)
}

// take writes a room or tombstone from another store, and reports whether it was missing.
func (c *Cluster) take(ctx context.Context, s store.Saved) (missing bool, err error) {
	if !isToken(s.Code) {
		return false, fmt.Errorf("cluster: %q is no code", s.Code)
	}
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	r, body, ttl := record{}, []byte(nil), time.Duration(0)
	if s.Over.IsZero() {
		there, err := c.last(ctx, s.Code) // before its parts are written for nothing
		if err != nil {
			return false, asAway(err)
		}
		if there.Epoch > 0 {
			return false, presentOr(there, s)
		}
		if r, body, err = c.large.packed(ctx, s.Code, s.Data); err != nil {
			return false, err
		}
		r.Epoch, r.ID = s.Epoch+epochLeap, s.ID
	} else {
		r.Epoch, r.Over = s.Epoch+epochLeap, true
		if ttl = (tombstoneLife - time.Since(s.Over)).Truncate(time.Second); ttl < time.Second {
			return false, nil
		}
	}
	r.Version, r.Life, r.Claim, r.Write = recordVersion, c.life, c.claims.Add(1), 1
	_, err = c.put(ctx, s.Code, r, body, 0, ttl)
	var other conflict
	if errors.As(err, &other) {
		if r.Group != "" {
			c.large.purge(ctx, s.Code, r.Group)
		}
		return false, presentOr(other.last, s)
	}
	return err == nil, err
}

// presentOr returns nil if the room that is there is the imported one, over or not.
func presentOr(there message, s store.Saved) error {
	if there.Over || there.ID == s.ID {
		return nil
	}
	return store.ErrTaken
}

// Export writes all rooms, tombstones and server lists into a file, as they were last saved, while
// hosts go on with them. The file is a backup, or what a single process takes over after all hosts
// have ended. Each room is whole. Newer data replaces earlier exports in the file. It is an error
// if a room in the file is newer, or a different one.
func (c *Cluster) Export(ctx context.Context, to *store.File) (moved Moved, err error) {
	info, err := c.large.stream.Info(ctx, jetstream.WithSubjectFilter(c.subject("blob", "*")))
	if err != nil {
		return moved, asAway(err)
	}
	for _, subject := range slices.Sorted(maps.Keys(info.State.Subjects)) {
		blob, err := c.Kept(ctx, strings.TrimPrefix(subject, c.subject("blob", "")))
		if errors.Is(err, store.ErrUnknown) {
			continue // its tombstone has expired
		}
		if err == nil {
			_, err = to.Keep(ctx, blob)
		}
		if err != nil {
			return moved, err
		}
		moved.Blobs++
	}
	c.directory.mu.Lock()
	codes := slices.Sorted(maps.Keys(c.directory.rooms))
	c.directory.mu.Unlock()
	var mu sync.Mutex // guards moved and failed
	var failed []error
	each(len(codes), movesAtOnce, func(n int) error {
		s, err := c.give(ctx, codes[n])
		taken := false
		if err == nil {
			taken, err = to.Put(s)
		}
		mu.Lock()
		defer mu.Unlock()
		if !errors.Is(err, store.ErrUnknown) {
			failed = append(failed, moved.count(s, taken, err))
		}
		return nil
	})
	return moved, errors.Join(failed...)
}

// give returns a room or tombstone in the form that another store accepts.
func (c *Cluster) give(ctx context.Context, code string) (s store.Saved, err error) {
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	var tries pacing
	for {
		m, err := c.last(ctx, code)
		s = store.Saved{Code: code, ID: m.ID, Epoch: m.Epoch}
		switch {
		case err != nil:
		case m.Epoch == 0:
			return s, store.ErrUnknown
		case m.Version > recordVersion:
			return s, store.ErrNewer
		case m.Over:
			s.Over = m.at
			return s, nil
		default:
			if s.Data, err = c.large.unpacked(ctx, code, m); err == nil || errors.Is(err, errPacked) || errors.Is(err, syscall.ENOSPC) {
				return s, err
			}
		}
		if !tries.pause(ctx) {
			return s, asAway(err)
		}
	}
}
