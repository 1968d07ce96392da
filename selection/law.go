package selection

import (
	"cmp"
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/selection/law"
)

// Judgement is what a league's law says of a server.
type Judgement struct {
	Name   string      `json:"name"`
	Holds  bool        `json:"holds"`
	Breaks []law.Break `json:"breaks"`
	// Decides says that the law's own order chose, because no server that suits everyone keeps the
	// law, or because the law has no limit. Said is then what people are told of the chosen server.
	Decides bool                `json:"decides"`
	League  string              `json:"league"`
	Said    []sentence.Sentence `json:"said,omitempty"`
}

// lawful applies a law to a round. Its zero value is no law.
type lawful struct {
	*law.Law
	// decides says that no server is culled, and that the law's own order ranks them.
	decides bool
	said    []sentence.Sentence
	// best are the lowest RTTs of the players in view.
	best []time.Duration
}

// underLaw returns a round by the criteria's law, if both sides have players.
func (r *round) underLaw(decides bool) lawful {
	l := lawful{Law: r.criteria.Law, decides: decides}
	if l.Law == nil || !slices.Contains(r.view.objective.sides, SideA) || !slices.Contains(r.view.objective.sides, SideB) {
		return lawful{}
	}
	for i, player := range r.view.players {
		best := r.criteria.Best[r.view.table.players[player]]
		if l.CountsBest() {
			for _, c := range r.view.table.columns[player] {
				if rtt := time.Duration(r.view.confirmed(i, c)) * time.Microsecond; c.answered() && (best == 0 || rtt < best) {
					best = rtt
				}
			}
		}
		l.best = append(l.best, best)
	}
	return l
}

// judge returns what a server breaks that everyone measured.
func (r *round) judge(server int) []law.Break { return r.law.Judge(r.pingsTo(server)) }

// pingsTo returns what counts of everybody's pings to a server, as a law takes them.
func (r *round) pingsTo(server int) []law.Player {
	players := make([]law.Player, len(r.view.players))
	for i, player := range r.view.players {
		ping := time.Duration(r.view.confirmed(i, r.view.table.cell(player, server))) * time.Microsecond
		players[i] = law.Player{Name: r.view.table.players[player], Side: r.view.objective.sides[i], Ping: ping, Best: r.law.best[i]}
	}
	return players
}

// rankByLaw puts the servers that suit everyone in the law's own order.
func (r *round) rankByLaw() {
	var suit []int
	var servers []law.Server
	for server := range r.fates {
		if r.suits(server) {
			at := r.servers.List[server]
			suit, servers = append(suit, server), append(servers, law.Server{Name: r.servers.Called(server), Place: at.Country, Players: r.pingsTo(server)})
		}
	}
	order, said := r.law.Decide(servers, cmp.Or(max(0, r.criteria.Top), len(servers)))
	r.law.said, r.best, r.preference = said, nil, nil
	for _, at := range order {
		r.best = append(r.best, r.candidate(suit[at]))
	}
}

// judged returns what the law says of a server that everyone measured, nil without a law.
func (r *round) judged(server int) *Judgement {
	if r.law.Law == nil {
		return nil
	}
	breaks := r.judge(server)
	return &Judgement{Name: r.law.Name, League: r.law.League, Holds: len(breaks) == 0, Breaks: breaks, Decides: r.law.decides}
}

// maxBroken is how many of the servers that were left out people read of.
const maxBroken = 3

// byLaw says what the law says of the choice, nothing without a law.
func (s Selection) byLaw() (all []sentence.Sentence) {
	l := s.Chosen.Law
	if l == nil {
		return nil
	}
	if !l.Decides {
		all = one("law.kept", "server", s.Chosen.Addr, "league", l.League)
		for _, reason := range s.Reasons {
			if len(reason.Breaks) > 0 && len(all) <= maxBroken {
				all = append(all, reason.Breaks[0].Sentence(l.League, reason.Addr.String()))
			}
		}
		return all
	}
	all = slices.Clone(l.Said)
	for _, b := range l.Breaks {
		all = append(all, b.Sentence(l.League, s.Chosen.Addr.String()))
	}
	return all
}
