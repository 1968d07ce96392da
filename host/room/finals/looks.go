// Package finals directs the looks at the finalists. Before a group goes to a server, everyone
// looks at the best few again, for their answers, pings and free seats.
//
//	Begin, QuickCheck ─▶ Ask ─▶ players look ─▶ Hear ─┐
//	    ▲                                             ├─▶ Settle ─┬─▶ over: the servers are Seen
//	    │           Tick, CutShort, Without ──────────┘           │
//	    └──── other servers lead now ◀────────────────────────────┤
//	                      Hear ◀─ players look one at a time ◀────┘
//
// Players take turns, so that no server is asked more often than the strictest servers answer. If a
// server answered others, a failed look at it does not count yet, and the player looks again alone.
// If a server answered nobody, but was asked too soon for the strictest servers, everyone looks
// again, with more rest. Once a round everyone also looks again if no server answers anybody: the
// only server may change its map, or the players' machine stood still. A long look shows
// differences between lines that a short one misses.
//
// The owner of [Looks] chooses the servers for a look, and passes on the players' earlier results
// in [Facts]. A look's results are [Look]s, which count from then on.
package finals

import (
	"fmt"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
)

const (
	// samples is how often each player asks each finalist. freshSamples is that number if the search
	// asked it a moment ago, because a third sample would take another second. A first look may take
	// firstSamples, and only players who leave the leader in doubt look again. One sample does not
	// show fairness: a delayed packet of the nearest player makes a server look fairer.
	samples, freshSamples, firstSamples = 3, 2, 1
	// lookTime is ample for the samples of a few servers.
	lookTime = 15 * time.Second
	// unsavedLooks is more looks than a room can have had since the host last saved it.
	unsavedLooks = 1000
)

// Looks are the looks of a round. The zero value has none.
type Looks struct{ state State }

// State is the saved state of the looks.
type State struct {
	// Attempt counts the looks of the round. Repeats counts the ones among them that are no tries;
	// see [Looks.Tries].
	Attempt int `json:"attempt"`
	Repeats int `json:"repeats,omitempty"`
	// Seen are the servers that had their look.
	Seen []int `json:"seen"`
	// Absent are players who did not look in time. They may look, but the room does not wait for
	// them again.
	Absent []people.ID `json:"absent,omitempty"`
	// Asked is when each player asks the servers for the last time.
	Asked map[people.ID]roomtime.Time `json:"asked,omitempty"`
	// IsStrict says that silent servers may have needed more rest than the game's servers usually
	// do. From then on all servers rest as long as the strictest need.
	IsStrict bool `json:"strict,omitempty"`
	look
}

// look is the newest look of the round.
type look struct {
	Servers []int `json:"servers"`
	// Samples is how often each player asks a server, at most; 0 for no bound.
	Samples int `json:"samples,omitempty"`
	// IsLong says that everyone looks for as long as the organiser wants. IsQuickCheck says that
	// players send a single packet, for free seats. IsShort says that the list of the search was
	// short.
	IsLong       bool `json:"long,omitempty"`
	IsQuickCheck bool `json:"quick_check,omitempty"`
	IsShort      bool `json:"short,omitempty"`
	// Doubted are servers whose single samples are not conclusive.
	Doubted []int `json:"doubted,omitempty"`
	// Missed has the looks at servers that did not answer. Reached are servers that answered
	// somebody. Alone are the players who look one at a time, at the servers that they missed.
	Missed  []miss      `json:"missed,omitempty"`
	Reached []int       `json:"reached,omitempty"`
	Alone   []people.ID `json:"alone,omitempty"`
	// Waiting are the players who have not answered yet.
	Waiting []people.ID `json:"waiting"`
	// Rests is the time until which the look lets servers rest. IsHasty says that the strictest
	// servers would need more.
	Rests   roomtime.Time `json:"rests,omitzero"`
	IsHasty bool          `json:"hasty,omitempty"`
}

// State returns the state, to save or restore it.
func (l *Looks) State() *State { return &l.state }

// Validate returns the first fault of saved looks, or nil. Listed is the length of the list.
func (s *State) Validate(listed int) error {
	servers := slices.Concat(s.Servers, s.Seen, s.Doubted, s.Reached)
	for _, m := range s.Missed {
		servers = append(servers, m.Server)
	}
	for _, server := range servers {
		if server < 0 || server >= listed {
			return fmt.Errorf("a finalist %d of %d", server, listed)
		}
	}
	return nil
}

// Setup is the purpose of a look.
type Setup struct {
	Servers []int
	Search  Search
	// IsFair says that the rule compares the players' pings with each other.
	IsFair bool
	// IsLast says that the launch is near. Then the look is never long, and does not count as a try.
	IsLast bool
}

// Search tells how the servers were found.
type Search int

// The ways to find servers.
const (
	// Unsearched says that each player measured alone, or that a search was over long ago.
	Unsearched Search = iota
	// Searched says that a search asked the servers a moment ago, SearchedShort that it did so on a
	// short list.
	Searched
	SearchedShort
)

// Facts are the present facts about a look.
type Facts struct {
	// Players are the players that the round counts on.
	Players []Looker
	// Long is how long a long look takes, 0 if the organiser wants none.
	Long time.Duration
	// Passed is how long ago the look began.
	Passed time.Duration
	Now    roomtime.Time
	// Gap is how long a server rests before it answers an address again. 0 means unknown, and
	// counts as the strictest.
	Gap time.Duration
}

// Looker is a player who may look.
type Looker struct {
	ID people.ID
	// IsHere says that the player's program is connected.
	IsHere bool
	// Group is the same number for players who share an address.
	Group int
	// Known has the player's paths, by server.
	Known map[int]Known
}

// Known are the facts about a player's path to a server.
type Known struct {
	// Probe is the player's result before any look. IsAsked says that the player was asked for it,
	// so it counts. AskedAt is when the player asked the server.
	Probe   discovery.Result
	IsAsked bool
	AskedAt roomtime.Time
	// Look is the result of the newest look, nil without one.
	Look *Look
	// MatesRTT is the lowest RTT of all players behind the address, 0 if none is known.
	MatesRTT time.Duration
	// IsHidden says that the player cannot get to the server.
	IsHidden bool
}

// now returns the newest result: the look's, or else the probe's.
func (k Known) now() discovery.Result {
	if k.Look != nil {
		return k.Look.Result
	}
	return k.Probe
}

// Look is the result of a player's samples of a server.
type Look struct {
	discovery.Result
	Quality selection.Quality
	// RTTs are all samples after the search of a short list, in ms, the search's own first.
	RTTs []float64
}

// Ask is a question to a player's program. The room fills in Round, Game and Most.
type Ask struct {
	Player people.ID
	wire.Finalists
}

// Outcome is the result of a look that no longer waits for anybody.
type Outcome struct {
	// Lost are the looks that found a server lost.
	Lost []Missed
	// Asks are the questions to players who look again, one at a time, and Note says so. Without
	// any the look is over.
	Asks []Ask
	Note sentence.Sentence
	// LookedS is the length of a long look in seconds, 0 for any other look.
	LookedS float64
}

// Missed is the effect of a player's look at a server that did not answer.
type Missed struct {
	Player people.ID
	Look   Look
}

// Begin begins a look of all players. It returns the questions to each, and a note for people,
// which may be empty.
func (l *Looks) Begin(s Setup, f Facts) (asks []Ask, note sentence.Sentence) {
	if s.IsLast {
		l.state.Repeats++
	}
	l.state.Attempt++
	l.state.look = look{Servers: s.Servers, IsLong: f.Long > 0 && !s.IsLast}
	if l.state.IsLong {
		note = sentence.Of("room.long-look", "time", f.Long)
	}
	l.state.IsShort = s.Search == SearchedShort && !l.state.IsLong
	if s.Search != Unsearched {
		groups := groupsOf(f.Players)
		isFirst := l.state.Attempt == 1 && len(groups) > 1 && !s.IsFair
		l.state.Samples = freshSamples
		if maxPlaces(groups) == 1 && (isFirst || l.state.IsShort) {
			l.state.Samples = firstSamples
		}
		rest := l.rest(f, l.gap(f))
		l.state.Rests, l.state.IsHasty = f.Now.Add(rest), rest < l.rest(f, betweenMates) // strict servers may miss a sample
	}
	for _, p := range f.Players {
		ask := l.ask(p.ID, f)
		if len(ask.Servers) == 0 && len(l.state.Servers) > 0 {
			continue
		}
		if !slices.Contains(l.state.Absent, p.ID) {
			l.state.Waiting = append(l.state.Waiting, p.ID)
		}
		l.noteAsked(ask, f.Now)
		asks = append(asks, ask)
	}
	return asks, note
}

// QuickCheck begins a look with a single packet. The player by looks, or everyone who is here if by
// is empty. It does not count as a try.
func (l *Looks) QuickCheck(servers []int, by people.ID, s Search, f Facts) (asks []Ask) {
	l.state.Attempt++
	l.state.Repeats++
	l.state.look = look{Servers: servers, IsQuickCheck: true, IsShort: s == SearchedShort}
	for _, p := range f.Players {
		if by != "" && by != p.ID || by == "" && !p.IsHere {
			continue
		}
		ask := l.ask(p.ID, f)
		if by == "" {
			ask.After = discovery.Millis(slotIn(p.ID, f.Players, 0).after)
		}
		asks = append(asks, ask)
	}
	return asks
}

// Ask returns the questions to a player who comes back during a look, and reports whether there are
// any.
func (l *Looks) Ask(player people.ID, f Facts) (ask Ask, isAsked bool) {
	if !l.expects(player) {
		return Ask{}, false
	}
	return l.ask(player, f), true
}

func (l *Looks) ask(player people.ID, f Facts) Ask {
	servers, s := l.state.Servers, slotIn(player, l.lookers(f.Players), f.Passed)
	if p := f.looker(player); p != nil {
		servers = l.serversFor(*p)
	}
	switch {
	case l.state.IsQuickCheck:
		servers, s = l.state.Servers, slot{samples: 1}
	case len(l.state.Alone) > 0:
		servers, s = l.aloneFor(player, f.Passed)
	case l.state.IsLong:
		s.samples = s.samplesIn(f.Long - f.Passed)
	case l.state.Samples > 0:
		s.samples = min(s.samples, l.state.Samples)
	}
	s.after += max(0, l.state.Rests.Sub(f.Now))
	ask := Ask{player, wire.Finalists{
		Attempt: l.state.Attempt, Servers: servers, Samples: s.samples, After: discovery.Millis(s.after), Every: discovery.Millis(s.every),
	}}
	// Samples at once say little of a line's jitter, and Quake 3's servers do not answer many at
	// once.
	if l.state.Samples > 0 && len(l.state.Alone) == 0 && !l.state.IsQuickCheck && len(groupsOf(f.Players)) <= waveSize {
		ask.Gap = discovery.Millis(l.gap(f))
	}
	return ask
}

// gap returns how long the servers rest before they answer an address again, 0 if unknown.
func (l *Looks) gap(f Facts) time.Duration {
	if l.state.IsStrict {
		return 0
	}
	return f.Gap
}

func (f Facts) looker(player people.ID) *Looker {
	at := slices.IndexFunc(f.Players, func(p Looker) bool { return p.ID == player })
	if at < 0 {
		return nil
	}
	return &f.Players[at]
}

// serversFor returns the servers that a player asks. After the search of a short list it leaves out
// servers where the player's samples already agree, so that the look ends sooner.
func (l *Looks) serversFor(p Looker) (servers []int) {
	if l.state.Attempt <= 1 || !l.state.IsShort {
		return l.state.Servers
	}
	for _, server := range l.state.Servers {
		if look := p.Known[server].Look; look == nil || look.State != discovery.Answered || disagree(look.RTTs) {
			servers = append(servers, server)
		}
	}
	return servers
}

// lookers returns the players who have anything to ask.
func (l *Looks) lookers(players []Looker) (lookers []Looker) {
	for _, p := range players {
		if len(l.serversFor(p)) > 0 {
			lookers = append(lookers, p)
		}
	}
	return lookers
}

// StopAwaiting stops waiting for a player.
func (l *Looks) StopAwaiting(player people.ID) {
	l.state.Waiting = slices.DeleteFunc(l.state.Waiting, func(other people.ID) bool { return other == player })
}

// Tick lets time pass. Once the look takes too long it stops waiting, and returns a note about each
// player who has not looked.
func (l *Looks) Tick(f Facts) (notes []sentence.Sentence, isLate bool) {
	last := lastSlot(f.Players)
	limit := lookTime + last.after + time.Duration(last.samples)*last.every
	if len(l.state.Alone) > 0 {
		limit = lookTime + l.aloneTime()
	}
	if l.state.IsLong {
		limit += f.Long
	}
	if f.Passed < limit {
		return nil, false
	}
	for _, player := range l.state.Waiting {
		notes = append(notes, sentence.Of("room.did-not-look", "player", player))
	}
	l.state.Absent = append(l.state.Absent, l.state.Waiting...)
	l.state.Waiting = nil
	return notes, true
}

// CutShort ends a long look with the samples so far, and returns messages that stop the players'
// programs. Any other look is over in a moment.
func (l *Looks) CutShort(f Facts) (stops []Ask, isCut bool) {
	if !l.state.IsLong {
		return nil, false
	}
	for _, player := range l.state.Waiting {
		stop := l.ask(player, f)
		stop.Servers = []int{}
		stops = append(stops, stop)
	}
	l.state.Waiting = nil
	return stops, true
}

// Settle ends the look, unless it waits for somebody.
func (l *Looks) Settle(f Facts) (o Outcome, isSettled bool) {
	if len(l.state.Waiting) > 0 {
		return Outcome{}, false
	}
	lost, again := l.judge(len(f.Players))
	var unsure []miss // the servers may have been asked too soon
	isDeaf := len(l.state.Reached) == 0 && !l.state.IsStrict
	if len(lost) > 0 && (l.state.IsHasty || isDeaf) {
		l.state.IsStrict, unsure, lost = true, lost, nil
		l.state.Repeats++
	}
	o.Lost = l.concede(lost, f)
	for _, server := range l.state.Servers {
		isLost := l.state.Samples == firstSamples && l.silent(server) > forgivenLosses
		isMissed := slices.ContainsFunc(slices.Concat(again, unsure), func(m miss) bool { return m.Server == server })
		if !isLost && !isMissed && !slices.Contains(l.state.Doubted, server) && !slices.Contains(l.state.Seen, server) {
			l.state.Seen = append(l.state.Seen, server)
		}
	}
	if o.Asks, o.Note = l.repeat(again, f); !o.Note.IsZero() {
		return o, true
	}
	l.state.Missed, l.state.Reached = nil, nil
	if l.state.IsLong {
		o.LookedS = min(f.Passed, f.Long).Round(time.Second).Seconds()
	}
	return o, true
}

// Servers returns the servers of the newest look.
func (l *Looks) Servers() []int { return l.state.Servers }

// Seen returns the servers that had their look in this round.
func (l *Looks) Seen() []int { return l.state.Seen }

// IsLong reports whether the newest look is a long one.
func (l *Looks) IsLong() bool { return l.state.IsLong }

// Tries returns how often everyone has looked for a server for this choice.
func (l *Looks) Tries() int { return l.state.Attempt - l.state.Repeats }

// Retry restarts the count of tries, for another choice.
func (l *Looks) Retry() { l.state.Repeats = l.state.Attempt }

// Forget drops the results, because they are old or belong to another choice. It does not use
// numbers of looks again, because programs would mistake one look for another.
func (l *Looks) Forget() {
	*l = Looks{State{Attempt: l.state.Attempt, Repeats: l.state.Attempt, IsStrict: l.state.IsStrict}}
}

// Resume goes on after the host was away. The next look gets a number that no earlier one had.
func (l *Looks) Resume() {
	l.state.Attempt += unsavedLooks
	l.state.Repeats += unsavedLooks
}
