package decision

import (
	"slices"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/bans"
	"muster/host/room/captains"
	"muster/host/room/facts"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
)

// maxFinalists bounds the servers that a match's captains decide about, because everyone looks at
// each, and one screen shows them all.
const maxFinalists = 9

// finalistCount returns the number of servers that get a second look. A match needs enough for all
// bans of its order.
func finalistCount(g facts.Facts) int {
	if !g.Settings().IsMatch() {
		return finalists
	}
	banned := 0
	for _, kind := range g.Settings().ServerOrder() {
		if kind == wire.Ban {
			banned++
		}
	}
	return min(max(finalists, banned+1), maxFinalists)
}

// contested returns the servers that a match's captains decide about: the best of those at which
// everyone has looked. Before any look it returns the best of all.
func (d *Decision) contested(g facts.Facts) (servers []int) {
	ranking := captains.Ranked(g)
	seen := slices.DeleteFunc(slices.Clone(ranking), func(server int) bool { return !slices.Contains(d.Looks.Seen(), server) })
	if len(seen) == 0 {
		seen = ranking
	}
	return seen[:min(finalistCount(g), len(seen))]
}

// unseen returns the servers that everyone should look at before captains decide about them.
func (d *Decision) unseen(g facts.Facts) []int {
	best := captains.Ranked(g)
	return slices.DeleteFunc(best[:min(finalistCount(g), len(best))], func(server int) bool { return slices.Contains(d.Looks.Seen(), server) })
}

// BeginBans begins the bans and picks of a match's captains, from the newest choice, unless they
// have begun. It returns notes for people.
func (d *Decision) BeginBans(g facts.Facts, now roomtime.Time) (notes []sentence.Sentence) {
	if d.bans.HasBegun() {
		return nil
	}
	s, cut := g.Settings(), 0
	*d.bans, cut = bans.Begin(bans.Setup{
		Servers: d.contested(g), Order: s.ServerOrder(), Maps: s.MapPool(), BestOf: s.BestOf(), Clock: s.TurnTime(),
	}, now)
	if cut > 0 {
		notes = append(notes, sentence.Of("room.bans-cut", "n", cut))
	}
	if turn, is := d.bans.Turn(); is {
		notes = append(notes, sentence.Of("room.bans", "side", s.Called(turn.Side)))
	} else {
		notes = append(notes, sentence.Of("room.match-on", "server", g.Servers().Called(d.bans.Server())))
	}
	return append(notes, captains.MapNotes(d.bans)...)
}

// Destination returns the server that a decided match goes to, after everyone has looked at it
// again. If the server is full or gone, the next one takes its place. If all servers are, the match
// keeps the first, because a seat may become free. It also returns notes for people.
func (d *Decision) Destination(g facts.Facts) (server int, notes []sentence.Sentence) {
	g.Refresh()
	usable := slices.IndexFunc(captains.Fallbacks(g, d.bans), func(server int) bool { _, is := obstacle(g, server); return !is })
	for range max(0, usable) {
		before := d.bans.Server()
		cause, _ := obstacle(g, before)
		d.bans.DropServer(captains.Ranked(g))
		next, key := d.bans.Server(), "room.match-next"
		if d.bans.IsBanned(next) {
			key = "room.match-back"
		}
		notes = append(notes, sentence.Of(key, "server", g.Servers().Called(before), "why", because(cause), "next", g.Servers().Called(next)))
	}
	return d.bans.Server(), notes
}

// obstacle returns why a match cannot go to a server, if so: the server lacks seats, or answers no
// player. One side's word alone proves nothing, because a side could lie to get another server.
func obstacle(g facts.Facts, server int) (why selection.Cause, is bool) {
	players := g.ChosenFor()
	isSilent := func(player people.ID) bool { return g.Knowledge(player).At(server).State != discovery.Answered }
	if len(players) > 0 && len(people.Filtered(players, isSilent)) == len(players) {
		return selection.Unreachable, true
	}
	need := g.SeatsFor(players)
	isFull := func(info *discovery.Info) bool { return info != nil && !info.Uncounted() && info.Free() < need }
	if !isFull(g.Servers().Info(server)) {
		return 0, false
	}
	for _, side := range []wire.Side{wire.SideA, wire.SideB} {
		heard := people.Filtered(g.Present(), func(player people.ID) bool {
			return g.SideOf(player) == side && g.HeardInfo(player, server) != nil
		})
		agrees := slices.ContainsFunc(heard, func(player people.ID) bool { return isFull(g.HeardInfo(player, server)) })
		if len(heard) > 0 && !agrees {
			return 0, false
		}
	}
	return selection.Full, true
}
