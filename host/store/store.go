// Package store keeps rooms through a restart of their host. It also keeps the server lists that
// rooms share, and the tombstones of rooms that are over. Each room belongs to one host at a time,
// which holds a [Claim] to it:
//
//	       Create                Save, Save, …                End
//	code ─────────▶ epoch 1, ours ─────────▶ what was saved ─────▶ tombstone, 30 days
//	                      ▲                        │
//	                      └─ Claim: epoch + 1 ◀────┴ Release, or the host has ended
//
// [File] is the store of one process, [None] the store of a process that keeps nothing.
package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"iter"
	"sync"
	"time"
)

// Store keeps rooms, each owned by one host at a time. Any goroutine may use it.
type Store interface {
	// Create keeps a new room, which this host then owns. id is the room's public id, which admits
	// nobody. The error is ErrTaken if the code belongs, or belonged, to a room. If there is an
	// error beside a Claim, this host owns the room, but could not keep it yet.
	Create(ctx context.Context, code, id string, data []byte) (Claim, error)
	// Claim makes a room this host's, and returns it as it was last saved. It fences an earlier
	// claim of this host. The error is ErrUnknown, ErrOver, or ErrElsewhere if a living host has
	// the room.
	Claim(ctx context.Context, code string) (Claim, []byte, error)
	// Find says where the room with a code is. It answers from memory, so that strangers' guesses
	// cost the store nothing.
	Find(code string) Place
	// FindID returns the code of the room with a public id, "" if there is none.
	FindID(id string) string
	// Adopt yields the codes of the rooms that this host should claim: first those that have no
	// owner now, then those of hosts that end, until ctx ends. If ctx has ended already, it yields
	// only the first. It may return earlier if no others can come.
	Adopt(ctx context.Context) iter.Seq[string]
	// Trust reports whether this host can be sure of what it owns. The channel is closed when that
	// changes; it is nil if that never changes.
	Trust() (trusted bool, changed <-chan struct{})
	// Keep keeps a blob, such as a list of servers, and returns its name for Kept: a hash of its
	// content. A blob that is kept again stays for longer.
	Keep(ctx context.Context, blob []byte) (hash string, err error)
	// Kept returns the blob with a hash. The error is ErrUnknown if the blob is gone, as old blobs
	// are.
	Kept(ctx context.Context, hash string) ([]byte, error)
	Close() error
}

// Claim is a host's claim to a room that it owns. Only one goroutine at a time may use it.
type Claim interface {
	// Epoch returns a number greater than that of any earlier claim to the room.
	Epoch() uint64
	// Save keeps the whole room and replaces the previous save. The error is ErrFenced if another
	// host has the room now. It is ErrAway if it is unknown whether the room was kept; the caller
	// may safely try again. Other errors come from a failing disk: the previous save stands, and
	// this host still has the room.
	Save(ctx context.Context, data []byte) error
	// End forgets the room, apart from a tombstone that stays for 30 days. Its errors are those of
	// Save.
	End(ctx context.Context) error
	// Release lets any host take the room; the last save stands.
	Release(ctx context.Context) error
	// Give is Release in favour of one host, which may take the room before any other.
	Give(ctx context.Context, to string) error
	// Lost is closed once another host is known to have the room. Whatever this host says about the
	// room from then on is outdated. The channel is nil if no other host can take the room.
	Lost() <-chan struct{}
	// Unkept is closed once the store is known to have lost some of what it kept, perhaps this room.
	// The next Save keeps the room again, and Unkept then returns another channel. The channel is nil
	// if the store cannot know.
	Unkept() <-chan struct{}
}

// These are the errors of stores, which wrap them.
var (
	ErrTaken     = errors.New("store: the code is, or was, another room's")
	ErrUnknown   = errors.New("store: there is no such room, or blob")
	ErrOver      = errors.New("store: the room is over")
	ErrElsewhere = errors.New("store: another host has the room")
	ErrFenced    = errors.New("store: the room is another host's now")
	ErrAway      = errors.New("store: the store is out of reach")
	ErrNewer     = errors.New("written by a newer Muster")
	ErrInUse     = errors.New("in use by another host")
	ErrNoFile    = errors.New("a device or a pipe, which keeps nothing")
)

// Place is where a room is.
type Place struct {
	State State
	// Host is the name of the host that has the room, or had it last, and Epoch the epoch of its
	// newest claim, if they are known.
	Host  string
	Epoch uint64
	// Released says that an orphaned room's last host gave it up, and did not just end.
	Released bool
	// Unsure says of an unknown room that there may be one: this host may not have heard of all.
	Unsure bool
}

// State says who owns a room.
type State int

const (
	Unknown   State = iota // no room has the code
	Here                   // this host has it
	Elsewhere              // another living host has it
	Orphaned               // it has no owner: its host has ended, or released it
	Over                   // it is over: there is a tombstone
)

// tombstoneLife is how long the store remembers that a room existed, because old links stay in
// chats.
const tombstoneLife = 30 * 24 * time.Hour

// HashOf returns the hash by which stores name a blob.
func HashOf(blob []byte) string {
	sum := sha256.Sum256(blob)
	return hex.EncodeToString(sum[:])
}

// None only remembers which rooms exist and existed. It serves demonstrations, and hosts that
// cannot write a file. Its zero value is ready.
type None struct {
	mu    sync.Mutex // guards following
	rooms map[string]*noClaim
	codes map[string]string // by public id
}

// noClaim is a room of [None], over or not.
type noClaim struct {
	store *None
	code  string
	id    string
	over  time.Time
}

func (n *None) Create(_ context.Context, code, id string, _ []byte) (Claim, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.rooms[code]; r != nil && !isForgotten(r.over) {
		return nil, ErrTaken
	}
	if n.rooms == nil {
		n.rooms, n.codes = map[string]*noClaim{}, map[string]string{}
	}
	c := &noClaim{store: n, code: code, id: id}
	if n.rooms[code] = c; id != "" {
		n.codes[id] = code
	}
	return c, nil
}

// isForgotten reports whether a room has been over for so long that its tombstone is gone.
func isForgotten(over time.Time) bool { return !over.IsZero() && time.Since(over) > tombstoneLife }

func (n *None) Claim(_ context.Context, code string) (Claim, []byte, error) {
	if n.Find(code).State == Over {
		return nil, nil, ErrOver
	}
	return nil, nil, ErrUnknown
}

func (n *None) Find(code string) Place {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch r := n.rooms[code]; {
	case r == nil || isForgotten(r.over):
		return Place{}
	case r.over.IsZero():
		return Place{State: Here, Epoch: r.Epoch()}
	}
	return Place{State: Over}
}

func (n *None) FindID(id string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.codes[id]
}

func (*None) Adopt(context.Context) iter.Seq[string]                { return func(func(string) bool) {} }
func (*None) Trust() (trusted bool, changed <-chan struct{})        { return true, nil }
func (*None) Keep(_ context.Context, blob []byte) (string, error)   { return HashOf(blob), nil }
func (*None) Kept(context.Context, string) (blob []byte, err error) { return nil, ErrUnknown }
func (*None) Close() error                                          { return nil }
func (c *noClaim) Epoch() uint64                                    { return 1 }
func (c *noClaim) Save(context.Context, []byte) error               { return nil }
func (c *noClaim) End(context.Context) error                        { return c.gone(time.Now()) }
func (c *noClaim) Lost() <-chan struct{}                            { return nil }
func (c *noClaim) Unkept() <-chan struct{}                          { return nil }

// Release forgets the room, because None has kept nothing of it.
func (c *noClaim) Release(context.Context) error { return c.gone(time.Time{}) }

// Give is Release: there is no other host.
func (c *noClaim) Give(ctx context.Context, _ string) error { return c.Release(ctx) }

func (c *noClaim) gone(over time.Time) error {
	n := c.store
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.codes, c.id)
	if c.over = over; over.IsZero() {
		delete(n.rooms, c.code)
	}
	return nil
}

// remindEvery is how often the log repeats that an outage lasts. An operator sees it soon, and it
// makes at most 1,440 lines a day.
const remindEvery = time.Minute

// Outage decides when the log reports that a store keeps nothing: at once, each minute, and when it
// is over. The zero value is no outage.
type Outage struct{ began, told time.Time }

// Fails notes that the store failed at a time. It returns when the outage began, and whether to log
// it now.
func (o *Outage) Fails(now time.Time) (since time.Time, tell bool) {
	if o.began.IsZero() {
		o.began = now
	}
	if tell = o.told.IsZero() || now.Sub(o.told) >= remindEvery; tell {
		o.told = now
	}
	return o.began, tell
}

// Ends notes that the store works. It returns how long the outage lasted, and whether the log has
// reported it.
func (o *Outage) Ends(now time.Time) (lasted time.Duration, wasTold bool) {
	if o.began.IsZero() {
		return 0, false
	}
	lasted, wasTold = now.Sub(o.began), !o.told.IsZero()
	*o = Outage{}
	return lasted, wasTold
}
