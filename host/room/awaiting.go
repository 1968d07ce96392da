package room

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/host/room/ballot"
	"muster/host/room/nickname"
	"muster/host/wire"
	"muster/selection"
)

// How a wait for seats begins, for which servers, and how the organiser ends it.

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
)

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
			return fmt.Errorf("%s is not here", nickname.Clean(name))
		}
		if !slices.Contains(w.For, p.name) {
			w.For = append(w.For, p.name)
		}
		r.round.ballot.Withdraw(p.name, ballot.ByHand)
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
	r.round.ballot.Withdraw("", ballot.Ready)
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

// seatsFor is how many seats a group needs that has begun its round, with all who come along.
func (r *Room) seatsFor(group []*player) int {
	s := r.settings
	s.Players = 0 // whoever was waited for at first is not any more
	return r.criteria(s, group).Seats
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
