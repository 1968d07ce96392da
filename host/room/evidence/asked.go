package evidence

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// MinProbe is the shortest time after which a program may give a server up: it asks again twice,
// at least a second after the question before.
const MinProbe = 2 * time.Second

// asked has the servers that a player was asked for in a round. The player's other results do not
// count: they neither cull a server nor get it chosen.
type asked struct {
	// all says that the player's own plan goes through the whole list.
	all     bool
	servers set
	// before is the number of servers when the order for more began.
	before int
	// allSince is when the player was told to measure everything. lately is when the program was
	// asked for servers that it cannot have given up yet.
	allSince roomtime.Time
	lately   map[int]roomtime.Time
}

func (a *asked) has(server int) bool { return a.all || a.servers.has(server) }

// believed returns the part of a result that the player can know. Silence takes time to notice, and
// a server without a question has not been silent.
func (a *asked) believed(result discovery.Result, now roomtime.Time) discovery.Result {
	at, lately := a.lately[result.Server]
	if !lately {
		at = a.allSince
	}
	tooEarly := result.State == discovery.Lost && now.Sub(at) < MinProbe
	if result.State != discovery.Answered && !a.has(result.Server) || tooEarly {
		result.State = discovery.Forbidden
	}
	return result
}

// IsAsked reports whether the player's results for a server count.
func (w *results) IsAsked(server int) bool { return w.asked.has(server) }

// IsAskedForAll reports whether the player's own plan goes through the whole list.
func (w *results) IsAskedForAll() bool { return w.asked.all }

// AskAll notes that the player's own plan goes through the list, and reports whether that is
// new.
func (w *PlayerResults) AskAll(now roomtime.Time) (isNew bool) {
	if isNew = !w.asked.all; isNew {
		w.asked.all, w.asked.allSince = true, now
	}
	return isNew
}

// Ask notes that the player's program is asked for servers. It returns the servers that fit into
// the player's number, and the new ones among them. Earlier results for these count from now on.
func (w *PlayerResults) Ask(servers []int, now roomtime.Time) (ask, admitted []int) {
	if ask = w.Show(servers); len(ask) == 0 {
		return nil, nil
	}
	maps.DeleteFunc(w.asked.lately, func(_ int, at roomtime.Time) bool { return now.Sub(at) >= MinProbe })
	for _, server := range ask {
		if !w.Admit(server) {
			continue
		}
		if w.asked.lately == nil {
			w.asked.lately = map[int]roomtime.Time{}
		}
		w.asked.lately[server] = now
		admitted = append(admitted, server)
	}
	return ask, admitted
}

// Admit lets the player's results for a server count, and reports whether that is new.
func (w *PlayerResults) Admit(server int) (isNew bool) {
	if w.asked.has(server) {
		return false
	}
	before := w.At(server).State
	w.asked.servers.add(server)
	w.count(server, before)
	return true
}

// Asked returns the number of servers that the player was asked for.
func (w *results) Asked() int { return w.asked.servers.size() }

// BeginMore begins an order for more servers. Open questions of the player's own plan no longer
// count.
func (w *PlayerResults) BeginMore() {
	if w.asked.all {
		w.asked.all = false
		for server := range w.places {
			w.asked.servers.add(server)
		}
	}
	w.asked.before = w.Asked()
}

// AskedMore returns the number of servers that the player was asked for since [PlayerResults.BeginMore].
func (w *results) AskedMore() int { return max(0, w.Asked()-w.asked.before) }

// Before a program asks anybody it tells its player how many servers will see the player's address
// at most. The room keeps to that number for the whole round: search, vote, looks and waits for
// seats. Only the organiser raises it, and the player is told first.

// exposure knows which servers may have seen a player's address in a round.
type exposure struct {
	// promised is how many servers may see the address, as the player was told. 0 is the whole
	// list, or a number not told yet.
	promised int
	// servers are the servers that the player's program was told to ask.
	servers set
	// own is how many more servers the player's own discovery may bring up. The room then asks the
	// other players for them, too.
	own int
}

// Promise returns the number that the player is promised for the next question, or 0 for the whole
// list. most is the round's number. A promised number never shrinks.
func (w *PlayerResults) Promise(most int) int {
	s := &w.shown
	if most == 0 || w.asked.all {
		s.promised = 0
		return 0
	}
	if s.promised == 0 { // earlier questions count, such as by a host of an older version
		s.servers = slices.Clone(w.asked.servers)
	}
	s.promised = max(s.promised, most)
	return s.promised
}

// Promised returns the number that the player was told last, 0 for the whole list.
func (w *results) Promised() int { return w.shown.promised }

// Left returns how many more servers may see the player's address.
func (w *results) Left() int {
	if w.shown.promised == 0 {
		return math.MaxInt / wire.MaxPlayers // small enough that a group can add it up
	}
	return max(0, w.shown.promised-w.shown.servers.size()-w.shown.own)
}

// Show notes that the player's program is told to ask servers, and returns the servers that fit
// into the player's number.
func (w *PlayerResults) Show(servers []int) []int {
	if w.shown.promised == 0 {
		return servers
	}
	some := make([]int, 0, len(servers))
	for _, server := range servers {
		if w.CanShow(server) {
			w.shown.servers.add(server)
			some = append(some, server)
		}
	}
	return some
}

// CanShow reports whether the player's program may be told to ask a server.
func (w *results) CanShow(server int) bool { return w.shown.servers.has(server) || w.Left() > 0 }

// Allow lets the player's own discovery bring up more servers.
func (w *PlayerResults) Allow(own int) { w.shown.own += own }

// set is a set of servers, a bit each.
type set []byte

func (s set) has(server int) bool { return server/8 < len(s) && s[server/8]&(1<<(server%8)) != 0 }

func (s *set) add(server int) {
	if missing := server/8 + 1 - len(*s); missing > 0 {
		*s = append(*s, make(set, missing)...)
	}
	(*s)[server/8] |= 1 << (server % 8)
}

func (s set) size() int {
	n := 0
	for _, b := range s {
		n += bits.OnesCount8(b)
	}
	return n
}
