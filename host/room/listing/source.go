package listing

import (
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
)

const (
	// supplyFresh is how long the organiser's own list is as good as a new one. supplyWait is how
	// long the organiser's program has to get one: masters take seconds.
	supplyFresh = time.Minute
	supplyWait  = 12 * time.Second
	// slow is the wait after which people read the reason for it.
	slow = 5 * time.Second
)

// Source knows where a room's lists come from: the game's masters, the organiser's own list, or a
// server that the organiser has started. The zero value has only the masters. The organiser's list
// itself stands in the room's settings.
type Source struct {
	state SourceState
	// supplied is when the organiser's program last gave its list. It is not saved, because the
	// program gives the list again if asked.
	supplied time.Time
}

// SourceState is the saved state of a source.
type SourceState struct {
	// OwnHash is the store's key for the organiser's own list, or empty if the saved room contains
	// the list. OwnLost says that the store has lost it.
	OwnHash string `json:"own_hash,omitempty"`
	OwnLost bool   `json:"own_lost,omitempty"`
	// Started is the server that the organiser's program has started, if any.
	Started netip.AddrPort `json:"started,omitzero"`
	// Own is the group's own server at a place that the room has found.
	Own Own `json:"own_server,omitzero"`
	// ListLost says that the round's list was kept apart from the saved room, and is gone.
	ListLost bool `json:"-"`
}

// Own is a server of the group's own. It outlives a session: the group needs another place only when other people
// come.
type Own struct {
	Place string         `json:"place,omitempty"`
	Addr  netip.AddrPort `json:"addr,omitzero"`
	// For are the marks of the players for whom the place was chosen.
	For []string `json:"for,omitempty"`
}

// IsFor reports whether the server is for a group of players, or for one with more.
func (o Own) IsFor(marks []string) bool {
	return o.Addr.IsValid() && !slices.ContainsFunc(marks, func(mark string) bool { return !slices.Contains(o.For, mark) })
}

// Remember notes that the group has a server at a place.
func (s *Source) Remember(own Own) { s.state.Own = own }

// Again makes the group's own server the next list, if there is one.
func (s *Source) Again() { s.state.Started = s.state.Own.Addr }

// Sleep forgets what was for one session alone.
func (s *Source) Sleep() { s.state.Started = netip.AddrPort{} }

// State returns the state, to save or restore it.
func (s *Source) State() *SourceState { return &s.state }

// Find notes whether the store still has the organiser's own list.
func (s *SourceState) Find(own []netip.AddrPort) {
	if s.OwnLost = len(own) == 0 && (s.OwnLost || s.OwnHash != ""); s.OwnLost {
		s.OwnHash = ""
	}
}

// Query names the list that the host should fetch.
type Query struct {
	// Servers are the list itself. It is empty if the host should fetch the game's list.
	Servers []netip.AddrPort
	// Also are servers that people have brought. They belong on the list, too.
	Also []netip.AddrPort
}

// Awaits reports whether the organiser's program should give the list again. Opened is when the
// room was opened.
func (s *Source) Awaits(settings wire.Settings, opened, now time.Time) bool {
	last := s.supplied
	if last.Before(opened) {
		last = opened
	}
	return settings.Renews && (s.state.OwnLost || len(settings.Servers) > 0 && now.Sub(last) > supplyFresh)
}

// IsOverdue reports whether the organiser's program is overdue with its list, and returns a note
// for people. Such a program likely no longer runs. The room should not wait for it again until it
// has given a list.
func (s *Source) IsOverdue(waited time.Duration) (note sentence.Sentence, is bool) {
	if waited <= supplyWait {
		return note, false
	}
	if !s.state.OwnLost {
		note = sentence.Of("room.list-old")
	}
	return note, true
}

// Slow returns a note for people who wait for a list, or nothing if the wait is still short.
func Slow(waited time.Duration) (note sentence.Sentence) {
	if waited < slow {
		return note
	}
	return sentence.Of("room.list-slow")
}

// Query returns the list to fetch, along with servers that people have brought. If the group's own
// list is gone it returns an error, because the group would not want another list.
func (s *Source) Query(settings wire.Settings, brought []netip.AddrPort) (Query, error) {
	switch {
	case s.state.Started.IsValid():
		return Query{Servers: []netip.AddrPort{s.state.Started}}, nil
	case s.state.OwnLost:
		return Query{}, wire.Refuse(wire.ReasonAction, "refused.own-list-gone")
	}
	return Query{settings.Servers, brought}, nil
}

// Supply notes that the organiser's program gives its list for a game again. Kept is the store's
// key for it.
func (s *Source) Supply(settings wire.Settings, game string, servers []netip.AddrPort, kept string, now time.Time) error {
	switch {
	case game != settings.Game:
		return wire.Refuse(wire.ReasonAction, "refused.list-other-game", "game", settings.Game)
	case len(servers) == 0:
		return wire.Refuse(wire.ReasonAction, "refused.list-empty")
	}
	s.supplied, s.state.OwnHash, s.state.OwnLost = now, kept, false
	return nil
}

// Keep notes the store's key for the organiser's own list. From then on the room is saved without
// the list.
func (s *Source) Keep(settings wire.Settings, kept string) {
	if len(settings.Servers) > 0 {
		s.state.OwnHash = kept
	}
}

// Start takes a server that the organiser's program has started for a game. The next list is that
// server alone. IsBetween says that no round goes on. A public host asks nobody in private
// networks. Start returns a note for people.
func (s *Source) Start(
	settings wire.Settings, game string, addr netip.AddrPort, isPublic, isBetween bool,
) (note sentence.Sentence, err error) {
	addr = discovery.Canonical(addr)
	reach := discovery.ReachOf(addr.Addr())
	switch {
	case !isBetween:
		return note, wire.Refuse(wire.ReasonAction, "refused.started-late")
	case game != settings.Game:
		return note, wire.Refuse(wire.ReasonAction, "refused.started-other-game", "game", settings.Game)
	case reach == discovery.NoReach || addr.Port() == 0 || hostport.HasZone(addr.Addr()):
		return note, wire.Refuse(wire.ReasonAction, "refused.no-single-address", "server", addr)
	case isPublic && reach != discovery.InternetReach:
		return note, wire.Refuse(wire.ReasonAction, "refused.private-address", "server", addr)
	}
	s.state.Started = addr
	return sentence.Of("room.own-server"), nil
}

// Stop forgets the server that was started, and the group's own: the next list is the game's again.
func (s *Source) Stop() { s.state.Started, s.state.Own = netip.AddrPort{}, Own{} }

// Change notes that the room gets other settings. It forgets the state of another list or game. It
// returns a note for people, or nothing.
func (s *Source) Change(from, to wire.Settings) (note sentence.Sentence) {
	isNewGame := from.Game != to.Game
	if isNewGame && (len(from.Servers) > 0 || s.state.OwnLost) {
		note = sentence.Of("room.own-list-game", "game", from.Game)
	}
	if isNewGame || !slices.Equal(from.Servers, to.Servers) {
		s.state.OwnHash, s.state.OwnLost = "", false
	}
	if isNewGame {
		s.Stop()
	}
	return note
}

// Resume returns notes on lists that were lost while the host was away.
func (s *Source) Resume() (notes []sentence.Sentence) {
	if s.state.ListLost {
		s.state.ListLost = false
		notes = append(notes, sentence.Of("room.list-gone"))
	}
	if s.state.OwnLost {
		notes = append(notes, sentence.Of("room.own-list-gone"))
	}
	return notes
}
