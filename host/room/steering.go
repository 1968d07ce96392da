package room

import (
	"encoding/json"
	"math"

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

// The actions that only the organiser may order.
type (
	// Go is [Proceed], but only in the given stage, because people may press twice.
	Go struct {
		Stage wire.Stage `json:"stage"`
	}
	// Apply makes the what-if's settings the room's settings, and chooses by them.
	Apply struct{}
	// Change applies a patch to the settings, all or nothing. The new settings count from the next
	// decision on. A new game counts from the next list on.
	Change struct {
		Settings json.RawMessage `json:"settings"`
		// Games are the games whose servers the host knows. MaxPlaces bounds the room's candidate
		// places, and Public says that none may be private.
		Games     []string `json:"-"`
		MaxPlaces int      `json:"-"`
		Public    bool     `json:"-"`
		// Places are the host's own.
		Places wire.Venues `json:"-"`
		// Posts says that the host posts by webhooks.
		Posts bool `json:"-"`
	}
	// HandOn makes a player the organiser. It must be a player, because only players have proved
	// who they are. The old secret becomes invalid.
	HandOn struct {
		Name string `json:"name"`
		// Secret is the new secret.
		Secret string `json:"-"`
	}
	// Renew changes the organiser's link. Other holders of the old link can no longer steer.
	Renew struct {
		// Secret is the new secret.
		Secret string `json:"-"`
	}
	// Remove takes a person out of the room. They cannot come back into a locked room.
	Remove struct {
		Name string `json:"name"`
	}
	// Trust is the organiser's word that a player's numbers are true. The numbers count from now
	// on: in this round, too, if a server is left that suits the player.
	Trust struct {
		Name string `json:"name"`
	}
	// End ends the session and all players' programs. The room ends, too, unless it is a standing
	// room.
	End struct{}
	// Lock closes the room to new people, or opens it again. A known name does not help to get in,
	// because a removed person could take a guest's name.
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
		Games: a.Games, MaxPlaces: a.MaxPlaces, Places: a.Places, IsPublic: a.Public, Posts: a.Posts,
	})
	if err == nil {
		Resettle{s}.apply(r)
	}
	return err
}

// Resettle gives a room other settings, after a restart of its host with other flags. The game
// stays, the room is as open as before, and it has places for all players who are here.
type Resettle struct{ Settings wire.Settings }

func (in Resettle) step(r *Room) error {
	players, gathers := len(r.parts.Attendance.Players()), r.phase.traits().isGathering
	Resettle{terms.Resettle(r.parts.Settings, in.Settings, players, gathers)}.apply(r)
	return nil
}

// apply makes the settings the room's, and tells all that depends on them.
func (in Resettle) apply(r *Room) {
	s, before := in.Settings, r.parts.Settings
	r.out.say(r.source.Change(before, s))
	if s.Webhook != before.Webhook {
		r.calendar.ForgetPosts()
	}
	if s.Game != before.Game {
		r.parts.Lists = brought.Lists{} // the lists are for the old game
	}
	r.parts.Settings = s
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

// The actions by which the organiser changes a choice, from the same measurements. The room advises
// them if nothing suits everyone.
type (
	// Allow raises the limit of pings, in ms. Players whom the old limit left out count again if
	// they keep the new one.
	Allow struct {
		LimitMS float64 `json:"limit_ms"`
	}
	// Without chooses without a player, who comes along but has no say. While the group gathers,
	// that applies to the coming round. Counts takes it back.
	Without struct {
		Name   string `json:"name"`
		Counts bool   `json:"counts"`
	}
)

func (Allow) steers()   {}
func (Without) steers() {}

// errNoAdvice refuses a change of the choice while there is none to change.
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

// chooseWithout chooses again without a player. If the choice already leaves the player out, it
// stays.
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

// bench leaves a player out of the coming round, or counts the player again.
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

// decideAgain chooses again from the same measurements for the active players, and tells people
// why.
func (r *Room) decideAgain(why sentence.Sentence) {
	selected := r.facts.Select(r.facts.ChosenFor())
	if !r.phase.traits().isChosen() && selected.Chosen == nil {
		r.parts.Choice.Refine(selected)
		r.out.say(sentence.Of("room.again-none", "why", why))
		return
	}
	r.out.say(sentence.Of("room.again", "why", why))
	r.failures = 0
	r.decision.Looks.Retry() // the failed looks were for another choice
	r.rechoose(selected)
}

// More asks each player for more servers: the most promising ones by the results so far. Then the
// room chooses again.
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

// Count begins or stops counting a guest in by an estimate of their pings. The organiser may order
// both. Guests may stop it for themselves, because they know whether their address is a VPN's. In a room that looks
// for a place they may also begin it, in place of measuring with their page.
type Count struct {
	Name    string `json:"name"`
	Counted bool   `json:"counted"`
}

func (a Count) do(r *Room, by caller) error {
	one := r.parts.Roster.Called(a.Name)
	switch {
	case !by.IsOrganiser && (a.Counted && r.parts.Settings.Seeks == "" && !r.facts.IsOfPlaces() || !one.IsSomebody() || one.ID != by.ID):
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
	r.endSearch() // the search is for another group
	if r.phase.traits().isVoting {
		if other := r.decision.Recount(r.facts); other != nil {
			r.rechoose(*other)
		}
	}
	return nil
}
