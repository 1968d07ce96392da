package store

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const (
	// A file may have slack and garbage before it is rewritten: slack is a few of the largest
	// rooms, and garbage a multiple of the current records.
	slack   = 4 << 20
	garbage = 3
	// syncEvery is how much of a new file is synced at a time. A save waits for the disk that long
	// at most, apart from its own sync.
	syncEvery = 4 << 20
	// lastPart is how much is left to copy when saves must wait. catchUps is how often the
	// background tries to reach that point while saves go on.
	lastPart = 1 << 20
	catchUps = 16
)

// rewriting is a new file under construction. It takes the records that were current when it began,
// and then everything appended to the old file since:
//
//	old  │ records, of which some count      │ appended since │
//	                                        from             reached, then end
//	new  │ those that count │ appended since │
type rewriting struct {
	old, temp DiskFile
	name      string // of the new file
	// counts are the current records, and claims are those that are only claims.
	counts []span
	claims []byte
	// moved maps a record's start in the old file to its start in the new one. Records appended
	// since have moved by shift.
	moved         map[int64]int64
	from, reached int64
	shift         int64
	// end is the length of the new file, and synced how much of it is on the disk.
	end, synced int64
}

// begin begins a new file beside the old one, which stays in use. The caller holds the disk lock.
func (f *File) begin(name string) (*rewriting, error) {
	if f.file == nil {
		return nil, os.ErrClosed
	}
	temp, err := f.openFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	w := &rewriting{old: f.file, temp: temp, name: name, moved: map[int64]int64{}, from: f.end, reached: f.end}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(f.entries)) {
		e := f.entries[key]
		if e.isPast() {
			continue
		}
		for _, at := range []span{e.before, e.newest} {
			if at.length > 0 {
				w.counts = append(w.counts, at)
			}
		}
		// A record of a valid claim may be missing, as on a full disk, though players know its epoch.
		if (e.head.Claimed || e.claim != nil) && e.head.Over.IsZero() && err == nil {
			claimed := e.head
			claimed.Claimed = true
			w.claims, err = appendRecord(w.claims, key, claimed, nil)
		}
	}
	slices.SortFunc(w.counts, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	if err != nil {
		w.drop()
		return nil, err
	}
	return w, nil
}

// copy copies the current records. It skips damaged ones.
func (w *rewriting) copy() error {
	for _, at := range w.counts {
		raw, _, err := readRecord(w.old, at)
		if errors.Is(err, os.ErrClosed) {
			return err
		}
		if err != nil {
			continue
		}
		w.moved[at.start] = w.end
		if err := w.put(raw); err != nil {
			return err
		}
	}
	err := w.put(w.claims)
	w.shift = w.end - w.from
	return err
}

// catchUp copies the records appended since, up to a place.
func (w *rewriting) catchUp(to int64) error {
	buffer := make([]byte, min(syncEvery, to-w.reached))
	for w.reached < to {
		part := buffer[:min(int64(len(buffer)), to-w.reached)]
		if _, err := w.old.ReadAt(part, w.reached); err != nil {
			return err
		}
		if err := w.put(part); err != nil {
			return err
		}
		w.reached += int64(len(part))
	}
	return nil
}

func (w *rewriting) put(raw []byte) error {
	if _, err := w.temp.WriteAt(raw, w.end); err != nil {
		return err
	}
	if w.end += int64(len(raw)); w.end-w.synced < syncEvery {
		return nil
	}
	return w.sync()
}

func (w *rewriting) sync() error {
	w.synced = w.end
	return w.temp.Sync()
}

// place returns where a record is in the new file; its length is 0 if it is not there.
func (w *rewriting) place(at span) span {
	if at.length > 0 && at.start >= w.from {
		return span{at.start + w.shift, at.length}
	}
	start, is := w.moved[at.start]
	if !is {
		return span{}
	}
	return span{start, at.length}
}

func (w *rewriting) drop() error { return errors.Join(w.temp.Close(), os.Remove(w.name)) }

// rewriteAside rewrites the file while saves go on. Saves wait only for the last part.
func (f *File) rewriteAside() {
	f.disk.Lock()
	w, err := f.begin(f.name + aside)
	f.disk.Unlock()
	if err == nil {
		err = w.copy()
	}
	for range catchUps {
		f.disk.Lock()
		end := f.end
		f.disk.Unlock()
		if err != nil || end-w.reached < lastPart {
			break
		}
		err = w.catchUp(end)
	}
	if err == nil {
		err = w.sync()
	}
	f.syncing.Lock()
	defer f.syncing.Unlock()
	f.disk.Lock()
	defer f.disk.Unlock()
	f.isRewriting = false
	switch {
	case w == nil:
		return
	case err != nil, f.file != w.old, f.broken != nil:
		w.drop()
		return
	}
	// The appended records were copied without a check, so only a sync shows that they are good.
	if f.broken = f.file.Sync(); f.broken != nil {
		w.drop()
		return // the next save starts a new file
	}
	lost, err := f.take(w)
	if err != nil {
		return
	}
	if f.synced = f.written; len(lost) > 0 {
		f.warn(fmt.Errorf("store: the newest state of %d rooms or lists was damaged in %s; until they are saved "+
			"again what was saved before counts: %s", len(lost), f.name, strings.Join(lost, ", ")))
	}
}

// compact rewrites the file at once. It returns the public ids of the rooms whose newest record is
// unreadable. The caller holds the disk lock, and no sync runs.
func (f *File) compact() (lost []string, err error) {
	w, err := f.begin(f.name + anew)
	if err != nil {
		return nil, err
	}
	if err := w.copy(); err != nil {
		return nil, errors.Join(err, w.drop())
	}
	return f.take(w)
}

// take replaces the old file, which stays until the new one is whole. It returns the public ids of
// the rooms whose newest record is not in the new file. The caller holds the disk lock, and no sync
// runs.
func (f *File) take(w *rewriting) (lost []string, err error) {
	err = w.catchUp(f.end)
	if err = cmp.Or(err, w.sync()); err != nil {
		return nil, errors.Join(err, w.drop())
	}
	w.temp.Close()
	if runtime.GOOS == "windows" { // which cannot replace an open file
		w.old.Close()
	}
	f.noteLength(0) // the new file is shorter
	err = os.Rename(w.name, f.name)
	// On other systems, closing the old file frees its space, which takes a second for a gigabyte.
	f.background.Go(func() { w.old.Close() })
	file, failed := f.openFile(f.name, os.O_RDWR|os.O_CREATE)
	if f.file = file; failed != nil {
		f.file = (*os.File)(nil) // which accepts no writes
	}
	if err = cmp.Or(err, failed); err != nil {
		os.Remove(w.name)
		return nil, err
	}
	f.mu.Lock()
	f.live = 0
	for key, e := range f.entries {
		newest, before := w.place(e.newest), w.place(e.before)
		if e.newest.length > 0 && newest.length == 0 && !e.isPast() {
			lost = append(lost, cmp.Or(e.head.ID, "a list"))
			newest, before = before, span{}
		}
		e.newest, e.before = newest, before
		if newest.length == 0 && e.claim == nil {
			delete(f.entries, key)
		}
		f.live += e.length()
	}
	f.mu.Unlock()
	slices.Sort(lost)
	f.end = w.end
	f.noteLength(f.end)
	f.mark()
	f.compactAt = slack + garbage*f.live
	if dir, err := os.Open(filepath.Dir(f.name)); err == nil {
		dir.Sync() // not every system can
		dir.Close()
	}
	return lost, nil
}
