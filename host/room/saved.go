package room

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

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
	"muster/host/room/search"
	"muster/host/room/seats"
	"muster/host/room/trust"
	"muster/host/wire"
	"muster/selection"
)

// The saved form has a version, and a host reads those from the oldest on: hosts of two
// releases share a store while one after the other is replaced. A room that a newer one
// has saved is left to the newer ones: rooms go forward only. What a later form adds
// raises the version if a room without it would break its word; what an older host may
// forget, such as a figure that is only shown, is added without, and an older host that
// has the room drops it.
const (
	savedVersion  = 3 // gives each part a section
	oldestVersion = 1
	// SavedVersion is the newest form of a saved room that this program reads.
	SavedVersion = savedVersion
)

// ErrNewer says that a later release of Muster has saved a room.
var ErrNewer = errors.New("a newer Muster has saved it")

// before3 is what forms 1 and 2 kept at the top of the room, and form 3 keeps in the parts'
// sections. It is read, and never written.
type before3 struct {
	Code   string         `json:"code,omitempty"`
	Link   string         `json:"link,omitempty"`
	Secret string         `json:"secret,omitempty"`
	Locked bool           `json:"locked,omitempty"`
	Guests []guestBefore3 `json:"guests,omitempty"`

	Log []wire.Note `json:"log,omitempty"`
	evidence.SavedHearsay
	Lists brought.Saved `json:"lists,omitzero"`
	Pause outage.Saved  `json:"pause,omitzero"`
	listing.Saved
	chosenBefore3
	Local    []LocalServer    `json:"local,omitempty"`
	Survey   places.Saved     `json:"survey,omitzero"`
	Voted    bool             `json:"voted,omitempty"`
	Vetoes   []selection.Veto `json:"vetoes,omitempty"`
	Numbered []int            `json:"numbered,omitempty"`
	TooNear  []int            `json:"too_near,omitempty"`
	Look     finals.Saved     `json:"look,omitzero"`

	Kept    calendar.Saved      `json:"kept,omitzero"`
	Ended   time.Time           `json:"ended,omitzero"`
	History []wire.Played       `json:"history,omitempty"`
	Posts   calendar.SavedPosts `json:"posts,omitzero"`
}

// chosenBefore3 is what forms 1 and 2 kept of the choice.
type chosenBefore3 struct{ choice.Saved }

// personBefore3 is what forms 1 and 2 kept with each person.
type personBefore3 struct {
	*roster.SavedPerson
	Origin Origin `json:"origin,omitzero"`
	Apart  bool   `json:"apart,omitempty"`
	Ready  bool   `json:"ready,omitempty"`
	Vote   *int   `json:"vote,omitempty"`
	ByHand bool   `json:"by_hand,omitempty"`
	// ComesTo is the date of Comes.
	Comes   *bool     `json:"comes,omitempty"`
	ComesTo time.Time `json:"comes_to,omitzero"`
}

// upgrade moves what an older form kept at the top into the parts' sections.
func (s *saved) upgrade() {
	if s.Version >= 3 {
		return
	}
	s.Ballot = ballot.Saved{Opened: s.Voted, Vetoes: s.Vetoes, Numbers: s.Numbered, Papers: map[string]ballot.Paper{}}
	s.Roster = roster.Saved{Code: s.Code, Link: s.Link, Secret: s.Secret, Locked: s.Locked}
	s.Calendar = s.Kept
	s.Calendar.Ended, s.Calendar.History, s.Calendar.Posts = s.Ended, s.History, s.Posts
	if s.Opened.After(s.Calendar.Used) {
		s.Calendar.Used = s.Opened
	}
	move := func(p *savedPerson, to *[]roster.SavedPerson) {
		one := roster.SavedPerson{}
		if p.SavedPerson != nil {
			one = *p.SavedPerson
		}
		one.Name = p.Name
		*to = append(*to, one)
		if from := (origin.Entry{Origin: p.Origin, IsApart: p.Apart}); from != (origin.Entry{}) {
			if s.Origins == nil {
				s.Origins = origin.Saved{}
			}
			s.Origins[p.Name] = from
		}
		if p.Comes != nil {
			if s.Calendar.Coming == nil {
				s.Calendar.Coming = map[string]calendar.Coming{}
			}
			s.Calendar.Coming[roster.MarkOf(one.Page)] = calendar.Coming{Comes: *p.Comes, To: p.ComesTo}
		}
		s.Ballot.Papers[p.Name] = ballot.Paper{Vote: p.Vote, Ready: p.Ready, ByHand: p.ByHand}
		p.personBefore3 = personBefore3{}
	}
	for i := range s.Guests {
		g := &s.Guests[i]
		move(&g.savedPerson, &s.Roster.Guests)
		if g.Counted {
			s.Estimates.Counted = append(s.Estimates.Counted, g.Name)
		}
	}
	for i := range s.Players {
		move(&s.Players[i].savedPerson, &s.Roster.Players)
	}
	s.Outage, s.Brought, s.Journal = s.Pause, s.Lists, journal.Saved{Notes: s.Log}
	s.Listing, s.Nearby, s.Choice = s.Saved, nearby.Saved{Servers: s.Local}, s.chosenBefore3.Saved
	s.Places = s.Survey
	s.Finals = s.Look
	s.Hearsay, s.Trust.TooNear, s.before3 = s.SavedHearsay, s.TooNear, before3{}
	if len(s.Players) > 0 {
		s.Attendance = attendance.Saved{}
	}
	for i := range s.Players {
		p := &s.Players[i]
		out := attendance.Why("")
		switch {
		case p.LeftOut && p.Anomaly != nil:
			out = attendance.Odd
		case p.LeftOut:
			out = attendance.Unsaid
		}
		s.Attendance[p.Name] = attendance.SavedPlayer{Heard: p.Heard, Done: p.Done, Out: out, Missed: p.Missed}
		if p.Editions != nil {
			if s.Editions == nil {
				s.Editions = editions.Saved{}
			}
			s.Editions[p.Name] = p.Editions
		}
		s.Trust.Add(p.Name, p.SavedPlayer)
		if p.Near != nil {
			s.Nearby.Add(p.Name, *p.Near)
		}
		s.Launch.Add(p.Name, p.Way)
		if p.Surveyed.Attempt > 0 {
			if s.Places.Found == nil {
				s.Places.Found = map[string]places.Found{}
			}
			s.Places.Found[p.Name] = p.Surveyed
		}
		p.Evidence, p.playerBefore3 = p.Saved, playerBefore3{}
	}
	s.Seats = s.Phase.seatsOf()
}

// saved is a room at rest: JSON, but for its long columns, which are the same
// binary frames that travel.
type saved struct {
	Version  int            `json:"version"`
	Opened   time.Time      `json:"opened"`
	Settings wire.Settings  `json:"settings"`
	Password string         `json:"password,omitempty"`
	Webhook  string         `json:"webhook,omitempty"`
	Phase    savedPhase     `json:"phase"`
	Since    time.Time      `json:"since"`
	Closed   bool           `json:"closed,omitempty"`
	Journal  journal.Saved  `json:"journal,omitzero"`
	Previous netip.AddrPort `json:"previous,omitzero"`
	Brought  brought.Saved  `json:"brought,omitzero"`
	Calendar calendar.Saved `json:"calendar,omitzero"`

	Round     int                `json:"round"`
	Players   []savedPlayer      `json:"players"`
	Listing   listing.Saved      `json:"listing,omitzero"`
	Nearby    nearby.Saved       `json:"nearby,omitzero"`
	Measuring time.Time          `json:"measuring,omitzero"`
	Failures  attendance.Retries `json:"failures,omitempty"`
	Outage    outage.Saved       `json:"outage,omitzero"`
	Broken    bool               `json:"broken,omitempty"`
	More      search.SavedBudget `json:"more,omitzero"`

	Roster     roster.Saved          `json:"roster,omitzero"`
	Origins    origin.Saved          `json:"origins,omitempty"`
	Attendance attendance.Saved      `json:"attendance,omitempty"`
	Ballot     ballot.Saved          `json:"ballot,omitzero"`
	Choice     choice.Saved          `json:"choice,omitzero"`
	Estimates  estimates.Saved       `json:"estimates,omitzero"`
	Editions   editions.Saved        `json:"editions,omitempty"`
	Seats      seats.Saved           `json:"seats,omitzero"`
	Launch     launch.Saved          `json:"launch,omitempty"`
	Places     places.Saved          `json:"places,omitzero"`
	Hearsay    evidence.SavedHearsay `json:"hearsay,omitzero"`
	Trust      trust.Saved           `json:"trust,omitzero"`
	Finals     finals.Saved          `json:"finals,omitzero"`

	before3
}

// savedPhase is the phase's name, and what only that phase knows.
type savedPhase struct {
	Name  string          `json:"name"`
	Knows json.RawMessage `json:"knows,omitempty"`
}

// savedPerson is somebody whom the roster knows by the name.
type savedPerson struct {
	Name string `json:"name"`

	personBefore3
}

// guestBefore3 is what forms 1 and 2 kept of each guest. It is read, and never written.
type guestBefore3 struct {
	savedPerson
	Counted bool `json:"counted,omitempty"`
}

type savedPlayer struct {
	savedPerson
	// Discreet is how many servers the player may be asked for in a round.
	Discreet int  `json:"discreet,omitempty"`
	Shares   bool `json:"shares,omitempty"`
	// Evidence is what the player was asked for and measured.
	Evidence evidence.Saved `json:"evidence,omitzero"`

	playerBefore3
}

// playerBefore3 is what forms 1 and 2 kept at the top of a player. It is read, and never
// written.
type playerBefore3 struct {
	Heard   time.Time     `json:"heard,omitzero"`
	Done    bool          `json:"done,omitempty"`
	LeftOut bool          `json:"left_out,omitempty"`
	Missed  time.Duration `json:"missed,omitempty"`
	evidence.Saved
	Editions map[string]discovery.Edition `json:"editions,omitempty"`
	trust.SavedPlayer
	Near     *nearby.Finding `json:"near,omitempty"`
	Surveyed places.Found    `json:"surveyed,omitzero"`
	launch.Way
}

// phases are all of them by the names in the saved form, empty.
func phases() map[string]phase {
	return map[string]phase{
		"gathering": &Gathering{}, "listing": &Listing{}, "measuring": &Measuring{}, "coordinating": &Coordinating{},
		"verifying": &Verifying{}, "voting": &Voting{}, "countdown": &Countdown{}, "launching": &Launching{}, "waiting": &Waiting{}, "failed": &Failed{},
	}
}

// Save is the whole room as bytes, for [Restore].
func (r *Room) Save() ([]byte, error) {
	s := saved{
		Version: savedVersion, Roster: r.roster.Save(), Origins: r.round.origins.Save(), Opened: r.opened, Settings: r.settings, Password: r.settings.Password,
		Since: r.since, Closed: r.closed, Journal: r.journal.Save(), Previous: r.previous, Calendar: r.calendar.Save(), Brought: r.lists.Save(),
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
		sp := savedPlayer{
			savedPerson: savedPerson{Name: p.name}, Discreet: p.discreet,
			Shares: p.shares,
		}
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
	var s saved
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("room: saved room: %w", err)
	}
	switch {
	case s.Version > savedVersion:
		return nil, fmt.Errorf("room: saved room: %w: it has form %d, and this one reads %d", ErrNewer, s.Version, savedVersion)
	case s.Version < oldestVersion:
		return nil, fmt.Errorf("room: saved room: form %d, and this program reads %d to %d", s.Version, oldestVersion, savedVersion)
	}
	s.upgrade()
	var list *topology.Tree
	var err error
	if s.Listing.Hash != "" {
		list, err = kept.List(s.Listing.Hash)
		if list == nil && err == nil {
			err = s.withoutList()
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
	r, err := s.room(list, tree)
	if err != nil {
		return nil, fmt.Errorf("room: saved room: %w", err)
	}
	return r, nil
}

// withoutList is the room without all that hangs on its list. Who was about to measure or
// choose begins again; who has been sent somewhere waits for the organiser.
func (s *saved) withoutList() (err error) {
	s.Listing.SavedList, s.Listing.ListLost = listing.SavedList{}, true
	if s.Hearsay, err = new(evidence.Hearsay).Save(nil); err != nil {
		return err
	}
	s.Seats = seats.Saved{}
	s.Nearby.Servers, s.Measuring, s.Outage, s.Broken = nil, time.Time{}, outage.Saved{}, false
	s.Choice, s.Finals, s.More, s.Trust = choice.Saved{}, finals.Saved{}, search.SavedBudget{}, s.Trust.WithoutList()
	s.Launch = s.Launch.WithoutList()
	s.Ballot, s.Attendance = ballot.Saved{}, s.Attendance.Anew()
	blank, err := new(evidence.Witness).Save()
	if err != nil {
		return err
	}
	for i := range s.Players {
		p := &s.Players[i]
		p.Shares = false
		p.Evidence = blank
	}
	switch s.Phase.Name {
	case "gathering", "listing", "failed":
	case "launching":
		s.Phase = savedPhase{Name: "failed", Knows: json.RawMessage("{}")}
	default:
		s.Phase = savedPhase{Name: "listing", Knows: json.RawMessage("{}")}
	}
	return nil
}

// room is the saved room, whose list stands in it if it is nil.
func (s *saved) room(kept *topology.Tree, tree func([]discovery.Server) *topology.Tree) (*Room, error) {
	r := &Room{
		opened: s.Opened, settings: s.Settings, phase: phases()[s.Phase.Name], since: s.Since,
		closed: s.Closed, journal: journal.Restore(s.Journal), previous: s.Previous, lists: brought.Restore(s.Brought), editions: editions.Restore(s.Editions), estimates: estimates.Restore(s.Estimates), failures: s.Failures, round: newRound(s.Round),
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
	n.choice, err = choice.Restore(s.Choice, n.servers.List)
	return r, cmp.Or(err, r.isWhole())
}

// restoreRoster reads who is in the room, and where they come from.
func (r *Room) restoreRoster(s roster.Saved, origins origin.Saved) (err error) {
	if r.roster, err = roster.Restore(s); err != nil {
		return err
	}
	people := r.roster.People()
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
