package finals

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/wire"
)

// Some servers answer each address only once a second. If two players share an address, as the
// server sees it, one player's question may cost the other the answer. The room cannot know who
// shares an address, because behind a tunnel all players seem to come from one machine. So if a
// server answered others, a failed look at it does not count yet. The player looks again at a time
// when nobody else does:
//
//	ann  ──look──✓
//	bob  ──look──✗      1.1 s   ──look──✓
//	cat  ──look──✗                        2.2 s   ──look──✗  lost
//
// Just before a launch there is no time for another look, and the failed one is ignored.

// aloneSamples is how often a player who looks alone asks each server: one packet may
// get lost on any line.
const aloneSamples = 2

// miss is a player's look at a server that did not answer. Sent is how often the player asked.
type miss struct {
	Player people.ID `json:"player"`
	Server int       `json:"server"`
	Sent   int       `json:"sent"`
}

// isMiss reports whether a player's result is a failure that does not count yet.
func (l *Looks) isMiss(seen wire.Finalist) bool {
	return seen.State == discovery.Lost && len(l.state.Alone) == 0
}

func (l *Looks) note(player people.ID, seen wire.Finalist) {
	if l.isMiss(seen) || seen.State == discovery.Answered {
		l.state.Missed = slices.DeleteFunc(l.state.Missed, func(m miss) bool { return m.Player == player && m.Server == seen.Server })
	}
	switch {
	case l.isMiss(seen):
		l.state.Missed = append(l.state.Missed, miss{player, seen.Server, seen.Sent})
	case seen.State == discovery.Answered && !slices.Contains(l.state.Reached, seen.Server):
		l.state.Reached = append(l.state.Reached, seen.Server)
	}
}

// expects reports whether a look expects a player's answer.
func (l *Looks) expects(player people.ID) bool {
	return len(l.state.Alone) == 0 || slices.Contains(l.state.Alone, player)
}

// silent counts the players whose only packet to a server brought no answer.
func (l *Looks) silent(server int) (players int) {
	for _, m := range l.state.Missed {
		if m.Server == server && m.Sent <= forgivenLosses {
			players++
		}
	}
	return players
}

// judge decides about the misses in a look. A single packet that few of the players lost is
// forgiven. A server that answered nobody is lost. Other misses need another look, unless this look
// was of single players.
func (l *Looks) judge(players int) (lost, again []miss) {
	if len(l.state.Alone) > 0 {
		return nil, nil
	}
	for _, m := range l.state.Missed {
		switch {
		case m.Sent <= forgivenLosses && 2*l.silent(m.Server) <= players:
		case slices.Contains(l.state.Reached, m.Server):
			again = append(again, m)
		default:
			lost = append(lost, m)
		}
	}
	return lost, again
}

// AcceptMisses decides about misses before the look is over, because the launch does not wait. It
// returns the looks that have found a server lost.
func (l *Looks) AcceptMisses(f Facts) []Missed {
	lost, _ := l.judge(len(f.Players))
	return l.concede(lost, f)
}

func (l *Looks) concede(lost []miss, f Facts) (missed []Missed) {
	for _, m := range lost {
		known := Known{}
		if p := f.looker(m.Player); p != nil {
			known = p.Known[m.Server]
		}
		if look := l.merge(wire.Finalist{Server: m.Server, State: discovery.Lost, Sent: m.Sent}, known); look != nil {
			missed = append(missed, Missed{m.Player, *look})
		}
	}
	return missed
}

// repeat asks the players who missed servers to look at them again, one at a time. The note says
// so, and is empty if there are no such players.
func (l *Looks) repeat(again []miss, f Facts) (asks []Ask, note sentence.Sentence) {
	var alone []people.ID
	var servers []int
	for _, m := range again {
		if p := f.looker(m.Player); p == nil || !p.IsHere || slices.Contains(l.state.Absent, m.Player) {
			continue
		}
		if !slices.Contains(alone, m.Player) {
			alone = append(alone, m.Player)
		}
		if !slices.Contains(servers, m.Server) {
			servers = append(servers, m.Server)
		}
	}
	if len(alone) == 0 {
		return nil, note
	}
	slices.Sort(servers)
	l.state.Attempt++
	l.state.Repeats++
	l.state.look = look{
		Servers: servers, IsLong: l.state.IsLong, IsShort: l.state.IsShort, Missed: again, Alone: alone, Waiting: slices.Clone(alone),
	}
	f.Passed = 0
	for _, player := range alone {
		ask := l.ask(player, f)
		l.noteAsked(ask, f.Now)
		asks = append(asks, ask)
	}
	return asks, sentence.Of("room.looks-alone",
		"n", len(servers), "players", people.Texts(alone), "lookers", len(alone))
}

// aloneFor returns the servers that a player missed, and the slot for looking at them alone. Passed
// is how long ago the look began.
func (l *Looks) aloneFor(player people.ID, passed time.Duration) (servers []int, s slot) {
	for _, m := range l.state.Missed {
		if m.Player == player {
			servers = append(servers, m.Server)
		}
	}
	turn := time.Duration(slices.Index(l.state.Alone, player)) * aloneSamples
	return servers, slot{after: max(0, betweenMates*(1+turn)-passed), every: betweenMates, samples: aloneSamples}
}

// aloneTime returns how long all looks of single players take.
func (l *Looks) aloneTime() time.Duration {
	return betweenMates * time.Duration(1+aloneSamples*len(l.state.Alone))
}
