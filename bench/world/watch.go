package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"muster/host/wire"
)

// look is what somebody outside saw of a room who asked a host.
type look struct {
	asked, told time.Duration
	room        *group
	host        int
	status      int
	of          wire.Document
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
}

// These bound what people wait for in a whole world. A host that ends tells its people within 5 seconds to
// come back; one that is lost is missed when its lease of 3 seconds is over, and a connection to it is
// given up as soon as anything is sent.
const (
	answerTime = time.Second
	drainTime  = 6 * time.Second
	lossTime   = 12 * time.Second
	roundTime  = time.Minute
	toldTime   = 5 * time.Second // from then on a host knows that a game has started
	leftTime   = 8 * time.Second // from then on somebody who is cut off has left the others' vote
	calmTime   = 12 * time.Second
	lookTime   = 1700 * time.Millisecond
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
			for n := range 4 {
				time.Sleep(time.Duration(50+200*n) * time.Millisecond)
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
			hasLeft := slices.ContainsFunc(l.room.players, func(p *gamer) bool { return away(seen, p.name, o.kept-leftTime, l.told) >= leftTime })
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
	} else if limit < newest {
		fail("has the limit %v, and had %s, as its organiser was told", l.of.MaxRTTMs, words[newest].text)
	}
	if l.of.Round < round {
		fail("is in round %d, and was in round %d", l.of.Round, round)
	}
	return all
}

func isOnBallot(of wire.Document, addr string) bool {
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

// away returns for how long at once a player was cut off between two times.
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
		case s.lost, s.waits, s.held: // at a host that holds its rooms nobody is in one
			if since < 0 {
				since = s.at
			}
		case s.joined, s.left != "", s.phase != "":
			end(s.at)
			since = -1
		}
	}
	end(to)
	return longest
}

// isThen says that an op is for the time after the faults, when all is whole.
func (o op) isThen() bool { return slices.Contains(lastKinds, o.kind) }

// lastKinds are what is done to a world that is whole again.
var lastKinds = []string{"then-drain", "then-lose", "then-go", "then-twin", "then-quit", "then-remove", "then-leave", "then-end"}

// doLast does them, in a world that has been whole for a while, and returns what they break.
func (w *world) doLast(ops []op, all []*group) (broken []string) {
	fail := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	time.Sleep(calmTime)
	w.calm = time.Since(w.began)
	// Whoever comes to a room at whose host nobody has called since it was lost finds it at once.
	visit := func(away int) {
		for n, g := range w.quiet {
			for i := range hosts {
				host := (n + 1 + i) % hosts
				if w.isGone(host) || host == away {
					continue
				}
				if l := w.look(host, g); l.status != http.StatusOK || l.told-l.asked > answerTime {
					fail("room %d, where nobody was, is shown by host %d after %v: %d", g.n, host, l.told-l.asked, l.status)
				}
			}
		}
	}
	during := func(o op, most time.Duration, do func()) {
		from := time.Since(w.began)
		w.tell("night", "%v", o)
		do()
		w.spans = append(w.spans, span{from, time.Since(w.began), most, o.kind})
	}
	during(op{kind: "limit"}, 0, func() {
		visit(-1)
		for _, g := range all {
			began := time.Since(w.began)
			w.order(g, "limit", w.host(g.n))
			if last := w.last(g); last.kept == 0 || last.kept-began > answerTime {
				fail("room %d does not get the limit %s", g.n, last.text)
			}
		}
		time.Sleep(2 * answerTime)
		for _, g := range all {
			for _, p := range g.players {
				if s := w.newest(p.name); s.limit != w.last(g).text {
					fail("%s sees room %d with the limit %s, and not %s", p.name, g.n, s.limit, w.last(g).text)
				}
			}
			for i := range hosts {
				if w.isGone(i) {
					continue
				}
				for _, m := range w.look(i, g).of.Members {
					if !m.Connected || m.Launch != wire.LaunchStarted {
						fail("%s is in room %d, and host %d shows it as %v, %q", m.Name, g.n, i, m.Connected, m.Launch)
					}
				}
			}
		}
	})
	for _, o := range ops {
		g := all[o.a/players%len(all)]
		p := g.players[o.a%players]
		if p.isOut.Load() {
			continue
		}
		switch o.kind {
		case "then-drain", "then-lose":
			if w.isGone(o.a) || len(w.gone) > 1 {
				continue
			}
			isDrain, most := o.kind == "then-drain", lossTime
			if isDrain {
				most = drainTime
			}
			during(o, most, func() {
				if !isDrain {
					w.mu.Lock()
					w.gone = append(w.gone, o.a)
					w.mu.Unlock()
				}
				h := w.hosts[o.a]
				h.stop(!isDrain)
				time.Sleep(most)
				if isDrain {
					<-h.ended
					visit(o.a)
					w.hosts[o.a] = w.start(o.a)
				}
				time.Sleep(lossTime)
				visit(-1)
			})
		case "then-remove", "then-leave":
			during(o, 0, func() {
				as, path, kind, body := g.secret, "remove", "removed", map[string]any{"name": p.name}
				if o.kind == "then-leave" {
					w.mu.Lock()
					as, path, kind, body = p.page, "leave", "left", nil
					w.mu.Unlock()
				}
				p.isOut.Store(true)
				kept := w.begin(word{room: g, kind: kind, who: p.name})
				if status := w.ask(w.host(o.a), g, as, "POST", "/api/rooms/-/"+path, body, nil); status != http.StatusNoContent {
					fail("%s cannot be %s: %d", p.name, kind, status)
				}
				kept()
				time.Sleep(2 * answerTime)
				if w.newest(p.name).left == "" {
					fail("%s goes on, who was %s", p.name, kind)
				}
				for i := range hosts {
					if !w.isGone(i) {
						w.look(i, g)
					}
				}
			})
		case "then-twin": // somebody of the same name, who has no token of that player
			during(o, 0, func() {
				twin := w.gamer(g, o.a, 1)
				twin.name, twin.ip, twin.called = p.name+" again", "203.0.113.99", p.name
				twin.isOut.Store(true)
				twin.play()
				time.Sleep(2 * answerTime)
				twin.stop()
				<-twin.ended
			})
		case "then-quit":
			during(o, 3*answerTime, func() {
				p.stop()
				<-p.ended
				time.Sleep(2 * answerTime)
				for _, m := range w.look(w.host(o.a), g).of.Members {
					if m.Name == p.name && m.Connected {
						fail("%s is shown as there, whose program has ended", p.name)
					}
				}
				p.play()
				time.Sleep(answerTime)
			})
		case "then-go":
			during(o, 0, func() {
				w.order(g, "go", w.host(o.a))
				if w.last(g).kept == 0 {
					fail("room %d does not go on", g.n)
				}
				for began, first := time.Now(), true; first || time.Since(began) < roundTime && len(w.waiting([]*group{g})) > 0; first = false {
					time.Sleep(answerTime)
					w.hurry(g)
				}
				for _, who := range w.waiting([]*group{g}) {
					fail("a round takes longer than a minute: %s", who)
				}
			})
		case "then-end":
			during(o, 0, func() {
				kept := w.begin(word{room: g, kind: "ended"})
				for _, p := range g.players {
					p.isOut.Store(true)
				}
				if status := w.ask(w.host(o.a), g, g.secret, "POST", "/api/rooms/-/end", nil, nil); status != http.StatusNoContent {
					fail("room %d does not end: %d", g.n, status)
				}
				kept()
				time.Sleep(lossTime)
				for _, p := range g.players {
					if w.newest(p.name).left == "" {
						fail("%s goes on in room %d, which is over", p.name, g.n)
					}
				}
				for i := range hosts {
					if !w.isGone(i) && w.look(i, g).status != http.StatusGone {
						fail("host %d does not say that room %d is over", i, g.n)
					}
				}
			})
		}
	}
	return broken
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
