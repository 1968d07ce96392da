// Package attendance follows the players of a room by their programs. It knows which players are
// here, are silent, have finished, or are left out of the round, and why.
//
//	Come, Return, Leave ─▶ is here, or away since
//	Report, Rest, Excuse ▶ was heard
//	Finish ──────────────▶ has measured
//	LeaveOutOverdue ─────▶ is waited for no longer
//	GoOnWithout ─────────▶ has left the others who vote
//	LeaveOut, Recall ────▶ does not count, or counts again
//
// Nobody holds the others for long: neither by silence, nor by coming and going, nor by nonsense.
// All of that adds up, see maxMissed.
//
// Whether a player is here, and when the player was heard, outlives the round; the rest ends with
// it, see [Register.Begin].
package attendance

import (
	"fmt"
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
)

const (
	// GoneAfter is how long a player may be away before the others go on, or the place is
	// given to someone else: long enough to start the program again.
	GoneAfter = 30 * time.Second
	// QuietAfter is how long a player who measures may report nothing before that counts as silence.
	// The others wait longer for a player, because they were not all last heard in the same second.
	// A player who has measured all is silent when the program answers no ping for so long.
	QuietAfter = 15 * time.Second
	// LeftAfter is how long a player's program may be away while people vote or count down, before
	// the others choose without the player. It is longer than a program's longest pause between two
	// tries to reconnect, so a player who changes networks loses nothing.
	LeftAfter = 8 * time.Second
	// maxMissed is how long one player may be silent or away in all while a round measures: twice
	// the longest single silence.
	maxMissed = 2 * GoneAfter
	// emptyReturn is the most that a return counts if the player told nothing new on the connection
	// before. It is little, because a line may break as soon as it is up. nonsense is how much a
	// senseless message counts, which ends the connection. A program that does nothing else holds
	// the others no longer than a silent one.
	emptyReturn = 8 * time.Second
	nonsense    = 25 * time.Second
)

// Why is the reason why a round goes on without a player, empty if it does not.
type Why string

// The reasons.
const (
	// TooLate: the player came when the others had chosen, or nearly.
	TooLate Why = "late"
	// Silent: the others have waited for the player for long enough.
	Silent Why = "silent"
	// Behind: the player has measured too few of the servers that the others choose from.
	Behind Why = "behind"
	// Odd: the player's numbers do not count. Only the organiser can change that.
	Odd Why = "odd"
	// Outvoted: nothing that suits the others suits the player.
	Outvoted Why = "outvoted"
	// Left: the player left while the others voted, or waited for seats.
	Left Why = "left"
	// Unwanted: the organiser chose again without the player.
	Unwanted Why = "unwanted"
	// Browsing: the player has only a page, which measures places and no game servers.
	Browsing Why = "browsing"
	// Benched: before the round, the organiser said to play it without the player.
	Benched Why = "benched"
)

var reasons = []Why{"", TooLate, Silent, Behind, Odd, Outvoted, Left, Unwanted, Browsing, Benched}

// IsFirm reports whether the round cannot count the player again by itself.
func (w Why) IsFirm() bool { return w == Odd || w == Benched || w == Browsing }

// Duty is the players' duty in a phase.
type Duty int

// The duties.
const (
	// Nothing: the room waits for nobody.
	Nothing Duty = iota
	// Stay: the room waits for players who are away.
	Stay
	// Measure: the room also waits for players who report nothing.
	Measure
)

// Mark is a player's attendance as people see it.
type Mark struct {
	// Here: the player's program is connected. That is not saved.
	Here bool `json:"-"`
	// Done says that the player has measured all servers.
	Done bool `json:"done,omitempty"`
	// Out is why the round goes on without the player.
	Out Why `json:"out,omitempty"`
}

// Register has all players of a room. The zero value has none.
type Register struct{ state State }

// State is the saved state of a register.
type State struct {
	// Order are the players in the order of their coming. It is never changed in place:
	// [Register.Players] gives it away, many times a second.
	Order []people.ID         `json:"order,omitempty"`
	Marks map[people.ID]*mark `json:"marks,omitempty"`
}

// State returns the state, to save or restore it.
func (r *Register) State() *State { return &r.state }

// Anew returns the state of a round that begins again, with the same players in the same order.
func (s State) Anew() State {
	anew := State{Order: s.Order, Marks: map[people.ID]*mark{}}
	for player, m := range s.Marks {
		anew.Marks[player] = &mark{Heard: m.Heard}
	}
	return anew
}

// Validate returns the first fault of a saved register of these players, or nil.
func (s State) Validate(players []people.ID) error {
	if !slices.Equal(s.Order, players) || len(s.Marks) != len(players) {
		return fmt.Errorf("the attendance of %q, of whom %q play here", s.Order, players)
	}
	for _, player := range players {
		if m := s.Marks[player]; m == nil || m.Missed < 0 || !slices.Contains(reasons, m.Out) {
			return fmt.Errorf("the attendance of %q: %+v", player, m)
		}
	}
	return nil
}

// mark is all that the register knows of a player. Unexported fields are not saved.
type mark struct {
	Mark
	// Heard is when the player last came, left, or got on with the work.
	Heard roomtime.Time `json:"heard"`
	// isMute: the program is connected, and does not answer pings.
	isMute bool
	// Missed is how long the player was silent or away in all while it should have measured.
	Missed time.Duration `json:"missed,omitempty"`
	// returned is when the player came back, zero once it has told something new since.
	returned roomtime.Time
	// briefed is the round whose list the program was sent on this connection, 0 for none.
	briefed int
}

// Come adds a new player. If out gives a reason, the player has no say in the round.
func (r *Register) Come(player people.ID, out Why, now roomtime.Time) {
	if r.state.Marks == nil {
		r.state.Marks = map[people.ID]*mark{}
	}
	r.state.Order = append(slices.Clip(r.state.Order), player)
	r.state.Marks[player] = &mark{Mark: Mark{Here: true, Out: out}, Heard: now}
}

// Return notes that a player's program is back, on another connection. If mayCount, a player who
// was left out counts again, unless the reason is one that stays. It returns a note for people, or
// nothing.
func (r *Register) Return(player people.ID, d Duty, mayCount bool, now roomtime.Time) (note sentence.Sentence) {
	m := r.mark(player)
	if !m.Here || m.Out != "" {
		note = sentence.Of("room.back", "player", player)
	}
	if !m.returned.IsZero() && !m.Done && d == Measure {
		m.Missed += max(0, min(emptyReturn, now.Sub(m.returned))) // room time goes back if the host could save nothing
	}
	m.Here, m.Heard, m.returned, m.briefed = true, now, now, 0
	switch {
	case d != Measure || !mayCount || m.Out.IsFirm():
	case m.Missed > maxMissed:
		m.Out = Silent
	default:
		m.Out = ""
	}
	return note
}

// Leave notes that a player's connection has ended. It reports whether there was a connection.
func (r *Register) Leave(player people.ID, now roomtime.Time) bool {
	m := r.mark(player)
	if !m.Here {
		return false
	}
	m.Here, m.Heard = false, now
	return true
}

// Mute notes which connected players do not even answer pings.
func (r *Register) Mute(players []people.ID) {
	for player, m := range r.state.Marks {
		m.isMute = m.Here && slices.Contains(players, player)
	}
}

// Report notes that a player has told something new. If mayCount, a player who was left out counts
// again. It returns a note for people, or nothing.
func (r *Register) Report(player people.ID, mayCount bool, now roomtime.Time) (note sentence.Sentence) {
	m := r.mark(player)
	m.returned = roomtime.Time(0)
	m.noteHeard(now)
	if mayCount && m.Out != "" && !m.Out.IsFirm() && m.Missed <= maxMissed {
		m.Out = ""
		return sentence.Of("room.measures-again", "player", player)
	}
	return note
}

// Rest takes a player's announcement that its program will ask nobody for a while. That counts like
// a silence of the same length, so an announcement holds the others no longer than silence does. It
// returns a note for people, or nothing.
func (r *Register) Rest(player people.ID, rest time.Duration, now roomtime.Time) (note sentence.Sentence) {
	m := r.mark(player)
	if m.Done || m.Out != "" || rest < QuietAfter || rest > maxMissed-m.Missed {
		return note
	}
	m.Missed += rest
	m.noteHeard(now.Add(rest))
	return sentence.Of("room.rests", "player", player, "time", rest.Round(time.Second))
}

// Nonsense notes that a player's program has sent a senseless message. It reports whether the
// player has held the others for too long by now.
func (r *Register) Nonsense(player people.ID) (isTooMuch bool) {
	m := r.mark(player)
	m.Missed += nonsense
	return m.Missed > maxMissed
}

// Excuse notes that the silence of connected players does not count now: they were asked nothing,
// or their line is slow.
func (r *Register) Excuse(now roomtime.Time, players ...people.ID) {
	for _, player := range players {
		if m := r.mark(player); m.Here {
			m.noteHeard(now)
		}
	}
}

// Await begins to wait for players.
func (r *Register) Await(now roomtime.Time, players ...people.ID) {
	for _, player := range players {
		r.mark(player).Heard = now
	}
}

// Finish notes that players have measured everything.
func (r *Register) Finish(now roomtime.Time, players ...people.ID) {
	for _, player := range players {
		m := r.mark(player)
		m.Done, m.Heard = true, now
	}
}

// Unfinish notes that a player who had measured everything measures more.
func (r *Register) Unfinish(player people.ID, now roomtime.Time) {
	m := r.mark(player)
	m.Done, m.Heard = false, now
}

// Silence returns how long a player has told nothing new.
func (r *Register) Silence(player people.ID, now roomtime.Time) time.Duration {
	return now.Sub(r.mark(player).Heard)
}

// Quiet returns the players whose programs should have sent a message and did not.
func (r *Register) Quiet(d Duty, now roomtime.Time) []people.ID {
	return r.filtered(func(m *mark) bool { return m.isQuiet(d, now) })
}

func (m *mark) isQuiet(d Duty, now roomtime.Time) bool {
	isSilent := !m.Done && now.Sub(m.Heard) > QuietAfter || m.Done && m.isMute
	return m.Out == "" && (d >= Stay && !m.Here || d == Measure && isSilent)
}

// Miss notes that players who should measure were quiet for a time.
func (r *Register) Miss(d time.Duration, players ...people.ID) {
	for _, player := range players {
		r.mark(player).Missed += d
	}
}

// LeaveOutOverdue stops waiting for players who have held the others for long enough. Stalled is
// how long a player who is here may report nothing. It returns notes for people.
func (r *Register) LeaveOutOverdue(stalled time.Duration, now roomtime.Time) (notes []sentence.Sentence) {
	for _, player := range r.Active() {
		m := r.mark(player)
		silence, note := now.Sub(m.Heard), sentence.Sentence{}
		switch {
		case m.Done:
			continue
		case !m.Here && silence > GoneAfter:
			note = sentence.Of("room.without-gone", "player", player, "time", GoneAfter)
		case m.Here && silence > stalled:
			note = sentence.Of("room.without-quiet", "player", player, "time", stalled)
		case m.Missed > maxMissed:
			note = sentence.Of("room.without-missed", "player", player, "time", maxMissed)
		default:
			continue
		}
		m.Out = Silent
		notes = append(notes, note)
	}
	return notes
}

// Change is a change of the players that the round counts on. Out is the reason to go on without
// the players. If it is empty, they count again.
type Change struct {
	Out     Why
	Players []people.ID
}

// Apply makes changes, and begins to wait for the players who count again.
func (r *Register) Apply(changes []Change, now roomtime.Time) {
	for _, c := range changes {
		if c.Out != "" {
			r.LeaveOut(c.Out, c.Players...)
			continue
		}
		for _, player := range c.Players {
			r.Recall(player, now)
		}
	}
}

// LeaveOut goes on without players.
func (r *Register) LeaveOut(why Why, players ...people.ID) {
	for _, player := range players {
		if m := r.mark(player); !m.Out.IsFirm() {
			m.Out = why
		}
	}
}

// Recall counts a player again, and begins to wait for the player.
func (r *Register) Recall(player people.ID, now roomtime.Time) {
	m := r.mark(player)
	m.Out, m.Heard = "", now
}

// Brief notes that a player's program gets the list of a round. It reports whether the program did
// not have this list yet.
func (r *Register) Brief(player people.ID, round int) (isNew bool) {
	m := r.mark(player)
	isNew = m.briefed != round
	m.briefed = round
	return isNew
}

// Of returns a player's mark.
func (r *Register) Of(player people.ID) Mark { return r.mark(player).Mark }

// Players returns all players in the order of their coming. They are not to be changed.
func (r *Register) Players() []people.ID { return r.state.Order }

// Supposed returns the players that the round would count on after some changes.
func (r *Register) Supposed(changes []Change) []people.ID {
	active := r.Active()
	for _, c := range changes {
		if c.Out != "" {
			active = people.Without(active, c.Players...)
			continue
		}
		active = people.Filtered(r.Players(), func(player people.ID) bool {
			return slices.Contains(active, player) || slices.Contains(c.Players, player)
		})
	}
	return active
}

// Active returns the players that the round counts on, in the order of their coming.
func (r *Register) Active() []people.ID {
	return r.filtered(func(m *mark) bool { return m.Out == "" })
}

// Present returns the active players who are here.
func (r *Register) Present() []people.ID {
	return r.filtered(func(m *mark) bool { return m.Out == "" && m.Here })
}

// Counts are numbers of players.
type Counts struct {
	// Here is the number of players whose programs are here.
	Here int
	// Active is the number of players that the round counts on. Present is how many of them are
	// here, and Quiet how many [Register.Quiet] returns.
	Active, Present, Quiet int
}

// Count counts the players, many times a second. Duty decides which of them are quiet.
func (r *Register) Count(d Duty, now roomtime.Time) (c Counts) {
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	for _, m := range r.state.Marks {
		count(&c.Here, m.Here)
		count(&c.Active, m.Out == "")
		count(&c.Present, m.Out == "" && m.Here)
		count(&c.Quiet, m.isQuiet(d, now))
	}
	return c
}

// LastHeard returns the time when any player was heard last.
func (r *Register) LastHeard() (last roomtime.Time) {
	for _, m := range r.state.Marks {
		if m.Heard.After(last) {
			last = m.Heard
		}
	}
	return last
}

func (r *Register) filtered(is func(*mark) bool) []people.ID {
	var players []people.ID
	for i, player := range r.state.Order {
		if !is(r.state.Marks[player]) {
			continue
		}
		if players == nil { // they are listed many times a second
			players = make([]people.ID, 0, len(r.state.Order)-i)
		}
		players = append(players, player)
	}
	return players
}

// mark returns a player's mark. For an unknown player it returns an empty mark, which is not kept.
func (r *Register) mark(player people.ID) *mark {
	if m := r.state.Marks[player]; m != nil {
		return m
	}
	return &mark{}
}

// noteHeard notes when a player was heard. The time lies in the future for a player who announced a
// silence.
func (m *mark) noteHeard(at roomtime.Time) {
	if m.Heard.Before(at) {
		m.Heard = at
	}
}

// Begin forgets the state of the round before.
func (r *Register) Begin(now roomtime.Time) {
	for _, m := range r.state.Marks {
		*m = mark{Mark: Mark{Here: m.Here}, Heard: now}
	}
}

// Again notes that the players measure once more in the same round.
func (r *Register) Again(now roomtime.Time) {
	for _, m := range r.state.Marks {
		if m.Done = false; m.Here {
			m.Heard = now
		}
	}
}

// Resume notes that the host was away. All players are away, and it does not count against them.
func (r *Register) Resume(now roomtime.Time) {
	for _, m := range r.state.Marks {
		m.Here, m.Heard = false, now
	}
}

// Forget forgets a player whose place is free.
func (r *Register) Forget(player people.ID) {
	r.state.Order = slices.DeleteFunc(slices.Clone(r.state.Order), func(other people.ID) bool { return other == player })
	delete(r.state.Marks, player)
}
