package host

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
)

// FakeStore is one host's view of rooms in memory, which several hosts may share. Tests set how
// slow it is, and how it fails.
type FakeStore struct {
	*fakeRooms
	name string
}

// fakeRooms are the rooms that hosts share.
type fakeRooms struct {
	mu    sync.Mutex // guards following
	rooms map[string]*fakeRoom
	blobs map[string][]byte
	saves int
	// looks is how often hosts have asked whether they are trusted. They ask each time that they do
	// anything for a room.
	looks int
	// fails is the error of saves, and claims the error of claims; takes is how long each takes.
	fails  error
	claims error
	takes  time.Duration
	closed bool
	hangs  chan struct{} // until it is closed
	asked  [][]byte      // the saves that arrived while it hangs
	// kept is called when a save has been kept, before the host knows.
	kept func()
	// away are hosts that cannot trust what they own, and dead those that have ended. changed is
	// closed when any of that changes.
	away, dead map[string]bool
	changed    chan struct{}
	// unheard is how often a host still does not find a room, by host and code.
	unheard map[string]int
	claimed []*fakeClaim
}

type fakeRoom struct {
	data  []byte
	id    string
	owner string // "" if none
	heir  string // the host that takes it first
	epoch uint64
	over  bool
	saved int
}

func NewFakeStore() *FakeStore {
	return &FakeStore{&fakeRooms{
		rooms:   map[string]*fakeRoom{},
		blobs:   map[string][]byte{},
		away:    map[string]bool{},
		dead:    map[string]bool{},
		unheard: map[string]int{},
		changed: make(chan struct{}),
	}, "one"}
}

// On returns another host's view of the same rooms.
func (s *FakeStore) On(host string) *FakeStore { return &FakeStore{s.fakeRooms, host} }

// Put adds a saved room without an owner.
func (s *FakeStore) Put(code string, data []byte) { s.rooms[code] = &fakeRoom{data: data} }

// Of returns the saved content of a room.
func (s *FakeStore) Of(code string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rooms[code]; r != nil {
		return r.data
	}
	return nil
}

// Has reports whether exactly these rooms exist, apart from ended ones.
func (s *FakeStore) Has(codes ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var living []string
	for _, code := range slices.Sorted(maps.Keys(s.rooms)) {
		if !s.rooms[code].over {
			living = append(living, code)
		}
	}
	slices.Sort(codes)
	return slices.Equal(living, codes)
}

func (s *FakeStore) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Lock makes all claims fail.
func (s *FakeStore) Lock(err error) { s.claims = err }

// isWell ends all trouble.
func (s *FakeStore) isWell() { s.set(func() { s.fails, s.takes = nil, 0 }) }

// Hang makes the store hang until release is called.
func (s *FakeStore) Hang() (release func()) {
	hangs := make(chan struct{})
	s.set(func() { s.hangs, s.asked = hangs, nil })
	return sync.OnceFunc(func() {
		s.set(func() { s.hangs, s.asked = nil, nil })
		close(hangs)
	})
}

// IsAskedToKeep returns a function that reports whether the hanging store was asked to save a
// player's name.
func (s *FakeStore) IsAskedToKeep(name string) func() bool {
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.ContainsFunc(s.asked, func(data []byte) bool { return bytes.Contains(data, []byte(strconv.Quote(name))) })
	}
}

// Away sets whether a host can trust what it owns. When it can again, it already knows which rooms
// are others' by then.
func (s *FakeStore) Away(is bool) {
	s.set(func() {
		s.away[s.name] = is
		s.claimed = slices.DeleteFunc(s.claimed, func(c *fakeClaim) bool {
			isLost := !is && c.store.name == s.name && s.rooms[c.code].epoch > c.epoch
			if isLost {
				close(c.lost)
			}
			return isLost
		})
	})
}

// Dies gives up a host's rooms, whatever the host believes.
func (s *FakeStore) Dies() { s.set(func() { s.dead[s.name] = true }) }

func (s *FakeStore) count() (saves int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saves
}

func (s *FakeStore) looked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks
}

// trouble waits for as long as a write takes, and returns its error. data is what it writes, which
// may be nil.
func (s *FakeStore) trouble(data []byte) error {
	s.mu.Lock()
	fails, takes, hangs := s.fails, s.takes, s.hangs
	s.mu.Unlock()
	time.Sleep(takes)
	if hangs != nil {
		s.set(func() { s.asked = append(s.asked, data) })
		<-hangs
	}
	return fails
}

func (s *FakeStore) Create(_ context.Context, code, id string, data []byte) (store.Claim, error) {
	err := s.trouble(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rooms[code] != nil {
		return nil, store.ErrTaken
	}
	s.rooms[code] = &fakeRoom{data: data, id: id, owner: s.name, epoch: 1}
	s.saves++
	return s.claimOf(code, 1), err
}

func (s *FakeStore) Claim(_ context.Context, code string) (store.Claim, []byte, error) {
	if s.trouble(nil); s.claims != nil {
		return nil, nil, s.claims
	}
	switch place := s.Find(code); place.State {
	case store.Unknown:
		return nil, nil, store.ErrUnknown
	case store.Over:
		return nil, nil, store.ErrOver
	case store.Elsewhere:
		return nil, nil, store.ErrElsewhere
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[code]
	r.owner, r.heir = s.name, ""
	r.epoch++
	return s.claimOf(code, r.epoch), r.data, nil
}

// Late makes a host find a room only after it has looked for it that many times.
func (s *FakeStore) Late(code string, looks int) {
	s.set(func() { s.unheard[s.name+code] = looks })
}

func (s *FakeStore) Find(code string) store.Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[code]
	if r == nil {
		return store.Place{Unsure: s.away[s.name]}
	}
	if s.unheard[s.name+code] > 0 {
		s.unheard[s.name+code]--
		return store.Place{Unsure: s.away[s.name]}
	}
	place := store.Place{State: store.Elsewhere, Host: r.owner, Epoch: r.epoch}
	switch {
	case r.over:
		place.State = store.Over
	case r.owner == s.name:
		place.State = store.Here
	case r.owner == "" || s.dead[r.owner]:
		place.State = store.Orphaned
	}
	return place
}

func (s *FakeStore) FindID(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for code, r := range s.rooms {
		if r.id == id && !r.over {
			if s.unheard[s.name+code] > 0 {
				s.unheard[s.name+code]--
				return ""
			}
			return code
		}
	}
	return ""
}

func (s *FakeStore) Adopt(ctx context.Context) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			s.mu.Lock()
			codes, changed := slices.Sorted(maps.Keys(s.rooms)), s.changed
			s.mu.Unlock()
			for _, code := range codes {
				if s.Find(code).State == store.Orphaned && s.mayTake(code) && !yield(code) {
					return
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (s *FakeStore) Trust() (trusted bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	return !s.away[s.name], s.changed
}

func (s *FakeStore) Keep(_ context.Context, blob []byte) (string, error) {
	if err := s.trouble(nil); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := store.HashOf(blob)
	s.blobs[hash] = blob
	return hash, nil
}

func (s *FakeStore) Kept(_ context.Context, hash string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if blob, is := s.blobs[hash]; is {
		return blob, nil
	}
	return nil, store.ErrUnknown
}

func (s *FakeStore) Close() error {
	s.trouble(nil)
	s.set(func() { s.closed = true })
	return nil
}

type fakeClaim struct {
	store *FakeStore
	code  string
	epoch uint64
	lost  chan struct{}
	// unkept is told that the store has lost what it kept.
	unkept chan struct{}
}

func (s *FakeStore) claimOf(code string, epoch uint64) *fakeClaim {
	c := &fakeClaim{s, code, epoch, make(chan struct{}), make(chan struct{}, 1)}
	s.claimed = append(s.claimed, c)
	return c
}

func (c *fakeClaim) Epoch() uint64         { return c.epoch }
func (c *fakeClaim) Lost() <-chan struct{} { return c.lost }

func (c *fakeClaim) Unkept() <-chan struct{} { return c.unkept }

// do changes the room. It fails if the claim is no longer valid.
func (c *fakeClaim) do(data []byte, change func(*fakeRoom)) error {
	err := c.store.trouble(data)
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if c.store.away[c.store.name] {
		err = store.ErrAway
	}
	if err != nil {
		c.store.saves++
		return err
	}
	r := c.store.rooms[c.code]
	if r.epoch != c.epoch || r.over {
		return fmt.Errorf("epoch %d: %w", r.epoch, store.ErrFenced)
	}
	change(r)
	return nil
}

func (c *fakeClaim) Save(_ context.Context, data []byte) error {
	return c.do(data, func(r *fakeRoom) {
		r.data = data
		r.saved++
		c.store.saves++
		if kept := c.store.kept; kept != nil {
			c.store.kept = nil
			kept()
		}
	})
}

func (c *fakeClaim) End(context.Context) error {
	return c.do(nil, func(r *fakeRoom) { r.over, r.data = true, nil })
}

func (s *FakeStore) mayTake(code string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	heir := s.rooms[code].heir
	return heir == "" || heir == s.name
}

func (s *FakeStore) loads(hosts ...string) map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]int{}
	for _, name := range hosts {
		all[name] = 0
	}
	for _, r := range s.rooms {
		if _, is := all[r.owner]; is && !r.over {
			all[r.owner]++
		}
	}
	return all
}

func (c *fakeClaim) Give(ctx context.Context, to string) error {
	c.store.set(func() { c.store.rooms[c.code].heir = to })
	return c.Release(ctx)
}

func (c *fakeClaim) Release(context.Context) error {
	c.store.set(func() {
		if r := c.store.rooms[c.code]; r.epoch == c.epoch {
			r.owner = ""
		}
	})
	return nil
}

// Panic makes a room panic.
func (h *Host) Panic(code string) {
	a := h.actor(code)
	a.post(func() { panic("a mistake") })
}

// Blobs returns the lists that are kept.
func (s *FakeStore) Blobs() map[string][]byte { return s.blobs }

// Sit adds a player without a connection.
func (h *Host) Sit(code, name, as string) {
	a := h.actor(code)
	a.post(func() {
		a.room.Step(room.Join{Hello: wire.Hello{Name: name, As: as}, Token: name}, a.moment())
	})
}
