package listing

import (
	"fmt"
	"iter"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/wire"
	"muster/selection"
)

// Saved is the section of the saved room. Its long columns are binary frames, as on the wire.
type Saved struct {
	SavedList
	SourceState
}

// SavedList is the saved form of a round's list.
type SavedList struct {
	// List is the list, or empty with a Hash if the host keeps it apart.
	List []byte `json:"list,omitempty"`
	Hash string `json:"list_hash,omitempty"`
	// Said is the useful part of the list's facts.
	Said   []byte    `json:"said,omitempty"`
	SaidAt time.Time `json:"said_at,omitzero"`
	Dated  bool      `json:"said_dated,omitempty"`
}

// Save returns the list of a round with its facts about the servers that somebody asked.
func (l *List) Save(round int, servers selection.Servers, asked iter.Seq[int]) (s SavedList, err error) {
	if s.Hash = l.hash; s.Hash == "" {
		if l.packed == nil && len(servers.List) > 0 {
			if l.packed, err = pack(wire.List{Round: round, Servers: servers.List}); err != nil {
				return s, err
			}
		}
		s.List = l.packed
	}
	s.Dated = servers.Dated
	if useful := useful(servers, asked); len(useful) > 0 {
		s.SaidAt = servers.Said.At
		s.Said, err = pack(wire.Infos{Round: round, Servers: useful})
	}
	return s, err
}

// Servers returns the list in the saved room, which may be empty.
func (s SavedList) Servers() ([]discovery.Server, error) {
	if len(s.List) == 0 { // a room that gathers has none
		return nil, nil
	}
	list, err := wire.Unpack[wire.List](s.List)
	return list.Servers, err
}

// RestoreList returns the list that was saved and its servers. The tree is that of
// [SavedList.Servers], or of the list that the host keeps apart. Any bytes are safe: nonsense is an
// error.
func RestoreList(s SavedList, tree *topology.Tree) (List, selection.Servers, error) {
	l := New(tree, s.Hash)
	servers := selection.Servers{List: tree.List(), Dated: s.Dated}
	if len(s.Said) == 0 {
		return l, servers, nil
	}
	said, err := wire.Unpack[wire.Infos](s.Said)
	if err != nil {
		return List{}, selection.Servers{}, err
	}
	for _, one := range said.Servers {
		if one.Server >= len(servers.List) {
			return List{}, selection.Servers{}, fmt.Errorf("what the list says of server %d of %d", one.Server, len(servers.List))
		}
	}
	servers.Said = saidOf(servers.List, said.Servers, s.SaidAt)
	return l, servers, nil
}

func pack(m wire.Message) ([]byte, error) {
	frame, err := wire.Marshal(m)
	return frame.Data, err
}
