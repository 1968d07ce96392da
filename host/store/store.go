// Package store keeps rooms, and the tombstones of those that are over, through a
// restart of their host.
package store

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
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

const (
	// lockWait is how long the file may be another program's before that is an error,
	// and lockPause how long it is until it is looked at again.
	lockWait  = time.Second
	lockPause = 50 * time.Millisecond
	// slack and garbage are how large a file may become before it is written anew: a
	// few of the largest rooms, and so many times what counts in it.
	slack   = 4 << 20
	garbage = 3
)

// File is a store in a file, a log of records as [record] describes them: saving
// appends one. It is read, never mapped into memory, so that a file that ends too soon
// is only that; what is damaged in it is passed over, and of each room the newest
// record that is whole counts. The one before is kept, too. Any goroutine may use it.
type File struct {
	name   string
	lock   *os.File
	damage error

	mu   sync.Mutex // guards following
	file *os.File
	// end is where the next record goes.
	end int64
	// newest and before say where the last two records of a room stand; live is how
	// long these are together, and compactAt how long the file may become.
	newest, before  map[string]span
	live, compactAt int64
}

// Open opens the store in a file, which it creates if need be. One program at a
// time can have it open. A file that is damaged is kept under another name, and what
// is whole in it goes on in a new one; see [File.Damage].
func Open(file string) (*File, error) {
	f := &File{name: file}
	if err := f.open(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *File) open() (err error) {
	if f.lock, err = os.OpenFile(f.name+".lock", os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	for began := time.Now(); ; time.Sleep(lockPause) {
		locked, err := tryLock(f.lock)
		switch {
		case err != nil:
			return fmt.Errorf("store: %w", err)
		case !locked && time.Since(began) > lockWait:
			return fmt.Errorf("store: %s is in use by another host", f.name)
		case !locked:
			continue
		}
		break
	}
	if f.file, err = os.OpenFile(f.name, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	data, err := os.ReadFile(f.name)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	f.newest, f.before, f.end, f.compactAt = map[string]span{}, map[string]span{}, int64(len(data)), slack
	damaged := scan(data, f.note)
	if damaged == 0 {
		return nil
	}
	aside := f.name + ".damaged-" + time.Now().Format("20060102-150405")
	err = cmp.Or(keepAside(f.name, aside, data), f.compact())
	f.damage = fmt.Errorf("store: %d bytes of %s are damaged: of the rooms in them, what was saved before counts; the damaged file is kept as %s", damaged, f.name, aside)
	if err != nil { // such as a full disk: what is whole counts all the same
		f.damage = fmt.Errorf("store: %d bytes of %s are damaged: of the rooms in them, what was saved before counts: %w", damaged, f.name, err)
	}
	return nil
}

// keepAside keeps a damaged file under another name, too.
func keepAside(name, aside string, data []byte) error {
	err := os.Link(name, aside)
	if err == nil || errors.Is(err, os.ErrExist) {
		return nil
	}
	return os.WriteFile(aside, data, 0o600) // on a disk that has no links
}

// Damage says what was damaged in the file when it was opened, nil if nothing was.
func (f *File) Damage() error { return f.damage }

// note takes over where a record stands.
func (f *File) note(code string, at span) {
	if old, is := f.before[code]; is {
		f.live -= old.length
	}
	if old, is := f.newest[code]; is {
		f.before[code] = old
	}
	f.newest[code] = at
	f.live += at.length
}

// Load returns all saved rooms, by code.
func (f *File) Load() (map[string][]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rooms := map[string][]byte{}
	for code := range f.newest {
		_, data, err := f.read(f.newest[code])
		if err != nil {
			if _, data, err = f.read(f.before[code]); err != nil {
				return nil, err
			}
		}
		if len(data) > 0 {
			rooms[code] = data
		}
	}
	return rooms, nil
}

// read returns a record, which must be as it was written, and its data.
func (f *File) read(at span) (record, data []byte, err error) {
	record = make([]byte, at.length)
	if _, err := f.file.ReadAt(record, at.start); err != nil {
		return nil, nil, fmt.Errorf("store: %w", err)
	}
	_, data, length := parse(record)
	if length == 0 {
		return nil, nil, fmt.Errorf("store: %s has changed while it was open", f.name)
	}
	return record, data, nil
}

// Save keeps a room. What fails, on a full disk, leaves what was saved before, and may
// be tried again.
func (f *File) Save(code string, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	record, err := appendRecord(nil, code, data)
	if err != nil {
		return err
	}
	if _, err = f.file.WriteAt(record, f.end); err == nil {
		err = f.file.Sync()
	}
	if err != nil {
		// Half a record is passed over, and written over the next time.
		return errors.Join(fmt.Errorf("store: %w", err), f.file.Truncate(f.end))
	}
	f.note(code, span{f.end, int64(len(record))})
	f.end += int64(len(record))
	if f.end > f.compactAt {
		f.compactAt = 2 * f.end // if that fails: it is no loss
		f.compact()
	}
	return nil
}

// Delete forgets a room: a record without data says so.
func (f *File) Delete(code string) error { return f.Save(code, nil) }

// compact writes the file anew with what counts in it: the last two records of each
// room. The old one is in place until the new one is whole.
func (f *File) compact() error {
	temp, err := os.OpenFile(f.name+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	anew := &File{name: f.name, file: temp, newest: map[string]span{}, before: map[string]span{}}
	for _, code := range slices.Sorted(maps.Keys(f.newest)) {
		if at := f.newest[code]; at.length == recordLength(code, 0) {
			continue // deleted
		}
		for _, at := range []span{f.before[code], f.newest[code]} {
			record, _, err := f.read(at)
			if err != nil {
				continue // there was none before, or it is damaged
			}
			if _, err := temp.WriteAt(record, anew.end); err != nil {
				return errors.Join(err, temp.Close(), os.Remove(temp.Name()))
			}
			anew.note(code, span{anew.end, at.length})
			anew.end += at.length
		}
	}
	err = temp.Sync()
	if err = cmp.Or(err, temp.Close()); err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	f.file.Close() // no system renames to what is open
	err = os.Rename(temp.Name(), f.name)
	file, failed := os.OpenFile(f.name, os.O_RDWR|os.O_CREATE, 0o600)
	f.file = file
	if err = cmp.Or(err, failed); err != nil {
		return err
	}
	f.newest, f.before, f.end, f.live = anew.newest, anew.before, anew.end, anew.live
	f.compactAt = slack + garbage*f.live
	if dir, err := os.Open(filepath.Dir(f.name)); err == nil {
		dir.Sync() // not every system can
		dir.Close()
	}
	return nil
}

// Close gives the file free for other programs.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	for _, file := range []**os.File{&f.file, &f.lock} {
		if *file != nil {
			err = errors.Join(err, (*file).Close())
			*file = nil
		}
	}
	return err
}

// None keeps nothing: for a demonstration, or where no file can be written.
type None struct{}

func (None) Load() (map[string][]byte, error) { return nil, nil }
func (None) Save(string, []byte) error        { return nil }
func (None) Delete(string) error              { return nil }
func (None) Close() error                     { return nil }
