package selection

import "muster/discovery/hostport"

// A move to another server between two rounds has its price: it must gain at least 10 ms, and at
// least a third. Tailscale's netcheck keeps its relay by the same rule.
const (
	minGain  = 10_000 // microseconds
	minShare = 1.0 / 3
)

// Stay tells whether the group stays on the last round's server, and why.
type Stay struct {
	Addr hostport.AddrPort `json:"addr"`
	// Stays says that it is chosen again, though it may not be the first of the ranking.
	Stays bool `json:"stays"`
	// Gain is how much lower the best score is, in milliseconds.
	Gain float64 `json:"gain_ms"`
	// Culled is why it no longer suits everyone, if so. Unlisted says that it is not on the list
	// any more.
	Culled   *Cause `json:"culled,omitempty"`
	Unlisted bool   `json:"unlisted,omitempty"`
}

// stay decides whether the group stays on its server. It also returns the ranked candidate of this
// server.
func (r *round) stay() (*Stay, candidate) {
	if !r.criteria.Keep.IsValid() {
		return nil, candidate{}
	}
	s := &Stay{Addr: hostport.At(r.criteria.Keep)}
	server, listed := 0, false // if several have that address, the one that suits
	for place := range r.servers.List {
		if r.servers.List[place].Addr == s.Addr.AddrPort && (!listed || !r.suits(server)) {
			server, listed = place, true
		}
	}
	switch {
	case !listed:
		s.Unlisted = true
		return s, candidate{}
	case !r.suits(server):
		cause := r.fates[server]
		s.Culled = &cause
		return s, candidate{}
	}
	kept := r.candidate(server)
	gain := max(0, kept.score-r.best[0].score)
	s.Gain = millis(gain)
	s.Stays = gain < minGain || gain < kept.score*minShare
	if len(r.ours) > 0 && r.criteria.Allowed > 0 && r.isOurs(r.best[0].server) && !r.isOurs(server) {
		s.Stays = false // the group prefers its own server, whatever the milliseconds
	}
	return s, kept
}
