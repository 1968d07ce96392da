package store

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipe checks that a store does not open in a named pipe, and does not wait for its other end.
func TestPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rooms.db")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(name); !errors.Is(err, ErrNoFile) {
		t.Error(err)
	}
}
