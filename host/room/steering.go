package room

import (
	"encoding/json"
	"math"
	"slices"

	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/brought"
	"muster/host/room/choice"
	"muster/host/room/nickname"
	"muster/host/room/people"
	"muster/host/room/terms"
	"muster/host/wire"
)

// The actions of the organiser, and of nobody else.
type (
	// Go is [Proceed] for one stage only, because two people may press at once, or one twice.
	Go struct {
		Stage wire.Stage `json:"stage"`
	}
	// Apply makes the what-if's settings the room's, and chooses by them.
	Apply struct{}
	// Change changes the settings of the patch: all or none of them. They count from the next
	// decision on, the game only from the next list on.
	Change struct {
		Settings json.RawMessage `json:"settings"`
		// Games are the games whose servers the host knows. MostPlaces bounds the room's candidate
		// places, and Public says that none may be private.
		Games      []string `json:"-"`
		MostPlaces int      `json:"-"`
		Public     bool     `json:"-"`
		// Posts says that the host posts by webhooks.
		Posts bool `json:"-"`
	}
	// HandOn makes a player the organiser, because players have shown who they are. The old secret
	// no longer opens anything.
	HandOn struct {
		Name string `json:"name"`
		// Secret is the new one.
		Secret string `json:"-"`
	}
	// Renew changes the organiser's link. Other people who have the old one can no longer steer.
	Renew struct {
		// Secret is the new one.
		Secret string `json:"-"`
	}
	// Remove sends a person away. A locked room is closed to them for good.
	Remove struct {
		Name string `json:"name"`
	}
	// Trust is the organiser's word that a player's numbers are true. They count from now on, in
	// this round too if a server is left that suits the player.
	Trust struct {
		Name string `json:"name"`
	}
	// End ends the session: everyone is told, their programs end, and so does the room, unless it
	// is a standing one.
	End struct{}
	// Lock closes the room to new people, or opens it again. A name does not open
	// it: a removed person could come back under the name of a friend with only a page.
	Lock struct {
		Locked bool `json:"locked"`
	}
)

func (Go) steers()     {}
func (Apply) steers()  {}
func (Change) steers() {}
func (HandOn) steers() {}
func (Remove) steers() {}
func (Renew) steers()  {}
func (Trust) steers()  {}
func (End) steers()    {}
func (Lock) steers()   {}

func (a Go) do(r *Room, _ caller) error {
	if a.Stage == "" || a.Stage == r.phase.traits().stage() {
		return r.phase.proceed(r)
	}
	return nil
}

func (Apply) do(r *Room, _ caller) error {
	g := &r.parts
	if r.phase.traits().isBanning {
		return errCaptainsDecide
	}
	if g.Choice.Supposed() == nil || g.Choice.Newest() == nil {
		return errNothingMeasured
	}
	s, err := g.Settings.Patched(g.Choice.Supposed(), wire.Supposed)
	if err != nil {
		return err
	}
	g.Settings = s
	r.out.say(sentence.Of("room.rule-now", "rule", s.Rule()))
	r.rechoose(r.facts.Select(r.facts.ChosenFor()))
	return nil
}

func (a Change) do(r *Room, _ caller) error {
	s, err := terms.Change(r.parts.Settings, a.Settings, terms.Facts{
		Now: r.wall, Stage: r.phase.traits().stage(), Players: len(r.parts.Attendance.Players()),
		Games: a.Games, MostPlaces: a.MostPlaces, IsPublic: a.Public, Posts: a.Posts,
	})
	if err == nil {
		Resettle{s}.apply(r)
	}
	return err
}

// Resettle gives a room other settings, when a host was started again with other flags. The game
// stays, the room is as open as before, and it has places for all players who are here.
type Resettle struct{ Settings wire.Settings }

func (in Resettle) step(r *Room) error {
	players, gathers := len(r.parts.Attendance.Players()), r.phase.traits().isGathering
	Resettle{terms.Resettle(r.parts.Settings, in.Settings, players, gathers)}.apply(r)
	return nil
}

// apply makes the settings the room's.
func (in Resettle) apply(r *Room) {
	s, before := in.Settings, r.parts.Settings
	r.out.say(r.source.Change(before, s))
	if s.Webhook != before.Webhook {
		r.calendar.ForgetPosts()
	}
	if s.Game != before.Game {
		r.parts.Lists = brought.Lists{} // they are another game's
	}
	if r.parts.Settings = s; !slices.Equal(s.Places, before.Places) {
		r.out.sendNews(r.survey.Change(r.facts.SurveyScene(), r.now))
	}
	if before.Every == "" && s.Every != "" {
		r.parts.Roster.Keep(r.calendar.Adopt(r.dates(r.wall))...)
	}
	r.parts.WithdrawGuestVotes(r.phase.traits().isChosen()) // a guest may have no say any more
	r.endSearch()
	r.out.say(s.Changes(before)...)
}

func (a HandOn) do(r *Room, _ caller) error {
	events, err := r.parts.Roster.HandOn(a.Name, a.Secret)
	r.apply(events)
	return err
}

func (a Renew) do(r *Room, by caller) error {
	r.apply(r.parts.Roster.Renew(by, a.Secret))
	r.out.emit(Answer{map[string]string{"secret": a.Secret}})
	return nil
}

func (a Remove) do(r *Room, _ caller) error {
	events, err := r.parts.Roster.Remove(a.Name)
	r.apply(events)
	if player := r.parts.Roster.Player(a.Name); player != "" {
		r.sendAway(player, *wire.Refuse(wire.ReasonRemoved, "refused.removed"))
	}
	return err
}

func (a Trust) do(r *Room, _ caller) error {
	g := &r.parts
	player := g.Roster.Player(a.Name)
	if player == "" {
		return wire.Refuse(wire.ReasonAction, "refused.not-present", "name", nickname.Clean(a.Name))
	}
	counting, notes, other, err := r.decision.Vouch(r.facts, player)
	r.parts.Attendance.Apply(counting, r.now)
	if r.out.say(notes...); other != nil {
		r.rechoose(*other)
	}
	return err
}

func (End) do(r *Room, by caller) error {
	end, err := r.calendar.End(by.ID, r.dates(r.wall))
	if err != nil {
		return err
	}
	here := r.parts.Attendance.Players()
	if r.parts.Settings.Every == "" {
		r.out.say(end.Why)
		r.closed = true
	} else {
		r.follow(end)
	}
	why := wire.Refusal{Reason: wire.ReasonEnded, Says: end.Why}
	r.out.publish()
	for _, player := range here {
		r.out.emit(Dismiss{player, why})
	}
	return nil
}

func (a Lock) do(r *Room, _ caller) error {
	r.apply(r.parts.Roster.Lock(a.Locked))
	return nil
}

// The organiser's ways out of a choice, from the measurements of this round. The room advises them
// if nothing suits everyone.
type (
	// Allow raises the limit of pings, in ms. Players whom the old one left out count again if they
	// keep the new one.
	Allow struct {
		LimitMS float64 `json:"limit_ms"`
	}
	// Without chooses without a player. The player comes along, but has no say. While the group
	// gathers, that holds for the round to come, or until Counts says that the player counts again.
	Without struct {
		Name   string `json:"name"`
		Counts bool   `json:"counts"`
	}
)

func (Allow) steers()   {}
func (Without) steers() {}

// errNoAdvice says why the organiser can change nothing now.
var errNoAdvice = wire.Refuse(wire.ReasonAction, "refused.no-choice")

func (a Allow) do(r *Room, _ caller) error {
	if !r.canDecideAgain() {
		return errNoAdvice
	}
	s, err := choice.Allow(r.parts.Settings, a.LimitMS)
	if err != nil {
		return err
	}
	r.parts.Settings = s
	r.parts.Attendance.Apply([]attendance.Change{r.decision.ReadmitOverLimit(r.facts)}, r.now)
	r.decideAgain(sentence.Of("room.allows", "ms", math.Ceil(a.LimitMS)))
	return nil
}

func (a Without) do(r *Room, _ caller) error {
	return r.phase.without(r, r.parts.Roster.Player(a.Name), a)
}

// chooseWithout chooses again without a player. If the choice leaves the player out, it stands.
func (a Without) chooseWithout(r *Room, player people.ID) error {
	g := &r.parts
	switch {
	case r.phase.traits().isVoting && g.Attendance.Of(player).Out == attendance.Outvoted:
		g.Attendance.LeaveOut(attendance.Unwanted, player)
		r.out.say(sentence.Of("room.goes-without", "player", player))
		return nil
	case !r.canDecideAgain():
		return errNoAdvice
	case player == "" || g.Attendance.Of(player).Out != "":
		return wire.Refuse(wire.ReasonAction, "refused.not-counted", "name", nickname.Clean(a.Name))
	case len(r.facts.ChosenFor()) < 2:
		return wire.Refuse(wire.ReasonAction, "refused.nobody-left")
	}
	g.Attendance.LeaveOut(attendance.Unwanted, player)
	g.Ballot.Withdraw(player, ballot.Vote|ballot.Ready)
	r.decideAgain(sentence.Of("room.goes-without", "player", player))
	return nil
}

// bench leaves a player out of the round to come, or counts the player again.
func (a Without) bench(r *Room, player people.ID) error {
	attends := &r.parts.Attendance
	out := attends.Of(player).Out
	switch {
	case player == "" || a.Counts == (out == ""):
		return wire.Refuse(wire.ReasonAction, "refused.not-counted", "name", nickname.Clean(a.Name))
	case a.Counts:
		attends.Recall(player, r.now)
		r.out.say(sentence.Of("room.counts-again", "player", player))
	case len(attends.Active()) < 2:
		return wire.Refuse(wire.ReasonAction, "refused.nobody-left")
	default:
		attends.LeaveOut(attendance.Benched, player)
		r.out.say(sentence.Of("room.goes-without", "player", player))
	}
	return nil
}

// decideAgain chooses from the measurements for the players that count now, and tells people why.
func (r *Room) decideAgain(why sentence.Sentence) {
	selected := r.facts.Select(r.facts.ChosenFor())
	if !r.phase.traits().isChosen() && selected.Chosen == nil {
		r.parts.Choice.Refine(selected)
		r.out.say(sentence.Of("room.again-none", "why", why))
		return
	}
	r.out.say(sentence.Of("room.again", "why", why))
	r.failures = 0
	r.decision.Retry() // the failed looks were for another choice
	r.rechoose(selected)
}

// More asks each player for more servers, those that could suit the group best by the results so
// far. Then the room chooses again.
type More struct {
	Servers int `json:"servers"`
}

func (More) steers() {}

func (a More) do(r *Room, _ caller) error {
	if !r.canDecideAgain() {
		return errNoAdvice
	}
	g := &r.parts
	notes, servers, err := r.probing.Grant(r.facts, a.Servers, r.phase.traits().isVoting)
	if err != nil {
		return err
	}
	r.out.say(notes...)
	r.probing.AskMore()
	g.Choice = g.Choice.Forget()
	g.Attendance.Again(r.now)
	g.Launches.Restart()
	g.Ballot.Withdraw("", ballot.Ready|ballot.ByHand) // nobody is ready for the next choice yet
	r.enter(&Coordinating{More: servers})
	for _, player := range g.Attendance.Players() {
		r.out.brief(&r.parts, player)
		r.measure(player)
	}
	return nil
}

// Count counts a guest in by an estimate of their pings, or no longer. The organiser may order
// both. A guest may end it, because the guest knows best that the address is a VPN's.
type Count struct {
	Name    string `json:"name"`
	Counted bool   `json:"counted"`
}

func (a Count) do(r *Room, by caller) error {
	one := r.parts.Roster.Called(a.Name)
	switch {
	case !by.IsOrganiser && (a.Counted || !one.IsSomebody() || one.ID != by.ID):
		return errOrganiserOnly
	case !one.IsSomebody() || one.IsPlayer:
		return wire.Refuse(wire.ReasonAction, "refused.no-guest")
	case r.parts.Estimates.IsCounted(one.ID) == a.Counted:
		return nil
	}
	note, err := r.parts.Count(one.ID, a.Counted)
	if err != nil {
		return err
	}
	r.out.say(note)
	r.endSearch() // for the present group
	if r.phase.traits().isVoting {
		if other := r.decision.Recount(r.facts); other != nil {
			r.rechoose(*other)
		}
	}
	return nil
}
