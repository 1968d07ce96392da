package room

import (
	"maps"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// Some servers answer an address once a second, whoever asks there. Two players who share
// an address as the server sees it cost each other the answer, and the room cannot know
// that they do: through a tunnel all seem to come from one machine. So a look that failed
// while it went well for others does not count yet. Those players look again, one at a
// time:
//
//	ann  ──look──✓
//	bob  ──look──✗      1.1 s   ──look──✓
//	cat  ──look──✗                        2.2 s   ──look──✗  lost
//
// Just before a launch there is no time for that, and the failed look counts for nothing.

// aloneSamples is how often a player who looks alone asks each server: one packet may
// get lost on any line.
const aloneSamples = 2

// miss is a player's look at a server that did not answer, and how often it was asked.
type miss struct {
	Player string `json:"player"`
	Server int    `json:"server"`
	Sent   int    `json:"sent"`
}

// isMiss reports whether what a player saw in this look counts only later, if at all.
func (l *look) isMiss(seen wire.Finalist) bool {
	return seen.State == discovery.Lost && len(l.Alone) == 0
}

// note keeps whether a server answered a player in this look.
func (l *look) note(player string, seen wire.Finalist) {
	if l.isMiss(seen) || seen.State == discovery.Answered {
		isOld := func(m miss) bool { return m.Player == player && m.Server == seen.Server }
		l.Missed = slices.DeleteFunc(slices.Clone(l.Missed), isOld)
	}
	switch {
	case l.isMiss(seen):
		l.Missed = append(l.Missed, miss{player, seen.Server, seen.Sent})
	case seen.State == discovery.Answered && !slices.Contains(l.Reached, seen.Server):
		l.Reached = append(l.Reached, seen.Server)
	}
}

// asks reports whether a player is to look.
func (l *look) asks(player string) bool { return len(l.Alone) == 0 || slices.Contains(l.Alone, player) }

// silent counts the players who sent a server a single packet, in vain.
func (l *look) silent(server int) (players int) {
	for _, m := range l.Missed {
		players += count(m.Server == server && m.Sent <= forgivenLosses)
	}
	return players
}

// judge tells what comes of the misses in a look of so many players. A server that
// answered nobody is lost. A single packet that few of the players lost is forgiven. All
// others have to look again, unless this was that look.
func (l *look) judge(players int) (lost, again []miss) {
	if len(l.Alone) > 0 {
		return nil, nil
	}
	for _, m := range l.Missed {
		switch {
		case m.Sent <= forgivenLosses && 2*l.silent(m.Server) <= players:
		case slices.Contains(l.Reached, m.Server):
			again = append(again, m)
		default:
			lost = append(lost, m)
		}
	}
	return lost, again
}

// concede notes the servers that are lost by this look, and returns the misses that have
// to be repeated before they count.
func (r *round) concede() (again []miss) {
	lost, again := r.look.judge(len(r.active()))
	for _, m := range lost {
		if p := r.player(m.Player); p != nil {
			r.merge(p, wire.Finalist{Server: m.Server, State: discovery.Lost, Sent: m.Sent})
		}
	}
	return again
}

// repeat asks the players who missed servers to look at them again, one at a time. It
// reports whether there is anybody to ask.
func (r *Room) repeat(again []miss) bool {
	var alone []string
	var servers []int
	for _, m := range again {
		p := r.round.player(m.Player)
		if p == nil || r.round.mark(p).Out != "" || !r.round.mark(p).Here || slices.Contains(r.round.look.Absent, m.Player) {
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
		return false
	}
	slices.Sort(servers)
	who := alone[0] + " looks again"
	if len(alone) > 1 {
		who = "they look again, one at a time"
	}
	r.note("%s answered others, but not %s: %s", serversInWords(len(servers)), strings.Join(alone, ", "), who)
	r.enter(&Verifying{})
	l := &r.round.look
	l.Attempt++
	l.Repeats++
	*l = look{Attempt: l.Attempt, Repeats: l.Repeats, Servers: servers, Seen: l.Seen, Absent: l.Absent, Long: l.Long, Waiting: slices.Clone(alone), Alone: alone, Missed: again, Asked: maps.Clone(l.Asked)}
	for _, name := range alone {
		p := r.round.player(name)
		m := r.finalistsFor(p)
		l.asked(name, r.now, m)
		r.send(p, m)
	}
	return true
}

// aloneFor is what a player who looks alone is asked for: what it missed, when none of
// the others asks. Passed is how long ago the look began.
func (l *look) aloneFor(name string, passed time.Duration) (servers []int, s slot) {
	for _, m := range l.Missed {
		if m.Player == name {
			servers = append(servers, m.Server)
		}
	}
	turn := time.Duration(slices.Index(l.Alone, name)) * aloneSamples
	return servers, slot{after: max(0, betweenMates*(1+turn)-passed), every: betweenMates, samples: aloneSamples}
}

// aloneTime is how long all of them take.
func (l *look) aloneTime() time.Duration {
	return betweenMates * time.Duration(1+aloneSamples*len(l.Alone))
}
