package room

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room/calendar"
	"muster/host/room/facts"
	"muster/host/room/outage"
	"muster/host/room/saved"
)

// SavedVersion is [saved.Version].
const SavedVersion = saved.Version

// ErrNewer and ErrOlder are errors of [saved.Read].
var (
	ErrNewer = saved.ErrNewer
	ErrOlder = saved.ErrOlder
)

// carry saves or restores the room's own state, and the parts that are not in [facts.Parts].
func carry(r *Room, s *saved.Room, saves bool) {
	saved.Carry(saves, &s.Opened, &r.opened)
	saved.Carry(saves, &s.At, &r.wall)
	saved.Carry(saves, &s.Now, &r.now)
	saved.Carry(saves, &s.Since, &r.since)
	saved.Carry(saves, &s.Phase.Begun, &r.begun)
	saved.Carry(saves, &s.Closed, &r.closed)
	saved.Carry(saves, &s.Failures, &r.failures)
	saved.Carry(saves, &s.Journal, r.out.journal.State())
	saved.Carry(saves, &s.Calendar, r.calendar.State())
	saved.Carry(saves, &s.Outage, r.outage.State())
	saved.Carry(saves, &s.Listing.SourceState, r.source.State())
	saved.Carry(saves, &s.More, r.probing.State())
	saved.Carry(saves, &s.Finals, r.decision.Looks.State())
}

// Save returns the whole room as bytes, for [Restore].
func (r *Room) Save() ([]byte, error) {
	s, err := r.parts.Save()
	if err != nil {
		return nil, err
	}
	s.Form = saved.Form
	if carry(r, &s, true); s.Listing.OwnHash != "" {
		s.Settings.Servers = nil
	}
	s.Phase.Name = r.phase.traits().savedName()
	if s.Phase.Knows, err = json.Marshal(r.phase); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// Kept finds lists that are stored apart from the saved room, by their hashes. It returns nil for a
// lost list.
type Kept struct {
	// List returns the topology of a round's list. If it is lost the room fetches a new list.
	List func(hash string) (*topology.Tree, error)
	// Own returns the organiser's own list. If it is lost the room tells people.
	Own func(hash string) ([]netip.AddrPort, error)
}

// Restore returns the room that was saved with its lists in it; see [RestoreKept].
func Restore(data []byte, tree func([]discovery.Server) *topology.Tree) (*Room, error) {
	return RestoreKept(data, tree, Kept{
		List: func(string) (*topology.Tree, error) { return nil, nil },
		Own:  func(string) ([]netip.AddrPort, error) { return nil, nil },
	})
}

// RestoreKept returns the saved room. Nobody is connected to it. Any bytes are safe: if something
// is missing, it returns an error. tree returns the topology of a list, which rooms with the same
// list share.
func RestoreKept(data []byte, tree func([]discovery.Server) *topology.Tree, kept Kept) (*Room, error) {
	s, err := saved.Read(data)
	if err != nil {
		return nil, fmt.Errorf("room: saved room: %w", err)
	}
	var list *topology.Tree
	if s.Listing.Hash != "" {
		list, err = kept.List(s.Listing.Hash)
		if list == nil && err == nil {
			err = s.LoseList()
		}
		if err != nil {
			return nil, fmt.Errorf("room: saved room: its list: %w", err)
		}
	}
	if s.Listing.OwnHash != "" {
		if s.Settings.Servers, err = kept.Own(s.Listing.OwnHash); err != nil {
			return nil, fmt.Errorf("room: saved room: the organiser's list: %w", err)
		}
	}
	r, err := roomOf(&s, list, tree)
	if err != nil {
		return nil, fmt.Errorf("room: saved room: %w", err)
	}
	return r, nil
}

// roomOf returns the saved room. If kept is nil, the saved room contains its list.
func roomOf(s *saved.Room, kept *topology.Tree, tree func([]discovery.Server) *topology.Tree) (*Room, error) {
	r := &Room{calendar: &calendar.Calendar{}, outage: outage.From(s.Now)}
	r.assemble()
	carry(r, s, false)
	r.source.State().Find(s.Settings.Servers)
	for _, p := range phases() {
		if p.traits().savedName() == s.Phase.Name {
			r.phase = p
		}
	}
	if r.phase == nil {
		return nil, fmt.Errorf("an unknown phase %q", s.Phase.Name)
	}
	if err := json.Unmarshal(s.Phase.Knows, r.phase); err != nil {
		return nil, err
	}
	if kept == nil {
		servers, err := s.Listing.Servers()
		if err != nil {
			return nil, err
		}
		kept = tree(servers)
	}
	var err error
	if r.parts, err = facts.Restore(s, kept); err != nil {
		return nil, err
	}
	listed := len(r.parts.Servers.List)
	for _, err := range []error{
		r.calendar.State().Validate(), r.outage.State().Validate(),
		r.probing.State().Validate(), r.decision.Looks.State().Validate(listed),
	} {
		if err != nil {
			return nil, err
		}
	}
	if !r.phase.isValid(&r.parts) {
		return nil, fmt.Errorf("%s without what that needs", r.phase.traits().stage())
	}
	return r, nil
}
