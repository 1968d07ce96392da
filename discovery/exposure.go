package discovery

import (
	"maps"
	"net/netip"
	"sync"

	"muster/discovery/sentence"
)

// Exposure counts the servers and places that see a player's address. Each server that
// is sent a question sees it, and so does each place where a server could be. Exposure
// also keeps the player's own bound, even if a host wants more.
//
//	plan ─ Next ─▶ Exposure ─▶ executor      servers within the bound
//	  ▲               │
//	  └── Forbidden ──┘                      all others: it says nothing about the server
type Exposure struct {
	// Max is how many servers and places may see the address, 0 for no bound.
	Max int

	mu sync.Mutex // guards the fields below
	// promised is the number of servers that the player was told, 0 for all. It counts
	// only if hasPromised.
	promised    int
	hasPromised bool
	asked       map[netip.AddrPort]int
	places      map[netip.AddrPort]bool // those of asked
}

// Exposed counts the servers and places that saw an address.
type Exposed struct {
	// Servers of Listed saw it, and Places where there is no server.
	Servers, Listed, Places int
	// Again is how many servers saw it more than once, and Times the most that one did.
	Again, Times int
}

// ExposureNotice tells the player how many of the listed servers will see the address, before any is
// asked. Most and discreet both bound them; 0 is no bound.
func ExposureNotice(most, discreet, listed int) sentence.Sentence {
	if discreet > 0 && (most == 0 || discreet < most) {
		most = discreet
	}
	if most == 0 || most >= listed {
		return sentence.Of("exposure.all-will", "n", listed)
	}
	return sentence.Of("exposure.some-will", "n", most, "all", listed)
}

// Sentence returns the counts for people.
func (e Exposed) Sentence() sentence.Sentence {
	if e.Servers == 0 {
		return sentence.Of("exposure.none", "places", e.Places)
	}
	times := sentence.Of("exposure.times", "n", e.Times)
	text := sentence.Of("exposure.servers", "n", e.Servers, "all", e.Listed)
	also := func(key string, pairs ...any) {
		text = sentence.Of("list.clauses", "first", text, "next", sentence.Of(key, pairs...))
	}
	switch {
	case e.Again == 1:
		also("exposure.one-again", "times", times)
	case e.Again > 1 && e.Again < e.Servers:
		also("exposure.some-again", "n", e.Again, "times", times)
	case e.Again > 1:
		text = sentence.Of("exposure.all-again", "n", e.Servers, "all", e.Listed, "times", times)
	}
	if e.Places > 0 {
		also("exposure.places", "n", e.Places)
	}
	return text
}

// Of returns how many of so many listed servers saw the address so far, and how many
// places did.
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

// Forget starts all counts at 0 again.
func (e *Exposure) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked, e.places, e.promised, e.hasPromised = nil, nil, 0, false
}

// Promise lets this many servers see the address and no more, 0 for no bound. It
// reports whether that is news for the player. A promise only grows, until
// [Exposure.Forget].
func (e *Exposure) Promise(most int) (isNews bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hasPromised && (e.promised == 0 || most > 0 && most <= e.promised) {
		return false
	}
	e.promised, e.hasPromised = most, true
	return true
}

// WithPlaces returns how many places will have seen the address after these too.
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

// shows counts a server or place that is about to see the address. It returns false if
// the bound forbids that.
func (e *Exposure) shows(to netip.AddrPort, isPlace bool) bool {
	if IsPlaceholder(to.Addr()) {
		return true // nobody is there
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked[to] == 0 && e.Max > 0 && len(e.asked) >= e.Max {
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

// Watch returns a plan over servers that counts the servers asked. Servers beyond the
// bound are reported as Forbidden to the plan and to seen. If seen is nil, the plan
// stops at the bound.
func (e *Exposure) Watch(plan Plan, servers []Server, seen func(Result)) Plan {
	return watched{plan, e, servers, seen, false}
}

// WatchPlaces is [Exposure.Watch] for places where a server could be. Places count
// towards the same bound, and separately in [Exposed].
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

// Woken makes watched a [Waker]. The channel is nil if the plan is none.
func (w watched) Woken() <-chan struct{} {
	if waker, is := w.Plan.(Waker); is {
		return waker.Woken()
	}
	return nil
}

// Asked makes watched a [SendObserver]. It does nothing if the plan is none.
func (w watched) Asked(server int) {
	if witness, is := w.Plan.(SendObserver); is {
		witness.Asked(server)
	}
}
