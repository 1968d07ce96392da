package room

import (
	"iter"

	"muster/discovery"
	"muster/host/room/candidates"
	"muster/host/room/choice"
	"muster/host/room/decision"
	"muster/host/room/people"
	"muster/host/room/privacy"
	"muster/host/room/roster"
	"muster/host/wire"
)

// Snapshot returns the room as everyone may see it now. It shares no memory that the room still
// changes.
func (r *Room) Snapshot() wire.Snapshot {
	s, _ := privacy.Split(fullSnapshot(r))
	return s
}

// fullSnapshot returns the room with all pings. In a match only [privacy.Split] may see it.
func fullSnapshot(r *Room) wire.Snapshot {
	now := r.clocks()
	g, names, calendar := &r.parts, r.parts.Roster.Names(), r.calendar.View(r.dates(r.wall))
	showing := decision.Showing{IsOpen: r.canDecideAgain(), IsVoting: r.phase.traits().isVoting, Target: -1}
	s := wire.Snapshot{
		Room: wire.Head{
			Code: g.Roster.Keys().Code, Settings: g.Settings, Stage: r.phase.traits().stage(), Since: now.Of(r.since), Began: now.Of(g.Measuring), Round: g.Number,
			Locked: g.Roster.IsLocked(), Listed: len(g.Servers.List), MaxAsked: r.probing.MaxTold(r.facts),
			Said: g.Servers.Said.At, Paused: r.outage.IsPaused(), Ended: calendar.Ended,
		},
		Log:     r.out.journal.View(names),
		Voting:  r.decision.ViewVote(r.facts, showing.IsVoting),
		History: calendar.History,
		Lists:   g.Lists.View(names),
		Meeting: calendar.Meeting,

		Standing:  r.probing.View(r.facts),
		Reactions: g.Reactions.View(r.now, names),
		Match:     r.decision.ViewMatch(r.facts, now),
	}
	s.Room.Password, s.Room.Servers, s.Room.Own = "", nil, len(g.Settings.Servers)
	s.Room.Places, s.Room.SteamIDs = nil, nil
	places, owners := r.places()
	for _, v := range places {
		s.Room.Candidates = append(s.Room.Candidates, v.Name)
	}
	if s.Room.Webhook, s.Room.Posts = "", calendar.Posts; s.Room.Posts != nil {
		s.Room.Posts.To = wire.WebhookOf(g.Settings.Webhook)
	}
	if s.Places = r.facts.ViewPlaces(); s.Places == nil && r.phase.traits().isGathering && r.seeksPlace() {
		next := candidates.New(places, owners, candidates.Places{}) // a page asks its reader before it measures
		view := next.ViewAll()
		view.People = map[string]wire.Surveying{}
		s.Places = &view
	}
	s.Phase = wire.Phase{Name: r.phase.traits().name, SinceMS: r.now.Sub(r.begun).Milliseconds()}
	r.phase.view(r, &s, &showing)
	s.Phase.LeftMS = max(0, s.Phase.LeftMS)
	s.People = r.facts.ViewPeople(r.phase.traits().isChosen())
	if s.Match != nil {
		showing.Target = max(showing.Target, g.Bans.Server())
	}
	s.Choice, s.WhatIf = r.decision.View(r.facts, &r.probing, showing)
	return s
}

// View has all that a driver shows of the room. Each field says who may see it.
type View struct {
	// Snapshot is what everyone may see.
	Snapshot wire.Snapshot
	// Badges say what each credential may do; see [roster.Roster.Badges].
	Badges map[Digest]Badge
	// Record has the basis of the newest choice, or is nil before there is one.
	Record *Record
	// IsPrivate says that a reader may see only their own pings, as in a match. Then there is no
	// record, each reader may see only their own trace, and Own has each person's pings by name.
	IsPrivate bool
	Own       map[string]wire.Own
	// Traces are the players' probes of the round by name, in the order of their ends. They must
	// not be changed. A player's trace only grows.
	Traces iter.Seq2[string, []discovery.Result]
}

// View returns the room's view now.
func (r *Room) View() View {
	password := ""
	if l := r.phase.launch(); l != nil {
		password = l.Password
	}
	v := View{IsPrivate: r.parts.Settings.IsMatch()}
	v.Snapshot, v.Own = privacy.Split(fullSnapshot(r))
	v.Badges = r.parts.Roster.Badges(password, r.parts.Settings.Every != "", r.facts.GuestsToCount())
	if !v.IsPrivate {
		v.Record = r.decision.Record(r.facts)
	}
	names := r.parts.Roster.Names()
	v.Traces = func(yield func(string, []discovery.Result) bool) {
		for _, player := range r.parts.Attendance.Players() {
			if !yield(names.Of(player), r.parts.Evidence[player].Probes()) {
				return
			}
		}
	}
	return v
}

// Names returns what the people of the room are called.
func (r *Room) Names() *people.Names { return r.parts.Roster.Names() }

// Tokens returns the tokens that open players' places.
func (r *Room) Tokens() []string { return r.parts.Roster.Tokens() }

// Badge is [roster.Badge].
type Badge = roster.Badge

// Digest is [roster.Digest].
type Digest = roster.Digest

// BadgeOf returns what a page with a credential may do.
func BadgeOf(badges map[Digest]Badge, credential string) Badge {
	return roster.BadgeOf(badges, credential)
}

// DigestOf returns the digest of a credential.
func DigestOf(credential string) Digest { return roster.DigestOf(credential) }

// Record is [choice.Record].
type Record = choice.Record
