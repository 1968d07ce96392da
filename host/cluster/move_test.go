package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"

	"muster/host/cluster/clustertest"
	"muster/host/store"
)

func openFile(t *testing.T) *store.File {
	t.Helper()
	f, err := store.Open(filepath.Join(t.TempDir(), "rooms.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestMove checks that rooms go from a file into a cluster and back, repeatedly if need be, and
// never overwrite others.
func TestMove(t *testing.T) { synctest.Test(t, testMove) }

func testMove(t *testing.T) {
	ctx := t.Context()
	file := openFile(t)
	large := noise(1, 2*inline)
	hash, err := file.Keep(ctx, []byte("a list"))
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"BAKODI", "TABOMI", "GAGAGA", "KOKOKO"} {
		own, err := file.Create(ctx, code, "id-"+code, []byte(code))
		if err != nil {
			t.Fatal(err)
		}
		switch code {
		case "TABOMI":
			err = own.Save(ctx, large)
		case "GAGAGA":
			err = own.End(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s := startNATS(t)
	w := world(s)
	a, b := join(t, w, "a"), join(t, w, "b")
	if _, err := a.Create(ctx, "KOKOKO", "another", []byte("another")); err != nil {
		t.Fatal(err)
	}
	moved, err := a.Import(ctx, file)
	if want := (Moved{Rooms: 2, Tombstones: 1, Blobs: 1}); !errors.Is(err, store.ErrTaken) || moved != want {
		t.Fatalf("%+v, %v", moved, err)
	}
	eventually(t, "b knows all", func() bool {
		return b.Find("BAKODI").State == store.Orphaned && b.FindID("id-TABOMI") == "TABOMI" &&
			b.Find("GAGAGA").State == store.Over && b.Find("KOKOKO").Host == "a"
	})
	own, data, err := b.Claim(ctx, "TABOMI")
	if err != nil || !bytes.Equal(data, large) || own.Epoch() <= epochLeap {
		t.Fatal(own, len(data), err)
	}
	if err := own.Save(ctx, []byte("went on")); err != nil {
		t.Fatal(err)
	}
	if blob, err := b.Kept(ctx, hash); err != nil || string(blob) != "a list" {
		t.Errorf("%q, %v", blob, err)
	}
	moved, err = a.Import(ctx, file) // again: newer rooms stay
	if want := (Moved{Blobs: 1, Present: 3}); !errors.Is(err, store.ErrTaken) || moved != want {
		t.Errorf("%+v, %v", moved, err)
	}
	backup := openFile(t)
	for n, want := range []Moved{{Rooms: 3, Tombstones: 1, Blobs: 1}, {Blobs: 1, Present: 4}} {
		if moved, err := a.Export(ctx, backup); err != nil || moved != want {
			t.Errorf("export %d: %+v, %v", n, moved, err)
		}
	}
	if err := own.Save(ctx, []byte("and on")); err != nil {
		t.Fatal(err)
	}
	if moved, err := a.Export(ctx, backup); err != nil || moved != (Moved{Rooms: 1, Blobs: 1, Present: 3}) {
		t.Errorf("%+v, %v", moved, err)
	}
	for code, want := range map[string]string{"BAKODI": "BAKODI", "TABOMI": "and on", "KOKOKO": "another"} {
		if restored, data, err := backup.Claim(ctx, code); err != nil || string(data) != want ||
			code == "TABOMI" && restored.Epoch() <= own.Epoch() {
			t.Errorf("%s: %q, %v", code, data, err)
		}
	}
	if p := backup.Find("GAGAGA"); p.State != store.Over {
		t.Error(p)
	}
	if _, err := a.Export(ctx, file); !errors.Is(err, store.ErrTaken) { // a host serves its rooms
		t.Error(err)
	}
	if blob, err := backup.Kept(ctx, hash); err != nil || string(blob) != "a list" {
		t.Errorf("%q, %v", blob, err)
	}
}

// TestImportBrokenOff checks that an interrupted import can be repeated.
func TestImportBrokenOff(t *testing.T) { synctest.Test(t, testImportBrokenOff) }

func testImportBrokenOff(t *testing.T) {
	ctx := t.Context()
	file := openFile(t)
	const rooms = 100
	for i := range rooms {
		if _, err := file.Create(ctx, fmt.Sprint("ROOM", i), fmt.Sprint(i), []byte("room")); err != nil {
			t.Fatal(err)
		}
	}
	s := startNATS(t)
	l := s.Line()
	a := join(t, world(s), "a")
	b := join(t, over(s, l), "b")
	done := make(chan error, 1)
	go func() { _, err := b.Import(ctx, file); done <- err }()
	eventually(t, "some are there", func() bool { return a.Find("ROOM0").State != store.Unknown })
	l.Set(clustertest.Deaf)
	b.conn.Close()
	<-done
	moved, err := a.Import(ctx, file)
	if err != nil || moved.Rooms+moved.Present != rooms || moved.Present == 0 {
		t.Errorf("%+v, %v", moved, err)
	}
}
