package room

import (
	"slices"

	"muster/discovery"
	"muster/host/room/evidence"
	"muster/selection"
)

// said notes what a player heard a server say, an empty name for the host.
func (r *Room) said(by string, server int, info discovery.Info) {
	r.round.inform(server, r.round.hearsay.Hear(by, server, info, r.now.Sub(r.round.measuring)))
}

// inform tells the search of what may be new of a server.
func (r *round) inform(server int, isNews bool) {
	if isNews && r.search != nil {
		r.search.Inform(server)
	}
}

// attend weighs all words anew if others count than before, or the room wants
// something else of a server. What players said who have left meanwhile still counts.
func (r *Room) attend() {
	s, active := &r.settings, r.round.active()
	voices := make([]evidence.Voice, len(r.round.players))
	for i, p := range r.round.players {
		voices[i] = evidence.Voice{
			Name: p.name, Witness: &p.witness, Counts: r.round.trust.IsHeeded(p.name),
			Alone: len(active) == 1 && p == active[0],
		}
	}
	wanted := evidence.Wanted{Map: s.Map, Mode: s.Mode, Version: s.Version, Mod: s.Mod, Tags: s.Tags}
	for _, server := range r.round.hearsay.Attend(voices, wanted) {
		r.round.inform(server, true)
	}
}

// discredit names players who contradict most others about servers.
func (r *Room) discredit() {
	r.attend()
	found := r.round.hearsay.Contradictions(r.round.looks.Seen())
	r.noteAll(r.round.trust.Discredit(found, names(r.round.active()), names(r.round.players)))
	r.attend()
}

// mostLone is how many servers that a lone word culls are looked at along with the
// finalists: who hides more of them is named by then.
const mostLone = 3

// culledByLone are the best servers that would be in a ranking if those did not count
// that one of several players alone said, best first.
func (r *Room) culledByLone(selected *selection.Selection) []int {
	var lone []int
	if len(r.round.servers.Lone) == 0 {
		return nil
	}
	group := r.round.active()
	criteria := r.criteria(r.settings, group)
	criteria.Top, criteria.Reasons, criteria.Charitable = finalists, -1, true
	for _, ranked := range selection.NewFilter(r.round.servers, criteria).Select(r.round.table(group)).Ranking {
		isRanked := slices.ContainsFunc(selected.Ranking, func(other selection.Ranked) bool { return other.Server == ranked.Server })
		if r.round.servers.Lone[ranked.Server] && !isRanked && !slices.Contains(r.round.looks.Seen(), ranked.Server) && len(lone) < mostLone {
			lone = append(lone, ranked.Server)
		}
	}
	return lone
}
