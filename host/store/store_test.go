package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/host/store"
)

func open(t *testing.T, file string) *store.File {
	t.Helper()
	s, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func create(t *testing.T, s store.Store, code, data string) store.Claim {
	t.Helper()
	c, err := s.Create(t.Context(), code, "id of "+code, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func claim(t *testing.T, s store.Store, code string) (store.Claim, string) {
	t.Helper()
	c, data, err := s.Claim(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return c, string(data)
}

func place(s store.Store, codes ...string) (states []store.State) {
	for _, code := range codes {
		states = append(states, s.Find(code).State)
	}
	return states
}

// TestFile checks that saved rooms are there after the file was closed, with a growing epoch, and
// that only one program has the file at a time.
func TestFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	if _, err := store.Open(file); err == nil || !strings.HasSuffix(err.Error(), "is in use by another host") {
		t.Errorf("it opens twice: %v", err)
	}
	one, two := create(t, s, "BAKODI", "one"), create(t, s, "TABOMI", "two")
	if err := one.Save(t.Context(), []byte("more")); err != nil || one.Epoch() != 1 {
		t.Error(err, one.Epoch())
	}
	if _, err := s.Create(t.Context(), "BAKODI", "another", nil); !errors.Is(err, store.ErrTaken) {
		t.Errorf("a code that is taken is created: %v", err)
	}
	if got, want := place(s, "BAKODI", "TABOMI", "GAGAGA"), []store.State{store.Here, store.Here, store.Unknown}; !slices.Equal(got, want) {
		t.Errorf("the rooms are %v, want %v", got, want)
	}
	if err := two.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for epoch := uint64(2); epoch < 5; epoch++ {
		s = open(t, file)
		if got := slices.Collect(s.Adopt(t.Context())); !reflect.DeepEqual(got, []string{"BAKODI"}) ||
			s.FindID("id of BAKODI") != "BAKODI" || s.FindID("id of TABOMI") != "" {
			t.Errorf("to be adopted are %q", got)
		}
		if got, want := place(s, "BAKODI", "TABOMI"), []store.State{store.Orphaned, store.Over}; !slices.Equal(got, want) {
			t.Errorf("the rooms are %v, want %v", got, want)
		}
		if _, _, err := s.Claim(t.Context(), "TABOMI"); !errors.Is(err, store.ErrOver) {
			t.Errorf("a room that is over is claimed: %v", err)
		}
		if c, data := claim(t, s, "BAKODI"); data != "more" || c.Epoch() != epoch || s.Find("BAKODI").Epoch != epoch {
			t.Errorf("the room is %q in epoch %d, want %d", data, c.Epoch(), epoch)
		}
		s.Close()
	}
}

// TestFenced checks that a host's older claim to a room no longer works.
func TestFenced(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "rooms.db"))
	defer s.Close()
	old := create(t, s, "BAKODI", "one")
	newer, _ := claim(t, s, "BAKODI")
	for what, err := range map[string]error{"saves": old.Save(t.Context(), []byte("two")), "ends": old.End(t.Context())} {
		if !errors.Is(err, store.ErrFenced) {
			t.Errorf("the older one %s: %v", what, err)
		}
	}
	old.Release(t.Context())
	if newer.Epoch() != 2 || s.Find("BAKODI").State != store.Here {
		t.Errorf("the newer one is of epoch %d, %v", newer.Epoch(), s.Find("BAKODI"))
	}
	newer.Release(t.Context())
	if c, data := claim(t, s, "BAKODI"); data != "one" || c.Epoch() != 3 {
		t.Errorf("the room is %q in epoch %d", data, c.Epoch())
	}
}

// TestTombstones checks that any number of ended rooms is remembered for a month, also after a
// restart, and that then their codes are free.
func TestTombstones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "rooms.db")
		s := open(t, file)
		none := &store.None{}
		const many = 300
		for i := range many {
			for _, s := range []store.Store{s, none} {
				if err := create(t, s, fmt.Sprint(i), "").End(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.Close()
		over := func(s store.Store) (n int) {
			for i := range many {
				if s.Find(fmt.Sprint(i)).State == store.Over {
					n++
				}
			}
			return n
		}
		for after, want := range map[time.Duration]int{0: many, 29 * 24 * time.Hour: many} {
			time.Sleep(after)
			if s = open(t, file); over(s) != want || over(none) != want {
				t.Errorf("after %v %d and %d rooms of %d are remembered", after, over(s), over(none), want)
			}
			if _, err := s.Create(t.Context(), "7", "", nil); !errors.Is(err, store.ErrTaken) {
				t.Errorf("the code of a room that was is given anew: %v", err)
			}
			s.Close()
		}
		time.Sleep(2 * 24 * time.Hour)
		s = open(t, file)
		defer s.Close()
		if over(s) != 0 || over(none) != 0 {
			t.Errorf("after a month %d and %d rooms are remembered", over(s), over(none))
		}
		create(t, s, "7", "anew")
		create(t, none, "7", "anew")
	})
}

// TestBlobs checks that data that many rooms share is kept once, and survives a restart.
func TestBlobs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	list := bytes.Repeat([]byte("a server "), 1000)
	var hash string
	for range 10 {
		var err error
		if hash, err = s.Keep(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Size() > 2*int64(len(list)) {
		t.Errorf("a list that is kept ten times takes %d bytes", info.Size())
	}
	s.Close()
	s = open(t, file)
	defer s.Close()
	if got, err := s.Kept(t.Context(), hash); err != nil || !bytes.Equal(got, list) {
		t.Errorf("kept are %d bytes, %v", len(got), err)
	}
	if _, err := s.Kept(t.Context(), store.HashOf(nil)); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("a list that nobody kept: %v", err)
	}
	if got := slices.Collect(s.Adopt(t.Context())); got != nil {
		t.Errorf("a list is taken for the rooms %q", got)
	}
}

// TestManyAtOnce checks that many rooms can be saved at once, and share the disk's time.
func TestManyAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	var saving sync.WaitGroup
	for i := range 200 {
		c := create(t, s, fmt.Sprint(i), "0")
		saving.Go(func() {
			for n := range 5 {
				if err := c.Save(t.Context(), bytes.Repeat([]byte{byte('0' + n)}, 10_000)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	saving.Wait()
	s.Close()
	s = open(t, file)
	defer s.Close()
	for i := range 200 {
		if _, data := claim(t, s, fmt.Sprint(i)); data != strings.Repeat("4", 10_000) {
			t.Fatalf("room %d is %.10q", i, data)
		}
	}
}

// TestNewerStore checks that a later version's file stays as it is, and that Open says so.
func TestNewerStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	create(t, s, "BAKODI", "one")
	s.Close()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, store.RecordOfLater("TABOMI", []byte("in a form of its own"))...)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	want := "store: " + file + " was written by a newer Muster: start that one, or take another file"
	if _, err := store.Open(file); !errors.Is(err, store.ErrNewer) || err.Error() != want {
		t.Errorf("it opens: %v", err)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, data) {
		t.Errorf("it has changed: %v", err)
	}
}

// TestOutage checks that the log reports an outage at once, each minute, and at its end, whatever
// happens in between.
func TestOutage(t *testing.T) {
	var o store.Outage
	now := time.Unix(1_800_000_000, 0)
	if _, wasTold := o.Ends(now); wasTold {
		t.Error("an outage ends that never began")
	}
	for outage := range 2 {
		told := 0
		for range 10 * 150 { // 150 seconds
			since, tell := o.Fails(now)
			if tell {
				told++
			}
			if now.Before(since) {
				t.Errorf("it began at %v, after %v", since, now)
			}
			now = now.Add(100 * time.Millisecond)
		}
		if told != 3 {
			t.Errorf("outage %d is told %d times in 150 s, want 3", outage, told)
		}
		if lasted, wasTold := o.Ends(now); lasted != 150*time.Second || !wasTold {
			t.Errorf("outage %d ends after %v, %v", outage, lasted, wasTold)
		}
	}
}
