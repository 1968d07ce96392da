package selection

import (
	"math"
	"slices"

	"muster/discovery/hostport"
	"muster/selection/anomaly"
	"muster/selection/law"
)

// Format is the name of a [Selection] as a document.
const Format = "muster.selection/1"

// Selection is the verdict for a group, and why. It is a document: the JSON of muster.selection/1.
type Selection struct {
	Format  string   `json:"format"`
	By      Rule     `json:"by"`
	Players []string `json:"players"`
	// Sides lists the players of the two sides. It is nil if nobody is on one.
	Sides *Sides `json:"sides,omitempty"`
	// Chosen is nil if no server suits everyone.
	Chosen *Ranked `json:"chosen"`
	// Ranking holds the survivors, best first, as many as were asked for, and then those that are the
	// best in another way, if the criteria want them.
	Ranking []Ranked `json:"ranking"`
	Culled  Culled   `json:"culled"`
	// Reasons says why servers were culled, those that got furthest first.
	Reasons []Reason `json:"reasons"`

	// LimitMS is the limit that decided, in milliseconds. 0 is none.
	LimitMS float64 `json:"limit_ms,omitempty"`
	// Estimated maps the players whose pings are estimates to the usual error of those, in
	// milliseconds.
	Estimated map[string]float64 `json:"estimated_ms,omitempty"`
	// Excess is by how many milliseconds players' RTTs to the chosen server exceed what counts between
	// the sides.
	Excess map[string]float64 `json:"excess_ms,omitempty"`
	// LookedS is how many seconds everyone looked at the best server. The caller sets it if the
	// look was a long one.
	LookedS float64 `json:"looked_s,omitempty"`
	// Own are the players' own bests, if the rule counts from them.
	Own map[string]OwnBest `json:"own_best,omitempty"`
	// Keep is what became of the last round's server, if the criteria name one.
	Keep *Stay `json:"keep,omitempty"`
	// Preference compares the group's own servers with the others. It is nil if no own server
	// suits, or if the group has no preference.
	Preference *Preference `json:"preference,omitempty"`
	// Decided says what decided. It is nil if nothing was chosen, or nobody asked.
	Decided *Decided `json:"decided,omitempty"`
	// Why explains the choice. It is nil if nobody asked.
	Why *Why `json:"why,omitempty"`
	// Doubts are the anomalies that [anomaly.Find] found. The caller sets them.
	Doubts []anomaly.Anomaly `json:"doubts,omitempty"`
}

// Ranked is a server that suits everyone. All times are in milliseconds.
type Ranked struct {
	Addr hostport.AddrPort `json:"addr"`
	// Score is the figure that the rule minimises, with weights and quality.
	Score float64 `json:"score"`
	// MeanMS, MaxMS and StdevMS summarise the bare RTTs, whatever the rule. The deviation is that
	// of a sample (n−1).
	MeanMS  float64 `json:"mean_ms"`
	MaxMS   float64 `json:"max_ms"`
	StdevMS float64 `json:"stdev_ms"`
	// SideMeanMS are the means of the two sides' bare RTTs, if both have players.
	SideMeanMS *SideMeans `json:"side_mean_ms,omitempty"`
	// RTT is what each player measured.
	RTT map[string]float64 `json:"rtt_ms"`
	// Extra is how much each player's RTT exceeds the player's own best, if the rule counts from that.
	Extra map[string]float64 `json:"extra_ms,omitempty"`
	// Loss and JitterMS are each player's, if the server's quality was measured. Loss is a share.
	Loss     map[string]float64 `json:"loss,omitempty"`
	JitterMS map[string]float64 `json:"jitter_ms,omitempty"`
	// WorstMS is the ping that 95 of 100 replies to each player kept, after a long look.
	WorstMS map[string]float64 `json:"worst_ms,omitempty"`
	// Tight says that the server would be full with the group, and is ranked lower for it.
	Tight bool `json:"tight,omitempty"`
	// SeatsUnknown says that the group needs seats, and that the server tells its players alone.
	SeatsUnknown bool `json:"seats_unknown,omitempty"`
	// Ours says that it is one of the group's own.
	Ours bool `json:"ours,omitempty"`
	// Law is what the criteria's law says of it.
	Law *Judgement `json:"law,omitempty"`
	// WorstOff is the player with the highest RTT, the first of several.
	WorstOff string `json:"worst_off,omitempty"`
	// Server is the index in the list.
	Server int `json:"-"`
}

// OwnBest is a player's lowest RTT to a server that suits everyone, in milliseconds.
type OwnBest struct {
	Addr hostport.AddrPort `json:"addr"`
	MS   float64           `json:"rtt_ms"`
	// PerhapsMS is a lower RTT of the player's, to a server that only lacks the others'
	// measurements. It is 0 if there is none. There may be nearer servers that nobody has measured.
	PerhapsMS float64 `json:"perhaps_ms,omitempty"`
}

// Culled counts the servers that do not suit everyone, each under its first
// [Cause].
type Culled struct {
	Unmeasured    int `json:"unmeasured"`
	Unreachable   int `json:"unreachable"`
	Full          int `json:"full"`
	Filtered      int `json:"filtered"`
	OverThreshold int `json:"over_threshold"`

	Hygiene      int `json:"hygiene,omitempty"`
	Blacklisted  int `json:"blacklisted,omitempty"`
	Vetoed       int `json:"vetoed,omitempty"`
	Hidden       int `json:"hidden,omitempty"`
	Unknown      int `json:"unknown,omitempty"`
	Passworded   int `json:"password,omitempty"`
	WrongVersion int `json:"version,omitempty"`
	PingLimits   int `json:"ping_limits,omitempty"`
	Lawless      int `json:"law,omitempty"`
}

// Reason says why a server was culled.
type Reason struct {
	// Server is the index of the server in the list.
	Server int               `json:"-"`
	Addr   hostport.AddrPort `json:"addr"`
	Cause  Cause             `json:"reason"`
	// Players are the players for whom the cause holds, unless it concerns the server alone.
	Players []string `json:"players,omitempty"`
	// Breaks says what a server breaks that is culled by the law.
	Breaks []law.Break `json:"breaks,omitempty"`
}

// Total is how many servers were culled.
func (c Culled) Total() int {
	total := 0
	for _, n := range c.counts() {
		total += *n
	}
	return total
}

// counts returns pointers to the causes' counts, in their order.
func (c *Culled) counts() [none]*int {
	return [none]*int{
		&c.Hygiene, &c.Blacklisted, &c.Vetoed, &c.Hidden, &c.Unreachable, &c.Unmeasured, &c.Unknown, &c.Full,
		&c.Filtered, &c.Passworded, &c.WrongVersion, &c.PingLimits, &c.Lawless, &c.OverThreshold,
	}
}

// millis turns microseconds into the milliseconds of documents.
func millis(micros float64) float64 { return math.Round(micros) / 1000 }

// Named returns the selection with other names for its players. Wherever a name stands it shares
// nothing with the old selection.
func (s Selection) Named(name func(string) string) Selection {
	all := func(players []string) []string {
		named := slices.Clone(players)
		for i := range named {
			named[i] = name(named[i])
		}
		return named
	}
	sorted := func(players []string) []string {
		named := all(players)
		slices.Sort(named)
		return named
	}
	s.Players, s.Own = all(s.Players), namedKeys(s.Own, name)
	s.Estimated, s.Excess = namedKeys(s.Estimated, name), namedKeys(s.Excess, name)
	if s.Sides != nil {
		s.Sides = &Sides{A: all(s.Sides.A), B: all(s.Sides.B)}
	}
	if s.Chosen != nil {
		chosen := s.Chosen.named(name)
		s.Chosen = &chosen
	}
	s.Ranking, s.Reasons, s.Doubts = slices.Clone(s.Ranking), slices.Clone(s.Reasons), slices.Clone(s.Doubts)
	for i := range s.Ranking {
		s.Ranking[i] = s.Ranking[i].named(name)
	}
	for i := range s.Reasons {
		s.Reasons[i].Players = sorted(s.Reasons[i].Players)
	}
	for i := range s.Doubts {
		s.Doubts[i].Player, s.Doubts[i].Other = name(s.Doubts[i].Player), name(s.Doubts[i].Other)
	}
	if s.Why == nil {
		return s
	}
	why := *s.Why
	why.Bottleneck = name(why.Bottleneck)
	why.Influences, why.Rivals, why.Relax = slices.Clone(why.Influences), slices.Clone(why.Rivals), slices.Clone(why.Relax)
	if why.Without != nil {
		without := *why.Without
		without.Player = name(without.Player)
		why.Without = &without
	}
	for i := range why.Influences {
		why.Influences[i].Player, why.Influences[i].With = name(why.Influences[i].Player), name(why.Influences[i].With)
	}
	for i := range why.Rivals {
		rival := &why.Rivals[i]
		rival.Ranked, rival.Over = rival.Ranked.named(name), sorted(rival.Over)
	}
	for i := range why.Relax {
		why.Relax[i].Player = name(why.Relax[i].Player)
	}
	if why.Nearest != nil {
		nearest := *why.Nearest
		nearest.Obstacles = slices.Clone(nearest.Obstacles)
		for i := range nearest.Obstacles {
			nearest.Obstacles[i].Players = sorted(nearest.Obstacles[i].Players)
		}
		why.Nearest = &nearest
	}
	s.Why = &why
	return s
}

func (r Ranked) named(name func(string) string) Ranked {
	r.WorstOff = name(r.WorstOff)
	for _, figures := range []*map[string]float64{&r.RTT, &r.Extra, &r.Loss, &r.JitterMS, &r.WorstMS} {
		*figures = namedKeys(*figures, name)
	}
	return r
}

func namedKeys[V any](of map[string]V, name func(string) string) map[string]V {
	if of == nil {
		return nil
	}
	named := make(map[string]V, len(of))
	for player, value := range of {
		named[name(player)] = value
	}
	return named
}
