package decision

import (
	"slices"
	"strings"

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

// ranked returns the servers of the newest choice, the best by the room's rule first.
func ranked(g facts.Facts) (servers []int) {
	for _, ranked := range g.Newest().Ranking {
		servers = append(servers, ranked.Server)
	}
	return servers
}

// contested returns the servers that a match's captains decide about: the best of those at which
// everyone has looked. Before any look it returns the best of all.
func (d *Decision) contested(g facts.Facts) (servers []int) {
	ranking := ranked(g)
	seen := slices.DeleteFunc(slices.Clone(ranking), func(server int) bool { return !slices.Contains(d.Looks.Seen(), server) })
	if len(seen) == 0 {
		seen = ranking
	}
	return seen[:min(finalistCount(g), len(seen))]
}

// unseen returns the servers that everyone should look at before captains decide about them.
func (d *Decision) unseen(g facts.Facts) []int {
	best := ranked(g)
	return slices.DeleteFunc(best[:min(finalistCount(g), len(best))], func(server int) bool { return slices.Contains(d.Looks.Seen(), server) })
}

// BeginBans begins the bans and picks of a match's captains with the newest choice, unless they
// have begun already. It returns notes for people.
func (d *Decision) BeginBans(g facts.Facts, now roomtime.Time) (notes []sentence.Sentence) {
	if d.bans.HasBegun() {
		return nil
	}
	s, cut, servers := g.Settings(), 0, d.contested(g)
	rules, kept, notes := lawOf(g, servers)
	*d.bans, cut = bans.Begin(bans.Setup{
		Servers: servers[:kept], Order: s.ServerOrder(), Law: rules, Maps: s.MapPool(), BestOf: s.BestOf(), Clock: s.TurnTime(),
	}, now)
	if cut > 0 {
		notes = append(notes, sentence.Of("room.bans-cut", "n", cut))
	}
	if server := d.bans.Server(); server >= 0 {
		notes = append(notes, sentence.Of("room.match-on", "server", g.Servers().Called(server)))
	} else if turn, _ := d.bans.Turn(); !rules.Decides {
		notes = append(notes, sentence.Of("room.bans", "side", s.Called(turn.Side)))
	}
	return append(notes, d.mapNotes()...)
}

// Destination returns the server that a decided match goes to, after everyone has looked at it
// again. If the server is full or gone, the next one takes its place. If all servers are full or
// gone, the match keeps the first, because a seat may become free. Destination also returns notes
// for people.
func (d *Decision) Destination(g facts.Facts) (server int, notes []sentence.Sentence) {
	g.Refresh()
	usable := slices.IndexFunc(d.Fallbacks(g), func(server int) bool { _, is := obstacle(g, server); return !is })
	for range max(0, usable) {
		before := d.bans.Server()
		cause, _ := obstacle(g, before)
		d.bans.DropServer(ranked(g))
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

// Fallbacks returns the servers that a decided match would go to, best first.
func (d *Decision) Fallbacks(g facts.Facts) []int { return d.bans.Fallbacks(ranked(g)) }

// MakeMove makes a captain's move in the turn of a number. What is a server's address, or a map's
// name. It returns notes for people.
func (d *Decision) MakeMove(g facts.Facts, by people.ID, number int, what string, now roomtime.Clocks) ([]sentence.Sentence, error) {
	turn, _ := d.bans.Turn()
	a := bans.Attempt{Number: number, By: by, What: -1}
	if turn.Kind == wire.Object {
		a.What, a.Said = d.bans.Server(), what
		if addrOf(g, a.What) == what {
			a.Said = wire.Object
		}
	} else if turn.Of == wire.OfMap {
		name := discovery.CleanText(what)
		a.What = slices.IndexFunc(d.bans.Pool(), func(other string) bool { return strings.EqualFold(other, name) })
	} else {
		for _, server := range d.bans.Servers() {
			if addrOf(g, server) == what {
				a.What = server
			}
		}
	}
	made := len(d.bans.Made())
	if err := d.bans.Move(a, g.Captain, ranked(g), now); err != nil {
		return nil, err
	}
	if len(d.bans.Made()) == made {
		return []sentence.Sentence{sentence.Of("law.note.struck", "player", by)}, nil
	}
	return d.moveNotes(g, made), nil
}

// TickBans moves for a captain who has not moved in time. It returns notes for people, and the side
// whose captain has left, if any.
func (d *Decision) TickBans(g facts.Facts, now roomtime.Clocks) (notes []sentence.Sentence, left wire.Side) {
	made := len(d.bans.Made())
	if d.bans.Tick(ranked(g), now) {
		return d.moveNotes(g, made), ""
	}
	for _, side := range d.sidesWithoutCaptain(g) {
		if len(g.Away([]people.ID{g.Captain(side)}, attendance.LeftAfter, now.Room)) > 0 {
			return nil, side
		}
	}
	return nil, ""
}

// IsCaptainAway reports whether a match waits for a captain who cannot move now.
func (d *Decision) IsCaptainAway(g facts.Facts) bool { return len(d.sidesWithoutCaptain(g)) > 0 }

// sidesWithoutCaptain returns the sides on turn whose captains cannot move now.
func (d *Decision) sidesWithoutCaptain(g facts.Facts) []wire.Side {
	turn, _ := d.bans.Turn()
	return slices.DeleteFunc(slices.Clone(turn.Sides), func(side wire.Side) bool {
		return side == "" || g.Captain(side) == "" || canMove(g, g.Captain(side))
	})
}

// Captainable returns the players who can move.
func Captainable(g facts.Facts) []people.ID {
	return people.Filtered(g.Players(), func(player people.ID) bool { return canMove(g, player) })
}

// canMove reports whether a player's program is connected, or a page is open.
func canMove(g facts.Facts, player people.ID) bool {
	one := g.Person(player)
	return one.IsHere || one.HasPage
}

// moveKeys are the keys of the notes on moves: a captain's, and the room's.
var moveKeys = map[string][2]string{
	wire.Ban: {"room.bans-ban", "room.bans-ban-late"}, wire.Pick: {"room.bans-pick", "room.bans-pick-late"},
}

// moveNotes returns notes on the moves from one on, and on what they decide.
func (d *Decision) moveNotes(g facts.Facts, from int) (notes []sentence.Sentence) {
	made := d.bans.Made()
	isAboutServers := false
	for _, m := range made[from:] {
		what := d.objectOf(g, m)
		if m.Of == wire.OfServer {
			what, isAboutServers = g.Servers().Called(m.Made.What), m.Made.Said == "" || m.Made.What != d.bans.Server()
		}
		switch by := m.Made.By; {
		case m.Made.Said != "":
			notes = append(notes, sentence.Of("law.note."+m.Kind, "player", by, "server", what))
		case by != "":
			notes = append(notes, sentence.Of(moveKeys[m.Kind][0], "player", by, "what", what))
		case m.Side == "":
			notes = append(notes, sentence.Of("law.note.admin-late", "server", what))
		default:
			notes = append(notes, sentence.Of(moveKeys[m.Kind][1], "side", g.Settings().Called(m.Side), "what", what))
		}
	}
	if server := d.bans.Server(); server >= 0 && isAboutServers {
		notes = append(notes, sentence.Of("room.match-on", "server", g.Servers().Called(server)))
	}
	return append(notes, d.mapNotes()...)
}

// mapNotes returns a note on the maps of the match, once they are decided.
func (d *Decision) mapNotes() []sentence.Sentence {
	if maps := d.bans.Maps(); len(maps) > 0 {
		return []sentence.Sentence{sentence.Of("room.match-maps", "maps", maps)}
	}
	return nil
}

// objectOf returns the object of a move: the server's address, or the map.
func (d *Decision) objectOf(g facts.Facts, made bans.Turn) string {
	if made.Of == wire.OfServer {
		return addrOf(g, made.Made.What)
	}
	return d.bans.Pool()[made.Made.What]
}

func addrOf(g facts.Facts, server int) string { return hostport.Text(g.Servers().List[server].Addr) }

// EvenDelays returns, for each player of both sides, the delays that would make the pings to a
// server even, without what exceeds the players' lines.
func EvenDelays(g facts.Facts, server int) map[people.ID]wire.Even {
	newest := g.Newest()
	at := slices.Index(ranked(g), server)
	if at < 0 {
		return nil
	}
	var named []people.ID
	var players []even.Player
	for i, side := range newest.SidesOf(newest.Players) {
		if ms, has := newest.Ranking[at].RTT[newest.Players[i]]; has && side != selection.Neither {
			named = append(named, people.ID(newest.Players[i]))
			players = append(players, even.Player{PingMS: ms - newest.Excess[newest.Players[i]], Side: side})
		}
	}
	all := map[people.ID]wire.Even{}
	for i, d := range even.Delays(players) {
		all[named[i]] = wire.Even{SidesMS: d.Sides, AllMS: d.All}
	}
	return all
}

// ViewMatch returns the match as everyone sees it, nil in a room without one.
func (d *Decision) ViewMatch(g facts.Facts, now roomtime.Clocks) *wire.Match {
	m := g.ViewMatch()
	if m == nil {
		return nil
	}
	if m.Decided, m.Play = d.bans.IsOver(), d.bans.Maps(); m.Decided {
		m.Even = people.Named(EvenDelays(g, d.bans.Server()), g.Names())
	}
	if server := d.bans.Server(); server >= 0 {
		m.Server = addrOf(g, server)
	}
	for _, server := range d.bans.Servers() {
		card := wire.MatchServer{Addr: addrOf(g, server), ServerCard: g.Card(server)}
		if at := slices.Index(ranked(g), server); at >= 0 {
			if means := g.Newest().Ranking[at].SideMeanMS; means != nil {
				card.MeansMS = [2]float64{means.A, means.B}
			}
		}
		m.Servers = append(m.Servers, card)
	}
	for _, name := range d.bans.Pool() {
		m.Maps = append(m.Maps, wire.MatchMap{Name: name})
	}
	for _, t := range d.bans.Made() {
		m.Moves = append(m.Moves, wire.Move{
			Number: t.Number, Kind: t.Kind, Of: t.Of, Side: t.Side, By: g.Names().Of(t.Made.By), What: d.objectOf(g, t), At: t.Made.At,
		})
		switch {
		case t.Of == wire.OfMap && t.Kind == wire.Pick:
			m.Maps[t.Made.What].Picked = t.Number
		case t.Of == wire.OfMap:
			m.Maps[t.Made.What].Gone = t.Number
		case t.Kind == wire.Ban:
			m.Servers[slices.Index(d.bans.Servers(), t.Made.What)].Gone = t.Number
		}
	}
	if t, is := d.bans.Turn(); is {
		m.Turn = &wire.Turn{
			Number: t.Number, Kind: t.Kind, Of: t.Of, Side: t.Side, Nth: t.Nth, Total: t.Total, Until: now.Of(t.Until),
			Blind: t.Blind, Admin: slices.Contains(t.Sides, ""),
		}
		var names []string
		for _, side := range t.Sides {
			if names = append(names, g.Names().Of(g.Captain(side))); t.Kind == wire.Object && d.bans.MayDelay(side) {
				m.Turn.Delay = names[len(names)-1]
			}
		}
		if m.Turn.Captain = names[0]; len(names) > 1 {
			m.Turn.Captain, m.Turn.Captains = "", names
		}
	}
	for i, server := range d.bans.Venues() {
		card, at := g.Card(server), hostport.Text(g.Servers().Connect(server))
		m.Venues = append(m.Venues, wire.MatchPlace{Name: card.Name, Connect: at, Country: card.Country})
		if i < len(m.Play) {
			m.Venues[i].Map = m.Play[i]
		}
	}
	m.Law = d.viewLaw(g, m)
	return m
}
