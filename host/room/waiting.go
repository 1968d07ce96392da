package room

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// A room whose best servers are full can wait for a seat for everybody. One player's
// program asks at a time, in turn:
//
//	ann  ·────────── 10 s ──────────·──── … ──·
//	ben            10 s later ──────·         │ "seats for all"
//	cat                                       └ 2 s ─▶ "yes" ─▶ everyone looks once, and goes
//
// So the servers are asked as often by ten players as by one, and one player's word sends
// nobody anywhere.
const (
	// checkAfter is from the word that there are seats to the next player's look: seats go
	// within seconds, and the strictest servers answer an address once a second.
	checkAfter = 2 * time.Second
	// lookTime is how long a look may take, answers of several packets and slow lines
	// included; then the next player looks.
	lookTime = 8 * time.Second
	// mostDemerits is from how many words that others contradicted, or looks without an
	// answer, a player looks only if nobody else can: one may be chance.
	mostDemerits = 2
	// unsavedLooks is more than a host can have asked for since it last saved the room: no
	// program takes the next look for one of before.
	unsavedLooks = 1000
)

// Waiting watches a few full servers until one has seats for all.
type Waiting struct {
	Began time.Time `json:"began"`
	Until time.Time `json:"until"`
	// Back is the launch after which those of For were left outside, nil if all wait.
	Back    *Launching `json:"back,omitempty"`
	For     []string   `json:"for,omitempty"`
	Servers []watched  `json:"servers"`
	// Turn counts looks, so that all take turns.
	Turn int      `json:"turn"`
	Look *lookout `json:"look,omitempty"`
	// Demerits are by player; see mostDemerits.
	Demerits map[string]int `json:"demerits,omitempty"`
	Going    *going         `json:"going,omitempty"`
	News     string         `json:"news,omitempty"`
	// Over and Chance are those of [wire.Seats].
	Over   string `json:"over,omitempty"`
	Chance string `json:"chance,omitempty"`
}

// lookout is a look under way.
type lookout struct {
	By      string    `json:"by"`
	Servers []int     `json:"servers"`
	At      time.Time `json:"at"`
}

// going is the moment before everyone is sent to a server that has seats.
type going struct {
	Server   int        `json:"server"`
	LaunchAt time.Time  `json:"launch_at"`
	Words    []seatWord `json:"words,omitempty"`
}

func (*Waiting) stage() wire.Stage { return wire.Waiting }

// need is how many seats have to be free at once.
func (w *Waiting) need(r *Room) int {
	if w.Back != nil {
		return len(w.For)
	}
	return r.seatsFor(r.round.chosenFor())
}

// Watches are the servers that the room asks for seats, time and again; none if nobody is
// there to ask.
func (r *Room) Watches() (servers []netip.AddrPort) {
	w, waits := r.phase.(*Waiting)
	if !waits {
		return nil
	}
	for i := range w.Servers {
		if s := &w.Servers[i]; w.watches(r, s) {
			servers = append(servers, r.round.servers.List[s.Server].Addr)
		}
	}
	return servers
}

// watches reports whether the room will look at a server again, or decide on what it saw.
func (w *Waiting) watches(r *Room, s *watched) bool {
	return s.Dropped == "" && (len(s.Words) > 0 || len(w.lookers(r, s)) > 0)
}

// crowds takes in which rooms watch each server.
func (w *Waiting) crowds(r *Room, rooms map[netip.AddrPort]Crowd) {
	for i := range w.Servers {
		w.Servers[i].crowd = rooms[r.round.servers.List[w.Servers[i].Server].Addr]
	}
}

// proceed is the organiser, who does not wait.
func (w *Waiting) proceed(r *Room) {
	if (Unwait{Instead: true}).do(r, caller{}) != nil {
		w.giveUp(r, "The organiser does not wait any longer.")
	}
}

// tick lets time pass.
func (w *Waiting) tick(r *Room) {
	if w.goOnWithout(r); r.phase != w {
		return
	}
	switch {
	case w.Until.Sub(r.now) > wire.MostWait: // the clock was set back
		w.Until = r.now.Add(wire.MostWait)
	case w.Going != nil && (!r.now.Before(w.Going.LaunchAt) || w.Going.LaunchAt.Sub(r.now) > countdownTime):
		w.goThere(r)
	case w.Going != nil:
	case !r.now.Before(w.Until):
		w.giveUp(r, fmt.Sprintf("There were never %s at once in %s.", seatsInWords(w.need(r)), minutes(w.Until.Sub(w.Began))))
	case w.Look != nil && (r.now.Sub(w.Look.At) >= lookTime || r.now.Before(w.Look.At)):
		w.blame(w.Look.By)
		w.takes(r, nil)
	case w.Look == nil:
		w.looks(r)
	}
}

// next is when tick has something to do.
func (w *Waiting) next(r *Room) time.Time {
	next := w.Until
	group := w.group(r)
	isHere := func(p *player) bool { return p.connected }
	if w.Back == nil && slices.ContainsFunc(group, isHere) { // else nobody goes on without anybody
		for _, p := range group {
			if !p.connected && !p.leftOut {
				next = earlier(next, p.heard.Add(goneAfter))
			}
		}
	}
	switch {
	case w.Going != nil:
		return earlier(next, w.Going.LaunchAt)
	case slices.ContainsFunc(w.For, r.round.isInside):
		return r.now
	case w.Look != nil:
		return earlier(next, w.Look.At.Add(lookTime))
	}
	for i := range w.Servers {
		s := &w.Servers[i]
		if w.watches(r, s) {
			next = earlier(next, s.due())
		}
	}
	return next
}

// group are those for whom the room waits.
func (w *Waiting) group(r *Room) []*player {
	if w.Back == nil {
		return r.round.chosenFor()
	}
	return filtered(r.round.players, func(p *player) bool { return slices.Contains(w.For, p.name) })
}

// goOnWithout has nobody keep a seat for who has been away for long, or is in by now.
func (w *Waiting) goOnWithout(r *Room) {
	if w.Going != nil {
		return
	}
	if w.Back != nil {
		w.For = slices.DeleteFunc(w.For, r.round.isInside)
		if len(w.For) == 0 {
			r.note("nobody is left outside: the wait for seats is over")
			r.enter(w.Back)
		}
		return
	}
	group := w.group(r)
	away := filtered(group, func(p *player) bool { return !p.connected && r.now.Sub(p.heard) >= goneAfter })
	if len(away) == 0 || len(away) == len(group) {
		return // nobody is there to go on
	}
	for _, p := range away {
		p.leftOut = true
	}
	r.note("%s Now %s would do.", sentenceOf(names(away), "left"), seatsInWords(w.need(r)))
}

// isInside reports whether nobody need wait for a seat for somebody any more.
func (r *round) isInside(name string) bool {
	return r.player(name) == nil || r.ballot.Paper(name).ByHand
}

// comesBack has somebody's seat be waited for again.
func (w *Waiting) comesBack(r *Room, p *player) {
	if p.leftOut && p.anomaly == nil && slices.Contains(r.round.selection.Players, p.name) {
		p.leftOut = false
	}
}

// lookers are those who can look at a server and have not had their word on its seats yet.
func (w *Waiting) lookers(r *Room, s *watched) []*player {
	can := filtered(r.round.present(), func(p *player) bool {
		spoke := slices.ContainsFunc(s.Words, func(word seatWord) bool { return word.By == p.name })
		return !spoke && p.anomaly == nil && p.contradicts == nil && !r.round.isOutOfReach(p, s.Server) && p.witness.CanShow(s.Server)
	})
	if good := filtered(can, func(p *player) bool { return w.Demerits[p.name] < mostDemerits }); len(good) > 0 {
		return good
	}
	return can
}

// blame notes that a player's look was of no use.
func (w *Waiting) blame(name string) {
	if w.Demerits == nil {
		w.Demerits = map[string]int{}
	}
	w.Demerits[name]++
}

// looks has the next player look at what is due: a server whose seats are to be checked
// alone, as not everybody may do that.
func (w *Waiting) looks(r *Room) {
	var by *player
	var servers []int
	for checks := 1; checks >= 0 && by == nil; checks-- {
		for i := range w.Servers {
			s := &w.Servers[i]
			if s.Next.Sub(r.now) > longestGap*watchedMost { // the clock was set back
				s.Next = r.now
			}
			if s.Dropped != "" || r.now.Before(s.due()) || checks != count(len(s.Words) > 0) {
				continue
			}
			can := w.lookers(r, s)
			switch {
			case len(can) == 0 && checks > 0: // who could have checked has left
				w.decides(r, s)
				return
			case len(can) == 0:
				continue
			case by == nil:
				by = can[w.Turn%len(can)]
			case checks > 0 || !slices.Contains(can, by):
				continue
			}
			servers = append(servers, s.Server)
			if len(s.Words) == 0 {
				s.looked = r.now
			}
			s.Asked++
			s.Since++
		}
	}
	if by == nil {
		return
	}
	w.Turn++
	w.Look = &lookout{By: by.name, Servers: servers, At: r.now}
	r.newLook(servers)
	r.glances(by, slot{})
}

// newLook gives the next look a number of its own: nobody takes the answer to another for it.
func (r *Room) newLook(servers []int) {
	l := &r.round.look
	l.Attempt++
	l.Repeats++
	l.begin(servers)
}

// glances asks a player for a look by a single packet.
func (r *Room) glances(p *player, s slot) {
	l, most := &r.round.look, r.promise(p)
	if servers := p.witness.Show(l.Servers); len(servers) > 0 {
		r.send(p, wire.Finalists{Round: r.round.number, Game: r.settings.Game, Attempt: l.Attempt, Servers: servers, Most: most, Samples: 1, After: discovery.Millis(s.after)})
	}
}

// catchUp tells a player who comes what is asked of them.
func (w *Waiting) catchUp(r *Room, p *player) {
	w.comesBack(r, p)
	r.send(p, r.round.listFor(p)) // without it a program neither looks nor believes us
	if w.Going != nil && !p.leftOut || w.Look != nil && w.Look.By == p.name {
		r.glances(p, slot{})
	}
}

// isAsked reports whether a player was asked for the look under way.
func (w *Waiting) isAsked(p *player) bool {
	return w.Going != nil || w.Look != nil && w.Look.By == p.name
}

// heard takes what a player saw.
func (w *Waiting) heard(r *Room, p *player, v wire.Verified) {
	if w.Going == nil {
		w.takes(r, v.Servers)
		return
	}
	for _, seen := range v.Servers {
		spoke := slices.ContainsFunc(w.Going.Words, func(word seatWord) bool { return word.By == p.name })
		if seen.Server == w.Going.Server && !spoke {
			w.Going.Words = append(w.Going.Words, seatWord{p.name, seatsSeen(seen)})
		}
	}
}

// takes ends the look under way with what it saw of each server, which may be nothing.
func (w *Waiting) takes(r *Room, seen []wire.Finalist) {
	look := *w.Look
	w.Look = nil
	for i := range w.Servers {
		s := &w.Servers[i]
		if !slices.Contains(look.Servers, s.Server) {
			continue
		}
		word := seatWord{look.By, -1}
		if at := slices.IndexFunc(seen, func(f wire.Finalist) bool { return f.Server == s.Server }); at >= 0 {
			word.Free = seatsSeen(seen[at])
		}
		s.Words = append(s.Words, word)
		if w.decides(r, s); w.Going != nil {
			return
		}
	}
}

// decides draws the conclusion from what was heard of a server.
func (w *Waiting) decides(r *Room, s *watched) {
	if s.Instead {
		s.settles(r.now, max(insteadGap, s.crowdRound()))
		return
	}
	need := w.need(r)
	switch judge(s.Words, need, len(w.lookers(r, s))) {
	case check:
		s.Next = r.now.Add(checkAfter)
		return
	case open:
		w.opens(r, s, need)
		return
	}
	said := slices.Clone(s.Words)
	s.settles(r.now, s.gap(r.now.Sub(w.Began)))
	if len(said) == 1 {
		return
	}
	for _, word := range said {
		if word.Free >= need {
			w.blame(word.By)
			w.News = fmt.Sprintf("%s heard of %s on %s, and others did not: nobody is sent there by one player's word.", word.By, seatsInWords(word.Free), r.round.serverName(s.Server))
		}
	}
}

// opens counts down, and has everyone look once more.
func (w *Waiting) opens(r *Room, s *watched, need int) {
	r.binds = true
	var seers []string
	for _, word := range s.Words {
		if word.Free >= need {
			seers = append(seers, word.By)
		} else if word.Free >= 0 {
			w.blame(word.By)
		}
	}
	s.settles(r.now, s.gap(r.now.Sub(w.Began)))
	w.Going, w.Look = &going{Server: s.Server, LaunchAt: r.now.Add(countdownTime)}, nil
	w.News = ""
	name := r.round.serverName(s.Server)
	r.note("%s free on %s, as %s: everyone goes in %v", areFree(max(need, s.Free)), name, strings.TrimSuffix(sentenceOf(seers, "saw"), "."), countdownTime)
	r.announce(wire.Announcement{Kind: wire.AnnouncedSeats, Server: r.round.announced(s.Server), Seats: max(need, s.Free)})
	r.newLook([]int{s.Server})
	r.do(Publish{})
	for _, p := range r.round.present() {
		s.Asked++
		r.glances(p, r.round.scheduleOf(p, r.round.active(), 0))
	}
}

// minutes is a time as people say it.
func minutes(d time.Duration) string {
	if n := int(d.Round(time.Minute).Minutes()); n != 1 {
		return fmt.Sprintf("%d minutes", n)
	}
	return "a minute"
}

func areFree(n int) string {
	if n == 1 {
		return "a seat is"
	}
	return fmt.Sprintf("%d seats are", n)
}

// goThere sends everyone to the server, if the last look says that the seats are still there.
func (w *Waiting) goThere(r *Room) {
	at := slices.IndexFunc(w.Servers, func(s watched) bool { return s.Server == w.Going.Server })
	s, words, need := &w.Servers[at], w.Going.Words, w.need(r)
	r.round.concede()
	w.Going = nil
	r.binds = true
	name := r.round.serverName(s.Server)
	yes, no := 0, 0
	for _, word := range words {
		yes += count(word.Free >= need)
		no += count(word.Free >= 0 && word.Free < need)
	}
	if yes == 0 || no > yes {
		free := middle(words)
		what := fmt.Sprintf("filled up again in the last moment: %d of %s free", max(0, free), seatsInWords(need))
		if free < 0 {
			what = "did not answer when everyone looked"
		}
		s.misses(r.now)
		w.News = fmt.Sprintf("%s %s.", name, what)
		r.note("%s %s; waiting on", name, what)
		w.giveUpIfAlone(r)
		return
	}
	if w.Back != nil {
		w.relaunch(r)
		return
	}
	// Only those words count on its seats that are new.
	r.round.hearing.words[s.Server] = slices.DeleteFunc(r.round.hearing.words[s.Server], func(heard word) bool {
		return !slices.ContainsFunc(words, func(word seatWord) bool { return word.Free >= 0 && heard.by != nil && word.By == heard.by.name })
	})
	r.round.weigh(s.Server)
	group := w.group(r)
	criteria := r.record(group, r.counted()).criteria
	criteria.Seats, criteria.Top = need, len(r.round.servers.List)
	selected := selection.Select(r.round.servers, r.round.record.table, criteria)
	r.confess(&selected, r.counted())
	place := slices.IndexFunc(selected.Ranking, func(ranked selection.Ranked) bool { return ranked.Server == s.Server })
	if place < 0 {
		r.round.record = nil
		s.Dropped = "it suits you no more"
		if cause := r.against(s.Server, group); cause != nil {
			s.Dropped = fmt.Sprintf("it turned out to be %s", *cause)
		}
		r.note("%s has seats, but %s", name, s.Dropped)
		w.giveUpIfAlone(r)
		return
	}
	ranked := selected.Ranking[place]
	if selected.Ranking = selected.Ranking[:min(rankingLength, len(selected.Ranking))]; place >= rankingLength {
		selected.Ranking[rankingLength-1] = ranked
	}
	r.round.record.found = true
	r.round.selection = &selected
	r.launch(s.Server)
}

// relaunch sends those who were left outside where the others are.
func (w *Waiting) relaunch(r *Room) {
	l := w.Back
	r.enter(l)
	r.note("there is room now for %s: off to %s", strings.Join(w.For, ", "), l.Launch.Name)
	r.do(Publish{})
	for _, p := range w.group(r) {
		p.launch, p.detail = "", ""
		p.opensAgain(r.now)
		r.send(p, l.launchFor(r, p))
	}
}

// giveUpIfAlone gives up once no server is left to be watched.
func (w *Waiting) giveUpIfAlone(r *Room) {
	if !slices.ContainsFunc(w.Servers, func(s watched) bool { return !s.Instead && s.Dropped == "" }) {
		w.giveUp(r, "No server is left that is worth the wait.")
	}
}

// giveUp ends the wait, and says what was seen meanwhile.
func (w *Waiting) giveUp(r *Room, why string) {
	w.Look, w.Going, w.Over, w.Chance = nil, nil, why, w.chance(r)
	text := strings.TrimSuffix(strings.TrimSpace(why+" "+w.Chance), ".")
	if w.Back != nil {
		r.enter(w.Back)
		r.note("%s", text)
		return
	}
	r.fail(false, "%s", text)
	r.phase.(*Failed).Waited = w
}

// chance is what was seen of the server that came nearest, in a sentence.
func (w *Waiting) chance(r *Room) string {
	var best *watched
	for i := range w.Servers {
		s := &w.Servers[i]
		if !s.Instead && len(s.Counts) > 0 && (best == nil || len(s.Counts) > len(best.Counts)) {
			best = s
		}
	}
	if best == nil {
		return ""
	}
	most, from, to := best.most()
	usual := fmt.Sprintf("mostly %d to %d", from, to)
	if from == to {
		usual = fmt.Sprintf("mostly %d", from)
	}
	return fmt.Sprintf("%s had at most %d free, %s.", r.round.serverName(best.Server), most, usual)
}

// waiting is the wait that goes on, or that the room has just given up; nil without one.
func (r *Room) waiting() *Waiting {
	switch phase := r.phase.(type) {
	case *Waiting:
		return phase
	case *Failed:
		return phase.Waited
	}
	return nil
}

// view is what everyone sees of it.
func (w *Waiting) view(r *Room) *wire.Seats {
	v := &wire.Seats{Need: w.need(r), For: slices.Clone(w.For), Began: w.Began, Until: w.Until, Servers: []wire.SeatsOn{}, News: w.News, Over: w.Over, Chance: w.Chance}
	if w.Look != nil {
		v.By = w.Look.By
	}
	for i := range w.Servers {
		s := &w.Servers[i]
		on := wire.SeatsOn{
			Addr: s.Ranked.Addr.String(), ServerCard: cardOf(r.round.servers, s.Server), MeanMS: s.Ranked.MeanMS, MaxMS: s.Ranked.MaxMS, RTT: s.Ranked.RTT,
			Free: s.Free, At: s.At, Checks: len(s.Words) > 0, Asked: s.Asked, MostAt: s.MostAt, Dropped: s.Dropped,
		}
		r.fit(&on.ServerCard, s.Server)
		on.Most, on.From, on.To = s.most()
		if s.Dropped == "" && w.Over == "" {
			on.Next = s.due()
		}
		if w.Going != nil && w.Going.Server == s.Server {
			v.Target, v.LaunchAt = on.Addr, w.Going.LaunchAt
		}
		if s.Instead {
			v.Instead = append(v.Instead, on)
		} else {
			v.Servers = append(v.Servers, on)
		}
	}
	return v
}

// stands moves all from which the wait reckons: a time has not counted.
func (w *Waiting) stands(d time.Duration) {
	w.Until = w.Until.Add(d)
	for i := range w.Servers {
		w.Servers[i].Next = w.Servers[i].Next.Add(d)
	}
	if w.Look != nil {
		w.Look.At = w.Look.At.Add(d)
	}
	if w.Going != nil {
		w.Going.LaunchAt = w.Going.LaunchAt.Add(d)
	}
}

// resumes goes on after the host was away: whoever looked has lost the connection.
func (w *Waiting) resumes(r *Room) {
	w.Look, w.Going = nil, nil
	r.round.look.Attempt += unsavedLooks
	r.round.look.Repeats += unsavedLooks
	for i := range w.Servers {
		s := &w.Servers[i]
		s.Words, s.Since, s.took = nil, 0, 0
		s.Next = r.now.Add(gapAfter(0))
	}
}

// isWhole reports whether a saved wait is one of the room's servers.
func (w *Waiting) isWhole(r *Room) bool {
	if r.round.selection == nil || w.Back != nil && (w.Back.Server < 0 || w.Back.Server >= len(r.round.servers.List) || r.round.selection.Chosen == nil) {
		return false
	}
	if w.Turn < 0 {
		return false
	}
	isListed := func(server int) bool { return server >= 0 && server < len(r.round.servers.List) }
	for i := range w.Servers {
		s := &w.Servers[i]
		s.Ranked.Server = s.Server
		if !isListed(s.Server) || len(s.Counts) > countedSeats+1 || s.Since < 0 || s.Silent < 0 || s.Misses < 0 {
			return false
		}
	}
	return w.Going == nil || slices.ContainsFunc(w.Servers, func(s watched) bool { return s.Server == w.Going.Server })
}
