// Package anomaly finds the players whose reported RTTs fit nobody else's: made
// up to send the group somewhere, or spoilt by a broken line.
package anomaly

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
)

// Sign is what makes a player's report anomalous.
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

// leastServers is from how many servers on a report is judged.
const leastServers = 8

// Anomaly is a reason not to let a player's report decide for the others. It is
// shown to people, who may know better: a broken line looks like a lie.
type Anomaly struct {
	Player string `json:"player"`
	Sign   Sign   `json:"sign"`
	// Servers is how many servers show it, of how many that could.
	Servers int `json:"servers"`
	Of      int `json:"of"`
	// Addr is the server that the report favours, or the only one it has.
	Addr netip.AddrPort `json:"addr,omitzero"`
}

// String is the anomaly as a sentence.
func (a Anomaly) String() string {
	name := discovery.CleanText(a.Player)
	switch a.Sign {
	case Constant:
		return fmt.Sprintf("%s reports one and the same ping for %d of %d servers.", name, a.Servers, a.Of)
	case FavoursOne:
		return fmt.Sprintf("%s reports one and the same ping for %d of %d servers, but a low one for %s.",
			name, a.Servers, a.Of, a.Addr)
	case AnswersFew:
		return fmt.Sprintf("%s has pings for %d of %d servers that others reach.", name, a.Servers, a.Of)
	}
	return fmt.Sprintf("%s's pings for %d of %d servers fit nobody else's.", name, a.Servers, a.Of)
}

// Table is what each player measured of each server, as in selection.Table.
type Table interface {
	Players() []string
	Servers() int
	At(player, server int) (discovery.State, time.Duration)
}

// Find judges all players' reports on the servers of a list. It makes sense once
// everybody has measured some servers.
func Find(list []discovery.Server, table Table) []Anomaly {
	var found []Anomaly
	r := newReports(list, table)
	g := newGeometry(r)
	for player, name := range r.players {
		a, anomalous := r.constant(player)
		if !anomalous {
			a, anomalous = r.answersFew(player)
		}
		if !anomalous {
			a, anomalous = g.contradicted(player)
		}
		if anomalous {
			a.Player = name
			found = append(found, a)
		}
	}
	return found
}

// Exclude returns the players whose numbers are to count: those without
// anomalies, as long as they are the most. Otherwise nobody can tell who is
// right, and all count.
func Exclude(players []string, found []Anomaly) []string {
	anomalous := func(name string) bool {
		return slices.ContainsFunc(found, func(a Anomaly) bool { return a.Player == name })
	}
	rest := slices.DeleteFunc(slices.Clone(players), anomalous)
	if 2*len(rest) <= len(players) {
		return players
	}
	return rest
}

// reports are what the players measured of the servers that anybody measured.
type reports struct {
	players []string
	addrs   []netip.AddrPort
	// columns are each player's cells, by server.
	columns [][]cell
	// answered is how many players have an RTT of each server.
	answered []int
}

// cell is an RTT in microseconds, or one of the states without one.
type cell int64

const (
	unprobed cell = 0
	failed   cell = -1
)

func (c cell) answered() bool { return c > 0 }

func newReports(list []discovery.Server, table Table) *reports {
	r := &reports{players: table.Players(), columns: make([][]cell, len(table.Players()))}
	row := make([]cell, len(r.players))
	for server := range table.Servers() {
		answered, measured := 0, false
		for player := range row {
			state, rtt := table.At(player, server)
			row[player] = cellOf(state, rtt)
			measured = measured || row[player] != unprobed
			if row[player].answered() {
				answered++
			}
		}
		if measured {
			for player, c := range row {
				r.columns[player] = append(r.columns[player], c)
			}
			r.addrs, r.answered = append(r.addrs, list[server].Addr), append(r.answered, answered)
		}
	}
	return r
}

func cellOf(state discovery.State, rtt time.Duration) cell {
	switch state {
	case discovery.Answered:
		return cell(max(1, rtt.Microseconds()))
	case discovery.Lost, discovery.Refused:
		return failed
	}
	return unprobed
}

const (
	// constantShare is which share of a report one RTT makes up if it is constant.
	constantShare = 0.9
	// spread is by how many microseconds another player's RTTs to the same servers
	// must differ: nobody has a network whose servers are all equally far.
	spread = 20_000
)

// constant looks for one RTT that makes up nearly all of a report, while
// somebody else sees those servers spread.
func (r *reports) constant(player int) (Anomaly, bool) {
	column := r.columns[player]
	usual := majority(column)
	a := Anomaly{Sign: Constant}
	nearest, nearer := cell(0), 0
	for server, c := range column {
		if !c.answered() {
			continue
		}
		a.Of++
		if c == usual {
			a.Servers++
		}
		if c < usual {
			if nearer++; nearer == 1 || c < nearest {
				nearest, a.Addr = c, r.addrs[server]
			}
		}
	}
	if a.Of < leastServers || float64(a.Servers) < constantShare*float64(a.Of) || !r.spreadForOthers(player, usual) {
		return a, false
	}
	if nearer > 0 {
		a.Sign = FavoursOne
	}
	return a, true
}

// majority is the RTT that more than half of the answers have, if there is one
// (Boyer and Moore's vote: every other answer cancels one of the majority).
func majority(column []cell) (usual cell) {
	lead := 0
	for _, c := range column {
		switch {
		case !c.answered():
		case lead == 0:
			usual, lead = c, 1
		case c == usual:
			lead++
		default:
			lead--
		}
	}
	return usual
}

// spreadForOthers reports whether another player's RTTs differ among the servers
// for which one player reports the same.
func (r *reports) spreadForOthers(player int, same cell) bool {
	for witness, column := range r.columns {
		if witness == player {
			continue
		}
		low, high := cell(0), cell(0)
		for server, c := range column {
			if r.columns[player][server] == same && c.answered() {
				if low == 0 || c < low {
					low = c
				}
				high = max(high, c)
			}
		}
		if high-low >= spread {
			return true
		}
	}
	return false
}

// fewShare is which share of the asked servers answer a report that has next to
// none: the reciprocal, in servers.
const fewShare = 10

// answersFew looks for a report that has an RTT for at most one server, or a
// tenth of the asked ones, of those that somebody else reaches.
func (r *reports) answersFew(player int) (Anomaly, bool) {
	a := Anomaly{Sign: AnswersFew}
	asked := 0
	for server, c := range r.columns[player] {
		others := r.answered[server]
		if c.answered() {
			others--
		}
		if others == 0 {
			continue
		}
		a.Of++
		if c != unprobed {
			asked++
		}
		if c.answered() {
			a.Servers++
			a.Addr = r.addrs[server]
		}
	}
	if a.Servers != 1 {
		a.Addr = netip.AddrPort{}
	}
	return a, a.Of >= leastServers && a.Servers <= max(1, asked/fewShare)
}
