package room

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// isSearchedShort reports whether the choice comes from the search of a short list.
func (r *round) isSearchedShort() bool {
	return r.search != nil && r.search.IsShort() && !r.look.Long
}

// wanted returns the servers of a look that a player has to ask. After the search of a
// short list that is not those of which the player's samples agree already: the fewer
// players ask another time, the sooner all have.
func (r *round) wanted(p *player) (servers []int) {
	l := &r.look
	if l.Attempt <= 1 || !r.isSearchedShort() {
		return l.Servers
	}
	for _, server := range l.Servers {
		if look, looked := p.witness.Looked(server); !looked || look.State != discovery.Answered || disagree(look.RTTs) {
			servers = append(servers, server)
		}
	}
	return servers
}

// lookers are those who have anything to ask in this look.
func (r *round) lookers() (players []*player) {
	for _, p := range r.active() {
		if len(r.wanted(p)) > 0 {
			players = append(players, p)
		}
	}
	return players
}

// sampled returns all that a player sampled of a finalist after a short search, with what
// was seen now.
func (p *player) sampled(seen wire.Finalist) []float64 {
	look, _ := p.witness.Looked(seen.Server)
	rtts := look.RTTs
	if before := p.witness.At(seen.Server); len(rtts) == 0 && before.State == discovery.Answered {
		rtts = []float64{rttMS(before.RTT)}
	}
	return append(slices.Clip(rtts), seen.RTTs...)
}

// enoughSamples show whether a way jitters, or one packet met a full queue.
const enoughSamples = 3

// qualityOfFew returns what few samples show of a way: its jitter, if no two of the lowest
// agree. One packet that met a full queue says nothing of the next.
func qualityOfFew(rtts []float64) (q selection.Quality) {
	if len(rtts) < enoughSamples {
		return q
	}
	sorted := slices.Sorted(slices.Values(rtts))
	if sorted[1]-sorted[0] > rttMS(doubtfulShort) {
		q.Jitter = time.Duration(jitterOf(rtts) * float64(time.Millisecond))
	}
	return q
}

// isDoubtful reports whether what a player saw of a finalist needs another look.
func (r *round) isDoubtful(p *player, seen wire.Finalist) bool {
	if !r.isSearchedShort() {
		return isDoubtful(seen, p.witness.At(seen.Server))
	}
	return disagree(p.sampled(seen))
}

// disagree reports whether two samples differ so much that a third has to tell which of
// them met a full queue.
func disagree(rtts []float64) bool {
	return len(rtts) == enoughSamples-1 && slices.Max(rtts)-slices.Min(rtts) > rttMS(doubtfulShort)
}
