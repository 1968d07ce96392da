package decision

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/bans"
	"muster/host/room/finals"
	"muster/host/room/group"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/even"
)

// mostFinalists bounds the servers that a match's captains decide about. Everyone looks at each, and
// people compare them on one screen.
const mostFinalists = 9

// most returns how many servers get a second look: in a match, enough for all bans of its order.
func most(g *group.Group) int {
	if !g.Settings.IsMatch() {
		return finalists
	}
	banned := 0
	for _, kind := range g.Settings.ServerOrder() {
		if kind == wire.Ban {
			banned++
		}
	}
	return min(max(finalists, banned+1), mostFinalists)
}

// rule returns the servers of the newest choice, the best by the room's rule first.
func rule(g *group.Group) (servers []int) {
	for _, ranked := range g.Choice.Newest().Ranking {
		servers = append(servers, ranked.Server)
	}
	return servers
}

// contested returns the servers that a match's captains decide about: the best that everyone has
// looked at. If nobody has, they are the best.
func (d *Decision) contested(g *group.Group) (servers []int) {
	ranking := rule(g)
	seen := slices.DeleteFunc(slices.Clone(ranking), func(server int) bool { return !slices.Contains(d.looks.Seen(), server) })
	if len(seen) == 0 {
		seen = ranking
	}
	return seen[:min(most(g), len(seen))]
}

// unseen returns the servers that everyone should look at before captains decide about them.
func (d *Decision) unseen(g *group.Group) []int {
	best := rule(g)
	return slices.DeleteFunc(best[:min(most(g), len(best))], func(server int) bool { return slices.Contains(d.looks.Seen(), server) })
}

// BeginBans lets the captains of a match ban and pick from the newest choice, unless they have begun.
// It returns notes for people.
func (d *Decision) BeginBans(g *group.Group, now time.Time) (notes []sentence.Sentence) {
	if g.Bans.HasBegun() {
		return nil
	}
	s, cut := &g.Settings, 0
	g.Bans, cut = bans.Begin(bans.Setup{
		Servers: d.contested(g), Order: s.ServerOrder(), Maps: s.MapPool(), BestOf: s.BestOf(), Clock: s.TurnTime(),
	}, now)
	if cut > 0 {
		notes = append(notes, sentence.Of("room.bans-cut", "n", cut))
	}
	if turn, is := g.Bans.Turn(); is {
		notes = append(notes, sentence.Of("room.bans", "side", s.Called(turn.Side)))
	} else {
		notes = append(notes, sentence.Of("room.match-on", "server", g.Servers.Called(g.Bans.Server())))
	}
	return append(notes, playing(g)...)
}

// Attempt is a person's move: the server's address, or the map's name.
type Attempt struct {
	Number int
	By     string
	What   string
}

// Move makes a captain's move. It returns notes for people.
func Move(g *group.Group, a Attempt, now time.Time) (notes []sentence.Sentence, err error) {
	attempt := bans.Attempt{Number: a.Number, By: a.By, Server: -1, Map: discovery.CleanText(a.What)}
	for _, server := range g.Bans.Servers() {
		if g.Servers.List[server].Addr.String() == a.What {
			attempt.Server = server
		}
	}
	turn, _ := g.Bans.Turn()
	made, err := g.Bans.Move(attempt, g.Sides.Captain(turn.Side), rule(g), now)
	if err != nil {
		return nil, err
	}
	return moved(g, made), nil
}

// TickBans moves for a captain who has not moved in time, and gives the side of one who has left
// another captain. It returns notes for people.
func TickBans(g *group.Group, now time.Time) (notes []sentence.Sentence) {
	if made, has := g.Bans.Tick(rule(g), now); has {
		return moved(g, made)
	}
	turn, is := g.Bans.Turn()
	captain := g.Sides.Captain(turn.Side)
	if !is || !IsCaptainAway(g) || len(g.Attendance.Away([]string{captain}, attendance.LeftAfter, now)) == 0 {
		return nil
	}
	return g.TellSides(g.Sides.Replace(turn.Side, group.Filtered(g.Attendance.Players(), func(name string) bool { return canMove(g, name) })))
}

// canMove reports whether a player's program or page is there.
func canMove(g *group.Group, name string) bool {
	return g.IsHere(name) || g.Roster.Person(name).HasPage
}

// IsCaptainAway reports whether a match waits for the move of a captain who is not there.
func IsCaptainAway(g *group.Group) bool {
	turn, is := g.Bans.Turn()
	captain := g.Sides.Captain(turn.Side)
	return is && captain != "" && !canMove(g, captain)
}

// moved tells people of a move, and of what it decides.
func moved(g *group.Group, m bans.Made) (notes []sentence.Sentence) {
	what := m.Map
	if m.Of == wire.OfServer {
		what = g.Servers.Called(m.Server)
	}
	side := g.Settings.Called(m.Side)
	switch {
	case m.By != "" && m.Kind == wire.Ban:
		notes = append(notes, sentence.Of("room.bans-ban", "player", m.By, "what", what))
	case m.By != "":
		notes = append(notes, sentence.Of("room.bans-pick", "player", m.By, "what", what))
	case m.Kind == wire.Ban:
		notes = append(notes, sentence.Of("room.bans-ban-late", "side", side, "what", what))
	default:
		notes = append(notes, sentence.Of("room.bans-pick-late", "side", side, "what", what))
	}
	if m.Decides {
		notes = append(notes, sentence.Of("room.match-on", "server", g.Servers.Called(g.Bans.Server())))
	}
	return append(notes, playing(g)...)
}

// playing tells people which maps they play, once that is decided.
func playing(g *group.Group) []sentence.Sentence {
	if maps := g.Bans.Maps(); len(maps) > 0 {
		return []sentence.Sentence{sentence.Of("room.match-maps", "maps", maps)}
	}
	return nil
}

// Fallbacks returns the servers that a decided match would go to, the first one first.
func Fallbacks(g *group.Group) []int { return g.Bans.Fallbacks(rule(g)) }

// Destination returns the server that a decided match goes to, once everyone has looked at it again. If
// it is full or gone, another takes its place. If all are, the match goes there nevertheless,
// because a seat may become free. It returns notes for people.
func (d *Decision) Destination(g *group.Group, f finals.Facts) (server int, notes []sentence.Sentence) {
	lose(g, d.looks.Concede(f))
	g.Weigh()
	usable := slices.IndexFunc(Fallbacks(g), func(server int) bool { _, is := obstacle(g, server); return !is })
	for range max(0, usable) {
		before := g.Bans.Server()
		cause, _ := obstacle(g, before)
		g.Bans.Fall(rule(g))
		next, key := g.Bans.Server(), "room.match-next"
		if g.Bans.IsBanned(next) {
			key = "room.match-back"
		}
		notes = append(notes, sentence.Of(key, "server", g.Servers.Called(before), "why", because(cause), "next", g.Servers.Called(next)))
	}
	return g.Bans.Server(), notes
}

// obstacle returns why a match cannot go to a server, if it cannot: it lacks seats, or answered none
// of the players. One side's word counts for nothing here, because a side could lie to get another
// server.
func obstacle(g *group.Group, server int) (why selection.Cause, is bool) {
	players := g.ChosenFor()
	isSilent := func(name string) bool { return g.Knowledge(name).At(server).State != discovery.Answered }
	if len(players) > 0 && len(group.Filtered(players, isSilent)) == len(players) {
		return selection.Unreachable, true
	}
	need := g.SeatsFor(players)
	isFull := func(info *discovery.Info) bool { return info != nil && !info.Uncounted() && info.Free() < need }
	if !isFull(g.Servers.Info(server)) {
		return 0, false
	}
	for _, side := range []wire.Side{wire.SideA, wire.SideB} {
		heard := group.Filtered(g.Attendance.Present(), func(name string) bool {
			return g.SideOf(name) == side && g.Hearsay.Word(name, server) != nil
		})
		agrees := slices.ContainsFunc(heard, func(name string) bool { return isFull(g.Hearsay.Word(name, server)) })
		if len(heard) > 0 && !agrees {
			return 0, false
		}
	}
	return selection.Full, true
}

// evened returns the delays that would make pings even on a server, for the players of both sides.
func evened(g *group.Group, server int) map[string]wire.Even {
	newest := g.Choice.Newest()
	at := slices.IndexFunc(newest.Ranking, func(ranked selection.Ranked) bool { return ranked.Server == server })
	if at < 0 {
		return nil
	}
	var names []string
	var players []even.Player
	for _, name := range newest.Players {
		ms, has := newest.Ranking[at].RTT[name]
		if side := g.SideOf(name); has && side != "" {
			names = append(names, name)
			players = append(players, even.Player{PingMS: ms, Side: map[wire.Side]selection.Side{
				wire.SideA: selection.SideA, wire.SideB: selection.SideB,
			}[side]})
		}
	}
	all := map[string]wire.Even{}
	for i, d := range even.Delays(players) {
		all[names[i]] = wire.Even{SidesMS: d.Sides, AllMS: d.All}
	}
	return all
}

// ViewBans fills in the moves of a match as people see it.
func ViewBans(g *group.Group, m *wire.Match) {
	if g.Bans.IsOver() {
		m.Even = evened(g, g.Bans.Server())
	}
	cards := []wire.MatchServer{}
	for _, server := range g.Bans.Servers() {
		card := wire.MatchServer{Addr: g.Servers.List[server].Addr.String(), ServerCard: g.Card(server)}
		for _, ranked := range g.Choice.Newest().Ranking {
			if ranked.Server == server && ranked.SideMeanMS != nil {
				card.MeansMS = [2]float64{ranked.SideMeanMS.A, ranked.SideMeanMS.B}
			}
		}
		cards = append(cards, card)
	}
	g.Bans.View(m, cards, [2]string{g.Sides.Captain(wire.SideA), g.Sides.Captain(wire.SideB)})
}
