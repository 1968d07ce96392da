package selection

import (
	"fmt"
	"net/netip"
	"slices"
)

// Sign is what makes a player's report doubtful.
type Sign string

// The signs, and what they look like (the cheap attacks on a group's choice).
const (
	// Constant: nearly all RTTs are the same to the microsecond, while others
	// see the same servers at all distances. All 0 and all 9999 are of this kind.
	Constant Sign = "constant"
	// FavoursOne: the same, but for a few servers that are nearer.
	FavoursOne Sign = "favours-one"
	// AnswersFew: next to no server answered, though others reach them.
	AnswersFew Sign = "answers-few"
	// Geometry: the RTTs contradict the distances between the players, as far as
	// those follow from everybody's RTTs.
	Geometry Sign = "geometry"
)

// A report is judged from so many servers on.
const leastServers = 8

// Doubt is a reason not to let a player's report decide for the others. It is
// shown to people, who may know better: a broken line looks like a lie.
type Doubt struct {
	Player string `json:"player"`
	Sign   Sign   `json:"sign"`
	// Servers is how many servers show it, of how many that could.
	Servers int `json:"servers"`
	Of      int `json:"of"`
	// Addr is the server that the report favours, or the only one it has.
	Addr netip.AddrPort `json:"addr,omitzero"`
}

// String is the doubt as a sentence.
func (d Doubt) String() string {
	name := person(d.Player)
	switch d.Sign {
	case Constant:
		return fmt.Sprintf("%s reports one and the same RTT for %d of %d servers.", name, d.Servers, d.Of)
	case FavoursOne:
		return fmt.Sprintf("%s reports one and the same RTT for %d of %d servers, but a low one for %s.",
			name, d.Servers, d.Of, d.Addr)
	case AnswersFew:
		return fmt.Sprintf("%s has RTTs for %d of %d servers that others reach.", name, d.Servers, d.Of)
	}
	return fmt.Sprintf("%s's RTTs for %d of %d servers fit nobody else's.", name, d.Servers, d.Of)
}

// Doubts judges all reports. It makes sense once everybody has measured some
// servers.
func Doubts(servers Servers, table *Table) []Doubt {
	var doubts []Doubt
	g := newGeometry(table)
	for player, name := range table.players {
		d, doubtful := constant(servers, table, player)
		if !doubtful {
			d, doubtful = answersFew(servers, table, player)
		}
		if !doubtful {
			d, doubtful = g.contradicted(player)
		}
		if doubtful {
			d.Player = name
			doubts = append(doubts, d)
		}
	}
	return doubts
}

// Trusted are the players whose numbers are to count: those without doubts, as
// long as they are the most. Otherwise nobody can tell who is right, and all
// count.
func Trusted(players []string, doubts []Doubt) []string {
	doubtful := func(name string) bool {
		return slices.ContainsFunc(doubts, func(d Doubt) bool { return d.Player == name })
	}
	trusted := slices.DeleteFunc(slices.Clone(players), doubtful)
	if 2*len(trusted) <= len(players) {
		return players
	}
	return trusted
}

// constant looks for one RTT that makes up nine tenths of a report, while
// somebody else sees those servers spread over 20 ms or more.
func constant(servers Servers, table *Table, player int) (Doubt, bool) {
	column := table.column(player)
	usual := majority(column)
	d := Doubt{Sign: Constant}
	nearest, nearer := cell(0), 0
	for server, c := range column {
		if !c.answered() {
			continue
		}
		d.Of++
		if c == usual {
			d.Servers++
		}
		if c < usual {
			if nearer++; nearer == 1 || c < nearest {
				nearest, d.Addr = c, servers.List[server].Addr
			}
		}
	}
	if d.Of < leastServers || d.Servers*10 < d.Of*9 || !spreadForOthers(table, player, usual) {
		return d, false
	}
	if nearer > 0 {
		d.Sign = FavoursOne
	}
	return d, true
}

// majority is the RTT that more than half of the answers have, if there is one
// (Boyer and Moore's vote: every other answer cancels one of the majority).
func majority(column []cell) (leader cell) {
	lead := 0
	for _, c := range column {
		switch {
		case !c.answered():
		case lead == 0:
			leader, lead = c, 1
		case c == leader:
			lead++
		default:
			lead--
		}
	}
	return leader
}

// spreadForOthers tells whether another player's RTTs differ by 20 ms among the
// servers for which one player reports the same.
func spreadForOthers(table *Table, player int, same cell) bool {
	const spread = 20_000 // microseconds
	column := table.column(player)
	for witness := range table.players {
		if witness == player {
			continue
		}
		low, high := lost, cell(0)
		for server, c := range table.column(witness) {
			if column[server] == same && c.answered() {
				low, high = min(low, c), max(high, c)
			}
		}
		if high > low && high-low >= spread {
			return true
		}
	}
	return false
}

// answersFew looks for a report that has an RTT for at most one server, or a
// tenth of the asked ones, of those that somebody else reaches.
func answersFew(servers Servers, table *Table, player int) (Doubt, bool) {
	d := Doubt{Sign: AnswersFew}
	asked := 0
	for server, c := range table.column(player) {
		others := table.sums[server].answered
		if c.answered() {
			others--
		}
		if others == 0 {
			continue
		}
		d.Of++
		if c != unprobed {
			asked++
		}
		if c.answered() {
			d.Servers++
			d.Addr = servers.List[server].Addr
		}
	}
	if d.Servers != 1 {
		d.Addr = netip.AddrPort{}
	}
	return d, d.Of >= leastServers && d.Servers <= max(1, asked/10)
}
