package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// held is a file whose first read waits, and whose syncs fail on demand.
type held struct {
	DiskFile
	once          sync.Once
	began, goesOn chan struct{}
	fails         chan error // the result of the next sync
}

func hold(s *File) *held {
	h := &held{DiskFile: s.file, began: make(chan struct{}), goesOn: make(chan struct{}), fails: make(chan error, 1)}
	s.file = h
	return h
}

func (h *held) ReadAt(into []byte, at int64) (int, error) {
	h.once.Do(func() {
		close(h.began)
		<-h.goesOn
	})
	return h.DiskFile.ReadAt(into, at)
}

func (h *held) Sync() error {
	select {
	case err := <-h.fails:
		return err
	default:
		return h.DiskFile.Sync()
	}
}

// TestSavesGoOn checks that rooms can be saved, created and ended while the file is rewritten, and
// that the new file has their last state.
func TestSavesGoOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	for _, code := range []string{"BAKODI", "TABOMI", "GAGAGA"} {
		save(t, s, code, "one")
		save(t, s, code, "two")
	}
	claimed, _, err := s.Claim(t.Context(), "GAGAGA")
	if err != nil {
		t.Fatal(err)
	}
	old := hold(s)
	s.compactAt = 0
	save(t, s, "BAKODI", "three") // this begins it
	<-old.began
	save(t, s, "BAKODI", "four")
	save(t, s, "KOKOKO", "one")
	if err := s.entries["TABOMI"].claim.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.file != DiskFile(old) {
		t.Error("the file has been replaced before it was read")
	}
	close(old.goesOn)
	s.background.Wait()
	if s.file == DiskFile(old) {
		t.Fatal("the file has not been replaced")
	}
	want := map[string]string{"BAKODI": "four", "GAGAGA": "two", "KOKOKO": "one"}
	for round := range 2 {
		if rooms := load(t, s); fmt.Sprint(rooms) != fmt.Sprint(want) || s.Find("TABOMI").State != Over || s.Damage() != nil {
			t.Errorf("round %d: the rooms are %v, want %v; %v", round, rooms, want, s.Damage())
		}
		if epoch := s.Find("GAGAGA").Epoch; epoch != claimed.Epoch() {
			t.Errorf("round %d: the claim is of epoch %d, want %d", round, epoch, claimed.Epoch())
		}
		s.Close()
		s = open(t, file)
	}
	defer s.Close()
	e := s.entries["BAKODI"] // its record before the last is kept, too
	if raw, r, err := readRecord(s.file, e.before); err != nil || string(raw[r.dataAt:]) != "three" {
		t.Errorf("before it was %q, %v", raw, err)
	}
}

// TestSyncFailsMeanwhile checks a sync that fails while the file is rewritten. The rooms go on in a
// new file, and nothing that the background copied counts.
func TestSyncFailsMeanwhile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	save(t, s, "BAKODI", "one")
	old := hold(s)
	s.compactAt = 0
	save(t, s, "BAKODI", "two")
	<-old.began
	// The last sync of the background fails, and the next save has to notice.
	old.fails <- &fs.PathError{Op: "sync", Path: file, Err: syscall.EIO}
	close(old.goesOn)
	s.background.Wait()
	if s.broken == nil || s.file != DiskFile(old) {
		t.Errorf("the old file is trusted, or a copy of it: %v", s.broken)
	}
	var warned []error
	s.Warn = func(err error) { warned = append(warned, err) }
	save(t, s, "BAKODI", "three")
	if s.broken != nil || s.file == DiskFile(old) || len(warned) != 1 {
		t.Errorf("it does not go on in a new file: %v; said is %v", s.broken, warned)
	}
	s.Close()
	s = open(t, file)
	defer s.Close()
	if rooms := load(t, s); rooms["BAKODI"] != "three" {
		t.Errorf("the rooms are %v", rooms)
	}
}

// TestDamagedMeanwhile checks that a rewrite reports a record that was damaged on the disk, and
// that it costs one save of one room.
func TestDamagedMeanwhile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	var warned []error
	s.Warn = func(err error) { warned = append(warned, err) }
	for _, text := range []string{"one", "two"} {
		save(t, s, "BAKODI", text)
	}
	if _, err := s.file.WriteAt([]byte("?"), s.end-1); err != nil {
		t.Fatal(err)
	}
	s.compactAt = 0
	save(t, s, "TABOMI", "one")
	s.background.Wait()
	if len(warned) != 1 || !strings.HasSuffix(warned[0].Error(), "what was saved before counts: id of BAKODI") {
		t.Errorf("said is %v", warned)
	}
	s.Close()
	s = open(t, file)
	defer s.Close()
	if rooms := load(t, s); rooms["BAKODI"] != "one" || rooms["TABOMI"] != "one" || s.Damage() != nil {
		t.Errorf("the rooms are %v, %v", rooms, s.Damage())
	}
}

// TestClosedMeanwhile checks that Close waits for no rewriting, and leaves no trace of it.
func TestClosedMeanwhile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	save(t, s, "BAKODI", "one")
	old := hold(s)
	s.compactAt = 0
	save(t, s, "BAKODI", "two")
	<-old.began
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	close(old.goesOn)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file + aside); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a part of a new file is left: %v", err)
	}
	s = open(t, file)
	defer s.Close()
	if rooms := load(t, s); rooms["BAKODI"] != "two" {
		t.Errorf("the rooms are %v", rooms)
	}
}

// TestOpensInLittleMemory checks that opening a file needs only a buffer and what is known about
// each room, whatever the rooms hold.
func TestOpensInLittleMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	const rooms, each = 12, 1 << 20
	for room := range rooms {
		save(t, s, fmt.Sprint("ROOM", room), strings.Repeat("a room. ", each/8))
	}
	s.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s = open(t, file)
	defer s.Close()
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 || len(s.entries) != rooms {
		t.Errorf("%d rooms of %d MB are opened with %d kB", len(s.entries), rooms*each>>20, taken>>10)
	}
}

// TestGolden checks that an earlier version's file opens with its rooms, claims, tombstones and
// lists. The lock's file of that version says that there are rooms.
func TestGolden(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("testdata", "rooms-v2.db"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rooms.db")
	for name, data := range map[string][]byte{file: golden, file + ".lock": []byte("rooms are kept\n")} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, file)
	if rooms, want := fmt.Sprint(load(t, s)),
		"map[BAKODI:the room as it was saved last TABOMI:another room]"; rooms != want || s.Damage() != nil {
		t.Errorf("the rooms are %s, want %s; %v", rooms, want, s.Damage())
	}
	if place := s.Find("BAKODI"); place != (Place{State: Orphaned, Epoch: 2}) || s.entries["GAGAGA"].head.Over.IsZero() {
		t.Errorf("the rooms are at %+v, %+v", place, s.entries["GAGAGA"].head)
	}
	if list, err := s.Kept(t.Context(), HashOf([]byte("a list of servers"))); err != nil || string(list) != "a list of servers" {
		t.Errorf("the list is %q, %v", list, err)
	}
	s.Close()
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, golden) {
		t.Errorf("it was changed: %v", err)
	}
	if err := os.Truncate(file, 0); err != nil {
		t.Fatal(err)
	}
	s = open(t, file)
	defer s.Close()
	if s.Damage() == nil {
		t.Error("emptied, it says nothing")
	}
}
