// Package store keeps rooms through a restart of their host, the lists of servers that
// they share, and the tombstones of rooms that are over. Each room is one host's at a
// time, which holds a [Claim] to it:
//
//	       Create                Save, Save, …                End
//	code ─────────▶ epoch 1, ours ─────────▶ what was saved ─────▶ tombstone, 30 days
//	                      ▲                        │
//	                      └─ Claim: epoch + 1 ◀────┴ Release, or the host has ended
//
// [File] is the store of one process, [None] that of one which keeps nothing.
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
	// Create keeps a new room, which is this host's then. The id is the room's public
	// one, which admits nobody. It is ErrTaken if the code is, or was, a room's. An
	// error beside a Claim says that the room is this host's, and that it could not be
	// kept yet.
	Create(ctx context.Context, code, id string, data []byte) (Claim, error)
	// Claim makes a room this host's, and returns it as it was saved last. A claim that
	// this host had to it before is fenced. It is ErrUnknown, ErrOver, or ErrElsewhere if
	// a living host has the room.
	Claim(ctx context.Context, code string) (Claim, []byte, error)
	// Find says where the room of a code is, from memory: strangers' guesses cost the
	// store nothing.
	Find(code string) Place
	// FindID is the code of the room with a public id, "" if there is none.
	FindID(id string) string
	// Adopt yields the codes of the rooms that this host is to claim, those of now and,
	// when other hosts end, theirs, until ctx ends. With a ctx that has ended already
	// it yields those of now. It may come to an end before, if no others can come.
	Adopt(ctx context.Context) iter.Seq[string]
	// Trust reports whether what this host owns is its own for sure, and a channel that
	// is closed when that changes; nil if it never does.
	Trust() (trusted bool, changed <-chan struct{})
	// Keep keeps a blob, such as a list of servers, and returns the name by which Kept
	// has it: a hash of its content. To keep it again has it kept for longer.
	Keep(ctx context.Context, blob []byte) (hash string, err error)
	// Kept is the blob of a hash; ErrUnknown if it is gone, as old ones are.
	Kept(ctx context.Context, hash string) ([]byte, error)
	Close() error
}

// Claim is a host's to a room that it owns. Its methods are for one goroutine at a time.
type Claim interface {
	// Epoch is greater than that of any claim to the room before.
	Epoch() uint64
	// Save keeps the room, whole, in place of what was there. It is ErrFenced if the
	// room is another host's now, and ErrAway if nobody knows whether it was kept: to
	// try again is safe. Other errors are of a disk that takes nothing: what was saved
	// before stands, and the room is this host's still.
	Save(ctx context.Context, data []byte) error
	// End forgets all of a room but that it was: a tombstone stays for 30 days. Its
	// errors are those of Save.
	End(ctx context.Context) error
	// Release lets any host have the room; what was saved last stands.
	Release(ctx context.Context) error
	// Give is Release to a certain host, which takes the room before any other does.
	Give(ctx context.Context, to string) error
	// Lost is closed once the room is known to be another host's: whatever this one
	// says of it from then on is old. It is nil if that cannot be.
	Lost() <-chan struct{}
}

// Errors of stores, which wrap them.
var (
	ErrTaken     = errors.New("store: the code is, or was, another room's")
	ErrUnknown   = errors.New("store: there is no such room, or blob")
	ErrOver      = errors.New("store: the room is over")
	ErrElsewhere = errors.New("store: another host has the room")
	ErrFenced    = errors.New("store: the room is another host's now")
	ErrAway      = errors.New("store: the store is out of reach")
	ErrNewer     = errors.New("written by a newer Muster")
	ErrInUse     = errors.New("in use by another host")
)

// Place is where a room is.
type Place struct {
	State State
	// Host is the name of the host that has it, or had it last, and Epoch that of its
	// newest claim, as far as they are known.
	Host  string
	Epoch uint64
}

// State says whose a room is.
type State int

const (
	Unknown   State = iota // there is none of the code
	Here                   // this host's
	Elsewhere              // another living host's
	Orphaned               // nobody's: its host has ended, or released it
	Over                   // a tombstone's
)

// tombstoneLife is how long it is remembered that a room was: old links lie about in
// chats.
const tombstoneLife = 30 * 24 * time.Hour

// HashOf is the hash by which stores know a blob.
func HashOf(blob []byte) string {
	sum := sha256.Sum256(blob)
	return hex.EncodeToString(sum[:])
}

// None keeps nothing but which rooms there are and were: for a demonstration, or where
// no file can be written. Its zero value is ready.
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

// isForgotten reports whether a room has been over for so long that nobody asks.
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

// Release forgets the room: nothing of it was kept.
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
