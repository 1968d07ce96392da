package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"muster/discovery/sentence"
	"muster/host/wire"
)

// look is what somebody outside saw of a room who asked a host.
type look struct {
	asked, told time.Duration
	room        *group
	host        int
	status      int
	of          shown
}

// shown is what the checker reads of a room's [wire.Document].
type shown struct {
	Phase    wire.Phase        `json:"phase"`
	Round    int               `json:"round"`
	MaxRTTMs float64           `json:"max_rtt_ms"`
	Held     sentence.Sentence `json:"held"`
	Members  []wire.Member     `json:"members"`
	Ballot   []wire.Nominee    `json:"ballot"`
}

// word is what somebody asked of a room. A host that has acknowledged it promises that it stays.
type word struct {
	asked, kept time.Duration // kept is 0 without an acknowledgement
	room        *group
	// kind is limit, vote, go, or why the player who is called who is out of the room.
	kind, who, text string
	round           int // of a vote
}

// span is a time in which the world is whole, but for one thing that is done to it. Nobody may be cut off
// for longer than most, and nothing may take longer than an answer.
type span struct {
	from, to, most time.Duration
	what           string
	but            string // the player to whom it is done, if to one
}

// These bound what people wait for in a whole world. A host that ends tells its people within 5 seconds to
// come back; one that is lost is missed when its lease of 3 seconds is over, and a connection to it is
// given up as soon as anything is sent.
const (
	answerTime  = time.Second
	drainTime   = 6 * time.Second
	lossTime    = 12 * time.Second
	silentTime  = 45 * time.Second // a line that is silent is given up after 25 s
	roundTime   = time.Minute
	toldTime    = 5 * time.Second  // from then on a host knows that a game has started
	leftTime    = 4 * time.Second  // from then on somebody who is cut off has left the others' vote: 8 s, by a clock that may run twice as fast
	calmTime    = 12 * time.Second // and in the last settledTime of it nobody is cut off any more
	settledTime = 4 * time.Second
	lookTime    = 1700 * time.Millisecond
)

// begin notes what somebody asks, and returns what notes that it is done.
func (w *world) begin(o word) (kept func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := len(w.words)
	o.asked = time.Since(w.began)
	w.words = append(w.words, o)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.words[at].kept = time.Since(w.began)
	}
}

// look asks a host for a room.
func (w *world) look(host int, g *group) look {
	l := look{asked: time.Since(w.began), room: g, host: host}
	l.status = w.ask(host, g, g.secret, "GET", "/api/rooms/-", nil, &l.of)
	l.told = time.Since(w.began)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks = append(w.looks, l)
	return l
}

// watch looks at each room by each host in turn, until the night is over.
func (w *world) watch(all []*group) (stop func()) {
	ended := make(chan struct{})
	w.orders.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-ended:
				return
			case <-time.After(lookTime):
			}
			if host := n / len(all) % hosts; !w.isGone(host) {
				w.orders.Go(func() { w.look(host, all[n%len(all)]) })
			}
		}
	})
	return func() { close(ended) }
}

// owner returns the host that last saved a room.
func (w *world) owner(g *group) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(0, slices.IndexFunc(w.hosts, func(p *process) bool { return p.name == w.owners[g.code] }))
}

// welcome looks at all rooms by a host that is no longer cut off, while it finds out what it has lost.
func (w *world) welcome(o op, all []*group) {
	kind, is := strings.CutPrefix(o.kind, ofOwner)
	if kind != "freeze" && kind != "suspend" && !strings.HasPrefix(kind, "nats-") {
		return
	}
	if is {
		o.a = w.owner(all[o.a%len(all)]) // who may be the next
	}
	for _, g := range all {
		w.orders.Go(func() {
			for n := range 7 {
				time.Sleep(time.Duration(20+20*n*n) * time.Millisecond)
				w.look(o.a, g)
			}
		})
	}
}

// doubt looks at rooms, after a while, by a host that may not know that others have them.
func (w *world) doubt(host int, after time.Duration, rooms ...*group) {
	for _, g := range rooms {
		w.orders.Go(func() {
			time.Sleep(after + 17*time.Millisecond)
			for range 6 {
				time.Sleep(151 * time.Millisecond)
				w.look(host, g)
			}
		})
	}
}

// missed returns what a look should have shown: what a host had acknowledged before, and nothing older than
// what anybody had seen.
func missed(l look, words []word, round int, seen []sighting) (all []string) {
	fail := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	limit, newest := -1, 0
	for i, o := range words {
		if o.room != l.room {
			continue
		}
		isKept := o.kept > 0 && o.kept < l.asked
		member := slices.IndexFunc(l.of.Members, func(m wire.Member) bool { return m.Name == o.who })
		switch {
		case o.kind == "limit":
			if o.text == fmt.Sprint(l.of.MaxRTTMs) {
				limit = i
			}
			if isKept {
				newest = i
			}
		case o.kind == "vote":
			// Without somebody who has left people choose anew, and a vote for what is no candidate any more is none.
			hasLeft := slices.ContainsFunc(l.room.players, func(p *gamer) bool { return away(seen, p.name, o.kept-2*leftTime, l.told) >= leftTime })
			isOpen := !hasLeft && o.round == l.of.Round && member >= 0 && l.of.Phase.Name == wire.PhaseVoting && isOnBallot(l.of, o.text)
			if isOpen && isKept && !isOvertaken(words, o, l.asked) && !isVote(words[i:], o, l.of.Members[member].Vote) {
				fail("%s has voted for %s, and the vote is %q", o.who, o.text, l.of.Members[member].Vote)
			}
		case o.kind != "go" && isKept && member >= 0:
			fail("%s is still there, who was %s", o.who, o.kind)
		}
	}
	if limit < 0 {
		fail("has the limit %v, which nobody gave it", l.of.MaxRTTMs)
	} else if limit < newest && words[limit].kept > 0 { // what nobody has answered may come late
		fail("has the limit %v, and had %s, as its organiser was told", l.of.MaxRTTMs, words[newest].text)
	}
	if l.of.Round < round {
		fail("is in round %d, and was in round %d", l.of.Round, round)
	}
	return all
}

func isOnBallot(of shown, addr string) bool {
	return slices.ContainsFunc(of.Ballot, func(n wire.Nominee) bool { return n.Addr == addr })
}

// isVote reports whether a vote, or one that the same person gave after it, was for an address.
func isVote(words []word, vote word, addr string) bool {
	return slices.ContainsFunc(words, func(o word) bool {
		return o.kind == "vote" && o.who == vote.who && o.round == vote.round && o.text == addr
	})
}

// isOvertaken reports whether a later vote of the same person was acknowledged by a time.
func isOvertaken(words []word, vote word, by time.Duration) bool {
	return slices.ContainsFunc(words, func(o word) bool {
		return o.kind == "vote" && o.who == vote.who && o.round == vote.round && o.asked > vote.asked && o.kept > 0 && o.kept < by
	})
}

// judgeLooks returns the promises that were broken by what was seen without a program.
func judgeLooks(looks []look, words []word, seen []sighting, calm time.Duration) (broken []string) {
	for _, l := range looks {
		round := 0
		for _, s := range seen {
			if s.room == l.room && s.at < l.asked {
				round = max(round, s.round)
			}
		}
		for _, o := range looks {
			if o.room == l.room && o.told < l.asked {
				round = max(round, o.of.Round)
			}
		}
		isOver := slices.ContainsFunc(words, func(o word) bool { return o.room == l.room && o.kind == "ended" && o.asked < l.told })
		var why []string
		switch {
		case l.status == http.StatusOK && !isOver && l.of.Held.IsZero(): // otherwise it says that another host may know better
			why = missed(l, words, round, seen)
		case l.status == http.StatusNotFound:
			why = []string{"is gone, of which somebody was told"}
		case l.status == http.StatusGone && !isOver:
			why = []string{"is over, which nobody has ended"}
		case l.status != http.StatusOK && !isOver && calm > 0 && l.asked > calm && l.told-l.asked > answerTime:
			why = []string{fmt.Sprintf("is not to be seen (%d) although all is whole", l.status)}
		}
		for _, what := range why {
			broken = append(broken, fmt.Sprintf("room %d, which host %d shows at %v, %s", l.room.n, l.host, l.asked, what))
		}
	}
	return broken
}

// away returns for how long at once a player was cut off between two times. Whose host says that everything
// waits may be with one that has lost the room, and is away where that is.
func away(seen []sighting, who string, from, to time.Duration) (longest time.Duration) {
	since := time.Duration(-1)
	end := func(at time.Duration) {
		if since >= 0 && min(at, to) > max(since, from) {
			longest = max(longest, min(at, to)-max(since, from))
		}
	}
	for _, s := range seen {
		switch {
		case s.who != who:
		case s.lost, s.waits, s.unheard, s.held: // at a host that holds its rooms nobody is in one
			if since < 0 {
				since = s.at
			}
		case s.joined, s.heard, s.left != "", s.phase != "":
			end(s.at)
			since = -1
		}
	}
	end(to)
	return longest
}

// deafen notes that hosts hear nothing of some players, who are away for the others then.
func (w *world) deafen(all []*group, is func(*gamer) bool) (undo func()) {
	var unheard []*gamer
	for _, g := range all {
		for _, p := range g.players {
			if is(p) {
				unheard = append(unheard, p)
				w.see(sighting{who: p.name, room: g, unheard: true})
			}
		}
	}
	return func() {
		for _, p := range unheard {
			w.mu.Lock()
			var newest sighting
			for _, s := range w.seen {
				if s.who == p.name {
					newest = s
				}
			}
			w.mu.Unlock()
			if newest.unheard { // otherwise the program is elsewhere by now
				w.see(sighting{who: p.name, room: p.room, heard: true})
			}
		}
	}
}

// newest returns what a player saw last: a state, or the end.
func (w *world) newest(who string) (last sighting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.seen {
		if s.who == who && (s.phase != "" || s.left != "") {
			last = s
		}
	}
	return last
}

// last returns what was last asked of a room.
func (w *world) last(g *group) (last word) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.words {
		if o.room == g && (o.kind == "limit" || o.kind == "go") {
			last = o
		}
	}
	return last
}

// host returns a host that there is, by a number.
func (w *world) host(n int) int {
	for w.isGone(n % hosts) {
		n++
	}
	return n % hosts
}

// hurry ends a vote.
func (w *world) hurry(g *group) {
	for _, p := range g.players {
		if w.newest(p.name).phase == wire.PhaseVoting {
			w.ask(w.host(g.n), g, g.secret, "POST", "/api/rooms/-/go", map[string]any{"stage": wire.Chosen}, nil)
			return
		}
	}
}

// speak votes, or says that somebody is ready.
func (w *world) speak(p *gamer, kind string, n int) {
	g, host := p.room, w.host(n)
	w.mu.Lock()
	page := p.page
	w.mu.Unlock()
	if kind == "ready" {
		status := w.ask(host, g, page, "POST", "/api/rooms/-/ready", map[string]any{"ready": true}, nil)
		w.tell(p.name, "is ready, by host %d: %d", host, status)
		return
	}
	l := w.look(host, g)
	if l.status != http.StatusOK || l.of.Phase.Name != wire.PhaseVoting || len(l.of.Ballot) == 0 {
		return
	}
	vote := word{room: g, kind: "vote", who: p.name, text: l.of.Ballot[n%len(l.of.Ballot)].Addr, round: l.of.Round}
	kept := w.begin(vote)
	status := w.ask(host, g, page, "POST", "/api/rooms/-/vote", map[string]any{"addr": vote.text}, nil)
	w.tell(p.name, "votes for %s, by host %d: %d", vote.text, host, status)
	if status == http.StatusNoContent {
		kept()
	}
}
