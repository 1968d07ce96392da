package discovery

import (
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"sync"
)

// Exposure counts to whom a player's address is shown while servers are asked: each
// server that is sent a question sees it, and so does each place where a server could be.
// It holds the player's own bound on that, too, whoever wants more asked.
//
//	plan ─ Next ─▶ Exposure ─▶ executor      whom the bound still lets be asked
//	  ▲               │
//	  └── Forbidden ──┘                      everybody else: which is no word on the server
type Exposure struct {
	// Most is how many servers and places may see the address, 0 for as many as are asked.
	Most int

	mu sync.Mutex // guards following
	// promised is how many servers the player was told of, 0 for all, once hasPromised.
	promised    int
	hasPromised bool
	asked       map[netip.AddrPort]int
	places      map[netip.AddrPort]bool // of those
}

// Exposed is to whom an address was shown.
type Exposed struct {
	// Servers saw it, of Listed, and so did Places where none is.
	Servers, Listed, Places int
	// Again of the servers saw it more than once, and the most of them Times.
	Again, Times int
}

// Before says whom a player's address will be shown to, before anybody is asked: to so
// many of the listed servers at most, or fewer if the player wants that; 0 is no bound.
func Before(most, discreet, listed int) string {
	if discreet > 0 && (most == 0 || discreet < most) {
		most = discreet
	}
	if most == 0 || most >= listed {
		return fmt.Sprintf("all %s servers of the list may see your address", grouped(listed))
	}
	return fmt.Sprintf("up to %s of %s servers will see your address", grouped(most), grouped(listed))
}

// BeforePlaces says how many places where a server could be will see a player's address,
// before any of them is asked, or fewer if the player wants that; 0 is no bound.
func BeforePlaces(places, discreet int) string {
	if discreet > 0 {
		places = min(places, discreet)
	}
	if places == 1 {
		return "1 place where a server could be will see your address, too"
	}
	return fmt.Sprintf("up to %s places where a server could be will see your address, too", grouped(places))
}

// String says it in a sentence.
func (e Exposed) String() string {
	places := ""
	switch {
	case e.Places == 1:
		places = "; so did 1 place where a server could be"
	case e.Places > 1:
		places = fmt.Sprintf("; so did %d places where a server could be", e.Places)
	}
	if e.Servers == 0 {
		return "no server saw your address" + strings.Replace(places, "; so did", ", but", 1)
	}
	verb := "servers saw"
	if e.Servers == 1 && e.Listed == 1 {
		verb = "server saw"
	}
	text := fmt.Sprintf("%s of %s %s your address", grouped(e.Servers), grouped(e.Listed), verb)
	switch {
	case e.Again == 1:
		text += "; one of them " + timesInWords(e.Times)
	case e.Again > 1 && e.Again < e.Servers:
		text += fmt.Sprintf("; the final %d up to %s", e.Again, timesInWords(e.Times))
	case e.Again > 1:
		text += ", up to " + timesInWords(e.Times)
	}
	return text + places
}

func timesInWords(n int) string {
	words := []string{2: "twice", 3: "three times", 4: "four times", 5: "five times", 6: "six times"}
	if n < len(words) && n > 1 {
		return words[n]
	}
	return fmt.Sprintf("%d times", n)
}

// grouped is a number as people read long ones: 30,000.
func grouped(n int) string {
	digits := fmt.Sprint(n)
	const group = 3
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%group == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Of is who of so many listed servers saw the address so far, and how many places did.
func (e *Exposure) Of(listed int) Exposed {
	e.mu.Lock()
	defer e.mu.Unlock()
	servers := len(e.asked) - len(e.places)
	exposed := Exposed{Servers: servers, Listed: max(listed, servers), Places: len(e.places)}
	for addr, times := range e.asked {
		if times > 1 && !e.places[addr] {
			exposed.Again++
			exposed.Times = max(exposed.Times, times)
		}
	}
	return exposed
}

// Forget begins to count anew.
func (e *Exposure) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked, e.places, e.promised, e.hasPromised = nil, nil, 0, false
}

// Promise lets so many servers see the address and no more, 0 for as many as are asked. It
// reports whether that is news for the player. A promise only grows, until [Exposure.Forget].
func (e *Exposure) Promise(most int) (isNews bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hasPromised && (e.promised == 0 || most > 0 && most <= e.promised) {
		return false
	}
	e.promised, e.hasPromised = most, true
	return true
}

// WithPlaces returns how many places will have seen the address once these have.
func (e *Exposure) WithPlaces(places []netip.AddrPort) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := maps.Clone(e.places)
	if all == nil {
		all = map[netip.AddrPort]bool{}
	}
	for _, place := range places {
		all[place] = true
	}
	return len(all)
}

// shows notes that a server is about to see the address, or a place, if the bound lets it.
func (e *Exposure) shows(to netip.AddrPort, isPlace bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked[to] == 0 && e.Most > 0 && len(e.asked) >= e.Most {
		return false
	}
	isNew := !isPlace && (e.asked[to] == 0 || e.places[to])
	if isNew && e.promised > 0 && len(e.asked)-len(e.places) >= e.promised {
		return false
	}
	if e.asked == nil {
		e.asked, e.places = map[netip.AddrPort]int{}, map[netip.AddrPort]bool{}
	}
	switch {
	case !isPlace:
		delete(e.places, to)
	case e.asked[to] == 0:
		e.places[to] = true
	}
	e.asked[to]++
	return true
}

// Watch is a plan over servers that counts whom it has asked. Whom the bound does not let
// be asked the plan is told to be forbidden, and so is whoever sees the results; if that
// is nil the plan is stopped there.
func (e *Exposure) Watch(plan Plan, servers []Server, seen func(Result)) Plan {
	return watched{plan, e, servers, seen, false}
}

// WatchPlaces is Watch for places where a server could be: they count like servers, and are
// told apart.
func (e *Exposure) WatchPlaces(plan Plan, places []Server, seen func(Result)) Plan {
	return watched{plan, e, places, seen, true}
}

type watched struct {
	Plan
	exposure *Exposure
	servers  []Server
	seen     func(Result)
	isPlaces bool
}

func (w watched) Next() (Probe, Verdict) {
	for {
		probe, verdict := w.Plan.Next()
		if verdict != Go || w.exposure.shows(w.servers[probe.Server].Addr, w.isPlaces) {
			return probe, verdict
		}
		if w.seen == nil {
			return Probe{}, Stop
		}
		result := Result{Server: probe.Server, Phase: probe.Phase, State: Forbidden}
		w.Plan.Observe(result)
		w.seen(result)
	}
}

// Woken makes it a [Waker] if the plan is one; of others the channel never says anything.
func (w watched) Woken() <-chan struct{} {
	if waker, is := w.Plan.(Waker); is {
		return waker.Woken()
	}
	return nil
}

// Asked makes it a [Witness] if the plan is one.
func (w watched) Asked(server int) {
	if witness, is := w.Plan.(Witness); is {
		witness.Asked(server)
	}
}
