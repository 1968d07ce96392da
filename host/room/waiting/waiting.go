// Package waiting is the wait of a group until a full server has seats for it. A [Wait] gives
// package seats the group's facts about people and servers. The room carries out its events.
package waiting

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/facts"
	"muster/host/room/nickname"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/room/seats"
	"muster/host/wire"
	"muster/selection"
)

// Wait is the wait of a whole group, or of the players who found no seat after a launch.
type Wait struct{ watch *seats.Watch }

// Begin returns a wait of the whole group for seats on any of the full servers.
func Begin(g facts.Facts, full []selection.Ranked, now roomtime.Time) *Wait {
	others := g.Select(g.ChosenFor()).Ranking
	return &Wait{seats.Begin(full, others, *g.Servers(), time.Duration(g.Settings().Wait), now)}
}

// BeginOutside returns a wait of named players for the server where the others are.
func BeginOutside(g facts.Facts, names []string, server int, now roomtime.Time) (*Wait, error) {
	var outside []people.ID
	for _, name := range names {
		player := g.Player(name)
		if player == "" {
			return nil, fmt.Errorf("%s is not here", nickname.Clean(name))
		}
		if !slices.Contains(outside, player) {
			outside = append(outside, player)
		}
	}
	if len(outside) == 0 {
		return nil, errors.New("say who is still outside")
	}
	ranked := selection.Ranked{Server: server, Addr: hostport.At(g.Servers().List[server].Addr)}
	for _, other := range g.Newest().Ranking {
		if other.Server == server {
			ranked = other
		}
	}
	return &Wait{seats.BeginOutside(outside, ranked, *g.Servers(), time.Duration(g.Settings().Wait), now)}, nil
}

// Outside returns the players who wait for seats where the others are; none if the whole group
// waits.
func (w *Wait) Outside() []people.ID { return w.watch.Outside() }

// facts returns the group's facts for the watch.
func (w *Wait) facts(g facts.Facts) seats.Facts { return decision.SeatFacts(g, w.watch) }

// Describe tells people what the group waits for.
func (w *Wait) Describe(g facts.Facts) sentence.Sentence { return w.watch.Describe(w.facts(g)) }

// Watches returns the servers that the group keeps asking for seats; none if nobody is there to
// ask.
func (w *Wait) Watches(g facts.Facts) (servers []netip.AddrPort) {
	for _, server := range w.watch.Watches(w.facts(g)) {
		servers = append(servers, g.Servers().List[server].Addr)
	}
	return servers
}

// Share notes the rooms of the host that watch each server; see [seats.Watch.Share].
func (w *Wait) Share(g facts.Facts, rooms map[netip.AddrPort]seats.Demand, ahead time.Duration) {
	demand := map[int]seats.Demand{}
	for _, server := range w.watch.Servers() {
		demand[server] = rooms[g.Servers().List[server].Addr]
	}
	w.watch.Share(demand, ahead)
}

// Tick lets time pass.
func (w *Wait) Tick(g facts.Facts, now roomtime.Time) []seats.Event {
	return w.watch.Tick(w.facts(g), now)
}

// Next returns when the wait needs the time again.
func (w *Wait) Next(g facts.Facts, now roomtime.Time) roomtime.Time {
	next := w.watch.Next(w.facts(g))
	if !w.watch.IsGoing() && len(w.insidePlayers(g)) > 0 {
		return now
	}
	if len(w.Outside()) > 0 {
		return next
	}
	players := g.ChosenFor()
	gone := g.NextGone(players)
	if !gone.IsZero() && gone.Before(next) && slices.ContainsFunc(players, g.IsHere) {
		return gone // else nobody is there to go on
	}
	return next
}

// GoOnWithout stops waiting for seats for people who have been away for long, or have got in. It
// returns the players to leave out and a note. IsOver says that nobody is left outside.
func (w *Wait) GoOnWithout(g facts.Facts, now roomtime.Time) (left []people.ID, note sentence.Sentence, isOver bool) {
	waitsForAll := len(w.Outside()) == 0
	if w.watch.Enter(w.insidePlayers(g)) {
		return nil, sentence.Of("room.wait-nobody"), true
	}
	if w.watch.IsGoing() || !waitsForAll {
		return nil, note, false
	}
	players := g.ChosenFor()
	away := g.Away(players, attendance.GoneAfter, now)
	if len(away) == 0 || len(away) == len(players) {
		return nil, note, false // nobody has left, or nobody is there to go on
	}
	g = g.Suppose(attendance.Change{Out: attendance.Left, Players: away})
	return away, sentence.Of("room.wait-fewer", "players", people.Texts(away), "n", g.SeatsFor(g.ChosenFor())), false
}

// insidePlayers returns the players of the wait who need no seat any more.
func (w *Wait) insidePlayers(g facts.Facts) (insidePlayers []people.ID) {
	for _, player := range w.Outside() {
		if !slices.Contains(g.Players(), player) || g.IsByHand(player) {
			insidePlayers = append(insidePlayers, player)
		}
	}
	return insidePlayers
}

// CanReadmit reports whether a player whom the wait left out may count again.
func (w *Wait) CanReadmit(g facts.Facts, player people.ID) bool {
	out := g.Mark(player).Out
	return out != "" && !out.IsFirm() && slices.Contains(g.Newest().Players, string(player))
}

// Asks reports whether the wait expects a player's look now.
func (w *Wait) Asks(player people.ID) bool { return w.watch.Asks(player) }

// Hear takes a player's look.
func (w *Wait) Hear(g facts.Facts, player people.ID, v wire.Verified, now roomtime.Time) []seats.Event {
	return w.watch.Heard(player, v.Servers, w.facts(g), now)
}

// Drop gives up a server that no longer suits the group.
func (w *Wait) Drop(g facts.Facts, server int, why sentence.Sentence) []seats.Event {
	return w.watch.Drop(server, why, w.facts(g))
}

// GiveUp ends the wait without a seat.
func (w *Wait) GiveUp(g facts.Facts, why sentence.Sentence) seats.Over {
	return w.watch.GiveUp(why, w.facts(g))
}

// View returns what everyone sees of the wait.
func (w *Wait) View(g facts.Facts, now roomtime.Clocks) *wire.Seats {
	cards := map[int]wire.ServerCard{}
	for _, server := range w.watch.Servers() {
		cards[server] = g.Card(server)
	}
	return w.watch.View(g.SeatsFor(g.ChosenFor()), cards, now, g.Names())
}

// Resume goes on after the host was away.
func (w *Wait) Resume(now roomtime.Time) { w.watch.Resume(now) }

// MarshalJSON returns the saved form of the wait.
func (w *Wait) MarshalJSON() ([]byte, error) { return json.Marshal(w.watch.State()) }

// UnmarshalJSON reads a saved wait.
func (w *Wait) UnmarshalJSON(data []byte) error {
	w.watch = &seats.Watch{}
	return json.Unmarshal(data, w.watch.State())
}

// IsValid reports whether a saved wait is there and fits a list of this length.
func (w *Wait) IsValid(listed int) bool { return w != nil && w.watch.State().Validate(listed) == nil }
