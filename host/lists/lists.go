// Package lists shares equal server lists between the rooms of a host: the servers, their topology,
// and the frames that carry them. It also keeps long lists in the store, apart from their rooms.
package lists

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

// maxLists is how many lists are kept for other rooms: the newest ones of a few games.
const maxLists = 8

// maxFrames bounds the frames of a list. There is one frame a round, and the rooms of a list are in
// few different rounds.
const maxFrames = 16

// Lists are the newest lists that rooms use.
type Lists struct {
	store store.Store

	mu     sync.Mutex // guards following
	newest []*shared
}

// New returns an empty set of lists for rooms in a store.
func New(s store.Store) *Lists { return &Lists{store: s} }

// shared is a list that rooms use.
type shared struct {
	tree *topology.Tree
	// servers and local are the input of the tree; nil for a restored list.
	servers []discovery.Server
	local   []room.LocalServer
	// frames carry the list, by round.
	frames map[int]wire.Frame
	// hash names the list in the store, which has kept it since keptAt. It is empty if the store
	// does not have it.
	hash   string
	keptAt time.Time
}

const (
	// worthKeeping is the size in bytes of the smallest list that is kept apart from its rooms. A
	// shorter list costs less as a copy in each room.
	worthKeeping = 4 << 10
	// keepAgain is how often the store is told to keep a list that rooms still use, because the
	// store forgets lists that were unused for days.
	keepAgain = 12 * time.Hour
)

// KeepApart keeps a list in the store and returns its hash there. If the hash is empty, the store
// does not have the list, and each room must be saved with it.
func (l *Lists) KeepApart(ctx context.Context, tree *topology.Tree) (hash string) {
	l.mu.Lock()
	var list *shared
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
	if hash, err = l.store.Keep(ctx, frame.Data); err != nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	list.hash, list.keptAt = hash, time.Now()
	return hash
}

// Kept returns the topology of a list in the store, nil if the store has forgotten it.
func (l *Lists) Kept(ctx context.Context, hash string) (*topology.Tree, error) {
	l.mu.Lock()
	defer l.mu.Unlock() // many rooms ask for one at the same time
	for _, known := range l.newest {
		if known.hash == hash {
			return known.tree, nil
		}
	}
	list, blob, err := l.read(ctx, hash)
	if err != nil || blob == nil {
		return nil, err
	}
	known := l.keep(list)
	known.hash, known.keptAt = hash, time.Now()
	return known.tree, nil
}

// read returns the servers of a list in the store, and the blob that holds them. Both are nil if
// the store has forgotten the list.
func (l *Lists) read(ctx context.Context, hash string) (servers []discovery.Server, blob []byte, err error) {
	blob, err = l.store.Kept(ctx, hash)
	if errors.Is(err, store.ErrUnknown) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	message, err := wire.Unmarshal(wire.BinaryFrame(blob))
	list, is := message.(wire.List)
	if err != nil || !is {
		return nil, nil, nil // the blob is not a list
	}
	return list.Servers, blob, nil
}

// KeepOwn keeps an organiser's own list in the store and returns its hash there. If the hash is
// empty, the store does not have the list, and the room must be saved with it.
func (l *Lists) KeepOwn(ctx context.Context, servers []netip.AddrPort) (hash string) {
	if len(servers) < ownWorthKeeping {
		return ""
	}
	list := wire.List{Servers: make([]discovery.Server, len(servers))}
	for i, addr := range servers {
		list.Servers[i].Addr = addr
	}
	frame, err := wire.Marshal(list)
	if err == nil {
		hash, err = l.store.Keep(ctx, frame.Data)
	}
	if err != nil {
		return ""
	}
	return hash
}

// ownWorthKeeping is the length of the shortest organiser's list that is kept apart; that many
// servers take 2 kB in the room.
const ownWorthKeeping = 100

// OwnKept returns an organiser's own list from the store, and keeps it there for longer. The list
// is nil if the store has forgotten it.
func (l *Lists) OwnKept(ctx context.Context, hash string) (servers []netip.AddrPort, err error) {
	list, blob, err := l.read(ctx, hash)
	if err != nil || blob == nil {
		return nil, err
	}
	for _, server := range list {
		servers = append(servers, server.Addr)
	}
	l.store.Keep(ctx, blob) // on failure it is kept for as long as before
	return servers, nil
}

// Share returns the topology of a list, which rooms with equal lists share.
func (l *Lists) Share(servers []discovery.Server, local []room.LocalServer) *topology.Tree {
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

// Restored returns the topology of a saved room's list.
func (l *Lists) Restored(list []discovery.Server) *topology.Tree {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keep(list).tree
}

// keep returns a list in its final form. If there is an equal one already, it returns that one.
func (l *Lists) keep(list []discovery.Server) *shared {
	for _, known := range l.newest {
		if slices.Equal(known.tree.List(), list) {
			return known
		}
	}
	s := &shared{tree: topology.New(list), frames: map[int]wire.Frame{}}
	l.newest = append(l.newest, s)
	l.newest = l.newest[max(0, len(l.newest)-maxLists):]
	return s
}

// Frame returns the frame of a list. Rooms in the same round share it.
func (l *Lists) Frame(list wire.List) (wire.Frame, error) {
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
