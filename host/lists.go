package host

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
)

// maxLists is how many lists are kept for other rooms: a few games' newest.
const maxLists = 8

// maxFrames is how many rounds' frames are kept of a list: rooms that have it are
// in few different ones.
const maxFrames = 16

// lists shares equal lists between rooms: the servers, their topology and the
// frames that carry them. The zero value is ready.
type lists struct {
	mu     sync.Mutex // guards following
	newest []*sharedList
}

// sharedList is a list that rooms have.
type sharedList struct {
	tree *topology.Tree
	// servers and local are what it was made of; nil for a restored one.
	servers []discovery.Server
	local   []room.LocalServer
	// frames carry it, by round.
	frames map[int]wire.Frame
	// hash is by what the store has it, and keptAt since when; empty if it does not.
	hash   string
	keptAt time.Time
}

const (
	// worthKeeping is from how many bytes on a list is kept apart from the rooms that
	// have it: a short one costs less in each of them.
	worthKeeping = 4 << 10
	// keepAgain is how often a store is reminded of a list that rooms still get: it
	// forgets what nobody wanted for days.
	keepAgain = 12 * time.Hour
)

// keepApart has the store keep a list, and returns the hash by which it has it; empty if
// it has not, and rooms are to be saved with it.
func (l *lists) keepApart(ctx context.Context, s store.Store, tree *topology.Tree) (hash string) {
	l.mu.Lock()
	var list *sharedList
	for _, known := range l.newest {
		if known.tree == tree {
			list = known
		}
	}
	if list == nil || list.hash != "" && time.Since(list.keptAt) < keepAgain {
		defer l.mu.Unlock()
		if list != nil {
			hash = list.hash
		}
		return hash
	}
	l.mu.Unlock()
	frame, err := wire.Marshal(wire.List{Servers: tree.List()})
	if err != nil || len(frame.Data) < worthKeeping {
		return ""
	}
	if hash, err = s.Keep(ctx, frame.Data); err != nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	list.hash, list.keptAt = hash, time.Now()
	return hash
}

// kept is the topology of a list that the store keeps, nil if that has it no more.
func (l *lists) kept(ctx context.Context, s store.Store, hash string) (*topology.Tree, error) {
	l.mu.Lock()
	defer l.mu.Unlock() // many rooms ask for one at the same time
	for _, known := range l.newest {
		if known.hash == hash {
			return known.tree, nil
		}
	}
	list, blob, err := keptList(ctx, s, hash)
	if err != nil || blob == nil {
		return nil, err
	}
	known := l.keep(list)
	known.hash, known.keptAt = hash, time.Now()
	return known.tree, nil
}

// keptList are the servers of a list that the store keeps, and the blob that it keeps them
// as, nil if it has that no more.
func keptList(ctx context.Context, s store.Store, hash string) (servers []discovery.Server, blob []byte, err error) {
	blob, err = s.Kept(ctx, hash)
	if errors.Is(err, store.ErrUnknown) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	message, err := wire.Unmarshal(wire.BinaryFrame(blob))
	list, is := message.(wire.List)
	if err != nil || !is {
		return nil, nil, nil // whatever it is, it is no list any more
	}
	return list.Servers, blob, nil
}

// keepOwn has the store keep an organiser's own list, and returns the hash by which it has
// it; empty if it has not, and the room is to be saved with it.
func keepOwn(ctx context.Context, s store.Store, servers []netip.AddrPort) (hash string) {
	if len(servers) < ownWorthKeeping {
		return ""
	}
	list := wire.List{Servers: make([]discovery.Server, len(servers))}
	for i, addr := range servers {
		list.Servers[i].Addr = addr
	}
	frame, err := wire.Marshal(list)
	if err == nil {
		hash, err = s.Keep(ctx, frame.Data)
	}
	if err != nil {
		return ""
	}
	return hash
}

// ownWorthKeeping is from how many servers on an organiser's list is kept apart: they are
// 2 kB in the room.
const ownWorthKeeping = 100

// ownKept is an organiser's own list that the store keeps, for longer again, nil if that
// has it no more.
func ownKept(ctx context.Context, s store.Store, hash string) (servers []netip.AddrPort, err error) {
	list, blob, err := keptList(ctx, s, hash)
	if err != nil || blob == nil {
		return nil, err
	}
	for _, server := range list {
		servers = append(servers, server.Addr)
	}
	s.Keep(ctx, blob) // or it is kept as long as before
	return servers, nil
}

// share is the topology of a list as rooms have it.
func (l *lists) share(servers []discovery.Server, local []room.LocalServer) *topology.Tree {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, known := range l.newest {
		sameLocal := func(a, b room.LocalServer) bool { return a.Addr == b.Addr && a.Public == b.Public }
		if len(servers) > 0 && slices.Equal(known.servers, servers) && slices.EqualFunc(known.local, local, sameLocal) {
			return known.tree
		}
	}
	s := l.keep(room.Shared(servers, local))
	s.servers, s.local = servers, local
	return s.tree
}

// restored is the topology of the list of a room that was saved.
func (l *lists) restored(list []discovery.Server) *topology.Tree {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keep(list).tree
}

// keep is a list in its final form, as kept before if it was.
func (l *lists) keep(list []discovery.Server) *sharedList {
	for _, known := range l.newest {
		if slices.Equal(known.tree.List(), list) {
			return known
		}
	}
	s := &sharedList{tree: topology.New(list), frames: map[int]wire.Frame{}}
	l.newest = append(l.newest, s)
	l.newest = l.newest[max(0, len(l.newest)-maxLists):]
	return s
}

// frame is a list's, made once for all rooms that are in the same round.
func (l *lists) frame(list wire.List) (wire.Frame, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, known := range l.newest {
		if servers := known.tree.List(); len(list.Servers) > 0 && len(servers) == len(list.Servers) && &servers[0] == &list.Servers[0] {
			frame, made := known.frames[list.Round]
			if !made && len(known.frames) >= maxFrames {
				clear(known.frames)
			}
			if !made {
				var err error
				if frame, err = wire.Marshal(list); err != nil {
					return frame, err
				}
				known.frames[list.Round] = frame
			}
			return frame, nil
		}
	}
	return wire.Marshal(list)
}
