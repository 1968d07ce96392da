package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// broken is a file whose next sync fails. As on Linux, later syncs succeed. If forgets is set,
// everything written since the last good sync is gone by then.
type broken struct {
	DiskFile
	forgets bool
	syncs   int
	from    int64 // where the forgotten part begins
}

func (b *broken) Sync() error {
	if b.syncs++; b.syncs > 1 {
		return b.DiskFile.Sync()
	}
	return &fs.PathError{Op: "sync", Path: "rooms.db", Err: syscall.EIO}
}

func (b *broken) ReadAt(into []byte, at int64) (int, error) {
	if b.forgets && b.syncs > 0 && at >= b.from {
		clear(into)
		return len(into), nil
	}
	return b.DiskFile.ReadAt(into, at)
}

// TestFailedSync checks that after a failed sync the store goes on in a new file. A later sync of
// the old file would succeed although data is lost.
func TestFailedSync(t *testing.T) {
	for name, forgets := range map[string]bool{"the pages are there": false, "the pages are lost": true} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "rooms.db")
			s := open(t, file)
			var warned []string
			s.Warn = func(err error) { warned = append(warned, err.Error()) }
			save(t, s, "BAKODI", "one")
			save(t, s, "TABOMI", "one")
			before, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			old := &broken{DiskFile: s.file, forgets: forgets, from: s.end}
			s.file = old
			err = trySave(s, "BAKODI", "two")
			if (err != nil) != forgets || forgets && !errors.Is(err, errLost) {
				t.Errorf("the save comes to %v", err)
			}
			if after, err := os.Stat(file); err != nil || os.SameFile(before, after) || s.file == DiskFile(old) {
				t.Errorf("it is the same file: %v", err)
			}
			want := map[string]string{"BAKODI": "two", "TABOMI": "one"}
			if forgets {
				want["BAKODI"] = "one"
			}
			text := strings.Join(warned, "\n")
			if !strings.Contains(text, "the rooms go on in a new file") ||
				strings.Contains(text, "id of BAKODI") != forgets || strings.Contains(text, "id of TABOMI") {
				t.Errorf("the operator reads %q", text)
			}
			for code, text := range want {
				if rooms := load(t, s); rooms[code] != text {
					t.Errorf("room %s is %q, want %q", code, rooms[code], text)
				}
			}
			save(t, s, "BAKODI", "three") // this goes to the new file
			s.Close()
			s = open(t, file)
			defer s.Close()
			if rooms := load(t, s); rooms["BAKODI"] != "three" || rooms["TABOMI"] != "one" || s.Damage() != nil {
				t.Errorf("opened again it has %v, %v", rooms, s.Damage())
			}
		})
	}
}

// TestFailedSyncWithoutSpace checks that nothing counts as kept while no new file can be written,
// even if the old file syncs again.
func TestFailedSyncWithoutSpace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	save(t, s, "BAKODI", "one")
	s.file = &broken{DiskFile: s.file}
	if err := os.Mkdir(file+".new", 0o700); err != nil { // so that the file cannot be created
		t.Fatal(err)
	}
	for range 3 {
		if err := trySave(s, "BAKODI", "two"); !errors.Is(err, syscall.EIO) {
			t.Errorf("a save comes to %v", err)
		}
	}
	if err := os.Remove(file + ".new"); err != nil {
		t.Fatal(err)
	}
	s.triedAnew = s.triedAnew.Add(-anewEvery)
	save(t, s, "BAKODI", "three")
	s.Close()
	s = open(t, file)
	defer s.Close()
	if rooms := load(t, s); rooms["BAKODI"] != "three" {
		t.Errorf("opened again it has %v", rooms)
	}
}

// full is a file that takes nothing.
type full struct{ DiskFile }

func (full) WriteAt([]byte, int64) (int, error) { return 0, syscall.ENOSPC }

// TestEpochsGrow checks that no epoch that players may have seen comes again, wherever the record of a claim went.
func TestEpochsGrow(t *testing.T) {
	for name, loses := range map[string]func(t *testing.T, s *File, file string){
		"a full disk, and then a new file": func(t *testing.T, s *File, _ string) {
			s.file = &broken{DiskFile: s.file.(full).DiskFile}
			save(t, s, "TABOMI", "one")
		},
		"a cut between two records": func(t *testing.T, s *File, file string) {
			s.file = s.file.(full).DiskFile
			save(t, s, "BAKODI", "two")
			if err := os.Truncate(file, s.entries["BAKODI"].before.length); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "rooms.db")
			s := open(t, file)
			save(t, s, "BAKODI", "one")
			seen := uint64(1)
			for n := range 4 {
				s.Close()
				s = open(t, file)
				if n == 2 {
					s.file = full{s.file}
				}
				c, data, err := s.Claim(t.Context(), "BAKODI")
				if err != nil || c.Epoch() <= seen {
					t.Fatalf("claim %d is of epoch %d after %d, with %q, %v", n, c.Epoch(), seen, data, err)
				}
				if seen = c.Epoch(); n == 2 {
					loses(t, s, file)
				}
			}
			s.Close()
		})
	}
}
