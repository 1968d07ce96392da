package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

const (
	// lockWait is how long another program may hold the file before Open fails, and lockPause the
	// time between two tries.
	lockWait  = time.Second
	lockPause = 50 * time.Millisecond
	// blobLife is how long an unused blob is kept: three days, while empty rooms are kept for one.
	// The use of a blob is noted at most twice a day.
	blobLife  = 3 * 24 * time.Hour
	blobRenew = 12 * time.Hour
)

// File is a store in a file. The file is a log of records, drawn in record.go, and each save
// appends one. It is read and never mapped into memory, so a truncated file causes no faults.
// Damaged parts are skipped, and the newest whole record of each room counts. The one before is
// kept, too.
//
// One process has the file at a time. So a claim needs nothing but a growing number, and a host
// keeps its rooms even if the disk fails.
type File struct {
	name     string
	openFile func(name string, flag int) (DiskFile, error)
	lock     *flock.Flock
	damage   error
	// Warn tells an operator about the disk; it may be nil. It must be set before the store is
	// used.
	Warn func(error)

	// The locks are taken in this order. One sync serves all savers that wait for it.
	syncing sync.Mutex // guards synced, broken, triedAnew and the lost ones
	disk    sync.Mutex // guards file, end, compactAt, written, marked and isRewriting
	mu      sync.Mutex // guards the rest

	// synced is how many of the written records are certainly on the disk.
	synced, written int
	// broken is why the file can no longer be trusted, nil while it can. triedAnew is when a new
	// file was last tried. Of the records after lostFrom, up to lostTo, some were lost with the
	// broken file.
	broken           error
	triedAnew        time.Time
	lostFrom, lostTo int
	file             DiskFile
	// marked says that a file beside the store notes that it has rooms, see [File.mark].
	marked bool
	// end is where the next record goes. compactAt is how long the file may become before it is
	// rewritten in the background.
	end, compactAt int64
	isRewriting    bool
	background     sync.WaitGroup
	// entries are the current entries, by key, and live is their length in the file. codes are the
	// rooms' codes by public id.
	entries map[string]*entry
	codes   map[string]string
	live    int64
}

// DiskFile is what the store needs from an open file.
type DiskFile interface {
	Stat() (os.FileInfo, error)
	ReadAt(b []byte, at int64) (int, error)
	WriteAt(b []byte, at int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// entry is a room, a tombstone or a blob.
type entry struct {
	// head is the newest head; newest and before are the last two records with data.
	head           head
	newest, before span
	// claim is the valid claim, nil without one.
	claim *fileClaim
}

func (e *entry) length() int64 { return e.newest.length + e.before.length }

// isPast reports whether the entry is too old to be asked for.
func (e *entry) isPast() bool {
	return isForgotten(e.head.Over) || !e.head.Kept.IsZero() && time.Since(e.head.Kept) > blobLife
}

// Open opens the store in a file, and creates the file if there is none. Only one program can have
// it open. A damaged file is kept under another name, and its whole records move to a new file; see
// [File.Damage]. A newer version's file stays as it is, and the error is ErrNewer.
func Open(file string) (*File, error) {
	return OpenOn(file, func(name string, flag int) (DiskFile, error) { return os.OpenFile(name, flag, 0o600) })
}

// OpenOn is [Open] for a store whose files another function opens, with a flag of [os.OpenFile]. So a
// simulation can have a disk that fails.
func OpenOn(file string, openFile func(name string, flag int) (DiskFile, error)) (*File, error) {
	lock := flock.New(file+".lock", flock.SetPermissions(0o600))
	f := &File{name: file, openFile: openFile, lock: lock, entries: map[string]*entry{}, codes: map[string]string{}}
	if err := f.open(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *File) open() error {
	if info, err := os.Stat(f.name); err == nil && !info.Mode().IsRegular() && !info.IsDir() { // a folder has an error of its own
		return fmt.Errorf("store: %s is %w", f.name, ErrNoFile)
	}
	waiting, stop := context.WithTimeout(context.Background(), lockWait)
	defer stop()
	switch _, err := f.lock.TryLockContext(waiting, lockPause); {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("store: %s is %w", f.name, ErrInUse)
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	for _, left := range []string{anew, aside} {
		os.Remove(f.name + left) // left by a program that was killed
	}
	file, err := f.openFile(f.name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	f.file = file
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	f.end, f.compactAt = info.Size(), slack
	damaged, newer, err := scan(file, f.end, f.note)
	switch {
	case newer:
		return fmt.Errorf("store: %s was %w: start that one, or take another file", f.name, ErrNewer)
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	switch f.marked = f.isMarked(); {
	case f.marked && f.end == 0:
		f.damage = fmt.Errorf("store: %s is empty, though rooms were kept in it, as a crash or a full disk may leave it: they are lost", f.name)
	case f.noted() > f.end:
		f.damage = fmt.Errorf("store: %s has %d bytes, and had %d: it was cut off, or is an older copy; of the rooms in the rest, "+
			"what was saved before counts", f.name, f.end, f.noted())
		f.noteLength(f.end)
	}
	f.mark()
	if damaged == 0 {
		return nil
	}
	kept := f.name + ".damaged-" + time.Now().Format("20060102-150405")
	unkept := keepAside(f.name, kept) // before the new file takes its place
	_, failed := f.compact()
	f.damage = fmt.Errorf("store: %d bytes of %s are damaged: of the rooms in them, what was saved before "+
		"counts; the damaged file is kept as %s", damaged, f.name, kept)
	if err := cmp.Or(unkept, failed); err != nil { // such as a full disk: whole records count even so
		f.damage = fmt.Errorf("store: %d bytes of %s are damaged: of the rooms in them, what was saved before counts: %w", damaged, f.name, err)
	}
	return nil
}

// keepAside keeps a damaged file under another name, too.
func keepAside(name, aside string) error {
	err := os.Link(name, aside)
	if err == nil || errors.Is(err, os.ErrExist) {
		return nil
	}
	from, err := os.Open(name) // on a disk that has no links
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// Damage says which damage the file had when it was opened, nil if it had none.
func (f *File) Damage() error { return f.damage }

// note takes over a record that stands at a place.
func (f *File) note(r record, at span) {
	e := f.entries[r.key]
	if e == nil || !e.head.Over.IsZero() {
		e = &entry{}
	}
	if r.head.Claimed && e.newest.length == 0 {
		return // the save that it claims was lost
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

// room returns the entry of a code, and its place.
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

// Adopt yields the rooms without a claim in the order of their codes. There is no other host, so
// none can come later.
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

// Trust always trusts, because the file is locked.
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
	if f.damage != nil { // claims may be lost, and players refuse an epoch lower than one that they have seen
		c.head.Epoch = max(c.head.Epoch, uint64(time.Now().Unix()))
	}
	e.claim, e.head = c, c.head
	f.mu.Unlock()
	claimed := c.head
	claimed.Claimed = true
	f.append(code, claimed, nil) // if the disk fails, the next save reports it
	return c, data, nil
}

// read returns the data of an entry: its newest record, or the one before if that is damaged by
// now.
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
		if raw, r, err := readRecord(f.file, at); err == nil {
			return raw[r.dataAt:], nil
		}
	}
	return nil, fmt.Errorf("store: %s has changed while it was open", f.name)
}

func (c *fileClaim) Epoch() uint64         { return c.head.Epoch }
func (c *fileClaim) Lost() <-chan struct{} { return nil }

func (c *fileClaim) Unkept() <-chan struct{} { return nil }

// Save keeps a room. If it fails, as on a full disk, the previous save stays, and the caller may
// try again.
func (c *fileClaim) Save(_ context.Context, data []byte) error {
	if !c.isValid() {
		return ErrFenced
	}
	return c.file.append(c.code, c.head, data)
}

func (c *fileClaim) isValid() bool {
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
	if holds && e.head.Over.IsZero() { // even while the disk fails
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

// Close releases the file for other programs.
func (f *File) Close() error {
	f.disk.Lock()
	var err error
	if f.file != nil {
		err = f.file.Close()
		f.file = nil
	}
	f.disk.Unlock()
	f.background.Wait() // it no longer reads from the file
	return errors.Join(err, f.lock.Close())
}
