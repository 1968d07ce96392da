package store

import (
	"encoding/json"
	"sync"
	"time"
)

const (
	// tombstoneLife is how long a host remembers that a room was: old links lie
	// about in chats.
	tombstoneLife = 30 * 24 * time.Hour
	// maxTombstones allows for several rooms an evening.
	maxTombstones = 256
)

// tombstone is what the store keeps of a room that is over.
type tombstone struct {
	Over time.Time `json:"over,omitzero"`
}

// Tombstones remember which rooms are over, so that late comers learn it. Any goroutine may use them.
type Tombstones struct {
	store Store
	mu    sync.Mutex // guards following
	over  map[string]time.Time
}

// NewTombstones returns tombstones that are kept in a store.
func NewTombstones(s Store) *Tombstones { return &Tombstones{store: s, over: map[string]time.Time{}} }

// Read takes saved data for a tombstone, if it is one, and deletes it if it is
// old.
func (t *Tombstones) Read(code string, data []byte, now time.Time) (is bool, err error) {
	var saved tombstone
	if json.Unmarshal(data, &saved) != nil || saved.Over.IsZero() {
		return false, nil
	}
	if now.Sub(saved.Over) > tombstoneLife {
		return true, t.store.Delete(code)
	}
	t.Note(code, saved.Over)
	return true, nil
}

// Save forgets all of a room but that it was.
func (t *Tombstones) Save(code string, now time.Time) error {
	data, err := json.Marshal(tombstone{now})
	if err != nil {
		return err
	}
	t.Note(code, now)
	return t.store.Save(code, data)
}

// Note remembers since when a room is over, and for that forgets the oldest one
// if there are many.
func (t *Tombstones) Note(code string, over time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over[code] = over
	if len(t.over) > maxTombstones {
		oldest := code
		for other, at := range t.over {
			if at.Before(t.over[oldest]) {
				oldest = other
			}
		}
		delete(t.over, oldest)
	}
}

// Has reports whether a code was a room's that is over.
func (t *Tombstones) Has(code string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, has := t.over[code]
	return has
}
