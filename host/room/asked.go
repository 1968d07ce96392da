package room

import (
	"maps"
	"math/bits"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// leastProbe is the shortest time in which a peer can give a server up: it repeats
// its question twice, each time a second or more after the last.
const leastProbe = 2 * time.Second

// asked is what a player was asked for in a round. Only that counts of what the
// player reports: nobody culls a server, or has one chosen, by a result that nobody
// wanted.
type asked struct {
	// all: the player's own plan goes through the whole list.
	all     bool
	servers serverSet
	exposed
	// own is how many more servers the player may bring up that its own discovery
	// found; they are asked of the others then.
	own int
	// allSince is when the player was told to measure everything, lately when it was
	// asked for servers that it cannot have given up yet.
	allSince time.Time
	lately   map[int]time.Time
}

func (a *asked) has(server int) bool { return a.all || a.servers.has(server) }

// everything notes that the player's own plan goes through the list.
func (a *asked) everything(now time.Time) {
	if !a.all {
		a.all, a.allSince = true, now
	}
}

// thusFar has only those servers count that were measured by now, and what is asked from
// now on.
func (a *asked) thusFar(s *sheet) {
	if a.all {
		a.all = false
		for server := range s.places {
			a.servers.add(server)
		}
	}
}

// add notes a question.
func (a *asked) add(server int, now time.Time) {
	if a.lately == nil {
		a.lately = map[int]time.Time{}
	}
	a.servers.add(server)
	a.lately[server] = now
}

// believed is a result as far as the player can know it by now: who was not asked
// for the server, or only a moment ago, has not met silence there.
func (a *asked) believed(result discovery.Result, now time.Time) discovery.Result {
	at, lately := a.lately[result.Server]
	if !lately {
		at = a.allSince
	}
	tooEarly := result.State == discovery.Lost && now.Sub(at) < leastProbe
	if result.State != discovery.Answered && !a.has(result.Server) || tooEarly {
		result.State = discovery.Forbidden
	}
	return result
}

// ask has a player measure servers. Of what the player told of them before that,
// answers count from now on.
func (r *Room) ask(p *player, servers []int) {
	if servers = r.shows(p, servers); len(servers) == 0 {
		return
	}
	r.send(p, wire.Ask{Round: r.round.number, Servers: servers})
	maps.DeleteFunc(p.asked.lately, func(_ int, at time.Time) bool { return r.now.Sub(at) >= leastProbe })
	for _, server := range servers {
		if p.asked.has(server) {
			continue
		}
		before := p.at(server).State
		p.asked.add(server, r.now)
		p.count(server, before)
		r.round.weigh(server)
		if result := p.at(server); result.State != discovery.Unprobed {
			r.heard(p, result)
		}
	}
}

// serverSet is a set of servers, a bit each.
type serverSet []byte

func (s serverSet) has(server int) bool { return server/8 < len(s) && s[server/8]&(1<<(server%8)) != 0 }

func (s *serverSet) add(server int) {
	if missing := server/8 + 1 - len(*s); missing > 0 {
		*s = append(*s, make(serverSet, missing)...)
	}
	(*s)[server/8] |= 1 << (server % 8)
}

func (s serverSet) size() int {
	n := 0
	for _, b := range s {
		n += bits.OnesCount8(b)
	}
	return n
}
