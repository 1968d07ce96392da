package selection

import (
	"math"
	"slices"

	"muster/discovery/hostport"
	"muster/selection/rules"
)

// Kind is what sets a choice apart from the others in a vote.
type Kind string

// These are the kinds. The pick of the room's rule has the first of them that is true of it.
const (
	Lowest  Kind = "average"  // the lowest average
	Fairest Kind = "fairest"  // the players' pings lie closest together
	Kindest Kind = "kindest"  // the lowest worst ping
	ForMost Kind = "for-most" // more than half of the players have their own best ping there
	OfOurs  Kind = "ours"     // one of the group's own
	ByOwn   Kind = "rule"     // the pick of a rule that none of the others describes
	Also    Kind = "also"     // nothing any more
)

const (
	// apartMS is how far a choice has to be from all others in what it is named for, in ms. Nobody
	// feels less.
	apartMS = 5
	// maxChoices is how many choices people compare at once.
	maxChoices = 4
)

// Alternative is a server that is worth a vote, because it differs from the others in a way that
// players feel.
type Alternative struct {
	Addr hostport.AddrPort `json:"addr"`
	Kind Kind              `json:"kind"`
	// GainMS is the figure that the kind is named after: the average, the span of the pings, or the
	// worst ping. A kind without a figure has 0.
	GainMS float64 `json:"gain_ms,omitempty"`
	// Players is how many have their own best ping there, if the kind is named after that.
	Players int `json:"players,omitempty"`
	// Payer is the player who pays most for it, and CostMS how much: against the pick, or, for the
	// pick itself, against the best that another choice offers. Nobody pays half a millisecond.
	Payer  string  `json:"payer,omitempty"`
	CostMS float64 `json:"cost_ms,omitempty"`
	// Server is the index in the list.
	Server int `json:"-"`
}

// Alternatives returns the choices that are worth a vote, at most four: the pick of the rule first, then
// the others in the order of the kinds. Each is at least 5 ms better than all others in what it is
// named for, and no server comes twice. A single choice is the best in every way.
//
// Each kind offers its best server. The fairest may not be worse for the worst off than the pick,
// and somebody has to gain by it: else it would be fair by being bad for all.
func Alternatives(by Rule, pick Ranked, ranking []Ranked) []Alternative {
	d := &differing{pick: pick, all: ranking, own: ownBests(ranking)}
	first := Alternative{Kind: ByOwn}
	for kind, rule := range named {
		if rules.Of(by).Measure == rule && d.isBest(kind, pick) {
			first.Kind = kind
		}
	}
	if first.Kind == ByOwn && pick.Ours {
		first.Kind = OfOurs
	}
	d.take(first.Kind, pick)
	for _, kind := range []Kind{Lowest, Fairest, Kindest, ForMost, OfOurs} {
		if kind != first.Kind && len(d.taken) < maxChoices {
			d.offer(kind)
		}
	}
	return d.described()
}

// named are the rules whose pick has a kind of its own.
var named = map[Kind]Rule{Lowest: Mean, Fairest: Fairness, Kindest: Minimax}

// differing collects the choices.
type differing struct {
	pick  Ranked
	all   []Ranked
	own   map[string]float64
	taken []taken
}

// taken is a choice with its kind.
type taken struct {
	Kind
	Ranked
}

func (d *differing) take(kind Kind, r Ranked) { d.taken = append(d.taken, taken{kind, r}) }

// offer takes the best server of a kind, if it differs enough from the choices so far, and leaves
// each of them its name.
func (d *differing) offer(kind Kind) {
	best := -1
	for i, r := range d.all {
		if r.Server != d.pick.Server && d.may(kind, r) && (best < 0 || d.figure(kind, r) < d.figure(kind, d.all[best])) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	r := d.all[best]
	for i, other := range d.taken {
		switch {
		case other.Server == r.Server:
			return
		case !d.isApart(kind, r, other.Ranked):
			return
		case i > 0 && !d.isApart(other.Kind, other.Ranked, r):
			return
		}
	}
	d.take(kind, r)
}

// may reports whether a server may stand for a kind.
func (d *differing) may(kind Kind, r Ranked) bool {
	switch kind {
	case Fairest:
		return r.MaxMS <= d.pick.MaxMS && d.gains(r)
	case ForMost:
		return 2*d.bests(r, nil) > len(r.RTT)
	case OfOurs:
		return r.Ours
	}
	return true
}

// gains reports whether a player feels that a server is nearer than the pick.
func (d *differing) gains(r Ranked) bool {
	for name, ms := range r.RTT {
		if d.pick.RTT[name]-ms >= apartMS {
			return true
		}
	}
	return false
}

// figure is what a kind minimises. Of the group's own, the ranking's first is the best.
func (d *differing) figure(kind Kind, r Ranked) float64 {
	switch kind {
	case Lowest:
		return r.MeanMS
	case Fairest:
		return r.spanMS()
	case Kindest:
		return r.MaxMS
	case ForMost:
		return -float64(d.bests(r, nil))
	}
	return 0
}

// isApart reports whether a server of a kind is clearly better than another in what the kind is
// named for.
func (d *differing) isApart(kind Kind, r, other Ranked) bool {
	switch kind {
	case ForMost:
		return 2*d.bests(r, &other) > len(r.RTT)
	case OfOurs:
		return !other.Ours
	}
	return d.figure(kind, other)-d.figure(kind, r) >= apartMS
}

// isBest reports whether no server is clearly better than one in what a kind is named for.
func (d *differing) isBest(kind Kind, r Ranked) bool {
	return !slices.ContainsFunc(d.all, func(other Ranked) bool { return d.may(kind, other) && d.isApart(kind, other, r) })
}

// bests returns how many players have about their own best ping at a server, and, if there is
// another server, feel that there.
func (d *differing) bests(r Ranked, other *Ranked) (n int) {
	for name, ms := range r.RTT {
		if ms < d.own[name]+apartMS && (other == nil || other.RTT[name]-ms >= apartMS) {
			n++
		}
	}
	return n
}

// described returns the choices with what they gain and cost.
func (d *differing) described() (all []Alternative) {
	for i, t := range d.taken {
		a := Alternative{Addr: t.Addr, Server: t.Server, Kind: t.Kind}
		switch t.Kind {
		case ForMost:
			a.Players = d.bests(t.Ranked, nil)
		case Lowest, Fairest, Kindest:
			a.GainMS = tenths(d.figure(t.Kind, t.Ranked))
		}
		against := d.pick.RTT
		if i == 0 {
			against = d.minElsewhere()
		}
		a.Payer, a.CostMS = payer(t.RTT, against)
		all = append(all, a)
	}
	return all
}

// AlternativeOf returns a server that was worth a vote, as it compares with the pick now.
func AlternativeOf(r, pick Ranked) Alternative {
	a := Alternative{Addr: r.Addr, Server: r.Server, Kind: Also}
	a.Payer, a.CostMS = payer(r.RTT, pick.RTT)
	return a
}

// minElsewhere returns each player's lowest ping to the choices besides the pick.
func (d *differing) minElsewhere() map[string]float64 {
	var others []Ranked
	for _, t := range d.taken[1:] {
		others = append(others, t.Ranked)
	}
	return ownBests(others)
}

// payer returns the player whose ping is above another by most, and by how much: the first by name
// of several. Nobody pays what nobody sees.
func payer(pings, against map[string]float64) (name string, ms float64) {
	for player, ping := range pings {
		than, has := against[player]
		if more := tenths(ping - than); has && (more > ms || more == ms && player < name) {
			name, ms = player, more
		}
	}
	if math.Round(ms) < 1 {
		return "", 0
	}
	return name, ms
}

// ownBests returns each player's lowest ping to some servers.
func ownBests(all []Ranked) map[string]float64 {
	own := map[string]float64{}
	for _, r := range all {
		for name, ms := range r.RTT {
			if best, has := own[name]; !has || ms < best {
				own[name] = ms
			}
		}
	}
	return own
}

// spanMS is by how much the highest ping exceeds the lowest.
func (r Ranked) spanMS() float64 {
	least := r.MaxMS
	for _, ms := range r.RTT {
		least = min(least, ms)
	}
	return r.MaxMS - least
}

func tenths(ms float64) float64 { return math.Round(10*ms) / 10 }
