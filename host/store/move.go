package store

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
)

// Saved is a room or a tombstone that moves from one store to another.
type Saved struct {
	Code, ID string
	Epoch    uint64
	// Over is when the room ended; zero if it has not.
	Over time.Time
	Data []byte
}

// All yields the rooms and tombstones of a file in the order of their codes. An unreadable one
// comes with an error.
func (f *File) All() iter.Seq2[Saved, error] {
	return func(yield func(Saved, error) bool) {
		for _, code := range f.keys() {
			f.mu.Lock()
			e, place := f.room(code)
			s := Saved{Code: code}
			if e != nil {
				s.ID, s.Epoch, s.Over = e.head.ID, e.head.Epoch, e.head.Over
			}
			f.mu.Unlock()
			if place.State == Unknown {
				continue
			}
			var err error
			if place.State != Over {
				s.Data, err = f.read(code)
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// Blobs yields the blobs of a file in the order of their hashes. An unreadable one comes with an
// error.
func (f *File) Blobs() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, key := range f.keys() {
			if !strings.HasPrefix(key, blobMark) {
				continue
			}
			if blob, err := f.read(key); !yield(blob, err) {
				return
			}
		}
	}
}

func (f *File) keys() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.entries))
}

// Put writes another store's room or tombstone, and replaces an older one of the same room. It
// reports whether it wrote anything, because the file's own may be as new. The error is ErrTaken if
// the file's own is newer, or of another room.
func (f *File) Put(s Saved) (taken bool, err error) {
	f.mu.Lock()
	e, place := f.room(s.Code)
	var there head
	if e != nil {
		there = e.head
	}
	f.mu.Unlock()
	switch {
	case place.State == Over:
		return false, nil
	case place.State == Here, place.State != Unknown && s.Over.IsZero() && (there.ID != s.ID || there.Epoch > s.Epoch):
		return false, fmt.Errorf("store: room %s: %w", there.ID, ErrTaken)
	case place.State != Unknown && s.Over.IsZero() && there.Epoch == s.Epoch:
		data, err := f.read(s.Code)
		if err == nil && string(data) == string(s.Data) {
			return false, nil
		}
	}
	h := head{Epoch: s.Epoch, ID: s.ID, Over: s.Over}
	if !s.Over.IsZero() {
		h.ID = ""
	}
	return true, f.append(s.Code, h, s.Data)
}
