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

// FakeStore is one host's view of rooms in memory, which some hosts may share. It is
// as slow, and fails, as a test says.
type FakeStore struct {
	*fakeRooms
	name string
}

// fakeRooms are what hosts share.
type fakeRooms struct {
	mu    sync.Mutex // guards following
	rooms map[string]*fakeRoom
	blobs map[string][]byte
	saves int
	// looks is how often hosts looked at whether they are trusted, as they do each time
	// that they do anything for a room.
	looks int
	// fails is what saving comes to, and claims what claiming does; takes is how long
	// either takes.
	fails  error
	claims error
	takes  time.Duration
	closed bool
	hangs  chan struct{} // until it is closed
	asked  [][]byte      // while it hangs
	// kept is done once when a save has been kept, before the host knows.
	kept func()
	// away are hosts that cannot trust what they own; dead are those that have ended.
	// changed is closed when any of that changes.
	away, dead map[string]bool
	changed    chan struct{}
	// unheard is how often a host still finds no room of a code, by both.
	unheard map[string]int
	claimed []*fakeClaim
}

type fakeRoom struct {
	data  []byte
	id    string
	owner string // "" for none
	heir  string // who takes it first
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

// On is what another host sees of the same rooms.
func (s *FakeStore) On(host string) *FakeStore { return &FakeStore{s.fakeRooms, host} }

// Put has a room saved that no host has.
func (s *FakeStore) Put(code string, data []byte) { s.rooms[code] = &fakeRoom{data: data} }

// Of is what was saved of a room.
func (s *FakeStore) Of(code string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rooms[code]; r != nil {
		return r.data
	}
	return nil
}

// Has reports whether there are just so many rooms, those that are over apart.
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

// set changes how the store is.
func (s *FakeStore) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Lock has nobody claim a room any more.
func (s *FakeStore) Lock(err error) { s.claims = err }

// isWell ends all trouble.
func (s *FakeStore) isWell() { s.set(func() { s.fails, s.takes = nil, 0 }) }

// Hang has the store never answer, until it is released.
func (s *FakeStore) Hang() (release func()) {
	hangs := make(chan struct{})
	s.set(func() { s.hangs, s.asked = hangs, nil })
	return sync.OnceFunc(func() {
		s.set(func() { s.hangs, s.asked = nil, nil })
		close(hangs)
	})
}

// IsAskedToKeep returns a function that reports whether the store was asked to save
// something of a player while it hangs.
func (s *FakeStore) IsAskedToKeep(name string) func() bool {
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.ContainsFunc(s.asked, func(data []byte) bool { return bytes.Contains(data, []byte(strconv.Quote(name))) })
	}
}

// Away has a host not know any more whether its rooms are its own, or know it again.
// By then it has heard which rooms are others' meanwhile.
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

// Dies has a host's rooms be anybody's, whatever the host believes.
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

// trouble waits for as long as the store takes to keep something, or nothing, and is what
// that comes to.
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

// Late has a host hear of a room only after it has looked for it so often.
func (s *FakeStore) Late(code string, looks int) {
	s.set(func() { s.unheard[s.name+code] = looks })
}

func (s *FakeStore) Find(code string) store.Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[code]
	if r == nil {
		return store.Place{}
	}
	if s.unheard[s.name+code] > 0 {
		s.unheard[s.name+code]--
		return store.Place{}
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
}

func (s *FakeStore) claimOf(code string, epoch uint64) *fakeClaim {
	c := &fakeClaim{s, code, epoch, make(chan struct{})}
	s.claimed = append(s.claimed, c)
	return c
}

func (c *fakeClaim) Epoch() uint64         { return c.epoch }
func (c *fakeClaim) Lost() <-chan struct{} { return c.lost }

// do changes the room, to what is given if anything is, if it is the claimant's still.
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

// mayTake reports whether a room is for this host, or for any.
func (s *FakeStore) mayTake(code string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	heir := s.rooms[code].heir
	return heir == "" || heir == s.name
}

// loads counts the rooms of each of some hosts.
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

// Panic has a room come upon a mistake of ours.
func (h *Host) Panic(code string) {
	a := h.actor(code)
	a.post(func() { panic("a mistake") })
}

// Blobs are the lists that are kept.
func (s *FakeStore) Blobs() map[string][]byte { return s.blobs }

// Sit has somebody join who has no connection.
func (h *Host) Sit(code, name, as string) {
	a := h.actor(code)
	a.post(func() {
		a.room.Step(room.Join{Hello: wire.Hello{Name: name, As: as}, Token: name}, time.Now())
	})
}
