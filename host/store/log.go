package store

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// append appends a record to the file, and returns when it is on the disk.
func (f *File) append(key string, h head, data []byte) error {
	raw, err := appendRecord(nil, key, h, data)
	if err != nil {
		return err
	}
	f.disk.Lock()
	if _, err := f.file.WriteAt(raw, f.end); err != nil {
		// Half a record is skipped now, and overwritten by the next one.
		err = errors.Join(fmt.Errorf("store: %w", err), f.file.Truncate(f.end))
		f.disk.Unlock()
		return err
	}
	f.mu.Lock()
	claim := (*fileClaim)(nil)
	if e := f.entries[key]; e != nil {
		claim = e.claim
	}
	f.note(record{key: key, head: h}, span{f.end, int64(len(raw))})
	if h.Over.IsZero() {
		f.entries[key].claim = claim
	}
	f.mu.Unlock()
	f.end += int64(len(raw))
	f.mark()
	f.written++
	number := f.written
	f.disk.Unlock()
	return f.sync(number)
}

// These suffixes name the files beside the store: the mark, and a new file that is written at once
// or in the background.
const (
	kept  = ".kept"
	anew  = ".new"
	aside = ".next"
)

// mark notes beside the store whether it has any content. Without the mark, a store that has lost
// everything looks like a new one.
func (f *File) mark() {
	switch holds := f.end > 0; {
	case holds && !f.marked:
		os.WriteFile(f.name+kept, nil, 0o600) // the store's own file reports a failing disk
	case !holds && f.marked:
		os.Remove(f.name + kept)
		os.Truncate(f.lock.Path(), 0)
	}
	f.marked = f.end > 0
}

// noteLength writes into the mark how long the file certainly is. A file that is cut between two records
// looks whole without that.
func (f *File) noteLength(length int64) {
	var text []byte
	if length > 0 {
		text = strconv.AppendInt(nil, length, 10)
	}
	os.WriteFile(f.name+kept, text, 0o600)
}

// noted returns the length in the mark, 0 if it has none.
func (f *File) noted() int64 {
	text, _ := os.ReadFile(f.name + kept)
	length, _ := strconv.ParseInt(string(text), 10, 64)
	return length
}

// isMarked reports whether the store had any content. Older versions kept the mark in the lock's
// file.
func (f *File) isMarked() bool {
	if _, err := os.Stat(f.name + kept); err == nil {
		return true
	}
	lock, err := f.lock.Stat()
	return err == nil && lock.Size() > 0
}

// sync returns when that many records are on the disk. If the file has become too long, it starts
// to rewrite it in the background.
func (f *File) sync(number int) error {
	f.syncing.Lock()
	defer f.syncing.Unlock()
	switch {
	case f.synced >= number && number > f.lostFrom && number <= f.lostTo:
		return errLost
	case f.synced >= number:
		return nil // synced together with another save
	}
	f.disk.Lock()
	file, written, end := f.file, f.written, f.end
	if f.end > f.compactAt && !f.isRewriting {
		f.isRewriting, f.compactAt = true, 2*f.end // if that fails, nothing is lost
		f.background.Go(f.rewriteAside)
	}
	f.disk.Unlock()
	if f.broken == nil {
		f.broken = file.Sync()
	}
	if f.broken != nil {
		return f.goOnAnew()
	}
	f.synced = written
	f.noteLength(end)
	return nil
}

// errLost says that a record may be lost, because its file could not be synced.
var errLost = errors.New("store: the disk has lost what was written")

// anewEvery bounds how often a new file is tried in place of a broken one, because each try writes
// the whole file.
const anewEvery = time.Second

// goOnAnew writes all current records into a new file after a sync of the old one has failed. The
// kernel may have dropped the pages that it could not write. The next sync of that file succeeds
// even so, and must not be believed. The caller is the goroutine that syncs.
func (f *File) goOnAnew() error {
	now := time.Now()
	if now.Sub(f.triedAnew) < anewEvery {
		return fmt.Errorf("store: %w", f.broken)
	}
	f.triedAnew = now
	f.disk.Lock()
	defer f.disk.Unlock()
	lost, err := f.compact()
	if err != nil {
		return fmt.Errorf("store: %w; no new file takes its place: %w", f.broken, err)
	}
	why := f.broken
	if f.broken = nil; len(lost) > 0 {
		f.lostFrom, f.lostTo = f.synced, f.written
	}
	f.synced = f.written
	f.warn(fmt.Errorf("store: the disk has failed under %s: %w; the rooms go on in a new file", f.name, why))
	if len(lost) == 0 {
		return nil
	}
	f.warn(fmt.Errorf("store: the newest state of %d rooms or lists was lost with the old file, and is not kept "+
		"until it is saved again: %s", len(lost), strings.Join(lost, ", ")))
	return errLost
}

func (f *File) warn(err error) {
	if f.Warn != nil {
		f.Warn(err)
	}
}
