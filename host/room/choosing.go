package room

import (
	"cmp"
	"time"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/decision"
	"muster/host/room/finals"
	"muster/host/room/outage"
	"muster/host/room/roomtime"
	"muster/host/room/waiting"
	"muster/host/wire"
	"muster/selection"
)

// Verifying is the second look: everyone looks at the best few servers again.
type Verifying struct{}

func (*Verifying) stage() wire.Stage { return wire.Chosen }

// begin lets everyone look at servers again, and tells them why these.
func (v *Verifying) begin(r *Room, servers []int, why []sentence.Sentence) {
	r.enter(v)
	r.out.says(why...)
	asks, note := r.decision.Look(&r.group, &r.probing, servers, false, r.passed(), r.now)
	r.out.says(note)
	r.sendLooks(asks)
}

// proceed cuts a long look short, unless a side of a match has asked for it: the organiser may be on
// the other one.
func (v *Verifying) proceed(r *Room) error {
	if r.group.IsLookOfSide() {
		return errCaptainsDecide
	}
	if stops, isCut := r.decision.CutShort(r.lookFacts()); isCut {
		r.out.says(sentence.Of("room.go-look"))
		r.sendLooks(stops)
		v.settle(r)
	}
	return nil
}

// tick stops waiting for players who do not look.
func (v *Verifying) tick(r *Room) {
	notes, isLate := r.decision.Tick(r.lookFacts())
	if r.out.says(notes...); isLate {
		v.settle(r)
	}
}

// settle decides once the room waits for nobody.
func (*Verifying) settle(r *Room) {
	settled := r.decision.Settle(&r.group, r.lookFacts())
	r.out.says(settled.Notes...)
	switch {
	case settled.IsOver:
		r.verifyOrLaunch()
	case len(settled.Asks) > 0:
		r.enter(&Verifying{})
		r.sendLooks(settled.Asks)
	}
}

// verifyOrLaunch does what follows from the newest choice.
func (r *Room) verifyOrLaunch() {
	g := &r.group
	next := r.decision.Decide(g, &r.probing, r.phase.stage() == wire.Chosen, r.survey.Count(g.Settings.Places))
	r.out.says(next.Notes...)
	switch {
	case len(next.Look) > 0:
		(&Verifying{}).begin(r, next.Look, next.Why)
	case len(next.Wait) > 0:
		(&Waiting{wait: waiting.Begin(g, next.Wait, r.now)}).begin(r)
	case !next.Failure.IsZero():
		r.fail(g.IsBroken, next.Failure)
	case next.Bans:
		(&Banning{}).begin(r)
	case next.Votes:
		r.phase = &Voting{Looked: r.now} // since stays the time of the choice
		r.out.says(r.decision.OpenVote(g))
		r.probing.ForgetBest() // a search beyond the one that led to the choice begins
	case next.Asks:
		g.Ballot.Offer(r.decision.Options(g))
		(&Voting{Looked: r.now}).countDown(r, "room.countdown-over") // nobody waits for the answer
	default:
		(&Launching{Server: next.Server}).begin(r)
	}
}

// rechoose makes another choice the newest. Its servers get a second look unless they had one. Once
// a match's captains decide, their choice stays.
func (r *Room) rechoose(s selection.Selection) {
	if _, banning := r.phase.(*Banning); banning {
		return // captains decide about the choice that they have seen
	}
	decision.Replace(&r.group, s)
	if r.phase.stage() != wire.Chosen {
		r.since = r.now
	}
	r.verifyOrLaunch()
}

// lookFacts returns the present facts for a look.
func (r *Room) lookFacts() finals.Facts { return r.decision.Facts(&r.group, r.passed(), r.now) }

// sendLooks asks players to look at servers, within the numbers that they have agreed to.
func (r *Room) sendLooks(asks []finals.Ask) {
	shown, without := r.probing.Show(&r.group, asks)
	for _, player := range without {
		r.decision.Without(player)
	}
	r.out.publish()
	for _, ask := range shown {
		r.out.brief(&r.group, ask.Player)
		r.out.send(ask.Player, ask.Finalists)
	}
}

// verified takes a player's second look. While people vote, only looks that the room asked for
// since the vote began count.
func (in Hear) verified(r *Room, v wire.Verified) error {
	isAwaited := false
	switch phase := r.phase.(type) {
	case *Verifying:
		isAwaited = true
	case *Voting:
		isAwaited = phase.LookedAgain
	case *Countdown:
		isAwaited = phase.LookedAgain
	case *Banning:
		isAwaited = phase.LookedAgain
	case *Waiting:
		isAwaited = phase.wait.Asks(in.Player) && !v.More
	}
	if !isAwaited || v.Round != r.group.Number {
		return nil
	}
	heard, err := r.decision.Hear(&r.group, in.Player, v, r.lookFacts())
	if err != nil {
		return Nonsense(err.Error())
	}
	if heard.IsElsewhere {
		r.out.says(heard.Note)
	}
	switch phase := r.phase.(type) {
	case *Waiting:
		if heard.Counts {
			phase.do(r, phase.wait.Hear(&r.group, in.Player, v, r.now)...)
		}
	case *Verifying:
		if heard.Counts && heard.IsLast {
			phase.settle(r)
		}
	}
	return nil
}

// withoutLook stops waiting for a player's look.
func (r *Room) withoutLook(player string) {
	r.decision.Without(player)
	if v, verifying := r.phase.(*Verifying); verifying {
		v.settle(r)
	}
}

const (
	// countdownTime is how long everyone sees the launch coming. Where anybody has the page open, such
	// as a TV that everyone looks at, the first countdown of a vote begins after revealTime. Until then
	// pages say where people meet.
	countdownTime = 5 * time.Second
	revealTime    = 6 * time.Second
	// freshLook is how old a look at the finalists may be at the launch: another within that time
	// would say the same.
	freshLook = 15 * time.Second
)

// Voting is the time between the choice and the countdown, in rooms whose organiser wants one.
// People vote, veto and say that they are ready. The search for something better goes on.
type Voting struct {
	// Looked is when everyone was last asked to look at the finalists. LookedAgain says that this
	// was after people began to vote.
	Looked      roomtime.Time `json:"looked"`
	LookedAgain bool          `json:"looked_again,omitempty"`
	// Revealed says that pages have said where people meet.
	Revealed bool `json:"revealed,omitempty"`
}

// Countdown is the moment before the launch. Any change of mind leads back to
// Voting.
type Countdown struct {
	Voting
	LaunchAt roomtime.Time `json:"launch_at"`
}

func (*Voting) stage() wire.Stage { return wire.Chosen }

// proceed begins the countdown for an organiser who does not wait.
func (v *Voting) proceed(r *Room) error {
	v.countDown(r, "room.countdown-go")
	return nil
}

// proceed has nothing to do: everyone goes by itself.
func (*Countdown) proceed(*Room) error { return nil }

// say takes a player's word from the terminal, as the player's page gives it.
func (in Hear) say(r *Room, m wire.Say) {
	if m.Round != r.group.Number {
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
	case wire.SayCome, wire.SayNotCome:
		comes := m.What == wire.SayCome
		action = Come{&comes}
	case wire.SayLiked, wire.SayDisliked:
		liked := m.What == wire.SayLiked
		action = Like{&liked}
	default:
		action = Ready{m.What == wire.SayReady}
	}
	if err := (Order{Credential: r.group.Roster.PageOf(in.Player), Action: action}).step(r); err != nil {
		r.out.send(in.Player, wire.Answer{Notice: wire.Notice{Says: wire.Told(err)}})
	}
}

// countDown begins the countdown. Key is that of the note that says why.
func (v *Voting) countDown(r *Room, key string) {
	c, lasts := &Countdown{Voting: *v}, countdownTime
	if r.group.Roster.IsWatched() && !v.Revealed {
		c.Revealed, lasts = true, lasts+revealTime
	}
	c.LaunchAt = r.now.Add(lasts)
	r.phase = c
	r.out.says(sentence.Of(key, "seconds", lasts.Seconds()))
}

// stop ends the countdown and gives people time again, for a vote even if none was wanted.
func (c *Countdown) stop(r *Room) {
	r.phase = &c.Voting
	r.decision.OpenVote(&r.group)
	r.out.says(sentence.Of("room.countdown-stopped"))
}

// tick asks for a turn for the search that goes on, and goes on without players who have left.
func (v *Voting) tick(r *Room) {
	if r.group.Roster.TakeClosed(attendance.LeftAfter, r.now) {
		r.countDownIfReady()
	}
	v.goOnWithout(r)
	if r.phase == v && v.canSearch(r) {
		r.out.plan(&r.group, &r.probing, true)
	}
}

// canSearch reports whether the search that goes on can ask its next questions.
func (*Voting) canSearch(r *Room) bool {
	return r.group.Settings.Strategy == wire.Coordinated && r.probing.IsSearchDue(&r.group, r.now)
}

// turn goes on with the search. Everyone looks at a server that turned up and is worth it.
func (v *Voting) turn(r *Room) {
	if !v.canSearch(r) {
		return
	}
	note, other, asks, own := r.probing.TurnBehind(&r.group, r.moment())
	if r.out.says(note); other != nil {
		r.rechoose(*other)
		return
	}
	r.out.ask(r.group.Number, asks)
	for _, own := range own {
		r.out.send(own.Player, wire.Ask{Round: r.group.Number, Servers: []int{}, Own: own.Servers})
	}
}

// tick lets everyone look at the candidates once more: minutes may have passed, and seats go
// quickly. Then it launches.
func (c *Countdown) tick(r *Room) {
	c.goOnWithout(r)
	if r.phase != c {
		return
	}
	players := r.group.ChosenFor()
	away, _ := r.group.Attendance.Absent(players, outage.LongestPause, r.now)
	switch {
	case len(away) > 0 && 2*len(away) <= len(players) && !r.now.Before(c.LaunchAt): // back in a moment, or left
	case !r.now.Before(c.LaunchAt):
		c.launchFavourite(r)
	case c.LaunchAt.Sub(c.Looked) >= freshLook && c.LaunchAt.Sub(r.now) <= countdownTime:
		c.Looked, c.LookedAgain = r.now, true
		var servers []int
		for _, ranked := range r.decision.Options(&r.group).Candidates {
			servers = append(servers, ranked.Server)
		}
		asks, note := r.decision.Look(&r.group, &r.probing, servers, true, r.passed(), r.now)
		r.out.says(note)
		r.sendLooks(asks)
	}
}

// launchFavourite sends everyone to the favourite, or to the next if that has filled up since.
func (*Countdown) launchFavourite(r *Room) {
	server, notes := r.decision.Favourite(&r.group, r.lookFacts())
	if r.out.says(notes...); server < 0 {
		r.verifyOrLaunch()
		return
	}
	(&Launching{Server: server}).begin(r)
}

// goOnWithout chooses again for the others if somebody has left.
func (*Voting) goOnWithout(r *Room) {
	g := &r.group
	left, isComplete := g.Attendance.GoOnWithout(g.ChosenFor(), outage.LongestPause, r.now)
	if len(left) == 0 {
		return
	}
	for _, player := range left {
		g.Ballot.Withdraw(player, ballot.Vote|ballot.Ready)
	}
	r.chooseAgain(sentence.Of("room.players-left", "players", left))
	if isComplete {
		r.countDownIfReady()
	}
}

// chooseAgain chooses for a group that has lost or won players. Why is a sentence about them. If
// the same server is still the best, the vote and the countdown go on.
func (r *Room) chooseAgain(why sentence.Sentence) {
	note, other := r.decision.ChooseAgain(&r.group, why)
	if r.out.says(note); other != nil {
		r.rechoose(*other)
	}
}

// countDownIfReady counts down if all are ready. Nobody has to say it again because another has left.
func (r *Room) countDownIfReady() {
	if v, voting := r.phase.(*Voting); voting && r.group.Ballot.IsReady(r.group.Electorate(true)) {
		v.countDown(r, "room.countdown-ready")
	}
}

var (
	errNoVote          = wire.Refuse(wire.ReasonAction, "refused.no-vote")
	errNothingMeasured = wire.Refuse(wire.ReasonAction, "refused.nothing-measured")
)
