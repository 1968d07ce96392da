package finals

import (
	"maps"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/wire"
)

// Heard is the result of a player's answer.
type Heard struct {
	// Seen are the answer's results, in its order of servers.
	Seen []Seen
	// IsElsewhere says that the results of the others behind the player's address do not apply to
	// the player. Note tells people so.
	IsElsewhere bool
	Note        sentence.Sentence
	// Counts says that the look expected this player's answer. IsLast says that no other answer is
	// missing.
	Counts, IsLast bool
}

// Seen is a player's result for a server. Look is nil if the result does not count, or not yet.
type Seen struct {
	Server int
	Info   *discovery.Info
	Look   *Look
}

// Hear takes a player's answer. It ignores an answer to another look. Such a look has another number.
// If a host that has lost the room began it, it may have the same number and other servers.
func (l *Looks) Hear(player people.ID, v wire.Verified, f Facts) (h Heard) {
	isOther := func(seen wire.Finalist) bool { return !slices.Contains(l.state.Servers, seen.Server) }
	p := f.looker(player)
	if p == nil || v.Attempt != l.state.Attempt || slices.ContainsFunc(v.Servers, isOther) {
		return Heard{}
	}
	if h.IsElsewhere = isElsewhere(*p, v.Servers); h.IsElsewhere {
		h.Note = sentence.Of("room.elsewhere", "player", player)
	}
	if h.Counts = l.expects(player); !h.Counts {
		return h
	}
	known := maps.Clone(p.Known) // an answer may name a server twice
	for _, seen := range v.Servers {
		if v.More && seen.Sent <= forgivenLosses {
			continue // this decides nothing yet
		}
		k, s := known[seen.Server], Seen{Server: seen.Server, Info: seen.Info}
		if s.Look = l.see(player, seen, k); s.Look != nil {
			k.Look = s.Look
			known[seen.Server] = k
		}
		h.Seen = append(h.Seen, s)
	}
	if h.IsLast = !(v.More && l.state.IsLong); h.IsLast {
		l.StopAwaiting(player)
	}
	return h
}

// see takes a player's result for a server, and returns the part that counts.
func (l *Looks) see(player people.ID, seen wire.Finalist, k Known) *Look {
	if l.state.Samples == firstSamples && l.isDoubtful(seen, k) && !slices.Contains(l.state.Doubted, seen.Server) {
		l.state.Doubted = append(l.state.Doubted, seen.Server)
	}
	if l.state.IsQuickCheck && k.now().State == discovery.Answered {
		return nil // a single packet says less of the path than earlier measurements
	}
	if l.note(player, seen); l.isMiss(seen) {
		return nil
	}
	return l.merge(seen, k)
}

// merge returns the part of a player's result that counts, or nil. The lowest sample is the path's
// RTT. Without any sample the server is lost.
func (l *Looks) merge(seen wire.Finalist, k Known) *Look {
	if !seen.State.Asked() || seen.State == discovery.Answered && len(seen.RTTs) == 0 || k.IsHidden {
		return nil
	}
	before := k.now()
	look := Look{Result: discovery.Result{Server: seen.Server, State: seen.State}}
	switch {
	case l.state.IsShort:
		look.RTTs = k.sampled(seen)
		look.Quality = qualityOfFew(look.RTTs)
	case l.state.IsLong:
		look.Quality = qualityOfMany(seen)
	default:
		look.Quality = qualityOf(seen, before)
	}
	if seen.State == discovery.Answered {
		look.RTT = wire.RoundRTT(time.Duration(slices.Min(seen.RTTs) * float64(time.Millisecond)))
		if before.State == discovery.Answered {
			look.RTT = min(look.RTT, before.RTT)
		}
	}
	return &look
}
