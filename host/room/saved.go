package room

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"muster/discovery"
	"muster/discovery/topology"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/brought"
	"muster/host/room/calendar"
	"muster/host/room/choice"
	"muster/host/room/editions"
	"muster/host/room/estimates"
	"muster/host/room/evidence"
	"muster/host/room/finals"
	"muster/host/room/journal"
	"muster/host/room/launch"
	"muster/host/room/listing"
	"muster/host/room/nearby"
	"muster/host/room/origin"
	"muster/host/room/outage"
	"muster/host/room/places"
	"muster/host/room/roster"
	"muster/host/room/saved"
	"muster/host/room/search"
	"muster/host/room/trust"
	"muster/host/wire"
)

// phases are all of them by the names in the saved form, empty.
func phases() map[string]phase {
	return map[string]phase{
		"gathering": &Gathering{}, "listing": &Listing{}, "measuring": &Measuring{}, "coordinating": &Coordinating{},
		"verifying": &Verifying{}, "voting": &Voting{}, "countdown": &Countdown{}, "launching": &Launching{}, "waiting": &Waiting{}, "failed": &Failed{},
	}
}

// SavedVersion is the newest form of a saved room that this program reads.
const SavedVersion = saved.Version

// ErrNewer says that a later release of Muster has saved a room.
var ErrNewer = saved.ErrNewer

// Save is the whole room as bytes, for [Restore].
func (r *Room) Save() ([]byte, error) {
	s := saved.Room{
		Version: saved.Version, Roster: r.roster.Save(), Origins: r.round.origins.Save(), Opened: r.opened, Settings: r.settings, Password: r.settings.Password,
		Since: r.since, Closed: r.closed, Journal: r.journal.Save(), Previous: r.round.choice.Previous(), Calendar: r.calendar.Save(), Brought: r.lists.Save(),
		Round: r.round.number, Nearby: r.round.nearby.Save(), Measuring: r.round.measuring, Choice: r.round.choice.Save(),
		More:     r.round.budget.Save(),
		Failures: r.failures, Outage: r.outage.Save(), Broken: r.round.broken,
		Webhook: r.settings.Webhook,

		Attendance: r.round.attendance.Save(), Ballot: r.round.ballot.Save(), Editions: r.editions.Save(), Estimates: r.estimates.Save(), Launch: r.round.launches.Save(), Places: r.survey.Save(), Trust: r.round.trust.Save(),
	}
	s.Finals = r.round.looks.Save()
	if w := r.waiting(); w != nil {
		s.Seats = w.watch.Save()
	}
	var err error
	for name, p := range phases() {
		if fmt.Sprintf("%T", p) == fmt.Sprintf("%T", r.phase) {
			s.Phase.Name = name
		}
	}
	if s.Phase.Knows, err = json.Marshal(r.phase); err != nil {
		return nil, err
	}
	if s.Listing.SavedList, err = r.round.list.Save(r.round.number, r.round.servers, r.round.asked()); err != nil {
		return nil, err
	}
	if s.Listing.SavedSource = r.source.Save(); s.Listing.OwnHash != "" {
		s.Settings.Servers = nil
	}
	if s.Hearsay, err = r.round.hearsay.Save(names(r.round.players)); err != nil {
		return nil, err
	}
	for _, p := range r.round.players {
		sp := saved.Player{Name: p.name, Discreet: p.discreet, Shares: p.shares}
		if sp.Evidence, err = p.witness.Save(); err != nil {
			return nil, err
		}
		s.Players = append(s.Players, sp)
	}
	return json.Marshal(s)
}

// Kept finds what stands elsewhere than in the saved room, by its hash; nil is what is
// gone.
type Kept struct {
	// List is the topology of a round's list: without it the room gets a new one.
	List func(hash string) (*topology.Tree, error)
	// Own is the organiser's own list: without it the room says so.
	Own func(hash string) ([]netip.AddrPort, error)
}

// Restore is the room that was saved with its lists in it; see [RestoreKept].
func Restore(data []byte, tree func([]discovery.Server) *topology.Tree) (*Room, error) {
	return RestoreKept(data, tree, Kept{
		List: func(string) (*topology.Tree, error) { return nil, nil },
		Own:  func(string) ([]netip.AddrPort, error) { return nil, nil },
	})
}

// RestoreKept is the room that was saved. Nobody is connected to it. Any bytes are
// safe: what does not make a whole room is an error. The topology of its list is
// what tree says: rooms of one list share it.
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

// roomOf returns the saved room. Its list stands in it if kept is nil.
func roomOf(s *saved.Room, kept *topology.Tree, tree func([]discovery.Server) *topology.Tree) (*Room, error) {
	r := &Room{
		opened: s.Opened, settings: s.Settings, phase: phases()[s.Phase.Name], since: s.Since,
		closed: s.Closed, journal: journal.Restore(s.Journal), lists: brought.Restore(s.Brought), editions: editions.Restore(s.Editions), estimates: estimates.Restore(s.Estimates), failures: s.Failures, round: newRound(s.Round),
		source: listing.RestoreSource(s.Listing.SavedSource, s.Settings.Servers),
	}
	r.settings.Password, r.settings.Webhook = s.Password, s.Webhook
	n := &r.round
	n.broken = s.Broken
	n.measuring = s.Measuring
	var err error
	if r.calendar, err = calendar.Restore(s.Calendar); err != nil {
		return nil, err
	}
	if r.outage, err = outage.Restore(s.Outage); err != nil {
		return nil, err
	}
	if n.budget, err = search.RestoreBudget(s.More); err != nil {
		return nil, err
	}
	if r.survey, err = places.Restore(s.Places); err != nil {
		return nil, err
	}
	if n.number < 0 || n.number > wire.MaxRound {
		return nil, fmt.Errorf("a round %d", n.number)
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
	if n.list, n.servers, err = listing.RestoreList(s.Listing.SavedList, kept, n.measuring); err != nil {
		return nil, err
	}
	listed := len(n.servers.List)
	if n.ballot, err = ballot.Restore(s.Ballot, listed); err != nil {
		return nil, err
	}
	if n.looks, err = finals.Restore(s.Finals, listed); err != nil {
		return nil, err
	}
	for _, sp := range s.Players {
		p := &player{
			member: &member{name: sp.Name, discreet: sp.Discreet},
			shares: sp.Shares,
		}
		if p.witness, err = evidence.Restore(sp.Evidence, listed); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		n.players = append(n.players, p)
	}
	if err := r.restoreRoster(s.Roster, s.Origins); err != nil {
		return nil, err
	}
	if n.attendance, err = attendance.Restore(s.Attendance, names(n.players)); err != nil {
		return nil, err
	}
	if n.launches, err = launch.Restore(s.Launch, names(n.players)); err != nil {
		return nil, err
	}
	if n.trust, err = trust.Restore(s.Trust, names(n.players), listed); err != nil {
		return nil, err
	}
	places := map[string]nearby.Place{}
	for _, p := range n.players {
		places[p.name] = placeOf(n.origins.Of(p.name))
	}
	if n.nearby, err = nearby.Restore(s.Nearby, places, listed); err != nil {
		return nil, err
	}
	if n.hearsay, err = evidence.RestoreHearsay(s.Hearsay, names(n.players), listed); err != nil {
		return nil, err
	}
	n.servers = n.hearsay.About(n.servers)
	r.attend()
	if err := restoreWait(r.phase, s.Seats, len(n.servers.List)); err != nil {
		return nil, err
	}
	n.choice, err = choice.Restore(s.Choice, s.Previous, n.servers.List)
	return r, cmp.Or(err, r.isWhole())
}

// restoreRoster reads who is in the room, and where they come from.
func (r *Room) restoreRoster(s roster.Saved, origins origin.Saved) (err error) {
	if r.roster, err = roster.Restore(s); err != nil {
		return err
	}
	people := slices.Collect(r.roster.People())
	players := 0
	for i, p := range people {
		if !p.IsPlayer {
			break
		}
		if players++; i >= len(r.round.players) || r.round.players[i].name != p.Name {
			return fmt.Errorf("%q does not play here", p.Name)
		}
	}
	if players != len(r.round.players) {
		return fmt.Errorf("%d players of %d", players, len(r.round.players))
	}
	isPlayer := map[string]bool{}
	for _, p := range people {
		isPlayer[p.Name] = p.IsPlayer
	}
	r.round.origins, err = origin.Restore(origins, isPlayer)
	return err
}

// isWhole is an error if what the phase needs is not there.
func (r *Room) isWhole() error {
	missing := false
	switch phase := r.phase.(type) {
	case *Verifying:
		missing = r.round.choice.Newest() == nil
	case *Voting, *Countdown:
		missing = r.round.choice.Newest() == nil || r.round.choice.Newest().Chosen == nil
	case *Waiting, *Failed:
		w := r.waiting()
		missing = w != nil && !w.isWhole(r)
	case *Launching:
		missing = phase.Server < 0 || phase.Server >= len(r.round.servers.List) || r.round.choice.Newest() == nil || r.round.choice.Newest().Chosen == nil
	}
	if missing {
		return fmt.Errorf("%s without what that needs", r.phase.stage())
	}
	return nil
}
