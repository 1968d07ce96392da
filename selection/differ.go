package selection

import (
	"cmp"
	"maps"
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
	// minApart is how far a choice has to be from all others in the figure that its kind is named
	// after, in microseconds. Nobody feels a smaller difference.
	minApart = 5 * microseconds
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
func Alternatives(by Rule, pick Ranked, ranking []Ranked) (all []Alternative) {
	names := slices.Sorted(maps.Keys(pick.RTT))
	f, choices := &field{pick: choiceOf(pick, names)}, []choice{}
	for _, r := range ranking {
		choices = append(choices, choiceOf(r, names))
		f.add(choices[len(choices)-1])
	}
	taken, others := []offer{{f.kindOf(by, choices), f.pick}}, &field{}
	all = append(all, f.alternative(taken[0], pick))
	for _, k := range kinds {
		best := -1
		for i, c := range choices {
			if ranking[i].Server != pick.Server && k.may(f, c) && (best < 0 || k.figure(f, c) < k.figure(f, choices[best])) {
				best = i
			}
		}
		if best < 0 || k.Kind == taken[0].Kind || len(taken) == maxChoices || !f.differs(offer{k, choices[best]}, taken) {
			continue
		}
		o := offer{k, choices[best]}
		taken = append(taken, o)
		others.add(o.choice)
		a := f.alternative(o, ranking[best])
		a.Payer, a.CostMS = payer(names, o.rtts, f.pick.rtts)
		all = append(all, a)
	}
	all[0].Payer, all[0].CostMS = payer(names, f.pick.rtts, others.own)
	return all
}

func (f *field) kindOf(by Rule, choices []choice) kind {
	for _, k := range kinds {
		isBeaten := func(c choice) bool { return k.may(f, c) && f.isApart(k, c, f.pick) }
		if k.rule == rules.Of(by).Measure && !slices.ContainsFunc(choices, isBeaten) {
			return k
		}
	}
	if f.pick.isOurs {
		return kind{Kind: OfOurs}
	}
	return kind{Kind: ByOwn}
}

// AlternativeOf returns a server that was worth a vote, as it compares with the pick now.
func AlternativeOf(r, pick Ranked) Alternative {
	a := Alternative{Addr: r.Addr, Server: r.Server, Kind: Also}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(r.RTT)), func(name string) bool { _, has := pick.RTT[name]; return !has })
	a.Payer, a.CostMS = payer(names, choiceOf(r, names).rtts, choiceOf(pick, names).rtts)
	return a
}

// kind is a row of the table of kinds.
type kind struct {
	Kind
	// rule is the rule whose pick is of this kind, if there is one.
	rule Rule
	// may reports whether a choice may stand for the kind.
	may func(*field, choice) bool
	// figure is the number that the kind minimises. Of several choices with the same figure, the
	// one that the rule ranks first is the best.
	figure func(*field, choice) float64
}

// kinds is the table, in the order in which the kinds are offered. It never changes.
var kinds = [...]kind{
	{Lowest, Mean, (*field).mayAny, func(_ *field, c choice) float64 { return c.mean }},
	{Fairest, Fairness, (*field).mayBeFair, func(_ *field, c choice) float64 { return c.span() }},
	{Kindest, Minimax, (*field).mayAny, func(_ *field, c choice) float64 { return c.worst }},
	{ForMost, "", (*field).suitsMost, func(f *field, c choice) float64 { return -float64(f.bests(c, nil)) }},
	{OfOurs, "", func(_ *field, c choice) bool { return c.isOurs }, func(*field, choice) float64 { return 0 }},
}

// choice is what players have at a server, in microseconds. Their RTTs are in one order for all
// choices that are compared.
type choice struct {
	rtts        []float64
	mean, worst float64
	isOurs      bool
}

func choiceOf(r Ranked, names []string) choice {
	exact := func(ms float64) float64 { return math.Round(ms * microseconds) }
	c := choice{mean: exact(r.MeanMS), worst: exact(r.MaxMS), isOurs: r.Ours}
	for _, name := range names {
		c.rtts = append(c.rtts, exact(r.RTT[name]))
	}
	return c
}

// span is by how much the highest RTT exceeds the lowest.
func (c choice) span() float64 {
	lowest := c.worst
	for _, rtt := range c.rtts {
		lowest = min(lowest, rtt)
	}
	return c.worst - lowest
}

// field is what choices are compared with.
type field struct {
	pick choice
	// own holds each player's lowest RTT to any choice.
	own []float64
}

// add takes a choice into account.
func (f *field) add(c choice) {
	if f.own == nil {
		f.own = slices.Clone(c.rtts)
	}
	for i, rtt := range c.rtts {
		f.own[i] = min(f.own[i], rtt)
	}
}

func (*field) mayAny(choice) bool { return true }

// mayBeFair reports whether a choice is not worse than the pick for the worst off, and nearer in a way
// that a player feels.
func (f *field) mayBeFair(c choice) bool {
	for i, rtt := range c.rtts {
		if f.pick.rtts[i]-rtt >= minApart {
			return c.worst <= f.pick.worst
		}
	}
	return false
}

func (f *field) suitsMost(c choice) bool { return 2*f.bests(c, nil) > len(c.rtts) }

// bests returns how many players have about their own lowest RTT at a choice, and, if there is
// another choice, feel that there.
func (f *field) bests(c choice, other *choice) (n int) {
	for i, rtt := range c.rtts {
		if rtt < f.own[i]+minApart && (other == nil || other.rtts[i]-rtt >= minApart) {
			n++
		}
	}
	return n
}

// isApart reports whether a choice of a kind is clearly better than another in what the kind is
// named for.
func (f *field) isApart(k kind, c, other choice) bool {
	switch k.Kind {
	case ForMost:
		return 2*f.bests(c, &other) > len(c.rtts)
	case OfOurs:
		return !other.isOurs
	}
	return k.figure(f, other)-k.figure(f, c) >= minApart
}

// offer is a choice that stands for a kind.
type offer struct {
	kind
	choice
}

// differs reports whether an offer differs from the offers taken so far, and takes the name of none
// of them.
func (f *field) differs(o offer, taken []offer) bool {
	for i, other := range taken {
		if !f.isApart(o.kind, o.choice, other.choice) || i > 0 && !f.isApart(other.kind, other.choice, o.choice) {
			return false
		}
	}
	return true
}

// alternative returns a server that is offered, with the figure that its kind is named after.
func (f *field) alternative(o offer, r Ranked) Alternative {
	a := Alternative{Addr: r.Addr, Server: r.Server, Kind: o.Kind}
	switch o.Kind {
	case ForMost:
		a.Players = f.bests(o.choice, nil)
	case Lowest, Fairest, Kindest:
		a.GainMS = tenths(o.figure(f, o.choice))
	}
	return a
}

// payer returns the player whose RTT is above another by most, and by how much, in ms: the first by
// name of several. Nobody pays what nobody sees.
func payer(names []string, rtts, against []float64) (name string, ms float64) {
	for i := range against {
		if more := tenths(rtts[i] - against[i]); more > ms {
			name, ms = names[i], more
		}
	}
	if math.Round(ms) < 1 {
		return "", 0
	}
	return name, ms
}

// tenths returns microseconds in ms, to the tenth.
func tenths(us float64) float64 { return math.Round(us/(microseconds/10)) / 10 }

// extremes returns the survivors outside the ranking that [Alternatives] may want: the best of each
// kind, in the order of their scores. The pick is the chosen server.
func (r *round) extremes(pick int) (servers []candidate) {
	if len(r.view.players) < 2 {
		return nil
	}
	f, buffer := &field{pick: r.choice(pick, nil)}, make([]float64, len(r.view.players))
	for server := range r.fates {
		if r.suits(server) {
			f.add(r.choice(server, buffer))
		}
	}
	var best [len(kinds)]struct {
		candidate
		figure float64
		is     bool
	}
	for server := range r.fates {
		if !r.suits(server) {
			continue
		}
		c := r.choice(server, buffer)
		for i, k := range kinds {
			if !k.may(f, c) {
				continue
			}
			b, figure := &best[i], k.figure(f, c)
			if !b.is || figure < b.figure || figure == b.figure && r.candidate(server).order < b.order {
				b.candidate, b.figure, b.is = r.candidate(server), figure, true
			}
		}
	}
	for _, b := range best {
		isIt := func(c candidate) bool { return c.server == b.server }
		if b.is && !slices.ContainsFunc(r.best, isIt) && !slices.ContainsFunc(servers, isIt) {
			servers = append(servers, b.candidate)
		}
	}
	slices.SortFunc(servers, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.order, b.order), r.servers.compare(a.server, b.server))
	})
	return servers
}

// choice returns what the players in view have at a server. The RTTs are written to a buffer, if there is
// one.
func (r *round) choice(server int, buffer []float64) choice {
	sums := r.view.sumsOf(server)
	c := choice{rtts: buffer[:0], mean: sums.mean(), worst: float64(sums.worst), isOurs: r.isOurs(server)}
	for _, player := range r.view.players {
		c.rtts = append(c.rtts, float64(r.view.table.cell(player, server)))
	}
	return c
}
