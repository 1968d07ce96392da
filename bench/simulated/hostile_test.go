package simulated

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/sim"
	"muster/peer/player"
	"muster/selection"
)

// lies are tactics. Where a function is nil the program behaves like all others.
type lies struct {
	// says returns the messages that the host hears instead of an honest one.
	says func(p *sim.Peer, m wire.Message) []wire.Message
	// hears takes the host's message, and reports whether the program acts on it.
	hears func(p *sim.Peer, m wire.Message) bool
	// each is called ten times a second.
	each func(p *sim.Peer)
}

func (t *lies) Accepts(p *sim.Peer, m wire.Message) bool { return t.hears == nil || t.hears(p, m) }

func (t *lies) Act(p *sim.Peer) {
	if t.each != nil {
		t.each(p)
	}
}

func (t *lies) Tell(p *sim.Peer, m wire.Message) {
	if t.says == nil {
		utter(p, m)
		return
	}
	switch its := m.(type) { // the program keeps its own words
	case wire.Report:
		its.Results = slices.Clone(its.Results)
		m = its
	case wire.Verified:
		its.Servers = slices.Clone(its.Servers)
		for i := range its.Servers {
			its.Servers[i].RTTs = slices.Clone(its.Servers[i].RTTs)
		}
		m = its
	}
	utter(p, t.says(p, m)...)
}

// utter sends messages to the host now. An invalid one ends the connection.
func utter(p *sim.Peer, messages ...wire.Message) {
	for _, m := range messages {
		if p.Connected && p.Try(room.Hear{Player: p.ID, Message: m}) != nil {
			leave(p)
		}
	}
}

// leave ends the player's connection.
func leave(p *sim.Peer) {
	p.Connected = false
	p.Feed(player.Lost{})
	p.Step(room.Leave{Player: p.ID})
}

// claimsOf returns a report of servers that the player pretends to have just measured.
func claimsOf(p *sim.Peer, results ...discovery.Result) wire.Report {
	report := wire.Report{Round: p.Round, First: p.Sent, Now: p.Now - p.Began}
	for _, r := range results {
		r.At = report.Now
		report.Results = append(report.Results, r)
	}
	return report
}

// Attack is one way for hostile players to harm the others.
type Attack struct {
	Name string
	// Wants sets the criteria beyond the usual ones, and votes says whether the room votes, if the
	// attack depends on them.
	Wants func(*selection.Criteria, *sim.Group)
	Votes bool
	plan  func(*plot) lies
}

// plot is the knowledge of attackers: everything.
type plot struct {
	*sim.Group
	liars    []int
	criteria selection.Criteria
	rng      *rand.Rand
	// suited are the servers that suit everybody, the best for the honest first, and scores are
	// their scores for the honest, in ms.
	suited []int
	scores map[int]float64
}

// withoutLiars is the group without the liars.
func withoutLiars(g *sim.Group, liars []int) *sim.Group {
	honest := &sim.Group{}
	for i := range g.Players {
		if slices.Contains(liars, i) {
			continue
		}
		honest.Players, honest.Vantages = append(honest.Players, g.Players[i]), append(honest.Vantages, g.Vantages[i])
		if g.Homes != nil {
			honest.Homes = append(honest.Homes, g.Homes[i])
		}
	}
	return honest
}

func newPlot(g *sim.Group, liars []int, criteria selection.Criteria, seed uint64) *plot {
	p := &plot{Group: g, liars: liars, criteria: criteria, rng: rand.New(rand.NewPCG(seed, 0x6c6965)), scores: map[int]float64{}}
	for _, ranked := range withoutLiars(g, liars).Selection(criteria).Ranking {
		if !slices.ContainsFunc(liars, func(liar int) bool { return g.Vantages[liar].RTT[ranked.Server] < 0 }) {
			p.suited = append(p.suited, ranked.Server)
			p.scores[ranked.Server] = ranked.Score
		}
	}
	return p
}

// greedy returns the server that is best for the liars and worst for the others.
func (p *plot) greedy() int {
	return p.most(func(server int) (float64, bool) {
		own := time.Duration(0)
		for _, liar := range p.liars {
			own += p.Vantages[liar].RTT[server]
		}
		return p.scores[server] - float64(own/time.Duration(len(p.liars)))/float64(time.Millisecond), true
	})
}

// most returns the server with the most of something, among those that suit everybody.
func (p *plot) most(of func(server int) (much float64, can bool)) int {
	best, most := p.suited[0], 0.0
	for _, server := range p.suited {
		if much, can := of(server); can && much > most {
			best, most = server, much
		}
	}
	return best
}

// margin is how much a lie wins by, in ms, because jitter may cost as much.
const margin = 0.5

// persuades returns the chosen server that costs the honest the most, if the liars report told
// instead of the RTT to it, and the truth about all others.
func (p *plot) persuades(told tale) int {
	score := p.scorer()
	best := score(p.suited[0], nil)
	for _, server := range p.suited {
		best = min(best, score(server, nil))
	}
	return p.most(func(server int) (float64, bool) {
		return p.scores[server], score(server, told) < best-margin
	})
}

// tale is the RTT that a liar reports of a server.
type tale func(liar, server int, rtt time.Duration) time.Duration

// scorer returns the group's score of a server, in ms, if the liars report told instead of their RTT. If told
// is nil they tell the truth.
func (p *plot) scorer() func(server int, told tale) float64 {
	truth := p.Selection(p.criteria)
	objective := truth.Above(p.criteria.Objective(p.Players), p.Players)
	rtts := make([]float64, len(p.Players))
	return func(server int, told tale) float64 {
		for i, v := range p.Vantages {
			rtt := v.RTT[server]
			if told != nil && slices.Contains(p.liars, i) {
				rtt = told(i, server, rtt)
			}
			rtts[i] = float64(max(rtt, wire.Tick)) / float64(time.Millisecond)
		}
		return objective.Score(rtts)
	}
}

// dearest returns the tale that costs the honest the most, of some that liars tell of all servers.
func (p *plot) dearest(tales []tale) (dearest tale) {
	score, most := p.scorer(), math.Inf(-1)
	for _, told := range tales {
		elected, least := 0, math.Inf(1)
		for _, server := range p.suited {
			if s := score(server, told); s < least {
				elected, least = server, s
			}
		}
		if cost := p.scores[elected]; cost > most {
			dearest, most = told, cost
		}
	}
	return dearest
}

// best returns the n servers that suit everybody and are best for the honest.
func (p *plot) best(n int) []int { return p.suited[:min(n, len(p.suited)-1)] }

// Outcome is the result of a session for the honest players.
type Outcome struct {
	// Found says that they were sent to a server that suits them, and to its own port.
	Found bool
	// Regret is how much worse than the best it truly is for them, in ms.
	Regret float64
	// Cost is how much larger Regret is than in a session whose liars tell the truth. It is set only
	// if there was such a session.
	Cost    float64
	Seconds float64
	// Named is how many liars were left out or had their numbers doubted. Wronged are the honest
	// players with the same fate, and the reason.
	Named   int
	Wronged []string
	// LeftOut is how many of the honest did not count in the choice. Lost is the largest loss of
	// one of them, in ms: the distance to this server less the distance to the best for everybody.
	LeftOut int
	Lost    float64
	// Server is the server that they were sent to, if Found.
	Server int
	// Told is how many ms of the choice hang on a liar's word, as the room says.
	Told float64
	Log  []wire.Note
}

// Attacked runs a session with some hostile players who act together. Without an attack they are as
// honest as the others.
func Attacked(g *sim.Group, liars []int, a Attack, o sim.GroupOptions, run uint64) (e Outcome, err error) {
	o = o.WithDefaults(len(g.Players))
	if a.Wants != nil {
		a.Wants(&o.Criteria, g)
	}
	if a.Votes {
		o.Ready = 40 * time.Second
	}
	s, err := g.NewSession(sim.Coordinated, o, run)
	if err != nil {
		return e, err
	}
	if a.plan != nil {
		does := a.plan(newPlot(g, liars, o.Criteria, run))
		for _, liar := range liars {
			s.Peers[liar].Hostile = &does
		}
	}
	if err := s.Run(); err != nil {
		return e, err
	}
	snapshot := s.Room.Snapshot()
	e.Seconds, e.Log = s.Now.Seconds(), snapshot.Log
	best := -1
	if s.Launched > 0 {
		truth, addr := withoutLiars(g, liars).Truth(o.Criteria), snapshot.Choice.Target
		if truth.Found {
			best = truth.Best.Server
		}
		suits := selection.Criteria{Seats: o.Criteria.Seats, Wishes: selection.Wishes{NoPassword: o.Criteria.NoPassword, Map: o.Criteria.Map}, By: o.Criteria.By}
		for _, ranked := range withoutLiars(g, liars).Selection(suits).Ranking {
			if ranked.Addr.String() == addr && addr == s.Target {
				e.Found, e.Server = true, ranked.Server
				_, e.Regret = truth.Regret(ranked.Server)
			}
		}
	}
	doubts := map[string]string{}
	for _, person := range snapshot.People {
		if person.LeftOut && (a.plan == nil || !slices.Contains(liars, s.Number(person.Name))) {
			e.LeftOut++
			if own := g.Vantages[s.Number(person.Name)].RTT; e.Found && best >= 0 {
				e.Lost = max(e.Lost, float64(own[e.Server]-own[best])/float64(time.Millisecond))
			}
		}
		if person.LeftOut || !person.Doubt.IsZero() {
			doubts[person.Name] = "left out. " + catalogue.InEnglish().Say(person.Doubt)
		}
	}
	if snapshot.Choice != nil {
		for _, d := range snapshot.Choice.Selection.Doubts {
			doubts[d.Player] = catalogue.InEnglish().Say(d.Sentence())
		}
		for _, i := range snapshot.Choice.Selection.Why.Influences {
			if slices.Contains(liars, s.Number(i.Player)) {
				e.Told = max(e.Told, i.Gain)
			}
		}
	}
	for i := range g.Players {
		why, doubted := doubts[strconv.Itoa(i)]
		switch {
		case doubted && a.plan != nil && slices.Contains(liars, i):
			e.Named++
		case doubted:
			e.Wronged = append(e.Wronged, g.Players[i]+": "+why)
		}
	}
	return e, nil
}
