// Package captains carries out the bans and picks of a match's captains, with the room's facts
// about people and servers. It writes the moves ([bans.Series]) and nothing else.
//
//	sides ── whose captain is there ──┐
//	                                  ▼
//	people ── Attempt ─▶ Move ─────▶ bans ─▶ View ─▶ pages, programs, the match's record
//	the clock ─────────▶ Tick ────────▲
//	                                  │
//	choice ── the servers, ranked ────┘
package captains

import (
	"slices"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/bans"
	"muster/host/room/facts"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/even"
)

// Ranked returns the servers of the newest choice, the best by the room's rule first.
func Ranked(g facts.Facts) (servers []int) {
	for _, ranked := range g.Newest().Ranking {
		servers = append(servers, ranked.Server)
	}
	return servers
}

// Attempt is a person's move: the server's address, or the map's name.
type Attempt struct {
	Number int
	By     people.ID
	What   string
}

// Move makes a captain's move. It returns notes for people.
func Move(g facts.Facts, series *bans.Series, a Attempt, now roomtime.Clocks) (notes []sentence.Sentence, err error) {
	attempt := bans.Attempt{Number: a.Number, By: a.By, Server: -1, Map: discovery.CleanText(a.What)}
	for _, server := range series.Servers() {
		if hostport.Text(g.Servers().List[server].Addr) == a.What {
			attempt.Server = server
		}
	}
	turn, _ := series.Turn()
	made, err := series.Move(attempt, g.Captain(turn.Side), Ranked(g), now)
	if err != nil {
		return nil, err
	}
	return moveNotes(g, series, made), nil
}

// Tick moves for a captain who has not moved in time. It returns notes for people, and the side
// whose captain has left, if any.
func Tick(g facts.Facts, series *bans.Series, now roomtime.Clocks) (notes []sentence.Sentence, left wire.Side) {
	if made, has := series.Tick(Ranked(g), now); has {
		return moveNotes(g, series, made), ""
	}
	turn, _ := series.Turn()
	if !IsCaptainAway(g, series) || len(g.Away([]people.ID{g.Captain(turn.Side)}, attendance.LeftAfter, now.Room)) == 0 {
		return nil, ""
	}
	return nil, turn.Side
}

// Available returns the players who can move.
func Available(g facts.Facts) []people.ID {
	return people.Filtered(g.Players(), func(player people.ID) bool { return canMove(g, player) })
}

// canMove reports whether a player's program is connected, or a page is open.
func canMove(g facts.Facts, player people.ID) bool {
	one := g.Person(player)
	return one.IsHere || one.HasPage
}

// IsCaptainAway reports whether a match waits for a captain who cannot move now.
func IsCaptainAway(g facts.Facts, series *bans.Series) bool {
	turn, is := series.Turn()
	captain := g.Captain(turn.Side)
	return is && captain != "" && !canMove(g, captain)
}

// moveNotes returns notes on a move, and on what the move decides.
func moveNotes(g facts.Facts, series *bans.Series, m bans.MadeMove) (notes []sentence.Sentence) {
	what := m.Map
	if m.Of == wire.OfServer {
		what = g.Servers().Called(m.Server)
	}
	side := g.Settings().Called(m.Side)
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
		notes = append(notes, sentence.Of("room.match-on", "server", g.Servers().Called(series.Server())))
	}
	return append(notes, MapNotes(series)...)
}

// MapNotes returns a note on the maps of the match, once they are decided.
func MapNotes(series *bans.Series) []sentence.Sentence {
	if maps := series.Maps(); len(maps) > 0 {
		return []sentence.Sentence{sentence.Of("room.match-maps", "maps", maps)}
	}
	return nil
}

// Fallbacks returns the servers that a decided match would go to, in that order.
func Fallbacks(g facts.Facts, series *bans.Series) []int { return series.Fallbacks(Ranked(g)) }

// evenDelays returns, for each player of both sides, the delays that would make the pings to a
// server even.
func evenDelays(g facts.Facts, server int) map[string]wire.Even {
	newest := g.Newest()
	at := slices.IndexFunc(newest.Ranking, func(ranked selection.Ranked) bool { return ranked.Server == server })
	if at < 0 {
		return nil
	}
	var named []string
	var players []even.Player
	for i, side := range newest.SidesOf(newest.Players) {
		if ms, has := newest.Ranking[at].RTT[newest.Players[i]]; has && side != selection.Neither {
			named = append(named, g.Names().Text(newest.Players[i]))
			players = append(players, even.Player{PingMS: ms, Side: side})
		}
	}
	all := map[string]wire.Even{}
	for i, d := range even.Delays(players) {
		all[named[i]] = wire.Even{SidesMS: d.Sides, AllMS: d.All}
	}
	return all
}

// View fills in the moves of a match as people see it.
func View(g facts.Facts, series *bans.Series, m *wire.Match, now roomtime.Clocks) {
	if series.IsOver() {
		m.Even = evenDelays(g, series.Server())
	}
	cards := []wire.MatchServer{}
	for _, server := range series.Servers() {
		card := wire.MatchServer{Addr: hostport.Text(g.Servers().List[server].Addr), ServerCard: g.Card(server)}
		for _, ranked := range g.Newest().Ranking {
			if ranked.Server == server && ranked.SideMeanMS != nil {
				card.MeansMS = [2]float64{ranked.SideMeanMS.A, ranked.SideMeanMS.B}
			}
		}
		cards = append(cards, card)
	}
	series.View(m, cards, [2]people.ID{g.Captain(wire.SideA), g.Captain(wire.SideB)}, now, g.Names())
}
