package moving

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
)

const (
	// every is the shortest time between two questions to a program that plays: less than .2 a
	// second, with room for a late one. patience is how long an answer may take.
	every, patience = 6 * time.Second, 15 * time.Second
	// fresh is how long a result for a server that might be better counts as new.
	fresh = 40 * time.Minute
	// quietFor is how long the line counts as quiet after an answer of the player's own server that
	// was no later than usual. mapEvery is the time between two questions for the map.
	quietFor, mapEvery = 40 * time.Second, 15 * time.Second
	// An RTT to the own server that exceeds the lowest by busyBy and busyShare of it means that the
	// line is busy, or the server's: then the program rests for busyFor. After rerouted such answers
	// the way must be another one.
	busyBy, busyShare, busyFor, rerouted = 10 * time.Millisecond, .25, time.Minute, 10
	// confirms is how many answers tell a gain from a delayed packet.
	confirms = 2
)

// Ask is a question to a player's program: the RTT to a server, by one packet.
type Ask struct {
	Player people.ID
	Server int
}

// asking is what is known of the questions to a player's program.
type asking struct {
	server int           // of the newest question
	last   roomtime.Time // when it was asked
	waits  bool          // for its answer
	// known is since when each server is known, as far as a program has asked while playing. missed
	// is the server that has not answered once.
	known  map[int]roomtime.Time
	missed int
	// least is the lowest RTT to the player's own server. quiet is when it was last no later than
	// usual, busy counts the later answers since, and held is the end of the rest after such a one.
	least       time.Duration
	quiet, held roomtime.Time
	busy        int
	// confirmed are the answers of the own server and of the hope since there is one.
	confirmed [2]confirmed
	// plays is the map that the player's server told last.
	plays string
}

// confirmed is the lowest of so many RTTs.
type confirmed struct {
	heard int
	low   time.Duration
}

func (w *Watch) of(player people.ID) *asking {
	if w.asking == nil {
		w.asking = map[people.ID]*asking{}
	}
	if w.asking[player] == nil {
		w.asking[player] = &asking{known: map[int]roomtime.Time{}, missed: -1}
	}
	return w.asking[player]
}

// settle forgets what is usual on the player's own server, because it is another one.
func (a *asking) settle() {
	a.least, a.busy, a.quiet, a.held, a.confirmed = 0, 0, 0, 0, [2]confirmed{}
}

// mayAsk reports whether a player's program may be asked anything now.
func (w *Watch) mayAsk(player people.ID, now roomtime.Time) bool {
	a := w.of(player)
	return now.Sub(a.last) >= every && !now.Before(a.held) && (!a.waits || now.Sub(a.last) >= patience)
}

func (w *Watch) ask(player people.ID, server int, now roomtime.Time) Ask {
	a := w.of(player)
	a.server, a.last, a.waits = server, now, true
	return Ask{player, server}
}

// next returns the server that a player's program is to ask now, or -1. The player's own server
// comes first: its answer tells whether the line is quiet.
func (w *Watch) next(player people.ID, column int, s Scene, table *selection.Table) (server int) {
	a := w.of(player)
	isOld := func(server int) bool {
		if state, _ := table.At(column, server); state != discovery.Unprobed && a.known[server].IsZero() {
			a.known[server] = s.Now // since the search, or an earlier launch
		}
		return s.Now.Sub(a.known[server]) >= fresh
	}
	hopes := !w.hoped.IsZero()
	switch {
	case !w.mayAsk(player, s.Now):
		return -1
	case slices.ContainsFunc(w.suggested, isOld):
		server = w.suggested[slices.IndexFunc(w.suggested, isOld)]
	case hopes && a.confirmed[1].heard < confirms:
		server = w.hope
	case hopes && a.confirmed[0].heard < confirms:
		return s.Server
	default:
		return -1
	}
	if s.Now.Sub(a.quiet) >= quietFor {
		return s.Server
	}
	return server
}

// isConfirmed reports whether all players have heard the hope and their own server often enough.
func (w *Watch) isConfirmed() bool {
	return !slices.ContainsFunc(w.Group, func(player people.ID) bool {
		c := w.of(player).confirmed
		return c[0].heard < confirms || c[1].heard < confirms
	})
}

// Heard takes the answer to the newest question to a player's program, from the player's own server
// or another. It returns what counts: of a server that is about to be proposed the lowest RTT, and
// nothing while the line is busy. moves says that the map has ended after which the player goes.
func (w *Watch) Heard(player people.ID, own bool, result discovery.Result, info *discovery.Info, now roomtime.Time) (counted discovery.Result, counts, moves bool) {
	a := w.of(player)
	if !a.waits || result.Server != a.server {
		return result, false, false
	}
	a.waits = false
	isAnswer := result.State == discovery.Answered
	if own {
		if !isAnswer {
			a.held = now.Add(busyFor)
			return result, false, false
		}
		if info != nil && info.Map != "" {
			moves = w.Open != nil && w.Open.Said[player] == wire.MoveAfterMap && a.plays != "" && a.plays != info.Map
			a.plays = info.Map
		}
		if a.busy++; a.least > 0 && a.busy < rerouted && result.RTT > a.least+busyBy+time.Duration(busyShare*float64(a.least)) {
			a.held = now.Add(busyFor)
			return result, false, moves
		}
		if a.busy >= rerouted || a.least == 0 || result.RTT < a.least {
			a.least = result.RTT
		}
		a.busy, a.quiet = 0, now
	} else if now.Sub(a.quiet) >= quietFor || !isAnswer && a.missed != result.Server {
		if a.missed = -1; !isAnswer {
			a.missed = result.Server // once more: one lost packet says nothing
		}
		return result, false, false
	}
	a.known[result.Server] = now
	if isHope := !w.hoped.IsZero() && result.Server == w.hope; isAnswer && (own || isHope) {
		c := &a.confirmed[0]
		if isHope {
			c = &a.confirmed[1]
		}
		if c.heard++; c.low == 0 || result.RTT < c.low {
			c.low = result.RTT
		}
		result.RTT = c.low
	}
	w.isNews = true
	return result, true, moves
}
