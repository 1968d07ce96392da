package discovery

import (
	"maps"
	"slices"
	"sync"
)

// Agenda is a plan that also takes requests. The coordinator of a group asks for
// servers that could be the group's best, and they go before the player's own plan. The
// agenda probes a server twice only if [Agenda.AskAgain] wants it. The own plan learns the
// results of requests as if it had named those servers itself.
//
//	Ask ─▶ requests ─┐
//	                 ├─▶ Next ─▶ executor ─▶ Observe ─▶ own plan, where it asked
//	     own plan ───┘
//
// Ask may be called at any time, from any goroutine. Requests that arrive after a run
// has ended are for the next run.
type Agenda struct {
	woken chan struct{}

	mu       sync.Mutex // guards the fields below
	own      Plan
	requests []int
	// waits is the set of servers in requests, so that each is queued once.
	waits map[int]bool
	// known holds the results so far. A server under way has an empty result.
	known map[int]Result
	// If held, the agenda's own plan may name only as many servers as allowed.
	held    bool
	allowed int
	// unseen reports whether the agenda's own plan was allowed servers since it was last asked.
	unseen bool
	// owed holds the servers under way that the agenda's own plan has named meanwhile.
	owed map[int]Phase
}

// NewAgenda returns the agenda of a player with a plan of its own and the results that
// the player knows already.
func NewAgenda(own Plan, known []Result) *Agenda {
	a := &Agenda{woken: make(chan struct{}, 1), own: own, waits: make(map[int]bool), known: make(map[int]Result), owed: make(map[int]Phase)}
	for _, result := range known {
		a.known[result.Server] = result
	}
	return a
}

// Ask requests servers, in this order. It skips servers that are known or under way.
func (a *Agenda) Ask(servers []int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, server := range servers {
		if !a.waits[server] {
			a.waits[server] = true
			a.requests = append(a.requests, server)
		}
	}
	select {
	case a.woken <- struct{}{}:
	default: // the executor is about to look anyway
	}
}

// AskAgain requests servers once more, because their results say nothing. Call it between
// two runs: none may name a server twice.
func (a *Agenda) AskAgain(servers []int) {
	a.mu.Lock()
	for _, server := range servers {
		delete(a.known, server)
	}
	a.mu.Unlock()
	a.Ask(servers)
}

// Drop forgets the requests that are not under way yet.
func (a *Agenda) Drop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = nil
	clear(a.waits)
}

// Hold makes the agenda's own plan wait until [Agenda.Allow] lets it name servers. It takes back
// what was allowed before.
func (a *Agenda) Hold() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held, a.allowed, a.unseen = true, 0, false
}

// Allow lets a held plan name this many more servers. Call Ask afterwards, with or
// without a request: it wakes the executor.
func (a *Agenda) Allow(servers int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.allowed += servers
	a.unseen = a.unseen || servers > 0
}

// Woken makes the agenda a [Waker].
func (a *Agenda) Woken() <-chan struct{} { return a.woken }

// Pending reports whether there is something to probe: a request, or servers that the plan may name
// and does not know yet.
func (a *Agenda) Pending() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.unseen || slices.ContainsFunc(a.requests, func(server int) bool { _, asked := a.known[server]; return !asked })
}

// Next names the next request, or else what the agenda's own plan names.
func (a *Agenda) Next() (Probe, Verdict) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.requests) > 0 {
		server := a.requests[0]
		a.requests = a.requests[1:]
		delete(a.waits, server)
		if _, asked := a.known[server]; !asked {
			a.known[server] = Result{}
			return Probe{Server: server, Phase: Refining}, Go
		}
	}
	a.unseen = false
	for {
		if a.held && a.allowed == 0 {
			return Probe{}, Stop
		}
		probe, verdict := a.own.Next()
		if verdict != Go {
			return probe, verdict
		}
		result, asked := a.known[probe.Server]
		switch {
		case !asked:
			a.known[probe.Server] = Result{}
			a.owed[probe.Server] = probe.Phase
			a.allowed--
			return probe, Go
		case result.State == Unprobed:
			a.owed[probe.Server] = probe.Phase // under way as a request
		default:
			result.Phase = probe.Phase
			a.own.Observe(result)
		}
	}
}

// Observe notes a result, and passes it on if the agenda's own plan waits for it.
func (a *Agenda) Observe(result Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[result.Server] = result
	if phase, owed := a.owed[result.Server]; owed {
		delete(a.owed, result.Server)
		result.Phase = phase
		a.own.Observe(result)
	}
}

// Resume forgets what was under way when a run was cut short. The servers that the own
// plan waits for are asked again first. Call it between two runs.
func (a *Agenda) Resume() {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.known, func(_ int, r Result) bool { return r.State == Unprobed })
	a.requests = append(slices.Sorted(maps.Keys(a.owed)), a.requests...)
}

// Summary returns the agenda's own plan's summary.
func (a *Agenda) Summary() PlanSummary {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.own.Summary()
}
