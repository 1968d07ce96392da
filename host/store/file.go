package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// lockWait is how long the file may be another program's before that is an error,
	// and lockPause how long it is until it is looked at again.
	lockWait  = time.Second
	lockPause = 50 * time.Millisecond
	// slack and garbage are how large a file may become before it is written anew: a
	// few of the largest rooms, and so many times what counts in it.
	slack   = 4 << 20
	garbage = 3
	// blobLife is how long a blob is kept that nobody wanted: three days, as rooms that
	// nobody is in are kept for one. What is wanted again is noted twice a day at most.
	blobLife  = 3 * 24 * time.Hour
	blobRenew = 12 * time.Hour
)

// File is a store in a file, a log of records as record.go draws them: saving
// appends one. It is read, never mapped into memory, so that a file that ends too soon
// is only that; what is damaged in it is passed over, and of each room the newest
// record that is whole counts. The one before is kept, too.
//
// One process has the file at a time, and so its claims need no more than a number that
// grows: a disk that takes nothing does not keep it from its rooms.
type File struct {
	name string
	lock *os.File
	// marked: the lock's file says that rooms are kept, see [File.mark].
	marked bool
	damage error
	// Warn is told what an operator has to know of the disk below; nil tells nobody. It is
	// set before the store is used.
	Warn func(error)

	// The locks are taken in this order. One sync does for all who wait for it.
	syncing sync.Mutex // guards synced, broken, triedAnew and the lost ones
	disk    sync.Mutex // guards file, end, compactAt and written
	mu      sync.Mutex // guards the rest

	// synced is how many of the records written are on the disk for sure.
	synced, written int
	// broken is why the file can be trusted no more, nil while it can, and triedAnew when a
	// new one was last tried in its place. Of the records beyond lostFrom up to lostTo some
	// were lost with it.
	broken           error
	triedAnew        time.Time
	lostFrom, lostTo int
	file             diskFile
	// end is where the next record goes, and compactAt how long the file may become.
	end, compactAt int64
	// entries are what counts, by key; live is how long that is in the file. codes are
	// those of rooms by public id.
	entries map[string]*entry
	codes   map[string]string
	live    int64
}

// diskFile is what the store needs of a file.
type diskFile interface {
	ReadAt(b []byte, at int64) (int, error)
	WriteAt(b []byte, at int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// entry is a room, a tombstone or a blob.
type entry struct {
	// head is the newest, and newest and before are the last two records with data.
	head           head
	newest, before span
	// claim is the one that holds, nil without one.
	claim *fileClaim
}

func (e *entry) length() int64 { return e.newest.length + e.before.length }

// Open opens the store in a file, which it creates if need be. One program at a
// time can have it open. A file that is damaged is kept under another name, and what
// is whole in it goes on in a new one; see [File.Damage]. One that a newer version wrote
// is left as it is: ErrNewer.
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
			return fmt.Errorf("store: %s is %w", f.name, ErrInUse)
		case !locked:
			continue
		}
		break
	}
	file, err := os.OpenFile(f.name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	f.file = file
	data, err := os.ReadFile(f.name)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	f.entries, f.codes, f.end, f.compactAt = map[string]*entry{}, map[string]string{}, int64(len(data)), slack
	damaged, newer := scan(data, f.note)
	if newer {
		return fmt.Errorf("store: %s was %w: start that one, or take another file", f.name, ErrNewer)
	}
	if held, err := f.lock.Stat(); err == nil && held.Size() > 0 && len(data) == 0 {
		f.damage = fmt.Errorf("store: %s is empty, though rooms were kept in it, as a crash or a full disk may leave it: they are lost", f.name)
		f.lock.Truncate(0) // it is told once
	}
	f.marked = len(data) > 0
	if damaged == 0 {
		return nil
	}
	aside := f.name + ".damaged-" + time.Now().Format("20060102-150405")
	unkept := keepAside(f.name, aside, data) // before the new file takes its place
	_, failed := f.compact()
	err = cmp.Or(unkept, failed)
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

// note takes over what a record says, and where it stands.
func (f *File) note(r record, at span) {
	e := f.entries[r.key]
	if e == nil || !e.head.Over.IsZero() {
		e = &entry{}
	}
	if r.head.Claimed && e.newest.length == 0 {
		return // what it claims was lost
	}
	if old := f.entries[r.key]; old != nil {
		f.live -= old.length()
	}
	f.entries[r.key] = e
	delete(f.codes, e.head.ID)
	e.head = r.head
	switch {
	case r.head.Claimed:
	case r.head.Over.IsZero() && r.head.Kept.IsZero():
		e.newest, e.before = at, e.newest
	default:
		e.newest, e.before = at, span{}
	}
	if e.head.ID != "" && e.head.Over.IsZero() {
		f.codes[e.head.ID] = r.key
	}
	f.live += e.length()
}

// room is the entry of a code, and where it is.
func (f *File) room(code string) (*entry, Place) {
	e := f.entries[code]
	if e == nil || isForgotten(e.head.Over) || !e.head.Kept.IsZero() {
		return nil, Place{}
	}
	place := Place{State: Orphaned, Epoch: e.head.Epoch}
	switch {
	case !e.head.Over.IsZero():
		place.State = Over
	case e.claim != nil:
		place.State = Here
	}
	return e, place
}

func (f *File) Find(code string) Place {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, place := f.room(code)
	return place
}

func (f *File) FindID(id string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.codes[id]
}

// Adopt yields the rooms that nobody has, in the order of their codes: there is no other
// host whose rooms could come.
func (f *File) Adopt(context.Context) iter.Seq[string] {
	return func(yield func(string) bool) {
		f.mu.Lock()
		codes := slices.Sorted(maps.Keys(f.entries))
		f.mu.Unlock()
		for _, code := range codes {
			if f.Find(code).State == Orphaned && !yield(code) {
				return
			}
		}
	}
}

// Trust never fails: the file is locked.
func (*File) Trust() (trusted bool, changed <-chan struct{}) { return true, nil }

// fileClaim is a claim to a room of a file.
type fileClaim struct {
	file *File
	code string
	head head
}

func (f *File) Create(_ context.Context, code, id string, data []byte) (Claim, error) {
	c := &fileClaim{f, code, head{Epoch: 1, ID: id}}
	f.mu.Lock()
	_, place := f.room(code)
	if place.State == Unknown {
		if forgotten := f.entries[code]; forgotten != nil {
			f.live -= forgotten.length()
		}
		f.entries[code] = &entry{head: c.head, claim: c}
		if id != "" {
			f.codes[id] = code
		}
	}
	f.mu.Unlock()
	if place.State != Unknown {
		return nil, ErrTaken
	}
	return c, f.append(code, c.head, data)
}

func (f *File) Claim(_ context.Context, code string) (Claim, []byte, error) {
	data, err := f.read(code)
	f.mu.Lock()
	e, place := f.room(code)
	switch {
	case place.State == Unknown:
		err = ErrUnknown
	case place.State == Over:
		err = ErrOver
	}
	if err != nil {
		f.mu.Unlock()
		return nil, nil, err
	}
	c := &fileClaim{f, code, head{Epoch: e.head.Epoch + 1, ID: e.head.ID}}
	e.claim, e.head = c, c.head
	f.mu.Unlock()
	claimed := c.head
	claimed.Claimed = true
	f.append(code, claimed, nil) // if the disk takes it not, the next save says as much
	return c, data, nil
}

// read returns the data of an entry: what was saved last, or before that if it is
// damaged by now.
func (f *File) read(key string) ([]byte, error) {
	f.disk.Lock()
	defer f.disk.Unlock()
	f.mu.Lock()
	e := f.entries[key]
	var spans []span
	if e != nil {
		spans = []span{e.newest, e.before}
	}
	f.mu.Unlock()
	if e == nil {
		return nil, ErrUnknown
	}
	for _, at := range spans {
		if _, r, err := f.readAt(at); err == nil {
			return r.data, nil
		}
	}
	return nil, fmt.Errorf("store: %s has changed while it was open", f.name)
}

// readAt returns a record, which must be as it was written. The caller has the disk.
func (f *File) readAt(at span) (raw []byte, r record, err error) {
	raw = make([]byte, at.length)
	if _, err := f.file.ReadAt(raw, at.start); err != nil {
		return nil, r, fmt.Errorf("store: %w", err)
	}
	if r, _ = parse(raw); r.length == 0 {
		return nil, r, fmt.Errorf("store: %s has changed while it was open", f.name)
	}
	return raw, r, nil
}

func (c *fileClaim) Epoch() uint64         { return c.head.Epoch }
func (c *fileClaim) Lost() <-chan struct{} { return nil }

// Save keeps a room. What fails, on a full disk, leaves what was saved before, and may
// be tried again.
func (c *fileClaim) Save(_ context.Context, data []byte) error {
	if !c.holds() {
		return ErrFenced
	}
	return c.file.append(c.code, c.head, data)
}

func (c *fileClaim) holds() bool {
	c.file.mu.Lock()
	defer c.file.mu.Unlock()
	e := c.file.entries[c.code]
	return e != nil && e.claim == c
}

func (c *fileClaim) End(context.Context) error {
	tombstone := head{Epoch: c.head.Epoch, Over: time.Now()}
	f := c.file
	f.mu.Lock()
	e := f.entries[c.code]
	holds := e != nil && e.claim == c
	if holds && e.head.Over.IsZero() { // also while the disk takes nothing
		e.head = tombstone
		delete(f.codes, c.head.ID)
	}
	f.mu.Unlock()
	if !holds {
		return ErrFenced
	}
	return f.append(c.code, tombstone, nil)
}

func (c *fileClaim) Release(context.Context) error {
	c.file.mu.Lock()
	defer c.file.mu.Unlock()
	if e := c.file.entries[c.code]; e != nil && e.claim == c {
		e.claim = nil
	}
	return nil
}

// Give is Release: there is no other host.
func (c *fileClaim) Give(ctx context.Context, _ string) error { return c.Release(ctx) }

func (f *File) Keep(_ context.Context, blob []byte) (hash string, err error) {
	hash = HashOf(blob)
	f.mu.Lock()
	e := f.entries[blobMark+hash]
	isKept := e != nil && time.Since(e.head.Kept) < blobRenew
	f.mu.Unlock()
	if isKept {
		return hash, nil
	}
	return hash, f.append(blobMark+hash, head{Kept: time.Now()}, blob)
}

func (f *File) Kept(_ context.Context, hash string) ([]byte, error) { return f.read(blobMark + hash) }

// append puts a record at the end of the file, and returns when it is on the disk.
func (f *File) append(key string, h head, data []byte) error {
	raw, err := appendRecord(nil, key, h, data)
	if err != nil {
		return err
	}
	f.disk.Lock()
	if _, err := f.file.WriteAt(raw, f.end); err != nil {
		// Half a record is passed over, and written over the next time.
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

// mark notes in the lock's file whether there is anything in the store's. Without it, a
// store that has lost everything looks like a new one.
func (f *File) mark() {
	switch holds := f.end > 0; {
	case holds && !f.marked:
		f.lock.WriteAt([]byte("rooms are kept\n"), 0) // what fails here is told by the store's own file
	case !holds && f.marked:
		f.lock.Truncate(0)
	}
	f.marked = f.end > 0
}

// sync returns when so many records are on the disk, and writes the file anew once it
// has become too long.
func (f *File) sync(number int) error {
	f.syncing.Lock()
	defer f.syncing.Unlock()
	switch {
	case f.synced >= number && number > f.lostFrom && number <= f.lostTo:
		return errLost
	case f.synced >= number:
		return nil // by a sync that another waited for
	}
	f.disk.Lock()
	file, written, isLong := f.file, f.written, f.end > f.compactAt
	f.disk.Unlock()
	if f.broken == nil {
		f.broken = file.Sync()
	}
	if f.broken != nil {
		return f.goOnAnew()
	}
	f.synced = written
	if isLong {
		f.disk.Lock()
		defer f.disk.Unlock()
		f.compactAt = 2 * f.end // if that fails: it is no loss
		f.compact()
	}
	return nil
}

// errLost says that a record may have been lost with a file that could not be synced.
var errLost = errors.New("store: the disk has lost what was written")

// anewEvery bounds how often a new file is tried in place of a broken one: it is written
// whole each time.
const anewEvery = time.Second

// goOnAnew writes all that counts into a new file, since a sync of the old one has failed.
// The kernel may have dropped the pages that it could not write, and the next sync of the
// same file succeeds all the same: it must not be believed. The caller is the one who
// syncs.
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
	f.warn(fmt.Errorf("store: the newest state of %d rooms or lists was lost with the old file, and is not kept until it is saved again: %s", len(lost), strings.Join(lost, ", ")))
	return errLost
}

func (f *File) warn(err error) {
	if f.Warn != nil {
		f.Warn(err)
	}
}

// compact writes the file anew with what counts in it: the last two records of each
// room. The old one is in place until the new one is whole. It returns the public ids of the
// rooms whose newest record cannot be read. The caller has the disk, and nobody syncs.
func (f *File) compact() (lost []string, err error) {
	temp, err := os.OpenFile(f.name+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	anew := &File{entries: map[string]*entry{}, codes: map[string]string{}}
	put := func(raw []byte, r record) (err error) {
		if _, err = temp.WriteAt(raw, anew.end); err == nil {
			anew.note(r, span{anew.end, int64(len(raw))})
			anew.end += int64(len(raw))
		}
		return err
	}
	f.mu.Lock()
	entries := map[string]entry{}
	for key, e := range f.entries {
		entries[key] = *e
	}
	f.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		e := entries[key]
		if isForgotten(e.head.Over) || !e.head.Kept.IsZero() && time.Since(e.head.Kept) > blobLife {
			continue
		}
		for _, at := range []span{e.before, e.newest} {
			if at.length == 0 {
				continue
			}
			raw, r, failed := f.readAt(at)
			switch {
			case failed == nil:
				err = cmp.Or(err, put(raw, r))
			case at == e.newest:
				lost = append(lost, cmp.Or(e.head.ID, "a list"))
			}
		}
		if e.head.Claimed {
			raw, failed := appendRecord(nil, key, e.head, nil)
			err = cmp.Or(err, failed, put(raw, record{key: key, head: e.head}))
		}
	}
	err = cmp.Or(err, temp.Sync())
	if err = cmp.Or(err, temp.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(temp.Name()))
	}
	f.file.Close() // no system renames to what is open
	err = os.Rename(temp.Name(), f.name)
	file, failed := os.OpenFile(f.name, os.O_RDWR|os.O_CREATE, 0o600)
	f.file = file // where that failed, one that takes nothing
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	f.mu.Lock()
	for key, e := range f.entries {
		if now := anew.entries[key]; now != nil {
			e.newest, e.before = now.newest, now.before
		} else if e.newest, e.before = (span{}), (span{}); e.claim == nil {
			delete(f.entries, key)
		}
	}
	f.live = anew.live
	f.mu.Unlock()
	f.end = anew.end
	f.mark()
	f.compactAt = slack + garbage*f.live
	if dir, err := os.Open(filepath.Dir(f.name)); err == nil {
		dir.Sync() // not every system can
		dir.Close()
	}
	return lost, nil
}

// Close gives the file free for other programs.
func (f *File) Close() error {
	f.disk.Lock()
	defer f.disk.Unlock()
	var err error
	if f.file != nil {
		err = f.file.Close()
		f.file = nil
	}
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
		f.lock = nil
	}
	return err
}
