// Package seats watches a few full servers until one has seats for the whole group.
//
// One player's program asks at a time, in turn:
//
//	ann  ·────────── 10 s ──────────·──── … ──·
//	ben            10 s later ──────·         │ "seats for all"
//	cat                                       └ 2 s ─▶ "yes" ─▶ everyone looks once, and goes
//
// So ten players ask the servers no more often than one, and one player's report alone sends nobody
// to a server. The room tells a [Watch] how time passes and what players saw, and carries out its
// events:
//
//	Tick, Heard ─▶ Ask ─▶ Open ─┬─▶ Go
//	                ▲           └─▶ Filled ─┐
//	                └───────────────────────┴─▶ Over
package seats

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/selection"
)

const (
	// watchedMost bounds the full servers that are watched. A fourth is hardly ever the first to
	// have seats that people want.
	maxWatched = 3
	// insteadMost bounds the servers with seats that are shown. They are only for comparison, so
	// they are asked every insteadGap.
	maxInstead = 2
	insteadGap = time.Minute
	// usualWait is how long a room waits unless somebody sets a time. A round of most games is over
	// by then, and people leave after a round.
	usualWait = 30 * time.Minute
	// checkAfter is the time from a report of free seats to the next player's look. Seats go within
	// seconds, and the strictest servers answer an address once a second.
	checkAfter = 2 * time.Second
	// lookTime is how long a look may take, with answers of several packets and slow lines. Then
	// the next player looks.
	lookTime = 8 * time.Second
	// lastLook is how long the players look at a server with seats before they go there together.
	lastLook = 5 * time.Second
	// maxDemerits is the number of useless looks after which a player looks only if nobody else
	// can. A look is useless if others contradict it, or if it gets no answer. One may be chance.
	maxDemerits = 2
)

// Watch is a wait for seats.
type Watch struct{ state State }

// State is the saved state of a watch.
type State struct {
	Began roomtime.Time `json:"began"`
	Until roomtime.Time `json:"until"`
	// For are the players who wait for seats where the others already play. It is empty if everyone
	// waits.
	For     []people.ID `json:"for,omitempty"`
	Servers []watched   `json:"servers"`
	// Turn counts looks, so that all take turns.
	Turn int   `json:"turn"`
	Look *look `json:"look,omitempty"`
	// Demerits counts each player's useless looks; see maxDemerits.
	Demerits map[people.ID]int `json:"demerits,omitempty"`
	Going    *going            `json:"going,omitempty"`
	// News, Over and Chance are fields of [wire.Seats].
	News   sentence.Sentence `json:"news,omitzero"`
	Over   sentence.Sentence `json:"over,omitzero"`
	Chance sentence.Sentence `json:"chance,omitzero"`
}

// State returns the state, to save or restore it.
func (w *Watch) State() *State { return &w.state }

// Validate returns the first fault of a saved watch, or nil. Listed is the length of the list. It
// also fills in fields that are not saved, because they follow from the rest.
func (s *State) Validate(listed int) error {
	isWhole := !s.Began.IsZero() && s.Turn >= 0 && (s.Going == nil || (&Watch{*s}).at(s.Going.Server) != nil)
	for i := range s.Servers {
		at := &s.Servers[i]
		at.Ranked.Server = at.Server
		isWhole = isWhole && at.Server >= 0 && at.Server < listed &&
			len(at.Counts) <= countedSeats+1 && at.Since >= 0 && at.Silent >= 0 && at.Misses >= 0
	}
	if !isWhole {
		return errors.New("a wait for seats that is none")
	}
	return nil
}

// going is the moment before everyone goes to a server with seats.
type going struct {
	Server   int           `json:"server"`
	LaunchAt roomtime.Time `json:"launch_at"`
	Words    []word        `json:"words,omitempty"`
}

// Facts are the present facts about the wait.
type Facts struct {
	// Need is the number of seats that have to be free at once; see [Watch.Need]. Present is the
	// number of players who can look.
	Need, Present int
	// Servers are the facts about each of [Watch.Servers].
	Servers map[int]Fact
}

// Fact is a server's name for people, and the players who can look at it.
type Fact struct {
	Name    string
	Lookers []people.ID
}

// Event is something for the room to do.
type Event interface{ isEvent() }

// The events.
type (
	// Ask asks one player's program to look at servers.
	Ask struct {
		By      people.ID
		Servers []int
	}
	// Open says that a server has free seats. Everyone looks once more, and goes after a while. News
	// tells people so, and names the players who saw the seats.
	Open struct {
		Server, Free int
		News         sentence.Sentence
	}
	// Go says that the seats are still there. HeardBy are the players whom the server answered in
	// the last look.
	Go struct {
		Server  int
		HeardBy []people.ID
	}
	// Filled says that the seats are gone, and that the wait goes on.
	Filled struct{ News sentence.Sentence }
	// Over says why the wait has ended without a seat, and how near the group came to one.
	Over struct{ Why sentence.Sentence }
)

func (Ask) isEvent()    {}
func (Open) isEvent()   {}
func (Go) isEvent()     {}
func (Filled) isEvent() {}
func (Over) isEvent()   {}

// Suitable returns the servers that would suit everyone if all servers had seats, best first.
func Suitable(b selection.Basis) []selection.Ranked {
	b.Criteria.Seats, b.Criteria.Spare, b.Criteria.Reasons = 0, 0, -1
	return b.Select().Ranking
}

// Worth returns the servers of a ranking that are worth a wait: full servers that are better than
// the best one with seats for the group.
func Worth(ranking []selection.Ranked, servers selection.Servers, need int) (full []selection.Ranked) {
	for _, ranked := range ranking {
		info := servers.Info(ranked.Server)
		switch {
		case info == nil, info.Uncounted(), info.MaxPlayers < need:
		case info.Free() >= need:
			return full
		case len(full) < maxWatched:
			full = append(full, ranked)
		}
	}
	return full
}

// Begin begins to watch full servers, the best first, until the limit, or for the usual time if the
// limit is 0. The best others with seats are shown for comparison.
func Begin(full, others []selection.Ranked, servers selection.Servers, limit time.Duration, now roomtime.Time) *Watch {
	w := &Watch{State{Began: now, Until: now.Add(cmp.Or(limit, usualWait))}}
	add := func(ranked selection.Ranked, instead bool) {
		s := watched{Server: ranked.Server, Ranked: ranked, Instead: instead, Free: -1, Next: now}
		if info := servers.Info(s.Server); info != nil && !info.Uncounted() {
			s.Free = info.Free()
		}
		w.state.Servers = append(w.state.Servers, s)
	}
	for _, ranked := range full {
		add(ranked, false)
	}
	for _, ranked := range others {
		if w.at(ranked.Server) == nil && len(w.state.Servers) < len(full)+maxInstead {
			add(ranked, true)
		}
	}
	return w
}

// BeginOutside begins to watch the server where the others play, on behalf of the players outside.
func BeginOutside(outside []people.ID, at selection.Ranked, servers selection.Servers, limit time.Duration, now roomtime.Time) *Watch {
	w := Begin([]selection.Ranked{at}, nil, servers, limit, now)
	w.state.For = outside
	return w
}

// Outside returns the players who wait for seats where the others are; none if everyone waits.
func (w *Watch) Outside() []people.ID { return w.state.For }

// Need returns the number of seats that have to be free at once. Everyone is the group's number.
func (w *Watch) Need(everyone int) int {
	if len(w.state.For) > 0 {
		return len(w.state.For)
	}
	return everyone
}

// Enter notes the players who no longer need a seat, because they are in, or have left. It reports
// whether nobody is left outside. While everyone is about to go it changes nothing.
func (w *Watch) Enter(inside []people.ID) (isOver bool) {
	if w.state.Going != nil || len(w.state.For) == 0 {
		return false
	}
	w.state.For = slices.DeleteFunc(w.state.For, func(player people.ID) bool { return slices.Contains(inside, player) })
	return len(w.state.For) == 0
}

// at returns the state of a server, or nil if it is not watched.
func (w *Watch) at(server int) *watched {
	at := slices.IndexFunc(w.state.Servers, func(s watched) bool { return s.Server == server })
	if at < 0 {
		return nil
	}
	return &w.state.Servers[at]
}

// Servers returns the servers that are watched or shown.
func (w *Watch) Servers() []int {
	var servers []int
	for i := range w.state.Servers {
		servers = append(servers, w.state.Servers[i].Server)
	}
	return servers
}

// Watches returns the servers that players will look at again. It returns none if nobody is there
// to look.
func (w *Watch) Watches(f Facts) []int {
	var servers []int
	for i := range w.state.Servers {
		if s := &w.state.Servers[i]; w.isWatched(s, f) {
			servers = append(servers, s.Server)
		}
	}
	return servers
}

// isWatched reports whether players will look at a server again, or a decision on their looks is due.
func (w *Watch) isWatched(s *watched, f Facts) bool {
	return s.Dropped.IsZero() && (len(s.Words) > 0 || len(w.lookers(s, f)) > 0)
}

// Share notes the rooms of the host that watch each server. Ahead is how far the clock that these
// rooms share is ahead of this room's.
func (w *Watch) Share(demand map[int]Demand, ahead time.Duration) {
	for i := range w.state.Servers {
		w.state.Servers[i].demand, w.state.Servers[i].ahead = demand[w.state.Servers[i].Server], ahead
	}
}

// Tick lets time pass.
func (w *Watch) Tick(f Facts, now roomtime.Time) []Event {
	switch {
	case w.state.Going != nil && !now.Before(w.state.Going.LaunchAt):
		return w.arrive(f, now)
	case w.state.Going != nil:
	case !now.Before(w.state.Until):
		return []Event{w.GiveUp(sentence.Of("seats.never", "n", f.Need, "minutes", minutes(w.state.Until.Sub(w.state.Began))), f)}
	case w.state.Look != nil && now.Sub(w.state.Look.At) >= lookTime:
		w.blame(w.state.Look.By)
		return w.take(nil, f, now)
	case w.state.Look == nil:
		return w.nextLook(f, now)
	}
	return nil
}

// Next returns when the watch needs the next Tick.
func (w *Watch) Next(f Facts) roomtime.Time {
	next := w.state.Until
	earlier := func(at roomtime.Time) {
		if at.Before(next) {
			next = at
		}
	}
	switch {
	case w.state.Going != nil:
		earlier(w.state.Going.LaunchAt)
	case w.state.Look != nil:
		earlier(w.state.Look.At.Add(lookTime))
	default:
		for i := range w.state.Servers {
			if s := &w.state.Servers[i]; w.isWatched(s, f) {
				earlier(s.due())
			}
		}
	}
	return next
}

// IsGoing reports whether everyone is about to go to a server.
func (w *Watch) IsGoing() bool { return w.state.Going != nil }

// open calls everyone to look once more.
func (w *Watch) open(s *watched, f Facts, now roomtime.Time) Event {
	var sawSeats []people.ID
	for _, word := range s.Words {
		if word.Free >= f.Need {
			sawSeats = append(sawSeats, word.By)
		} else if word.Free >= 0 {
			w.blame(word.By)
		}
	}
	s.settle(now, now.Sub(w.state.Began))
	s.Asked += f.Present
	w.state.Going, w.state.Look, w.state.News = &going{Server: s.Server, LaunchAt: now.Add(lastLook)}, nil, sentence.Sentence{}
	free := max(f.Need, s.Free)
	return Open{s.Server, free, sentence.Of("room.seats-free",
		"n", free, "server", f.Servers[s.Server].Name, "players", people.Texts(sawSeats), "seconds", lastLook.Seconds())}
}

// arrive sends everyone to the server, if the last look says that the seats are still there.
func (w *Watch) arrive(f Facts, now roomtime.Time) []Event {
	s, words := w.at(w.state.Going.Server), w.state.Going.Words
	w.state.Going = nil
	if yes, no := tally(words, f.Need); yes > 0 && no <= yes {
		var heard []people.ID
		for _, word := range words {
			if word.Free >= 0 {
				heard = append(heard, word.By)
			}
		}
		return []Event{Go{s.Server, heard}}
	}
	server := f.Servers[s.Server].Name
	news, note := sentence.Of("seats.silent", "server", server), sentence.Of("room.seats-silent", "server", server)
	if free := middle(words); free >= 0 {
		news = sentence.Of("seats.filled", "server", server, "free", free, "n", f.Need)
		note = sentence.Of("room.seats-filled", "server", server, "free", free, "n", f.Need)
	}
	s.miss(now)
	w.state.News = news
	return append([]Event{Filled{note}}, w.orGiveUp(f)...)
}

// Drop ends the watch of one server.
func (w *Watch) Drop(server int, why sentence.Sentence, f Facts) []Event {
	w.at(server).Dropped = why
	return w.orGiveUp(f)
}

// orGiveUp gives up once no server is left to be watched.
func (w *Watch) orGiveUp(f Facts) []Event {
	if slices.ContainsFunc(w.state.Servers, func(s watched) bool { return !s.Instead && s.Dropped.IsZero() }) {
		return nil
	}
	return []Event{w.GiveUp(sentence.Of("seats.none-left"), f)}
}

// GiveUp ends the wait, and says how near the group came to seats.
func (w *Watch) GiveUp(why sentence.Sentence, f Facts) Over {
	w.state.Look, w.state.Going, w.state.Over, w.state.Chance = nil, nil, why, w.chanceOf(f)
	if w.state.Chance.IsZero() {
		return Over{why}
	}
	return Over{sentence.Of("room.wait-over", "why", why, "chance", w.state.Chance)}
}

// Resume goes on after the host was away: every player has lost the connection.
func (w *Watch) Resume(now roomtime.Time) {
	w.state.Look, w.state.Going = nil, nil
	for i := range w.state.Servers {
		s := &w.state.Servers[i]
		s.Words, s.Since, s.took = nil, 0, 0
		s.Next = now.Add(gapAfter(0))
	}
}
