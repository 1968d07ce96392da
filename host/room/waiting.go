package room

import (
	"cmp"
	"errors"
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
	// watchedMost is how many full servers a room watches: a fourth is hardly ever the
	// first to have seats that people want.
	watchedMost = 3
	// insteadMost is how many servers are shown that have seats; they are asked every
	// insteadGap, as they are for comparison only.
	insteadMost = 2
	insteadGap  = time.Minute
	// usualWait is how long a room waits if nobody has said: a round of most games is over
	// by then, and people leave when one is.
	usualWait = 30 * time.Minute
	// checkAfter is from the word that there are seats to the next player's look: seats go
	// within seconds, and the strictest servers answer an address once a second.
	checkAfter = 2 * time.Second
	// lookTime is how long a look may take, answers of several packets and slow lines
	// included; then the next player looks.
	lookTime = 8 * time.Second
	// longestGap bounds how seldom a silent server is asked, and after mostSilent silences
	// in a row, some four minutes, it is watched no more.
	longestGap = 2 * time.Minute
	mostSilent = 6
	// mostMisses is how often a server may fill up in the last moment: each time everybody
	// was called to their machines. missRest is the rest after the first, and grows.
	mostMisses = 3
	missRest   = 30 * time.Second
	// mostDemerits is from how many words that others contradicted, or looks without an
	// answer, a player looks only if nobody else can: one may be chance.
	mostDemerits = 2
	// unsavedLooks is more than a host can have asked for since it last saved the room: no
	// program takes the next look for one of before.
	unsavedLooks = 1000
	// countedSeats bounds how many free seats are told apart in what was seen: as many as
	// the largest groups want.
	countedSeats = maxPlayers
)

// gapAfter is how long a server has peace after a look, by how long the room has waited:
// XQF asks every 5 s and for one player only, and people who have waited for a quarter of an
// hour do not miss the seats for 20 s more.
func gapAfter(waited time.Duration) time.Duration {
	const first, later, last = 10 * time.Second, 20 * time.Second, 30 * time.Second
	switch {
	case waited < 5*time.Minute:
		return first
	case waited < 15*time.Minute:
		return later
	}
	return last
}

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

// watched is a server that the room watches.
type watched struct {
	Server int `json:"server"`
	// Instead: it has seats, and is shown for comparison.
	Instead bool             `json:"instead,omitempty"`
	Ranked  selection.Ranked `json:"ranked"`
	// Asked counts the room's questions, Since those of the look under way and its checks.
	Asked int       `json:"asked,omitempty"`
	Since int       `json:"since,omitempty"`
	Next  time.Time `json:"next"`
	// Silent counts looks in a row that heard nothing of seats, Misses how often it filled
	// up in the last moment.
	Silent  int    `json:"silent,omitempty"`
	Misses  int    `json:"misses,omitempty"`
	Dropped string `json:"dropped,omitempty"`
	// Words are of the look under way and its checks.
	Words []seatWord `json:"words,omitempty"`
	// Free is what was true at At, -1 if that is not known; Counts are how often so many
	// seats were free, and Most the most of them, at MostAt.
	Free   int       `json:"free"`
	At     time.Time `json:"at,omitzero"`
	Counts []int     `json:"counts,omitempty"`
	MostAt time.Time `json:"most_at,omitzero"`
}

// seatWord is how many seats somebody heard to be free, -1 if nothing of it.
type seatWord struct {
	By   string `json:"by"`
	Free int    `json:"free"`
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

// verdict is what comes of words about a server's seats.
type verdict int

const (
	shut  verdict = iota // too few seats
	check                // another player has to look
	open                 // there are seats for all
)

// judge is the verdict over words of different players, the newest last, if so many could
// still be asked. Where several can look, two have to have seen the seats, and more than
// have not.
func judge(words []seatWord, need, others int) verdict {
	yes, no := 0, 0
	for _, w := range words {
		yes += count(w.Free >= need)
		no += count(w.Free >= 0 && w.Free < need)
	}
	wanted := min(2, len(words)+others)
	switch {
	case yes >= wanted && yes > no:
		return open
	case yes == 0, no > yes, others == 0:
		return shut
	}
	return check
}

// middle is the word in the middle, of two the one with fewer seats; -1 if nobody heard.
func middle(words []seatWord) int {
	var free []int
	for _, w := range words {
		if w.Free >= 0 {
			free = append(free, w.Free)
		}
	}
	if len(free) == 0 {
		return -1
	}
	slices.Sort(free)
	return free[(len(free)-1)/2]
}

// settles takes what words came to, and says when to look again.
func (s *watched) settles(now time.Time, gap time.Duration) {
	if s.Free = middle(s.Words); s.Free < 0 {
		s.Silent++
	} else {
		s.Silent, s.At = 0, now
		if s.Counts == nil {
			s.Counts = []int{}
		}
		free := min(s.Free, countedSeats)
		if free >= len(s.Counts) {
			s.Counts = append(s.Counts, make([]int, free+1-len(s.Counts))...)
			s.MostAt = now
		}
		s.Counts[free]++
	}
	if s.Silent > 0 {
		gap = min(gap<<min(s.Silent, mostSilent), longestGap)
	}
	s.Next = now.Add(gap * time.Duration(max(1, s.Since))) // a look that was checked twice counts as three
	s.Words, s.Since = nil, 0
	if s.Silent >= mostSilent {
		s.Dropped = "it does not answer any more"
	}
}

// most is the most seats that were free at once, and from and to what half of the looks saw.
func (s *watched) most() (most, from, to int) {
	total := 0
	for _, n := range s.Counts {
		total += n
	}
	seen := 0
	from = -1
	for free, n := range s.Counts {
		seen += n
		if from < 0 && 4*seen > total {
			from = free
		}
		if 4*(seen-n) < 3*total {
			to = free
		}
	}
	return max(0, len(s.Counts)-1), max(0, from), to
}

// need is how many seats have to be free at once.
func (w *Waiting) need(r *Room) int {
	if w.Back != nil {
		return len(w.For)
	}
	return r.seatsFor(r.round.chosenFor())
}

// seatsFor is how many seats a group needs that has begun its round, with all who come along.
func (r *Room) seatsFor(group []*player) int {
	s := r.settings
	s.Players = 0 // whoever was waited for at first is not any more
	return r.criteria(s, group).Seats
}

// AwaitSeats has the room wait until there are seats for everybody on a server or, without an
// address, on one of the best that are full. After a launch it is for those whose names are
// given, who are still outside.
type AwaitSeats struct {
	Addr  netip.AddrPort `json:"addr,omitzero"`
	Names []string       `json:"names,omitempty"`
}

// Unwait ends a wait for seats. Instead goes on with what has seats.
type Unwait struct {
	Instead bool `json:"instead,omitempty"`
}

func (AwaitSeats) steers() {}
func (Unwait) steers()     {}

var (
	errNothingFull = errors.New("there is no full server that would suit everyone")
	errNotWaiting  = errors.New("nobody waits for seats now")
	errNoInstead   = errors.New("no other server has seats for everyone, as far as is known")
)

func (a AwaitSeats) do(r *Room, _ caller) error {
	if launching, is := r.phase.(*Launching); is {
		return r.awaitFor(launching, a.Names)
	}
	if !r.mayDecideAgain() {
		return errNoAdvice
	}
	full := r.worthWaiting()
	if a.Addr.IsValid() {
		server := r.round.indexOf(a.Addr)
		full = slices.DeleteFunc(slices.Clone(r.ignoringSeats()), func(ranked selection.Ranked) bool { return ranked.Server != server })
	}
	if len(full) == 0 {
		return errNothingFull
	}
	r.awaitSeats(full)
	return nil
}

// awaitFor waits for seats for those who are left outside where the others are.
func (r *Room) awaitFor(l *Launching, given []string) error {
	w := &Waiting{Back: l}
	for _, name := range given {
		p := r.round.player(name)
		if p == nil {
			return fmt.Errorf("%s is not here", playerName(name))
		}
		if !slices.Contains(w.For, p.name) {
			w.For = append(w.For, p.name)
		}
		r.round.say(&p.person, func(b *ballot) { b.byHand = false })
	}
	if len(w.For) == 0 {
		return errors.New("say who is still outside")
	}
	ranked := selection.Ranked{Server: l.Server, Addr: r.round.servers.List[l.Server].Addr}
	for _, other := range r.round.selection.Ranking {
		if other.Server == l.Server {
			ranked = other
		}
	}
	w.Servers = []watched{{Server: l.Server, Ranked: ranked, Free: -1}}
	r.waits(w)
	return nil
}

// ignoringSeats are the servers that would suit everyone if all had seats, best first.
func (r *Room) ignoringSeats() []selection.Ranked {
	group := r.round.chosenFor()
	criteria := r.criteria(r.settings, group)
	criteria.Seats, criteria.Spare, criteria.Reasons = 0, 0, -1
	return selection.NewFilter(r.round.servers, criteria).Select(r.tableFor(group, r.counted())).Ranking
}

// worthWaiting are the best servers that are full, as long as they are better than the best
// that is not.
func (r *Room) worthWaiting() (full []selection.Ranked) {
	need := r.seatsFor(r.round.chosenFor())
	for _, ranked := range r.ignoringSeats() {
		info := r.round.servers.Info(ranked.Server)
		switch {
		case info == nil, info.Uncounted(), info.MaxPlayers < need:
		case info.Free() >= need:
			return full
		case len(full) < watchedMost:
			full = append(full, ranked)
		}
	}
	return full
}

// waitable is how many servers are worth a wait, and the best of them; it is reckoned once a
// choice, as all who look at the room are told.
type waitable struct {
	of      *selection.Selection
	servers []selection.Ranked
	need    int
}

// adviseWait says that the room can wait for seats.
func (r *Room) adviseWait(c *wire.Choice) {
	if !r.mayDecideAgain() {
		return
	}
	if r.round.waitable.of != r.round.selection {
		r.round.waitable = waitable{r.round.selection, r.worthWaiting(), r.seatsFor(r.round.chosenFor())}
	}
	full := r.round.waitable.servers
	if len(full) == 0 {
		return
	}
	addr, text := full[0].Addr.String(), "wait for "+seatsInWords(r.round.waitable.need)
	if info := r.round.servers.Info(full[0].Server); r.isVoting() && info != nil {
		text += " on " + cmp.Or(info.Name, addr)
	}
	c.Advice = append(c.Advice, wire.Advice{Text: text, Action: "await", Servers: len(full), Addr: addr})
	if _, known := c.Servers[addr]; !known {
		card := cardOf(r.round.servers, full[0].Server)
		r.fit(&card, full[0].Server)
		c.Servers[addr] = card
	}
}

func seatsInWords(n int) string {
	if n == 1 {
		return "a seat"
	}
	return fmt.Sprintf("%d seats", n)
}

// mayWait waits for seats if that is worth it, and reports whether it is.
func (r *Room) mayWait() bool {
	if r.round.selection == nil || len(r.round.chosenFor()) == 0 {
		return false
	}
	full := r.worthWaiting()
	if len(full) > 0 {
		r.awaitSeats(full)
	}
	return len(full) > 0
}

// awaitSeats waits for seats for all on one of some full servers, the best first.
func (r *Room) awaitSeats(full []selection.Ranked) {
	w := &Waiting{}
	for _, ranked := range full {
		w.Servers = append(w.Servers, watched{Server: ranked.Server, Ranked: ranked, Free: -1})
	}
	selected := r.selectFor(r.round.chosenFor())
	for _, ranked := range selected.Ranking {
		isWatched := slices.ContainsFunc(w.Servers, func(s watched) bool { return s.Server == ranked.Server })
		if !isWatched && len(w.Servers) < len(full)+insteadMost {
			w.Servers = append(w.Servers, watched{Server: ranked.Server, Ranked: ranked, Instead: true, Free: -1})
		}
	}
	r.waits(w)
}

// waits begins a wait.
func (r *Room) waits(w *Waiting) {
	w.Began, w.Until = r.now, r.now.Add(cmp.Or(time.Duration(r.settings.Wait), usualWait))
	for i := range w.Servers {
		s := &w.Servers[i]
		s.Next = r.now
		if info := r.round.servers.Info(s.Server); info != nil && !info.Uncounted() {
			s.Free = info.Free()
		}
	}
	r.round.whatIf = nil
	for name, b := range r.round.ballots {
		b.ready = false
		r.round.ballots[name] = b
	}
	r.enter(w)
	names := []string{}
	for _, s := range w.Servers {
		if !s.Instead {
			names = append(names, r.round.serverName(s.Server))
		}
	}
	whom := "everybody"
	if w.Back != nil {
		whom = strings.Join(w.For, ", ")
	}
	r.note("waiting for %s for %s on %s, for up to %s: one of you looks at a time, every %v at first", seatsInWords(w.need(r)), whom, strings.Join(names, ", or "), minutes(w.Until.Sub(w.Began)), gapAfter(0))
}

// proceed is the organiser, who does not wait.
func (w *Waiting) proceed(r *Room) {
	if (Unwait{Instead: true}).do(r, caller{}) != nil {
		w.giveUp(r, "The organiser does not wait any longer.")
	}
}

func (a Unwait) do(r *Room, _ caller) error {
	w, waiting := r.phase.(*Waiting)
	if failed, is := r.phase.(*Failed); is && failed.Waited != nil && a.Instead {
		w, waiting = failed.Waited, true
	}
	switch {
	case !waiting:
		return errNotWaiting
	case !a.Instead:
		w.giveUp(r, "The organiser does not wait any longer.")
		return nil
	case w.Back != nil:
		return errNoInstead
	}
	selected := r.selectFor(r.round.chosenFor())
	if selected.Chosen == nil {
		return errNoInstead
	}
	r.note("the organiser does not wait for seats: choosing from what has some")
	attempt := r.round.look.Attempt
	r.round.look = look{Attempt: attempt, Repeats: attempt} // what was seen of them is old
	r.failures = 0
	r.rechoose(selected)
	return nil
}

// tick lets time pass.
func (w *Waiting) tick(r *Room) {
	w.goOnWithout(r)
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
	for _, p := range w.group(r) {
		if !p.connected && !p.leftOut {
			next = earlier(next, p.heard.Add(goneAfter))
		}
	}
	switch {
	case w.Going != nil:
		return earlier(next, w.Going.LaunchAt)
	case w.Look != nil:
		return earlier(next, w.Look.At.Add(lookTime))
	}
	for i := range w.Servers {
		s := &w.Servers[i]
		if s.Dropped == "" && len(w.lookers(r, s)) > 0 {
			next = earlier(next, s.Next)
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
		w.For = slices.DeleteFunc(w.For, func(name string) bool { return r.round.player(name) == nil || r.round.ballots[name].byHand })
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
		return !spoke && p.anomaly == nil && p.contradicts == nil && !r.round.isOutOfReach(p, s.Server)
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
			if s.Dropped != "" || r.now.Before(s.Next) || checks != count(len(s.Words) > 0) {
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
	r.send(by, r.glance(slot{}))
}

// newLook gives the next look a number of its own: nobody takes the answer to another for it.
func (r *Room) newLook(servers []int) {
	l := &r.round.look
	l.Attempt++
	l.Repeats++
	l.Servers, l.Samples, l.Waiting, l.Silent, l.Doubted, l.Long = servers, 0, nil, nil, nil, false
}

// glance is a look by a single packet.
func (r *Room) glance(s slot) wire.Finalists {
	l := &r.round.look
	return wire.Finalists{Round: r.round.number, Game: r.settings.Game, Attempt: l.Attempt, Servers: l.Servers, Samples: 1, After: discovery.Millis(s.after)}
}

// catchUp tells a player who comes what is asked of them.
func (w *Waiting) catchUp(r *Room, p *player) {
	w.comesBack(r, p)
	r.send(p, r.round.listFor(p)) // without it a program neither looks nor believes us
	if w.Going != nil && !p.leftOut || w.Look != nil && w.Look.By == p.name {
		r.send(p, r.glance(slot{}))
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

// seatsSeen is how many seats a look found free, -1 if it heard nothing of them.
func seatsSeen(seen wire.Finalist) int {
	if seen.State != discovery.Answered || seen.Info == nil || seen.Info.Uncounted() {
		return -1
	}
	return seen.Info.Free()
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
		s.settles(r.now, insteadGap)
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
	s.settles(r.now, gapAfter(r.now.Sub(w.Began)))
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
	s.settles(r.now, gapAfter(r.now.Sub(w.Began)))
	w.Going, w.Look = &going{Server: s.Server, LaunchAt: r.now.Add(countdownTime)}, nil
	w.News = ""
	name := r.round.serverName(s.Server)
	r.note("%s free on %s, as %s: everyone goes in %v", areFree(max(need, s.Free)), name, strings.TrimSuffix(sentenceOf(seers, "saw"), "."), countdownTime)
	r.announce(wire.Announcement{Kind: wire.AnnouncedSeats, Server: r.round.announced(s.Server), Seats: max(need, s.Free)})
	r.newLook([]int{s.Server})
	r.do(Publish{})
	for _, p := range r.round.present() {
		s.Asked++
		r.send(p, r.glance(r.round.scheduleOf(p, 0)))
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

// misses notes that the server filled up in the last moment.
func (s *watched) misses(now time.Time) {
	s.Misses++
	s.Next = now.Add(time.Duration(s.Misses) * missRest)
	if s.Misses >= mostMisses {
		s.Dropped = fmt.Sprintf("it filled up in the last moment %d times", s.Misses)
	}
}

// relaunch sends those who were left outside where the others are.
func (w *Waiting) relaunch(r *Room) {
	l := w.Back
	r.enter(l)
	r.note("there is room now for %s: off to %s", strings.Join(w.For, ", "), l.Launch.Name)
	r.do(Publish{})
	for _, p := range w.group(r) {
		p.launch, p.detail, p.again = "", "", r.now
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
			on.Next = s.Next
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
		s.Words, s.Since = nil, 0
		s.Next = r.now.Add(gapAfter(0))
	}
}

// isWhole reports whether a saved wait is one of the room's servers.
func (w *Waiting) isWhole(r *Room) bool {
	if r.round.selection == nil || w.Back != nil && (w.Back.Server < 0 || w.Back.Server >= len(r.round.servers.List) || r.round.selection.Chosen == nil) {
		return false
	}
	isListed := func(server int) bool { return server >= 0 && server < len(r.round.servers.List) }
	for i := range w.Servers {
		s := &w.Servers[i]
		s.Ranked.Server = s.Server
		if !isListed(s.Server) || len(s.Counts) > countedSeats+1 {
			return false
		}
	}
	return w.Going == nil || slices.ContainsFunc(w.Servers, func(s watched) bool { return s.Server == w.Going.Server })
}
