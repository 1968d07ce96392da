package finals

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// Heard is what comes of a player's answer.
type Heard struct {
	// Seen is what the answer says of each server, in its order.
	Seen []Seen
	// IsElsewhere: the measurements of the others behind the player's address say nothing about
	// the player. Note says so.
	IsElsewhere bool
	Note        string
	// Counts: the look expected this player's answer. IsLast: nobody else is waited for.
	Counts, IsLast bool
}

// Seen is what a player saw of a server. Look is nil if that does not count, or not yet.
type Seen struct {
	Server int
	Info   *discovery.Info
	Look   *Look
}

// Hear takes what a player saw. An answer to another look is ignored. The error says that it
// makes no sense; nothing of it was taken then.
func (l *Looks) Hear(player string, v wire.Verified, f Facts) (h Heard, err error) {
	p := f.looker(player)
	if p == nil || v.Attempt != l.attempt {
		return Heard{}, nil
	}
	for _, seen := range v.Servers {
		if !slices.Contains(l.servers, seen.Server) {
			return Heard{}, fmt.Errorf("a look at server %d, which is no finalist", seen.Server)
		}
	}
	if h.IsElsewhere = isElsewhere(*p, v.Servers); h.IsElsewhere {
		h.Note = fmt.Sprintf("what the others behind %s's address measured does not hold for %s, who measures alone from now on", player, player)
	}
	if h.Counts = l.asks(player); !h.Counts {
		return h, nil
	}
	known := maps.Clone(p.Known) // an answer may name a server twice
	for _, seen := range v.Servers {
		if v.More && seen.Sent <= forgivenLosses {
			continue // which says nothing yet
		}
		k, s := known[seen.Server], Seen{Server: seen.Server, Info: seen.Info}
		if s.Look = l.see(player, seen, k); s.Look != nil {
			k.Look = s.Look
			known[seen.Server] = k
		}
		h.Seen = append(h.Seen, s)
	}
	if h.IsLast = !(v.More && l.isLong); h.IsLast {
		l.Without(player)
	}
	return h, nil
}

// see takes what a player saw of a server, and returns what counts of it.
func (l *Looks) see(player string, seen wire.Finalist, k Known) *Look {
	if l.most == firstSamples && l.isDoubtful(seen, k) && !slices.Contains(l.doubted, seen.Server) {
		l.doubted = append(l.doubted, seen.Server)
	}
	if l.isGlance && k.now().State == discovery.Answered {
		return nil // a single packet says less of the way than what was measured
	}
	if l.note(player, seen); l.isMiss(seen) {
		return nil
	}
	return l.merge(seen, k)
}

// merge returns what counts of what a player saw, or nil. The lowest sample is the path's RTT. If
// all are silent the server is lost.
func (l *Looks) merge(seen wire.Finalist, k Known) *Look {
	if !seen.State.Asked() || seen.State == discovery.Answered && len(seen.RTTs) == 0 || k.IsHidden {
		return nil
	}
	before := k.now()
	look := Look{Result: discovery.Result{Server: seen.Server, State: seen.State}}
	switch {
	case l.isShort:
		look.RTTs = k.sampled(seen)
		look.Quality = qualityOfFew(look.RTTs)
	case l.isLong:
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
