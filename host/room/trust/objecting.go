package trust

import (
	"cmp"
	"maps"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/selection"
	"muster/selection/anomaly"
)

const (
	// worthLooking is the least gain of the others' score for which everyone looks again at a server
	// that did not answer one player. A smaller gain makes no difference to them.
	worthLooking = 2 * time.Millisecond
	// disputed is the most servers without an answer to one player that everyone looks at again.
	disputed = 5
	// fewNetworks is the least number of networks that cannot all be silent to one player alone by
	// accident. Providers that do not reach each other are rare, and one player hardly ever meets
	// three.
	fewNetworks = 3
	// usuallySilent is the share of servers that may stay silent to one player on any line, because
	// of firewalls and routes. Silences with a smaller likelihood than accident are not by chance.
	// With this limit the room doubts one honest player in ten thousand sessions of eight.
	usuallySilent = 0.02
	accident      = 1e-5
	// Silences as unlikely as hardlyAccident need only fewAgain networks that are silent again. One
	// is too few, because a line that was down for a moment may lose a packet later, too.
	hardlyAccident = 1e-20
	fewAgain       = 2
)

// Outvote leaves out a few players if no server suits everyone because of them. They come along
// without a say. Outvote also returns the other players.
func (d *Doubts) Outvote(b selection.Basis) (v Verdict, others []people.ID) {
	suits := func(players []string) bool {
		b := b.For(players)
		b.Criteria.Top, b.Criteria.Reasons = 1, -1
		return b.Select().Chosen != nil
	}
	group := b.Table.Players()
	most, rest := maxDispensable(len(group)), slices.Clone(group)
	for len(group)-len(rest) < most {
		left := b.For(rest)
		objector := selection.Objector(left.Servers, left.Table, left.Criteria, most-(len(group)-len(rest)))
		if objector == "" {
			break
		}
		rest = slices.DeleteFunc(rest, func(player string) bool { return player == objector })
		if !suits(rest) {
			continue
		}
		for _, player := range group { // a player who was left out early may block nothing
			if with := append(slices.Clone(rest), player); !slices.Contains(rest, player) && suits(with) {
				rest = with
			}
		}
		out := slices.DeleteFunc(slices.Clone(group), func(player string) bool { return slices.Contains(rest, player) })
		v.LeftOut = people.IDs(out)
		v.note("room.outvoted", "players", out)
		return v, people.IDs(rest)
	}
	return Verdict{}, people.IDs(group)
}

// objections returns the objections of players that the organiser does not vouch for, if there are
// enough others to compare them with.
func (d *Doubts) objections(b selection.Basis, s *selection.Selection) []selection.Objection {
	if maxDispensable(len(b.Table.Players())) == 0 || s.Chosen == nil {
		return nil
	}
	b = b.For(b.Table.Players())
	all := selection.Objections(b.Servers, b.Table, b.Criteria, s.Chosen.Server, worthLooking)
	return slices.DeleteFunc(all, func(o selection.Objection) bool { return d.state.Players[people.ID(o.Player)].Vouched })
}

// Forecast is a search's forecast for servers that it gave up. After a server failed to answer one
// player the search asked nobody else for it.
type Forecast struct {
	// Silent are the servers that each player was asked for and that did not answer.
	Silent map[people.ID][]int
	// RTTs are the forecasts, by player and server, for players who were not asked.
	RTTs map[people.ID]map[int]time.Duration
}

// hoped returns servers that did not answer one player, but answered at least half of the others,
// and that the search expects to be better for the others than the chosen server. The best comes
// first.
func hoped(b selection.Basis, player people.ID, s *selection.Selection, o Forecast) []int {
	others := slices.DeleteFunc(slices.Clone(b.Table.Players()), func(other string) bool { return other == string(player) })
	b = b.For(others)
	objective := s.Above(b.Objective(), others)
	rtts := make([]float64, len(others))
	score := func(server int) (ms float64, known bool) {
		answered := 0
		for i, other := range others {
			state, rtt := b.Table.At(i, server)
			switch {
			case state == discovery.Answered:
				answered++
			case state != discovery.Unprobed:
				return 0, false
			default:
				if rtt, known = o.RTTs[people.ID(other)][server]; !known {
					return 0, false
				}
			}
			rtts[i] = discovery.MS(rtt)
		}
		return objective.Score(rtts), 2*answered >= len(others)
	}
	most, _ := score(s.Chosen.Server)
	scores := map[int]float64{}
	for _, server := range o.Silent[player] {
		if ms, known := score(server); known && ms <= most-discovery.MS(worthLooking) {
			scores[server] = ms
		}
	}
	servers := slices.Sorted(maps.Keys(scores))
	slices.SortStableFunc(servers, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	return servers
}

// Disputed returns servers that would be better for all players but one, whom they did not answer.
// A second look shows whether that was bad luck. The player with the most such servers comes first.
// Seen are the servers that everyone has looked at.
func (d *Doubts) Disputed(b selection.Basis, s *selection.Selection, o Forecast, seen []int) (servers []int) {
	group := people.IDs(b.Table.Players())
	all := d.objections(b, s)
	add := func(more []int, most int) {
		for _, server := range more {
			if len(servers) < most && !slices.Contains(seen, server) && !slices.Contains(servers, server) {
				servers = append(servers, server)
			}
		}
	}
	if len(all) > 0 { // as many as [Doubts.Overrule] needs
		most := slices.MaxFunc(all, func(a, b selection.Objection) int { return len(a.Servers) - len(b.Servers) })
		add(onePerNetwork(b.Servers.List, most.Servers), fewNetworks)
	}
	for _, player := range group { // servers that some others have not measured may be better, too
		if !d.state.Players[player].Vouched && maxDispensable(len(group)) > 0 && len(o.Silent[player]) > 0 {
			all = append(all, selection.Objection{Player: string(player), Servers: hoped(b, player, s, o)})
		}
	}
	slices.SortStableFunc(all, func(a, b selection.Objection) int { return len(b.Servers) - len(a.Servers) })
	for _, objection := range all {
		add(slices.Concat(onePerNetwork(b.Servers.List, objection.Servers), objection.Servers), disputed)
	}
	return servers
}

// Overrule leaves out a player to whom the others' best servers stay silent: far more often than
// other servers, in several networks, and again in the second look. The basis covers the players
// that count, everybody lists all players, and seen are the servers that everyone has looked at.
func (d *Doubts) Overrule(b selection.Basis, s *selection.Selection, everybody []people.ID, seen []int) (v Verdict) {
	for _, o := range d.objections(b, s) {
		again := slices.DeleteFunc(slices.Clone(o.Servers), func(server int) bool { return !slices.Contains(seen, server) })
		// A player with a poor line reaches few servers elsewhere, too, and hides nothing.
		elsewhere := max(usuallySilent, float64(o.Silent+1)/float64(o.Others+2))
		many := accidents(b, o.Player, o.Servers)
		likelihood, networks := atLeast(many, o.Better-len(o.Servers)+many, elsewhere), len(onePerNetwork(b.Servers.List, again))
		isPlain := likelihood <= hardlyAccident && networks >= fewAgain && len(onePerNetwork(b.Servers.List, o.Servers)) >= fewNetworks
		if !isPlain && (networks < fewNetworks || likelihood > accident) {
			continue
		}
		if left := len(d.excluded(everybody)) + 1; left > maxDispensable(len(b.Table.Players())+left-1) {
			continue // so many players cannot be wrong
		}
		d.exclude(anomaly.Anomaly{Player: o.Player, Sign: anomaly.SilentBest, Servers: len(o.Servers), Of: o.Better}, &v)
	}
	return v
}

// maxLone is the most servers that get a look along with the finalists although one player's
// report alone culled them. A player who hides more servers is named by then.
const maxLone = 3

// CulledByLone returns servers that would be among the finalists without one player's report
// against them, which nobody else confirms. Seen are the servers that everyone has looked at.
func CulledByLone(b selection.Basis, ranking []selection.Ranked, finalists int, seen []int) (lone []int) {
	b = b.For(b.Table.Players())
	b.Criteria.Top, b.Criteria.Reasons, b.Criteria.Charitable = finalists, -1, true
	for _, ranked := range selection.NewFilter(b.Servers, b.Criteria).Select(b.Table).Ranking {
		isRanked := slices.ContainsFunc(ranking, func(other selection.Ranked) bool { return other.Server == ranked.Server })
		if b.Servers.Lone[ranked.Server] && !isRanked && !slices.Contains(seen, ranked.Server) && len(lone) < maxLone {
			lone = append(lone, ranked.Server)
		}
	}
	return lone
}

// network is an AS or, where that is unknown, as many addresses as a provider has in one place.
type network struct {
	asn    uint32
	prefix netip.Prefix
}

func networkOf(server *discovery.Server) network {
	n := network{asn: server.ASN}
	if addr, bits := server.Addr.Addr(), 16; n.asn == 0 {
		if addr.Is6() {
			bits = 32
		}
		n.prefix, _ = addr.Prefix(bits)
	}
	return n
}

// onePerNetwork returns for each network the first of the servers in it.
func onePerNetwork(list []discovery.Server, servers []int) (first []int) {
	seen := map[network]bool{}
	for _, server := range servers {
		if n := networkOf(&list[server]); !seen[n] {
			seen[n] = true
			first = append(first, server)
		}
	}
	return first
}

// accidents returns how many independent failures explain that servers did not answer a player. If
// no server of a network answers the player, one broken route or firewall explains them all.
func accidents(b selection.Basis, player string, servers []int) int {
	reached, list, column := map[network]bool{}, b.Servers.List, slices.Index(b.Table.Players(), player)
	for server := range b.Table.Measured() {
		if state, _ := b.Table.At(column, server); state == discovery.Answered {
			reached[networkOf(&list[server])] = true
		}
	}
	cutOff := slices.DeleteFunc(slices.Clone(servers), func(server int) bool { return reached[networkOf(&list[server])] })
	return len(servers) - len(cutOff) + len(onePerNetwork(list, cutOff))
}

// atLeast returns the likelihood that at least many of n events happen, each with probability p.
func atLeast(many, n int, p float64) float64 {
	factorial := func(n int) float64 { // the logarithm of n's factorial
		log, _ := math.Lgamma(float64(n + 1))
		return log
	}
	sum := 0.0
	for k := many; k <= n; k++ {
		ways := factorial(n) - factorial(k) - factorial(n-k)
		sum += math.Exp(ways + float64(k)*math.Log(p) + float64(n-k)*math.Log(1-p))
	}
	return sum
}
