// Package law has a league's ping law as data: which servers two sides may play on, who may object,
// and what decides where no server keeps the law. It is pure: pings in, a verdict out.
//
//	file ─▶ Read ─▶ Law ─┬─▶ Judge: which sentence of the law a server breaks, and by how much
//	                     └─▶ Decide: the law's own order, where no server keeps it
//
// The known laws are in the folder laws, each with its source. Their sentences are in our words.
package law

import (
	"cmp"
	"math"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/selection/rules"
)

// Statistic is the figure of a server that a law limits, or orders servers by.
type Statistic string

// A side's low is the lowest ping of its players. With a minping, Lows is what is left of the
// disadvantage of the side with the higher average, which alone may ask for it. ClippedLows compares
// the difference between the lows with that at the best servers of each side, where lows below
// [Rule.Clip] count as Clip. A minping may bring it nearer to that.
const (
	Means       Statistic = "means"        // the difference between the sides' averages
	Lows        Statistic = "lows"         // the difference between the sides' lows
	ClippedLows Statistic = "clipped-lows" // how much that difference changes
	Worst       Statistic = "worst"        // the highest ping of a player
	Mean        Statistic = "mean"         // the average of all players
)

// Law is a league's ping law, as its file has it. What a part says is the sentence of the law that it
// stands for. Parts that the law has not are zero values.
type Law struct {
	Format string `json:"format"` // [Format]
	Name   string `json:"name"`   // on command lines
	League string `json:"league"` // for people
	Source Source `json:"source"`
	// Rules are the limits of a server. A law may have none, and consist of its order alone.
	Rules   []Rule  `json:"rules,omitempty"`
	Minping Minping `json:"minping,omitzero"`
	// Objection says who may object to a server.
	Objection Objection `json:"objection,omitzero"`
	// Order is the law's own order of servers.
	Order Order `json:"order"`
	// Disagreement says what happens if the sides do not agree on a server.
	Disagreement Disagreement `json:"disagreement,omitzero"`
	// Also are sentences that pings alone cannot judge.
	Also []string `json:"also,omitempty"`
}

// Source says where a law was read.
type Source struct {
	URL  string `json:"url"`
	Date string `json:"date"`
}

// Rule limits a statistic: to Max at most, or to less than Below. The other is 0. Clip is the least
// low that counts at the best servers, only for [ClippedLows].
type Rule struct {
	Of    Statistic        `json:"of"`
	Max   discovery.Millis `json:"max_ms,omitzero"`
	Below discovery.Millis `json:"below_ms,omitzero"`
	Clip  discovery.Millis `json:"clip_ms,omitzero"`
	Says  string           `json:"says"`
}

// Minping is the ping up to which one side may ask the other's nearer players to delay theirs.
type Minping struct {
	Max  discovery.Millis `json:"max_ms"`
	Says string           `json:"says"`
}

// Objection says who may object to a server: the side with the higher average, either side, both
// together, or an admin.
type Objection struct {
	By   string `json:"by"`
	Says string `json:"says"`
}

// Order puts servers in order by its first step, and by the next where others are as good.
type Order struct {
	By   []Step `json:"by"`
	Says string `json:"says"`
}

// Step prefers the server with the least of a statistic. Others within Tie of it are as good.
type Step struct {
	Least Statistic        `json:"least"`
	Tie   discovery.Millis `json:"tie_ms,omitzero"`
}

// Way is what happens if the sides do not agree.
type Way string

// These are the ways.
const (
	Home      Way = "home"      // two of three maps on the first server of the order, one on the second
	Alternate Way = "alternate" // a server of each side's choice in turn, side A's first
	InPlaces  Way = "places"    // an order of places before the law's order
	Veto      Way = "veto"      // each side strikes one of the first three blind
	ByAdmin   Way = "admin"     // an admin of the league decides
)

// Disagreement says what happens if the sides do not agree. Places are the codes of countries (ISO
// 3166), the preferred one first, only for [InPlaces].
type Disagreement struct {
	Way    Way      `json:"way"`
	Places []string `json:"places,omitempty"`
	Says   string   `json:"says"`
}

// Player is a player's ping to a server. Best is the player's lowest ping to any, and 0 if nobody
// knows it. Players on neither side do not count.
type Player struct {
	Name       string
	Side       rules.Side
	Ping, Best time.Duration
}

// Break is a rule that a server breaks, and the server's value. A value that has to be below the
// limit may be the limit.
type Break struct {
	Of    Statistic        `json:"rule"`
	Value discovery.Millis `json:"value"`
	Limit discovery.Millis `json:"limit"`
	Says  string           `json:"says"`
}

// Judge returns what a server with these pings breaks. It keeps the law if that is nothing.
func (l *Law) Judge(players []Player) []Break {
	breaks := []Break{}
	for _, rule := range l.Rules {
		value := discovery.Millis(l.Figure(rule.Of, players))
		if rule.Max > 0 && value > rule.Max || rule.Below > 0 && value >= rule.Below {
			breaks = append(breaks, Break{rule.Of, value, rule.Max + rule.Below, rule.Says})
		}
	}
	return breaks
}

// Sentence says what a server breaks, and by how much.
func (b Break) Sentence(league, server string) sentence.Sentence {
	return sentence.Of("law.breaks", append(b.figures(league), "server", server, "says", b.Says)...)
}

// Clause says so as a reason, after "but".
func (b Break) Clause(league string) sentence.Sentence {
	return sentence.Of("law.but-breaks", b.figures(league)...)
}

func (b Break) figures(league string) []any {
	ms := func(d discovery.Millis) sentence.Sentence { return rules.Exact(discovery.MS(time.Duration(d))) }
	return []any{"league", league, "over", ms(b.Value - b.Limit), "figure", sentence.Of("law.figure."+string(b.Of), "ms", ms(b.Value))}
}

// Figure returns a statistic of the pings to a server, to the microsecond. It is 0 if it compares
// sides of which one is empty.
func (l *Law) Figure(of Statistic, players []Player) time.Duration {
	a, b := sidesOf(players)
	switch {
	case of == Worst:
		return rounded(max(a.worst, b.worst))
	case of == Mean:
		return rounded((a.total + b.total) / max(1, a.players+b.players))
	case a.players == 0 || b.players == 0:
		return 0
	case of == Means:
		return rounded(math.Abs(a.mean() - b.mean()))
	case of == ClippedLows:
		clip, minping := l.clip(), float64(l.Minping.Max)
		owed, plain, raised := max(a.best, clip)-max(b.best, clip), a.low-b.low, max(a.low, minping)-max(b.low, minping)
		return rounded(max(0, min(plain, raised)-owed, owed-max(plain, raised))) // lower minpings reach all between
	case l.Minping.Max == 0:
		return rounded(math.Abs(a.low - b.low))
	case a.mean() < b.mean():
		a, b = b, a
	case a.mean() == b.mean():
		return 0 // nobody may ask
	}
	return rounded(max(0, a.low-max(b.low, float64(l.Minping.Max))))
}

// CountsBest reports whether the players' lowest pings to any server count; see [Player].
func (l *Law) CountsBest() bool { return l.clip() > 0 }

// clip returns the law's clip in nanoseconds, 0 if it has none.
func (l *Law) clip() (clip float64) {
	for _, rule := range l.Rules {
		clip = max(clip, float64(rule.Clip))
	}
	return clip
}

// side is what a side's players measured, in nanoseconds. best is the lowest of their best pings.
type side struct{ players, total, low, worst, best float64 }

func (s side) mean() float64 { return s.total / s.players }

func sidesOf(players []Player) (a, b side) {
	for _, p := range players {
		s, ping, best := &a, float64(p.Ping), float64(p.Best)
		switch p.Side {
		case rules.Neither:
			continue
		case rules.SideB:
			s = &b
		}
		best = cmp.Or(best, ping)
		if s.players == 0 {
			s.low, s.best = ping, best
		}
		s.players, s.total = s.players+1, s.total+ping
		s.low, s.best, s.worst = min(s.low, ping), min(s.best, best), max(s.worst, ping)
	}
	return a, b
}

func rounded(ns float64) time.Duration { return time.Duration(math.Round(ns/1000)) * time.Microsecond }
