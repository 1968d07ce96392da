package selection

import (
	"time"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/selection/rules"
)

// Preference compares the best of the group's own servers with the best other, among those that
// suit everyone.
type Preference struct {
	// AllowedMS is how much higher the score of one of the group's own may be.
	AllowedMS float64 `json:"allowed_ms"`
	// Ours is the best of the group's own. Other is the best of the others, the zero value if there
	// is none.
	Ours  hostport.AddrPort `json:"ours"`
	Other hostport.AddrPort `json:"other,omitzero"`
	// MoreMS is how much higher the score of Ours is than that of Other. Below 0 it is lower.
	MoreMS float64 `json:"more_ms"`
}

// Allowance returns how much higher a server's score may be than another's because the server
// belongs to the group.
func (f *Filter) Allowance(server int) time.Duration {
	if f.isOurs(server) {
		return f.criteria.Allowed
	}
	return 0
}

func (f *Filter) isOurs(server int) bool {
	return len(f.ours) > 0 && f.ours[f.servers.List[server].Addr]
}

// rankOfOwner puts the group's own servers, 0, before others, 1, where all else is equal.
func (f *Filter) rankOfOwner(server int) int {
	if f.isOurs(server) {
		return 0
	}
	return 1
}

// comparePreference compares the best of the group's own servers with the best of the others. It returns nil
// if the group has no server of its own.
func (r *round) comparePreference(ours, other *candidate) *Preference {
	if ours == nil {
		return nil
	}
	p := &Preference{AllowedMS: millis(float64(r.criteria.Allowed.Microseconds())), Ours: hostport.At(r.servers.List[ours.server].Addr)}
	if other != nil {
		p.Other, p.MoreMS = hostport.At(r.servers.List[other.server].Addr), millis(ours.score-other.score)
	}
	return p
}

// preferred returns the sentence on the group's preference for its own servers.
func (s Selection) preferred() []sentence.Sentence {
	p, d := s.Preference, s.decision()
	switch {
	case p == nil || s.Chosen == nil || !p.Other.IsValid() || d.By == ByVote || d.By == ByKeeping:
		return nil
	case d.By == ByOurs:
		return one("why.ours-more", "ms", rules.Exact(p.MoreMS), "server", p.Other, "allowed", rules.Exact(p.AllowedMS))
	case s.Chosen.Ours && p.MoreMS < 0:
		return one("why.ours-less", "ms", rules.Exact(-p.MoreMS))
	case s.Chosen.Ours:
		return one("why.ours-best")
	case p.MoreMS <= p.AllowedMS:
		return nil // a seat to spare decided
	}
	return one("why.ours-beaten", "ms", rules.Exact(p.MoreMS), "server", p.Ours, "allowed", rules.Exact(p.AllowedMS))
}
