package store_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/host/store"
)

// TestFile: what was saved is there after the file was closed, and one program
// has it at a time.
func TestFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	open := func() store.Store {
		t.Helper()
		s, err := store.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	if _, err := store.Open(file); err == nil || !strings.HasSuffix(err.Error(), "is in use by another host") {
		t.Errorf("it opens twice: %v", err)
	}
	for code, data := range map[string]string{"BAKODI": "one", "TABOMI": "two"} {
		if err := s.Save(code, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete("TABOMI"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	defer s.Close()
	if got, err := s.Load(); err != nil || !reflect.DeepEqual(got, map[string][]byte{"BAKODI": []byte("one")}) {
		t.Errorf("it has %q, %v", got, err)
	}
}

// TestTombstones: a room that is over is remembered over a restart, for a month;
// and of too many, the newest.
func TestTombstones(t *testing.T) {
	s, err := store.Open(filepath.Join(t.TempDir(), "rooms.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	if err := store.NewTombstones(s).Save("BAKODI", now); err != nil {
		t.Fatal(err)
	}
	for _, later := range []time.Duration{29 * 24 * time.Hour, 31 * 24 * time.Hour} {
		rooms, err := s.Load()
		if err != nil || len(rooms) != 1 {
			t.Fatalf("after %v the store has %q, %v", later, rooms, err)
		}
		again := store.NewTombstones(s)
		if is, err := again.Read("BAKODI", rooms["BAKODI"], now.Add(later)); !is || err != nil || again.Has("BAKODI") != (later < 30*24*time.Hour) {
			t.Errorf("after %v the room is remembered: %v; %v, %v", later, again.Has("BAKODI"), is, err)
		}
	}
	if rooms, _ := s.Load(); len(rooms) != 0 {
		t.Errorf("an old tombstone is kept: %q", rooms)
	}
	many := store.NewTombstones(store.None{})
	if is, err := many.Read("BAKODI", []byte(`{"room":{}}`), now); is || err != nil {
		t.Errorf("a room is taken for a tombstone: %v", err)
	}
	for i := range 300 {
		many.Note(fmt.Sprint(i), now.Add(time.Duration(i)*time.Minute))
	}
	if many.Has("0") || !many.Has("299") {
		t.Error("of many tombstones the newest are forgotten, or the oldest kept")
	}
}
