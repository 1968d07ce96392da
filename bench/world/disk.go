package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"muster/host/store"
)

// disk is the disk of the only machine of a night without NATS. Its files are real ones, in a folder that goes
// with the night. It knows how much of each was synced, and at a power failure makes what is left of the rest.
// It relies on a store that only appends: what stands before the synced end is safe. The folder itself, with its
// names, is always safe.
type disk struct {
	folder string
	tell   func(format string, args ...any)

	mu     sync.Mutex // guards following
	random *mathrand.Rand
	files  []*inode
	life   int // of the process that may use it; others have ended
	// isFull, lies and fails are faults: no space, syncs that do nothing, and the next sync that fails.
	isFull, lies, fails bool
	// left is how many operations are left until the power fails, which then ends the process; 0 for ever.
	left int
	kill func()
	// forgot is when something was first lost which a sync had confirmed, by a lie. Then isUntold says that the
	// next process has to tell, and isSilent that one did not.
	forgot             time.Time
	isUntold, isSilent bool
}

// inode is a file, whatever its names.
type inode struct {
	*os.File
	synced, confirmed int64 // how much is safe, and how much a sync said to be
}

// opened is a file that a process has opened.
type opened struct {
	*inode
	of      *disk
	life    int
	isAside bool // nobody has written anything yet, and nobody waits for it
}

const (
	sector    = 512
	roomsFile = "rooms.db"
	// A store rewrites a file of more than rewriteAt in the background. A night begins with at most lacks less.
	rewriteAt, lacks = 4 << 20, 600 << 10
)

// slow is a store that takes its time before it reaches the disk. One that waited with a lock held would stop
// the clock, and what several rooms did in one nanosecond would come in any order.
type slow struct {
	*store.File
	node string
}

func (s slow) rest(of string) { time.Sleep(delay(link{s.node, of})) }

func (s slow) Create(ctx context.Context, code, id string, data []byte) (store.Claim, error) {
	s.rest(code)
	c, err := s.File.Create(ctx, code, id, data)
	if c != nil {
		c = slowClaim{c, s, code}
	}
	return c, err
}

func (s slow) Claim(ctx context.Context, code string) (store.Claim, []byte, error) {
	s.rest(code)
	c, data, err := s.File.Claim(ctx, code)
	if c != nil {
		c = slowClaim{c, s, code}
	}
	return c, data, err
}

func (s slow) Keep(ctx context.Context, blob []byte) (string, error) {
	s.rest(store.HashOf(blob))
	return s.File.Keep(ctx, blob)
}

type slowClaim struct {
	store.Claim
	of   slow
	code string
}

func (c slowClaim) Save(ctx context.Context, data []byte) error {
	c.of.rest(c.code)
	return c.Claim.Save(ctx, data)
}

func (c slowClaim) End(ctx context.Context) error {
	c.of.rest(c.code)
	return c.Claim.End(ctx)
}

func newDisk(seed uint64, tell func(format string, args ...any)) *disk {
	folder, err := os.MkdirTemp("", "night")
	if err != nil {
		panic(err)
	}
	d := &disk{folder: folder, tell: tell, random: mathrand.New(mathrand.NewPCG(seed, 2))}
	d.fill(rewriteAt - d.random.IntN(lacks))
	return d
}

// fill makes the store's file almost so long that it is rewritten.
func (d *disk) fill(length int) {
	file, err := d.open()
	if err != nil {
		panic(err)
	}
	defer file.Close()
	c, err := file.Create(context.Background(), "OLD", "", make([]byte, length))
	if err == nil {
		err = c.End(context.Background())
	}
	if err != nil {
		panic(err)
	}
}

func (d *disk) close() {
	d.end()
	for _, f := range d.files {
		f.File.Close()
	}
	os.RemoveAll(d.folder)
}

// open opens the store for a new process.
func (d *disk) open() (*store.File, error) {
	d.mu.Lock()
	d.life++
	life := d.life
	d.mu.Unlock()
	return store.OpenOn(filepath.Join(d.folder, roomsFile), func(name string, flag int) (store.DiskFile, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.life != life {
			return nil, os.ErrClosed
		}
		file, err := os.OpenFile(name, flag, 0o600)
		if err != nil {
			return nil, err
		}
		info, err := file.Stat()
		if err != nil {
			panic(err)
		}
		for _, f := range d.files {
			if known, err := f.Stat(); err == nil && os.SameFile(known, info) {
				file.Close()
				return &opened{inode: f, of: d, life: life}, nil
			}
		}
		f := &inode{file, info.Size(), info.Size()}
		d.files = append(d.files, f)
		return &opened{f, d, life, strings.HasSuffix(name, ".next")}, nil
	})
}

// end ends what a process does with the disk.
func (d *disk) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life++
}

// do does an operation of a process, unless it has ended. The power may fail meanwhile.
func (f *opened) do(do func() error) error {
	d := f.of
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.life != f.life {
		return os.ErrClosed
	}
	err := do()
	if d.left--; d.left == 0 {
		d.lose()
		return os.ErrClosed
	}
	d.left = max(0, d.left)
	return err
}

func (f *opened) ReadAt(b []byte, at int64) (n int, err error) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	if f.of.life != f.life {
		return 0, os.ErrClosed
	}
	return f.File.ReadAt(b, at)
}

func (f *opened) WriteAt(b []byte, at int64) (n int, err error) {
	if f.isAside {
		f.isAside = false
		f.of.tell("the file is rewritten")
		time.Sleep(25 * delay(link{"disk", "aside"})) // rooms are saved meanwhile
	}
	err = f.do(func() (err error) {
		if f.of.isFull {
			n, _ = f.File.WriteAt(b[:f.of.random.IntN(max(1, len(b)))], at)
			return syscall.ENOSPC
		}
		n, err = f.File.WriteAt(b, at)
		return err
	})
	return n, err
}

func (f *opened) Truncate(size int64) error {
	return f.do(func() error {
		f.synced, f.confirmed = min(f.synced, size), min(f.confirmed, size)
		return f.File.Truncate(size)
	})
}

func (f *opened) Sync() error {
	return f.do(func() error {
		switch {
		case f.of.left == 1: // the power fails before it is done
			return nil
		case f.of.fails: // as on Linux, what it had to keep may be gone, and the next one succeeds
			size := f.size()
			f.synced = f.confirmed
			f.tear(f.of.random)
			f.of.fails = false
			if err := f.File.Truncate(size); err != nil {
				return err
			}
			f.synced, f.confirmed = size, size
			return syscall.EIO
		case !f.of.lies:
			f.synced = f.size()
		}
		f.confirmed = f.size()
		return nil
	})
}

func (f *opened) Close() error { return nil }

func (f *inode) size() int64 {
	info, err := f.Stat()
	if err != nil {
		panic(err)
	}
	return info.Size()
}

// tear makes what is left of what was not synced: all, nothing, a beginning, or sectors in any order.
func (f *inode) tear(random *mathrand.Rand) (forgot bool) {
	size, all := f.size(), make([]byte, max(0, f.size()-f.synced))
	if _, err := f.File.ReadAt(all, f.synced); err != nil && !errors.Is(err, io.EOF) {
		panic(err)
	}
	left, whole := slices.Clone(all), int(f.confirmed-f.synced)
	switch what := random.IntN(4); {
	case len(all) == 0 || what == 0:
	case what == 1:
		left = nil
	case what == 2:
		left = left[:random.IntN(len(left))]
	default:
		for at := 0; at < len(left); at += sector {
			if random.IntN(2) == 0 {
				clear(left[at:min(at+sector, len(left))])
			}
		}
		left = left[:len(left)-random.IntN(2)*random.IntN(len(left))]
	}
	if len(left) < len(all) {
		if err := f.File.Truncate(f.synced + int64(len(left))); err != nil {
			panic(err)
		}
	}
	if _, err := f.File.WriteAt(left, f.synced); err != nil {
		panic(err)
	}
	forgot = whole > 0 && (len(left) < whole || !slices.Equal(left[:whole], all[:whole]))
	f.synced = f.size()
	f.confirmed = min(size, f.synced)
	return forgot
}

// lose makes the power fail; the caller holds the lock.
func (d *disk) lose() {
	d.life++
	d.left = 0
	d.kill()
	name := filepath.Join(d.folder, roomsFile)
	now, err := os.Stat(name)
	for _, f := range d.files {
		before := f.size()
		forgot := f.tear(d.random)
		if info, failed := f.Stat(); err != nil || failed != nil || !os.SameFile(info, now) {
			continue
		}
		d.tell("the power fails: of %d bytes %d are left, and some that were confirmed are not: %v", before, f.size(), forgot)
		if d.isUntold = d.isUntold || forgot; forgot && d.forgot.IsZero() {
			d.forgot = time.Now()
		}
	}
	if d.random.IntN(4) == 0 { // what is beside the file was not synced either
		os.Truncate(name+".kept", 0)
		d.isUntold = false
	}
}

// power lets the power fail after so many operations, or, with 0, now if it has not yet failed so.
func (d *disk) power(left int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if left == 0 && d.left > 0 {
		d.lose()
	}
	d.left = left
}

// set begins or ends a fault.
func (d *disk) set(fault *bool, is bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*fault = is
}

// says takes what a store says of damage as it begins.
func (d *disk) says(damage error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isSilent = d.isSilent || d.isUntold && damage == nil
	d.isUntold = false
}

// kills takes how to end the process that runs now.
func (d *disk) kills(kill func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kill = kill
}

// hasForgotten returns when something was lost that a sync had confirmed, zero for never, and whether a store did
// not say so.
func (d *disk) hasForgotten() (at time.Time, isSilent bool) {
	if d == nil {
		return time.Time{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.forgot, d.isSilent
}

// checkForgotten returns which promises were broken on a disk that has lost what it had confirmed. Rooms may be
// as they once were, or gone, and a round may have another address. But the host says so, and people go on.
func (w *world) checkForgotten(all []*group, at time.Duration, isSilent bool) (broken []string) {
	fail := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	if isSilent {
		fail("the store has lost what was confirmed, and does not say so")
	}
	time.Sleep(calmTime)
	for _, g := range all {
		l := w.look(0, g)
		switch {
		case l.status == http.StatusNotFound, l.status == http.StatusTooManyRequests: // as after many with a code that is gone
		case l.status != http.StatusOK || !l.of.Held.IsZero():
			fail("room %d is not to be seen: %d", g.n, l.status)
		case !slices.ContainsFunc(w.words, func(o word) bool { return o.room == g && o.text == fmt.Sprint(l.of.MaxRTTMs) }):
			fail("room %d has the limit %v, which nobody gave it", g.n, l.of.MaxRTTMs)
		}
		for _, m := range l.of.Members {
			if !m.Connected && w.newest(m.Name).left == "" {
				fail("%s does not come back into room %d", m.Name, g.n)
			}
		}
	}
	if why := w.open(&group{n: rooms + hosts}, 0); why != "" {
		fail("%s", why)
	}
	w.mu.Lock()
	w.seen = slices.DeleteFunc(w.seen, func(s sighting) bool { return s.at >= at })
	w.looks = slices.DeleteFunc(w.looks, func(l look) bool { return l.told >= at })
	broken = append(broken, judgeLooks(w.looks, w.words, w.seen, 0)...)
	w.mu.Unlock()
	return append(broken, w.judge(nil)...)
}

// isDisk says that an operation is of a night on one machine with a disk.
func (o op) isDisk() bool { return strings.HasPrefix(o.kind, "disk-") }

// diskKinds are the faults of such a night, each as often as the others.
var diskKinds = []string{"disk-kill", "disk-power", "disk-full", "disk-fails"}

// doDisk does an operation, and returns how to undo it.
func (w *world) doDisk(o op) (undo func()) {
	d := w.disk
	restart := func() {
		if h := w.hosts[0]; h.isKilled.Load() {
			<-h.ended // which has the file's lock until then
			w.hosts[0] = w.start(0)
		}
	}
	switch o.kind {
	case "disk-kill":
		d.end()
		w.hosts[0].stop(true)
		return restart
	case "disk-power":
		d.power(o.b)
		return func() { d.power(0); restart() }
	case "disk-full":
		d.set(&d.isFull, true)
		return func() { d.set(&d.isFull, false) }
	case "disk-lies":
		d.set(&d.lies, true)
		return func() { d.set(&d.lies, false) }
	case "disk-fails":
		d.set(&d.fails, true)
		return func() { d.set(&d.fails, false) }
	}
	panic("no such operation: " + o.kind)
}

// onDisk makes a night on one machine of another one: what people do, and faults of the machine and its disk.
func onDisk(all []op, random *mathrand.Rand, moment func(from, to time.Duration) time.Duration) (ops []op) {
	for _, o := range all {
		switch o.kind {
		case "cut-player-up", "cut-player-down", "jump":
			o.a = 0
			ops = append(ops, o)
		case "quit", "alone", "limit", "go", "vote", "ready":
			ops = append(ops, o)
		default:
			if slices.ContainsFunc(lasts, func(l last) bool { return l.kind == o.kind && !l.isOfHost && l.kind != "then-lose-nats" }) {
				ops = append(ops, o)
			}
		}
	}
	for range faults / 2 {
		ops = append(ops, op{at: moment(4*time.Second, faulty), kind: diskKinds[random.IntN(len(diskKinds))], b: 1 + random.IntN(10),
			lasts: moment(200*time.Millisecond, longest)})
	}
	for _, o := range ops {
		if o.kind == "limit" && random.IntN(3) == 0 { // the power fails just as it is kept
			ops = append(ops, op{at: o.at - time.Microsecond, kind: "disk-power", b: 1 + random.IntN(3), lasts: moment(time.Second, 6*time.Second)})
		}
	}
	if random.IntN(3) == 0 { // the host begins on a full disk, and goes on in a new file
		at := moment(8*time.Second, 40*time.Second)
		ops = append(ops, op{at: at, kind: "disk-kill", lasts: 1500 * time.Millisecond}, op{at: at + time.Second, kind: "disk-full", lasts: 3 * time.Second},
			op{at: at + 4500*time.Millisecond, kind: "disk-fails", lasts: 3 * time.Second},
			op{at: at + moment(4600*time.Millisecond, 5*time.Second), kind: "limit", a: random.IntN(rooms)},
			op{at: at + moment(5*time.Second, 7*time.Second), kind: []string{"disk-kill", "disk-power"}[random.IntN(2)], b: 1 + random.IntN(3), lasts: moment(time.Second, 3*time.Second)})
	}
	if random.IntN(4) == 0 {
		ops = append(ops, op{at: moment(10*time.Second, 40*time.Second), kind: "disk-lies", lasts: moment(5*time.Second, 20*time.Second)})
	}
	return ops
}
