package moving

import (
	"maps"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room/people"
	"muster/selection"
	"muster/selection/memory"
)

const (
	// minGain is the least gain by the room's rule that is worth a move, in ms. Moving people costs
	// them a minute of their game.
	minGain = 15
	// noticed is the least difference of a ping that a player notices, in ms.
	noticed = 5
	// suggestions is how many servers programs ask beside the present one, perCountry of them in one
	// country: forecasts err most by country.
	suggestions, perCountry = 12, 3
	// hopeful is the share of the mean RTT to a country that its untried servers are taken to have:
	// the best of them are nearer, and an answer soon tells if they are not. No other share was tried,
	// see bench/experiments/moving-on.md.
	hopeful = .8
)

// Better is a server that is better for the people than the one where they are.
type Better struct {
	Server int `json:"server"`
	// Gain is how much lower its score is, in ms. Mends says that the present server does not suit
	// somebody, and this one everybody.
	Gain  float64 `json:"gain_ms,omitempty"`
	Mends bool    `json:"mends,omitempty"`
	// Winners of Of players have lower pings there, by Less on average, in ms.
	Winners []people.ID `json:"winners,omitempty"`
	Of      int         `json:"of"`
	Less    float64     `json:"less_ms,omitempty"`
}

// broken are the causes for which people leave a server where they play.
var broken = []selection.Cause{selection.Unreachable, selection.Full, selection.PingLimits, selection.OverThreshold}

// Weigh returns the best server for the people of a basis who are on a server, if it is worth the
// move. A server that was hoped for stays the best until another is noticeably better: of equal ones
// each new answer would make another the best. It is -1 if there is none.
func Weigh(b selection.Basis, at, hope int) (better Better, is bool) {
	return weigh(b, at, func(ranking []selection.Ranked) int {
		n := slices.IndexFunc(ranking, func(r selection.Ranked) bool { return r.Server == hope })
		if n < 0 || ranking[n].Score-ranking[0].Score >= noticed {
			return 0
		}
		return n
	})
}

// isWorth reports whether a server is still worth the move.
func isWorth(b selection.Basis, at, to int) bool {
	_, is := weigh(b, at, func(ranking []selection.Ranked) int {
		return slices.IndexFunc(ranking, func(r selection.Ranked) bool { return r.Server == to })
	})
	return is
}

func weigh(b selection.Basis, at int, which func([]selection.Ranked) int) (better Better, is bool) {
	if info := b.Servers.Info(at); info != nil { // the seats that they hold are free for them
		own := *info
		own.Players = max(0, own.Players-b.Criteria.Seats)
		b.Servers.Infos = maps.Clone(b.Servers.Infos)
		b.Servers.Infos[at] = &own
	}
	b.Criteria.Keep, b.Criteria.Top, b.Criteria.Reasons = b.Servers.List[at].Addr, 0, -1
	s := b.Select()
	if len(s.Ranking) == 0 {
		return better, false
	}
	n := which(s.Ranking)
	if n < 0 || s.Ranking[n].Server == at || s.Keep == nil {
		return better, false
	}
	to := s.Ranking[n]
	better.Server, better.Of = to.Server, len(b.Table.Players())
	if s.Keep.Culled != nil {
		better.Mends = slices.Contains(broken, *s.Keep.Culled)
	} else {
		better.Gain = s.Keep.Gain - (to.Score - s.Ranking[0].Score)
	}
	for i, player := range b.Table.Players() {
		if _, rtt := b.Table.At(i, at); b.Estimated[player] == 0 && discovery.MS(rtt)-to.RTT[player] >= noticed {
			better.Winners = append(better.Winners, people.ID(player))
			better.Less += discovery.MS(rtt) - to.RTT[player]
		}
	}
	better.Less /= float64(max(1, len(better.Winners)))
	return better, better.Mends || better.Gain >= minGain
}

// Suggest returns the servers that are likely best for the people of a basis, the best first. Where
// somebody has not asked a server, what the player knows of its neighbours counts, or else the
// player's forecast; there may be fewer forecasts than people. Where nothing is known, the others decide.
func Suggest(b selection.Basis, tree *topology.Tree, forecasts [][]memory.Forecast) (servers []int) {
	candidates := candidates(b, tree)
	likely := selection.NewTable(b.Table.Players(), len(b.Servers.List))
	for player := range b.Table.Players() {
		around := neighbours(b.Table, player, tree)
		if player < len(forecasts) {
			for _, f := range forecasts[player] {
				if !f.IsVague || around[f.Node].n == 0 {
					around[f.Node] = mean{f.MS, 1}
				}
			}
		}
		for _, server := range candidates {
			state, rtt := b.Table.At(player, server)
			for node := tree.Of(server); state == discovery.Unprobed && node > topology.Root; node = tree.Parent(node) {
				if m := around[node]; m.n > 0 {
					ms := m.sum / m.n
					if tree.Level(node) <= topology.Country {
						ms *= hopeful
					}
					state, rtt = discovery.Answered, time.Duration(ms*float64(time.Millisecond))
				}
			}
			if state == discovery.Unprobed {
				state, rtt = discovery.Answered, time.Millisecond
			}
			if state != discovery.Unprobed {
				likely.Set(player, server, state, rtt)
			}
		}
	}
	b.Table, b.Criteria.Top, b.Criteria.Reasons, b.Criteria.Differing = likely, perCountry*suggestions, -1, false
	b.Criteria.Seats, b.Criteria.Wishes = 0, selection.Wishes{} // of servers that nobody has asked they are unknown
	in := map[string]int{}
	for _, ranked := range b.Select().Ranking {
		country := b.Servers.List[ranked.Server].Country
		if in[country]++; in[country] <= perCountry && len(servers) < suggestions {
			servers = append(servers, ranked.Server)
		}
	}
	return servers
}

// candidates returns the servers that nothing rules out and that somebody has asked, and of those
// that nobody has asked one of each AS: the others there are as likely.
func candidates(b selection.Basis, tree *topology.Tree) (servers []int) {
	filter, isMeasured, seen := selection.NewFilter(b.Servers, b.Criteria), map[int]bool{}, map[topology.Node]bool{}
	for server := range b.Table.Measured() {
		isMeasured[server] = true
	}
	for server := range b.Servers.List {
		as := tree.Above(tree.Of(server), topology.AS)
		if !isMeasured[server] && seen[as] {
			continue
		}
		if isBarred, _ := filter.Bars(server); !isBarred {
			servers, seen[as] = append(servers, server), seen[as] || !isMeasured[server]
		}
	}
	return servers
}

// mean is a sum of RTTs, in ms, and their number.
type mean struct{ sum, n float64 }

// neighbours returns the means of a player's RTTs to the parts of the list.
func neighbours(t *selection.Table, player int, tree *topology.Tree) map[topology.Node]mean {
	around := map[topology.Node]mean{}
	for server := range t.Measured() {
		if state, rtt := t.At(player, server); state == discovery.Answered {
			for node := tree.Of(server); node > topology.Root; node = tree.Parent(node) {
				m := around[node]
				around[node] = mean{m.sum + discovery.MS(rtt), m.n + 1}
			}
		}
	}
	return around
}
