package room

import (
	"muster/discovery"
	"muster/host/room/evidence"
	"muster/host/room/trust"
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

// culledByLone are the best servers that are not ranked for what one player alone said of them.
func (r *Room) culledByLone() []int {
	if len(r.round.servers.Lone) == 0 {
		return nil
	}
	return trust.CulledByLone(r.basis(r.round.active()), r.round.choice.Newest().Ranking, finalists, r.round.looks.Seen())
}
