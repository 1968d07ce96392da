// Package anomaly finds players whose reported RTTs fit nobody else's. The players made them up to
// steer the group, or their line is broken.
//
// # Model
//
// One player's report can decide where everybody plays: a report of 1 ms for one server and 9,999
// for all others chooses that server. A plausible lie cannot be told from the truth. But a crude
// one shows. It may show in the report itself, such as one RTT for every server or almost no RTTs,
// where others see servers near and far. Or it shows beside other reports. RTTs are nearly a
// metric. Two players are no farther apart than the shortest way between them through a server that
// both have an RTT of,
//
//	d(p, q) = min over s of rtt(p, s) + rtt(q, s)
//
// and with a server close to one of them that is nearly the truth. So each other player q who has
// an RTT of a server s bounds what p can see of it:
//
//	rtt(q, s)/detour − d(p, q) − slack ≤ rtt(p, s) ≤ detour·(d(p, q) + rtt(q, s)) + slack
//
// q may be the liar. So the tightest bounds are dropped: one, or three in groups of twelve and
// more. The worst liar found is removed as a witness, and the others are judged again. Players who
// share one player's measurements are one witness. A report is anomalous if significantly more of
// it than the share suspicious lies outside the bounds. A single network counts as a small part of
// a report, however many servers it has, because the way to it may be a detour. If hardly any RTT
// outside is too short, or too long by more than longestDetour, the cause may be a slow line, and
// the anomaly says so. Nobody can tell that from a lie, but the part of each RTT that the tightest
// bounds allow is certain ([Credible]).
//
// Every list has dead servers, and they are free decoys: a player with RTTs of servers that are
// silent for everybody else did not probe them.
//
// Another player's RTTs times a factor fit everybody's. But no line multiplies, so they are a copy.
// A copy with a constant difference, or none, looks like a player next door and is not found.
//
// One RTT alone is too little for that. Its neighbours, servers that look the same to everybody
// else, tell whether a player is really that near to it ([Alone]).
//
// Servers may lie, too: one that answers before it is asked makes all players look like neighbours.
// [TooNear] finds those with the same triangle.
//
// # Where the numbers come from
//
// detour, slack and suspicious are fitted to PlanetLab's round trips: of honest players there 99 of
// 100 have up to 17 % outside, and made-up numbers have 23 % and more. The others are chosen. One
// liar of 4, 8 or 16 is named in 1,438 of 1,440 searches, an honest player in none of 1,680
// (bench/experiments/liars.md):
//
//	go -C bench test ./simulated -run TestLiarSweep -v -timeout 0 -liar-worlds 40
//
// Of WonderNetwork's 233 cities no pair looks like a copy (bench/simulated, TestNoCopies).
package anomaly

import (
	"iter"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
)

// Sign is the reason why a player's report is anomalous.
type Sign string

// These are the signs. Most of them are traces of the cheap attacks on a group's choice.
const (
	// Constant means that nearly all RTTs are the same to the microsecond, while others see the
	// same servers at various distances. All 0 and all 9999 are examples.
	Constant Sign = "constant"
	// FavoursOne is Constant except for a few servers that are nearer.
	FavoursOne Sign = "favours-one"
	// Everywhere means that nearly all servers seem next door, while others see them far apart. No
	// packet is that fast.
	Everywhere Sign = "everywhere"
	// AnswersFew means that almost no server answered, though others reach them.
	AnswersFew Sign = "answers-few"
	// AnswersDead means that servers answered that are silent for everybody else, though others
	// reach the same networks. The player did not probe them.
	AnswersDead Sign = "answers-dead"
	// SilentBest means that most servers that all others would prefer were silent, in several
	// networks and again in a second look, while others answered. [Find] does not find it, because
	// it depends on a choice.
	SilentBest Sign = "silent-best"
	// Geometry means that the RTTs contradict the distances between the players that follow from
	// everybody's RTTs.
	Geometry Sign = "geometry"
	// Slow means that they contradict them as a bad line's RTTs do: they are longer than those
	// distances allow, but by no more than a detour over another continent.
	Slow Sign = "slow"
	// Nearer means that the player is near to a server, and far from the servers that look the same
	// to everybody else. [Alone] finds it, not [Find].
	Nearer Sign = "nearer"
	// Copied means that the report is another player's times a factor, which no line has.
	Copied Sign = "copied"
	// Contradicts means that the player reports other facts about servers than most players who
	// heard from them. [Find] knows RTTs only and does not find it.
	Contradicts Sign = "contradicts"
)

// signs are all of them.
var signs = []Sign{
	Constant, FavoursOne, Everywhere, AnswersFew, AnswersDead, SilentBest, Geometry, Slow, Nearer, Copied, Contradicts,
}

// minServers is the fewest servers that a report must cover before it is judged.
const minServers = 8

// Anomaly is a reason not to let a player's report decide for the others. People see it and may
// know better: a broken line looks like a lie.
type Anomaly struct {
	Player string `json:"player"`
	// Other is the player whose report it is, or who copied it, if it is Copied.
	Other string `json:"other,omitempty"`
	Sign  Sign   `json:"sign"`
	// Servers is how many servers show it, of those that could.
	Servers int `json:"servers"`
	Of      int `json:"of"`
	// Addr is the server that the report favours, or the only one in it.
	Addr hostport.AddrPort `json:"addr,omitzero"`
}

// Sentence describes the anomaly, without a full stop.
func (a Anomaly) Sentence() sentence.Sentence {
	key := "doubt." + string(a.Sign)
	if !slices.Contains(signs, a.Sign) {
		key = "doubt.geometry" // of a newer version
	}
	pairs := []any{"player", a.Player, "n", a.Servers, "of", a.Of}
	if a.Sign == FavoursOne || a.Sign == Nearer {
		pairs = append(pairs, "server", a.Addr)
	}
	if a.Sign == Copied {
		pairs = append(pairs, "other", a.Other)
	}
	return sentence.Of(key, pairs...)
}

// Table holds what each player measured of each server, like selection.Table.
type Table interface {
	Players() []string
	Servers() int
	Measured() iter.Seq[int]
	At(player, server int) (discovery.State, time.Duration)
	// Late returns how late a player's timers fire, according to the player's program.
	Late(player int) time.Duration
}

// Find judges all players' reports on the servers of a list. Call it once everybody has measured
// some servers. A player whose report shows a sign by itself is not a witness against others. Nor
// is the player who contradicts the witnesses most. That player is removed and the rest are judged
// again, one after the other, because two liars would make honest players look like liars.
//
// Servers that are impossibly near (see [TooNear]) are left out: by way of one that lies, all
// players would be neighbours.
func Find(list []discovery.Server, table Table) []Anomaly {
	noises := noises(list, table)
	r := newReports(list, table, noises, tooNear(list, table, noises, false))
	found := make([]*Anomaly, len(r.players))
	for player := range r.players {
		for _, judge := range []func(int) (Anomaly, bool){r.constant, r.answersFew, r.answersDead} {
			if a, anomalous := judge(player); anomalous {
				found[player] = &a
				break
			}
		}
	}
	var witnesses []int
	for player := range r.players {
		if found[player] == nil {
			witnesses = append(witnesses, player)
		}
	}
	for _, a := range r.copies(witnesses) {
		found[slices.Index(r.players, a.Player)] = &a
	}
	witnesses = slices.DeleteFunc(witnesses, func(player int) bool { return found[player] != nil })
	g := newGeometry(r, witnesses)
	judged := make([]*Anomaly, len(r.players)) // by the remaining witnesses
	judge := func(player int) {
		judged[player] = nil
		if a, anomalous := g.contradicted(player); anomalous {
			judged[player] = &a
		}
	}
	for _, player := range witnesses {
		judge(player)
	}
	for {
		worst, most := -1, 0.0
		for _, player := range witnesses {
			a := judged[player]
			if a == nil {
				continue
			}
			if share := float64(a.Servers) / float64(a.Of); share > most {
				worst, most = player, share
			}
			if len(witnesses) == 2 { // nobody can tell who is right
				found[player] = a
			}
		}
		if worst < 0 || len(witnesses) == 2 {
			break
		}
		found[worst] = judged[worst]
		witnesses = slices.DeleteFunc(witnesses, func(player int) bool { return player == worst })
		for _, player := range g.without(worst) {
			judge(player)
		}
	}
	var all []Anomaly
	for player, a := range found {
		if a != nil {
			a.Player = r.players[player]
			all = append(all, *a)
		}
	}
	return all
}

// Credible returns, for the last player of a table, the highest believable RTT to a server, if the
// others are honest. It is the player's RTT, but no more than their tightest triangle allows. If
// the player did not measure the server it is that bound, or 0 if the others did not measure it
// either.
func Credible(list []discovery.Server, table Table) func(server int) time.Duration {
	r := newReports(list, table, noises(list, table), nil)
	var all []int
	for i := range r.players {
		all = append(all, i)
	}
	g, player := newGeometry(r, all), len(all)-1
	return func(server int) time.Duration {
		row := slices.Index(r.addrs, list[server].Addr)
		if row < 0 {
			return 0
		}
		rtt := max(0, r.columns[player][row])
		if _, high := g.triangles(player, row, nil, nil); len(high) > 0 && (rtt == 0 || float64(rtt) > high[0]) {
			rtt = int64(high[0])
		}
		return time.Duration(rtt) * time.Microsecond
	}
}

// Exclude returns the players whose numbers count: those without anomalies, as long as they are the
// majority. Otherwise nobody can tell who is right, and all count.
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

// reports holds what the players measured of the servers that anybody measured.
type reports struct {
	players []string
	addrs   []netip.AddrPort
	// columns are each player's RTTs in microseconds, by server: 0 is unprobed, and
	// failed is no answer.
	columns [][]int64
	// answered is how many players have an RTT of each server.
	answered []int
	// networks are the servers' ASes, 0 where unknown, and reached says which of them answer a
	// player.
	networks []uint32
	reached  []map[uint32]bool
	noises   []noise
}

const failed = -1

// newReports reads the table and leaves out the servers that lie.
func newReports(list []discovery.Server, table Table, noises []noise, liars []int) *reports {
	r := &reports{
		players: table.Players(),
		columns: make([][]int64, len(table.Players())),
		reached: make([]map[uint32]bool, len(table.Players())),
		noises:  noises,
	}
	for player := range r.reached {
		r.reached[player] = map[uint32]bool{}
	}
	row := make([]int64, len(r.players))
	for server := range table.Measured() {
		if len(liars) > 0 && liars[0] == server {
			liars = liars[1:]
			continue
		}
		answered, measured := 0, false
		for player := range row {
			state, rtt := table.At(player, server)
			measured = measured || state != discovery.Unprobed
			switch row[player] = 0; state {
			case discovery.Answered:
				row[player] = max(1, rtt.Microseconds())
				answered++
			case discovery.Lost, discovery.Refused, discovery.Forbidden:
				row[player] = failed
			}
		}
		if measured {
			network := list[server].ASN
			for player, c := range row {
				r.columns[player] = append(r.columns[player], c)
				if c > 0 && network != 0 {
					r.reached[player][network] = true
				}
			}
			r.networks = append(r.networks, network)
			r.addrs, r.answered = append(r.addrs, list[server].Addr), append(r.answered, answered)
		}
	}
	return r
}

const (
	// constantShare is the share of a report that one RTT makes up if the report is constant.
	constantShare = 0.9
	// spread is how many microseconds another player's RTTs to the same servers must differ by. In
	// no network are all servers equally far.
	spread = 20_000
	// nextDoor is the longest RTT, in microseconds, to a server next door. Two such servers are
	// never farApart for anybody, whatever the detour. Momentary delays make at most a tenth of
	// them look farther.
	nextDoor = 5_000
	farApart = detour*2*nextDoor + slack
)

// constant looks for one RTT that makes up nearly all of a report, or for a report with hardly any
// RTT above nothing, while another player sees those servers spread.
func (r *reports) constant(player int) (Anomaly, bool) {
	column := r.columns[player]
	// An RTT that more than half of the answers share wins Boyer and Moore's vote: every other
	// answer cancels one of the majority.
	usual, lead := int64(0), 0
	for _, rtt := range column {
		switch {
		case rtt <= 0:
		case lead == 0:
			usual, lead = rtt, 1
		case rtt == usual:
			lead++
		default:
			lead--
		}
	}
	a, near := Anomaly{Sign: Constant}, 0
	nearest := usual
	for server, rtt := range column {
		if rtt <= 0 {
			continue
		}
		a.Of++
		if rtt <= nextDoor {
			near++
		}
		if rtt == usual {
			a.Servers++
		}
		if rtt < nearest {
			nearest, a.Addr = rtt, hostport.At(r.addrs[server])
		}
	}
	switch enough := constantShare * float64(a.Of); {
	case a.Of < minServers:
		return a, false
	case float64(a.Servers) >= enough && r.isSpread(player, usual):
	case float64(near) >= enough && r.areFarApart(player):
		return Anomaly{Sign: Everywhere, Servers: near, Of: a.Of}, true
	default:
		return a, false
	}
	if nearest < usual {
		a.Sign = FavoursOne
	}
	return a, true
}

// isSpread reports whether another player's RTTs differ among the servers that have the same RTT
// for one player.
func (r *reports) isSpread(player int, same int64) bool {
	for witness, column := range r.columns {
		low, high := int64(math.MaxInt64), int64(0)
		for server, rtt := range column {
			if r.columns[player][server] == same && rtt > 0 {
				low, high = min(low, rtt), max(high, rtt)
			}
		}
		if witness != player && high-low >= spread {
			return true
		}
	}
	return false
}

// areFarApart reports whether another player sees the servers far apart that look next door to this
// one.
func (r *reports) areFarApart(player int) bool {
	for witness, column := range r.columns {
		var rtts []int64
		for server, rtt := range column {
			if near := r.columns[player][server]; near > 0 && near <= nextDoor && rtt > 0 {
				rtts = append(rtts, rtt)
			}
		}
		slices.Sort(rtts)
		if few := len(rtts) / 10; witness != player && len(rtts) >= minServers && rtts[len(rtts)-1-few]-rtts[few] >= farApart {
			return true
		}
	}
	return false
}

// fewShare says when almost no server answers a report: at most one in fewShare of the servers
// asked.
const fewShare = 10

// answersFew looks for a report that has an RTT for at most one server, or a tenth of the servers
// it asked, counting servers that another player reaches.
func (r *reports) answersFew(player int) (Anomaly, bool) {
	a := Anomaly{Sign: AnswersFew}
	asked := 0
	for server, rtt := range r.columns[player] {
		switch others := r.answered[server]; {
		case rtt > 0 && others > 1:
			a.Servers++
			a.Addr = hostport.At(r.addrs[server])
		case rtt > 0 || others == 0:
			continue
		}
		a.Of++
		if rtt != 0 {
			asked++
		}
	}
	if a.Servers != 1 {
		a.Addr = hostport.AddrPort{}
	}
	return a, a.Of >= minServers && a.Servers <= max(1, asked/fewShare)
}

const (
	// minDead is the fewest dead servers that judge a report. An honest report lacks more than
	// one in fewDead of them.
	minDead = 4
	fewDead = 4
)

// answersDead looks for a report that has RTTs of most of the dead servers: decoys that every list
// has for free. A player whom a whole network does not answer is no witness, because it may answer
// other players. Nor is another liar.
func (r *reports) answersDead(player int) (Anomaly, bool) {
	a := Anomaly{Sign: AnswersDead}
	for server, rtt := range r.columns[player] {
		if rtt == 0 || r.networks[server] == 0 {
			continue
		}
		silent, answered := 0, 0
		for other, column := range r.columns {
			switch {
			case other == player:
			case column[server] > 0:
				answered++
			case column[server] == failed && r.reached[other][r.networks[server]]:
				silent++
			}
		}
		// If all possible liars and one more say nothing, a living server could look dead, and an
		// honest player like a liar.
		if liars := r.liars(); silent < liars+2 || answered > liars {
			continue
		}
		a.Of++
		if rtt > 0 {
			a.Servers++
		}
	}
	return a, a.Of >= minDead && fewDead*(a.Of-a.Servers) <= a.Of
}
