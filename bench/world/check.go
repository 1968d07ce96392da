package main

import (
	"fmt"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// sighting is what somebody outside saw of a room.
type sighting struct {
	at    time.Duration
	who   string
	room  *group
	round int
	// sent is the address to which a player was sent, by one of the programs that the player has run.
	sent string
	life int
	// Of the newest state: the phase, the limit of pings, whether it says that everything waits, the choice.
	phase  wire.PhaseName
	limit  string
	held   bool
	choice *wire.Choice
	// joined, lost and waits say what became of the connection. left is why a program ended by itself, and
	// isOut says that it may.
	joined, lost, waits, isOut bool
	left                       string
	// unheard and heard say that the player's host no longer hears of the program, and that it does again.
	unheard, heard bool
}

func (w *world) see(s sighting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.at = time.Since(w.began)
	var last *sighting // of a state
	if s.phase != "" {
		for i := len(w.seen) - 1; i >= 0 && last == nil; i-- {
			if o := &w.seen[i]; o.who == s.who && o.phase != "" {
				last = o
			}
		}
		if last != nil && last.phase == s.phase && last.round == s.round && last.limit == s.limit && last.held == s.held && (s.choice == nil) == (last.choice == nil) {
			last.choice = s.choice // only what changes is kept
			return
		}
	}
	isNew := s.phase == "" || last == nil || last.phase != s.phase || last.round != s.round || last.limit != s.limit
	w.seen = append(w.seen, s)
	what := ""
	switch {
	case s.sent != "":
		what = fmt.Sprintf("is sent to %s in round %d", s.sent, s.round)
	case s.phase != "" && isNew: // whether a state comes just before the connection's end is a matter of luck
		what = fmt.Sprintf("sees %s, round %d, limit %s", s.phase, s.round, s.limit)
	case s.left != "":
		what = "is out: " + s.left
	default:
		return
	}
	w.trace = append(w.trace, line{s.at, s.who, what})
}

// waiting returns who is not yet where a session leads to.
func (w *world) waiting(all []*group) (who []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range all {
		round, launched, phase := 0, map[string]int{}, map[string]wire.PhaseName{}
		for _, s := range w.seen {
			if s.room != g {
				continue
			}
			if round = max(round, s.round); s.sent != "" {
				launched[s.who] = s.round
			}
			if s.phase != "" {
				phase[s.who] = s.phase
			}
		}
		for _, p := range g.players {
			if p.isOut.Load() {
				continue
			}
			if launched[p.name] != round || phase[p.name] != wire.PhaseLaunching {
				who = append(who, fmt.Sprintf("%s of room %d, sent in round %d of %d, sees %q", p.name, g.n, launched[p.name], round, phase[p.name]))
			}
		}
	}
	return who
}

// check returns the promises that were broken, as SECURITY.md and docs/serve.md give them.
func (w *world) check(all []*group, ops []op) (broken []string) {
	fail := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	for _, who := range w.waiting(all) {
		fail("somebody waits for ever: %s", who)
	}
	broken = append(broken, w.judge(ops)...)
	w.mu.Lock()
	broken = append(broken, w.rivals...)
	broken = append(broken, judgeLooks(w.looks, w.words, w.seen, w.calm)...)
	for _, s := range w.spans {
		for _, g := range all {
			for _, p := range g.players {
				if d := away(w.seen, p.name, s.from, s.to); d > s.most && p.name != s.but && !p.isOut.Load() {
					fail("%s is cut off for %v during %s", p.name, d, s.what)
				}
			}
		}
	}
	w.mu.Unlock()
	slices.Sort(broken)
	return slices.Compact(broken)
}

// judge returns the promises that were broken by what people saw.
func (w *world) judge(ops []op) (broken []string) {
	fail := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	w.mu.Lock()
	seen := slices.Clone(w.seen)
	w.mu.Unlock()
	type match struct {
		room  *group
		round int
	}
	type launch struct {
		who   string
		round int
	}
	sent, launched, newest, limits := map[match]string{}, map[launch]sighting{}, map[string]int{}, map[string]int{}
	chosen := map[string]sighting{}
	for _, s := range seen {
		if s.round > 0 {
			if s.round < newest[s.who] {
				fail("%s goes back from round %d to round %d", s.who, newest[s.who], s.round)
			}
			newest[s.who] = s.round
		}
		if s.phase != "" {
			at := slices.IndexFunc(w.words, func(o word) bool { return o.room == s.room && o.kind == "limit" && o.text == s.limit })
			if at < 0 || at < limits[s.who] && w.words[at].kept > 0 { // what nobody has answered may come late
				fail("%s sees room %d with the limit %s after a later one", s.who, s.room.n, s.limit)
			}
			limits[s.who] = at
			if s.choice != nil {
				chosen[s.who] = s
			}
		}
		before, isAgain := launched[launch{s.who, s.round}]
		// The next program is sent, too, if the host cannot know of the last one.
		isAgain = isAgain && (before.life == s.life || s.at-before.at > toldTime && away(seen, s.who, before.at, before.at+toldTime) == 0 &&
			!slices.ContainsFunc(ops, func(o op) bool { // a disk that takes nothing
				return (o.kind == "disk-full" || o.kind == "disk-fails") && o.at < before.at+toldTime && o.at+o.lasts > before.at
			}))
		switch m := (match{s.room, s.round}); {
		case s.left != "" && !s.isOut:
			fail("%s is out of the room: %s", s.who, s.left)
		case s.sent == "":
		case isAgain:
			fail("%s is sent twice in round %d", s.who, s.round)
		case !w.isListed(s.sent):
			fail("%s is sent to %s, which is in no list", s.who, s.sent)
		case chosen[s.who].round == s.round && chosen[s.who].choice.Target != s.sent:
			fail("%s is sent to %s, and the choice was %s", s.who, s.sent, chosen[s.who].choice.Target)
		case sent[m] != "" && sent[m] != s.sent:
			fail("round %d of room %d has two addresses: %s and %s", s.round, s.room.n, sent[m], s.sent)
		default:
			sent[m], launched[launch{s.who, s.round}] = s.sent, s
		}
		if s.choice != nil {
			if why := w.misjudged(s.choice, s.room); why != "" {
				fail("room %d, round %d, as %s sees it: %s", s.room.n, s.round, s.who, why)
			}
		}
	}
	for _, o := range ops {
		for n := range rooms * players {
			who := fmt.Sprintf("p%02d", n)
			if (o.kind == "outage" || o.kind == "alone" && o.a == n) && !isTold(seen, who, o.at, o.at+time.Minute) {
				fail("%s is not told of the %s within a minute", who, o.kind)
			}
		}
	}
	return broken
}

func (w *world) isListed(addr string) bool {
	return slices.ContainsFunc(w.servers, func(s discovery.Server) bool { return s.Addr.String() == addr })
}

// isTold reports whether a player knew at some time between two others that nothing goes on.
func isTold(seen []sighting, who string, from, to time.Duration) (told bool) {
	is := false
	for _, s := range seen {
		if s.who != who || s.at > to {
			continue
		}
		switch {
		case s.phase != "":
			is = s.held
		case s.lost, s.waits:
			is = true
		}
		if s.at >= from {
			told = told || is
		}
	}
	return told || is
}
