package selection

import "net/netip"

// A move to another server between two rounds has its price: it must gain at least
// 10 ms, and at least a third. So tailscale's netcheck keeps its relay.
const (
	leastGain  = 10_000 // microseconds
	leastShare = 1.0 / 3
)

// Stay is what became of the server of the last round.
type Stay struct {
	Addr netip.AddrPort `json:"addr"`
	// Stays: it is chosen again, though perhaps not the first of the ranking.
	Stays bool `json:"stays"`
	// Gain is how much lower the best score is, in milliseconds.
	Gain float64 `json:"gain_ms"`
	// Culled is why it no longer suits everyone, if it does not; Unlisted that
	// it is not on the list any more.
	Culled   *Cause `json:"culled,omitempty"`
	Unlisted bool   `json:"unlisted,omitempty"`
}

// stay says whether the group stays where it is, and then as what the server
// is ranked.
func (r *round) stay() (*Stay, candidate) {
	if !r.criteria.Keep.IsValid() {
		return nil, candidate{}
	}
	s := &Stay{Addr: r.criteria.Keep}
	server, listed := 0, false // of several with that address the one that suits
	for place := range r.servers.List {
		if r.servers.List[place].Addr == s.Addr && (!listed || !r.suits(server)) {
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
	kept := candidate{server, r.score(server)}
	gain := max(0, kept.score-r.best[0].score)
	s.Gain = millis(gain)
	s.Stays = gain < leastGain || gain < kept.score*leastShare
	if len(r.ours) > 0 && r.criteria.Allowed > 0 && r.isOurs(r.best[0].server) && !r.isOurs(server) {
		s.Stays = false // they would rather be at home, whatever the milliseconds
	}
	return s, kept
}
