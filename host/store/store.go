// Package store keeps rooms, and the tombstones of those that are over, through a
// restart of their host.
package store

import (
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Store keeps rooms by their codes.
type Store interface {
	// Load returns all saved rooms, by code.
	Load() (map[string][]byte, error)
	// Save keeps a room, whole, in place of what was there.
	Save(code string, data []byte) error
	Delete(code string) error
	Close() error
}

var roomsBucket = []byte("rooms")

// lockWait is how long the file may be another program's before that is an error.
const lockWait = time.Second

type fileStore struct{ db *bbolt.DB }

// Open opens the store in a file, which it creates if need be. One program at a
// time can have it open.
func Open(file string) (Store, error) {
	db, err := bbolt.Open(file, 0o600, &bbolt.Options{Timeout: lockWait})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("store: %s is in use by another host", file)
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(roomsBucket)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), db.Close())
	}
	return &fileStore{db}, nil
}

func (s *fileStore) Load() (map[string][]byte, error) {
	rooms := map[string][]byte{}
	err := s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(roomsBucket).ForEach(func(code, data []byte) error {
			rooms[string(code)] = append([]byte(nil), data...) // bbolt's bytes end with the transaction
			return nil
		})
	})
	return rooms, err
}

func (s *fileStore) Save(code string, data []byte) error {
	return s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(roomsBucket).Put([]byte(code), data) })
}

func (s *fileStore) Delete(code string) error {
	return s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(roomsBucket).Delete([]byte(code)) })
}

func (s *fileStore) Close() error { return s.db.Close() }

// None keeps nothing: for a demonstration, or where no file can be written.
type None struct{}

func (None) Load() (map[string][]byte, error) { return nil, nil }
func (None) Save(string, []byte) error        { return nil }
func (None) Delete(string) error              { return nil }
func (None) Close() error                     { return nil }
