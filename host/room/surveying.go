package room

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/candidates"
	"muster/host/room/decision"
	"muster/host/room/facts"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/room/sides"
	"muster/host/room/trust"
	"muster/host/wire"
)

// Surveying is the measuring of a round that looks for a place. It begins with the first player, because
// nobody has to wait for the others to measure. It ends when the group is complete and has measured, or by
// the organiser's word.
type Surveying struct {
	base
	// Moved is when anybody was asked or answered last.
	Moved roomtime.Time `json:"moved,omitzero"`
}

func (*Surveying) traits() traits {
	return traits{name: wire.PhaseCoordinating, saved: "surveying", sides: sides.Joining, isSurveying: true}
}

func (*Surveying) refuseLongLook(*Room) error { return nil }

// seeksPlace reports whether the next round looks for a place.
func (r *Room) seeksPlace() bool {
	s := &r.parts.Settings
	isPlace := s.Seeks == wire.SeekPlace || s.Seeks == wire.SeekEither && r.parts.FoundNone
	places, _ := r.places()
	return isPlace && !r.source.State().Started.IsValid() && len(places) > 0
}

// places returns the places that a round would have: the room's, and the computers of players who agree to
// host, with their owners by name.
func (r *Room) places() (places wire.Venues, owners map[string]people.ID) {
	homes, owners := r.survey.Homes(r.facts.SurveyScene())
	return append(slices.Clip(r.parts.Settings.Places), homes...), owners
}

// begin begins a round with the room's places as its list. What players have measured in the round before, they
// need not measure again.
func (s *Surveying) begin(r *Room, before *facts.Round) {
	g := &r.parts
	places, owners := r.places()
	g.Candidates = candidates.New(places, owners, g.Candidates)
	list := Shared(candidates.Servers(places), nil)
	if _, _, err := g.Begin(facts.List{Tree: topology.New(list)}, r.clocks()); err != nil {
		r.fail(true, wire.Told(err))
		return
	}
	g.Candidates.Arrange(g.Servers.List)
	for i, v := range g.Candidates.All() {
		g.HearInfo("", i, discovery.Info{Name: v.Name}, r.now)
	}
	r.enter(s)
	r.out.say(sentence.Of("room.measures-places", "n", len(list)))
	players := g.Attendance.Players()
	for _, player := range players {
		if g.Estimates.IsCounted(player) { // it measures now
			g.Estimates.Uncount(player)
		}
	}
	g.Attendance.Await(r.now, players...)
	if before != nil {
		for _, player := range players {
			for place, result := range g.Candidates.Known(before.Candidates, before.Evidence[player]) {
				r.note(player, place, result)
			}
		}
	}
	s.ask(r, players...)
}

// note notes a player's result for a place.
func (r *Room) note(player people.ID, place int, result discovery.Result) {
	g := &r.parts
	result.Server, result.At = place, r.now.Sub(g.Measuring)
	g.Evidence[player].Admit(place)
	g.Evidence[player].Report(result, result.At, r.now)
}

// joined asks a player who has come. A computer that could host is a new candidate, for everybody.
func (s *Surveying) joined(r *Room, player people.ID) {
	if places, _ := r.places(); !r.parts.Candidates.Has(places) && r.parts.Candidates.Renew() {
		r.nextRound()
		return
	}
	r.parts.Attendance.Await(r.now, player)
	s.ask(r, player)
}

// ask asks players for the next places. It notes who has measured all that matter.
func (s *Surveying) ask(r *Room, players ...people.ID) {
	g := &r.parts
	here := people.Filtered(players, r.facts.IsHere)
	for _, player := range here {
		for _, place := range g.Candidates.Own(player) {
			if g.Evidence[player].IsUnprobed(place) {
				r.note(player, place, discovery.Result{State: discovery.Answered, RTT: ownPing})
			}
		}
	}
	s.Moved = r.now
	asks := g.Candidates.Ask(r.facts.Surveyors(), here...)
	for _, ask := range asks {
		g.Evidence[ask.To].Ask(ask.Places, r.now)
		g.Attendance.Unfinish(ask.To, r.now)
		r.out.send(ask.To, ask.Survey)
	}
	for _, player := range here {
		if g.Attendance.Of(player).Done || slices.ContainsFunc(asks, func(a candidates.Ask) bool { return a.To == player }) {
			continue
		}
		g.Attendance.Finish(r.now, player)
		probed, answered := g.Evidence[player].Progress()
		r.out.say(sentence.Of("room.measured-places", "player", player, "n", probed, "answered", answered))
	}
	s.advance(r)
}

// surveyed asks the player, and everybody who has nothing to do, for the next places at the end of a survey.
func (s *Surveying) surveyed(r *Room, player people.ID, m wire.Surveyed) error {
	g := &r.parts
	results, isLast, err := g.Candidates.Heard(player, m)
	if err != nil {
		return Nonsense(err.Error())
	}
	s.Moved = r.now
	for _, result := range results {
		r.note(player, result.Server, result)
	}
	if len(results) > 0 || isLast {
		r.out.say(g.Attendance.Report(player, true, r.now))
		r.out.revision++
	}
	if !isLast {
		return nil
	}
	s.ask(r, people.Filtered(g.Attendance.Players(), func(other people.ID) bool { // what one has found, the others measure, too
		return other == player || g.Attendance.Of(other).Done
	})...)
	return nil
}

// proceed chooses from what is measured.
func (s *Surveying) proceed(r *Room) error {
	early := s.isMeasuring(r)
	if !early { // then it may fail
		r.out.say(sentence.Of("room.go-choose"))
	}
	s.choose(r, early)
	return nil
}

// isMeasuring reports whether somebody still measures.
func (*Surveying) isMeasuring(r *Room) bool {
	g := &r.parts
	return slices.ContainsFunc(g.Attendance.Active(), func(player people.ID) bool { return !g.Attendance.Of(player).Done })
}

// choose chooses by the measurements, without those that no light could have. Early says that some still measure.
func (*Surveying) choose(r *Room, early bool) {
	g := &r.parts
	judged := g.Candidates.Judge(r.facts.Surveyors())
	if len(judged.Lines) < len(g.Attendance.Active()) { // else there is nothing better
		g.Attendance.LeaveOut(attendance.Odd, judged.Lines...)
	}
	for _, player := range judged.Lines {
		r.out.say(sentence.Of("room.line-answers", "player", player))
	}
	for _, place := range judged.Near {
		r.out.say(sentence.Of("room.near-everybody", "place", g.Servers.Called(place)))
	}
	for _, player := range g.Attendance.Players() {
		for _, place := range judged.Short[player] {
			g.Evidence[player].Forget(place)
			r.out.say(sentence.Of("room.too-short", "player", player, "place", g.Servers.Called(place)))
		}
	}
	r.choose(early, trust.Found)
}

// tick leaves out players who hold up the others.
func (s *Surveying) tick(r *Room) {
	g := &r.parts
	g.Attendance.Excuse(r.now, people.Filtered(g.Attendance.Players(), func(player people.ID) bool { return !g.Candidates.IsOpen(player) })...)
	r.out.say(g.Attendance.LeaveOutOverdue(surveyPatience, r.now)...)
	s.advance(r)
}

const (
	// surveyPatience is how long a player who measures places may say nothing.
	surveyPatience = 15 * time.Second
	// surveyShown is how long pages may take to show the last result.
	surveyShown = 3 * time.Second
	// ownPing is a player's ping to a server on their own computer: hardly anything.
	ownPing = 100 * time.Microsecond
)

// next asks for ticks while anybody measures, and until pages show what came of it.
func (s *Surveying) next(r *Room) (at roomtime.Time, isQuiet bool) {
	isOpen := slices.ContainsFunc(r.parts.Attendance.Players(), r.parts.Candidates.IsOpen)
	return noDeadline, !isOpen && r.now.Sub(s.Moved) > surveyShown
}

// advance chooses once the group is complete and everyone has measured.
func (s *Surveying) advance(r *Room) {
	g := &r.parts
	active := g.Attendance.Active()
	isComplete := g.Settings.Players > 0 && len(active) >= g.Settings.Players
	if isComplete && !slices.ContainsFunc(active, func(player people.ID) bool { return !g.Attendance.Of(player).Done }) {
		s.choose(r, false)
	}
}

func (*Surveying) view(_ *Room, s *wire.Snapshot, _ *decision.Showing) {
	s.Room.MaxAsked = candidates.MaxAsked
}

func (*Surveying) isValid(g *facts.Parts) bool { return len(g.Candidates.All()) > 0 }
