package room

import (
	"cmp"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/decision"
	"muster/host/room/facts"
	"muster/host/room/outage"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// Voting is the time between the choice and the countdown, in a room whose organiser wants a vote.
// People vote, veto and say that they are ready. The search for something better goes on.
type Voting struct {
	base
	// Looked is when everyone was last asked to look at the finalists. LookedAgain says that the
	// vote had begun by then.
	Looked      roomtime.Time `json:"looked"`
	LookedAgain bool          `json:"looked_again,omitempty"`
	// Revealed says that pages have revealed the server.
	Revealed bool `json:"revealed,omitempty"`
}

func (*Voting) traits() traits {
	return traits{name: wire.PhaseVoting, isVoting: true, canReopen: true, isBetween: true}
}

// next returns when people who have closed their pages count as gone. While a search runs or people
// are away, ticks are needed before then.
func (*Voting) next(r *Room) (at roomtime.Time, isQuiet bool) {
	g := &r.parts
	players := r.facts.ChosenFor()
	away, _ := g.Attendance.Absent(players, outage.LongestPause, r.now)
	isQuiet = g.Settings.Strategy != wire.Coordinated && (len(away) == 0 || len(away) == len(players))
	if closed := g.Roster.PageClosed(); !closed.IsZero() {
		return closed.Add(attendance.LeftAfter), isQuiet
	}
	return noDeadline, isQuiet
}

// proceed begins the countdown, because the organiser does not want to wait.
func (v *Voting) proceed(r *Room) error {
	v.countDown(r, "room.countdown-go")
	return nil
}

func (*Voting) joined(r *Room, player people.ID) { r.lookLate(player) }

// expectsLook counts only looks that the room asked for since the vote began.
func (v *Voting) expectsLook(people.ID, wire.Verified) bool { return v.LookedAgain }

func (v *Voting) allReady(r *Room) { v.countDown(r, "room.countdown-ready") }

func (*Voting) without(r *Room, player people.ID, w Without) error { return w.chooseWithout(r, player) }

func (*Voting) awaitSeats(r *Room, a AwaitSeats) error { return a.beginWait(r) }

// view shows the search's forecast beside the choice.
func (*Voting) view(r *Room, s *wire.Snapshot, _ *decision.Showing) {
	if search := r.probing.Search(r.facts); search != nil {
		s.Room.Forecast = search.View(r.parts.Settings.By).GoesOn()
	}
}

func (*Voting) isValid(g *facts.Parts) bool { return hasChoice(g) }

// countDown begins the countdown. Key is the key of the note that says why.
func (v *Voting) countDown(r *Room, key string) {
	if r.facts.IsOfPlaces() { // nobody goes anywhere yet
		(&Countdown{Vote: *v}).launchFavourite(r)
		return
	}
	c := &Countdown{Vote: *v}
	reveals := r.parts.Roster.IsWatched() && !v.Revealed
	c.Vote.Revealed = v.Revealed || reveals
	lasts := c.begin(r, reveals)
	r.goTo(c)
	r.out.say(sentence.Of(key, "seconds", lasts.Seconds()))
}

// tick goes on without players who have left, and asks for processor time for the search.
func (v *Voting) tick(r *Room) {
	if r.parts.Roster.TakeClosed(attendance.LeftAfter, r.now) {
		r.countDownIfReady()
	}
	r.goOnWithout()
	if r.phase == v && v.canSearch(r) {
		r.out.plan(&r.parts, &r.probing, true)
	}
}

// canSearch reports whether the search that goes on can ask its next questions.
func (*Voting) canSearch(r *Room) bool {
	return r.parts.Settings.Strategy == wire.Coordinated && r.probing.IsSearchDue(r.facts, r.now)
}

// turn goes on with the search. If it has found a better server, everyone looks at that one.
func (v *Voting) turn(r *Room) {
	if !v.canSearch(r) {
		return
	}
	note, other, asks, own := r.probing.TurnBehind(r.facts, r.moment())
	if r.out.say(note); other != nil {
		r.rechoose(*other)
		return
	}
	r.out.ask(r.parts.Number, asks)
	for _, own := range own {
		r.out.send(own.Player, wire.Ask{Round: r.parts.Number, Servers: []int{}, Own: own.Servers})
	}
}

// say takes a player's word from the terminal, like an order from the player's page.
func (in Hear) say(r *Room, m wire.Say) {
	if m.Round != r.parts.Number {
		return
	}
	var action Action
	switch m.What {
	case wire.SayVote:
		action = Vote{m.Addr}
	case wire.SayVeto:
		action = Veto{Addr: m.Addr}
	case wire.SayMove:
		action = Move{m.Number, cmp.Or(m.Map, hostport.Text(m.Addr.AddrPort))}
	case wire.SayMoveOn:
		action = MoveOn{m.Addr, m.Answer}
	case wire.SayCome, wire.SayNotCome:
		comes := m.What == wire.SayCome
		action = Come{&comes}
	case wire.SayLiked, wire.SayDisliked:
		liked := m.What == wire.SayLiked
		action = Like{&liked}
	default:
		action = Ready{m.What == wire.SayReady}
	}
	if err := (Order{Credential: r.parts.Roster.PageOf(in.Player), Action: action}).step(r); err != nil {
		r.out.send(in.Player, wire.Answer{Notice: wire.Notice{Says: r.Names().Word(wire.Told(err))}})
	}
}

// goOnWithout chooses again for the others if somebody has left.
func (r *Room) goOnWithout() {
	g := &r.parts
	left, isComplete := g.Attendance.GoOnWithout(r.facts.ChosenFor(), outage.LongestPause, r.now)
	if len(left) == 0 {
		return
	}
	for _, player := range left {
		g.Ballot.Withdraw(player, ballot.Vote|ballot.Ready)
	}
	r.chooseAgain(sentence.Of("room.players-left", "players", people.Texts(left)))
	if isComplete {
		r.countDownIfReady()
	}
}

// countDownIfReady begins the countdown if all are ready. People who are ready need not say so
// again after somebody has left.
func (r *Room) countDownIfReady() {
	if r.parts.Ballot.IsReady(r.facts.Electorate(true)) {
		r.phase.allReady(r)
	}
}

var (
	errNoVote          = wire.Refuse(wire.ReasonAction, "refused.no-vote")
	errNothingMeasured = wire.Refuse(wire.ReasonAction, "refused.nothing-measured")
)
