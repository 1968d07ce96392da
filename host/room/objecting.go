package room

import (
	"cmp"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/selection"
	"muster/selection/anomaly"
)

const (
	// worthLooking is by how much better for the others a server must be for them to
	// look again at what did not answer one of them: less is of no consequence.
	worthLooking = 2 * time.Millisecond
	// disputed is how many such servers they look at.
	disputed = 5
	// fewNetworks is in how many networks servers must stay silent for one player, and
	// answer all others, twice, until it is no accident: providers that do not reach
	// each other are seldom, and few at a time.
	fewNetworks = 3
	// usuallySilent is which share of servers that all others reach may be silent for
	// one player on any line: firewalls, routes. accident is how likely it must at least
	// be that as many are by chance: one honest player in ten thousand evenings of
	// eight is not believed.
	usuallySilent = 0.02
	accident      = 1e-5
)

// few is how many players a room can do without, so that no single one decides for
// all: one of three, and less than a third of more, as with any vote of which some may
// be false. Of two nobody can tell who is right.
func few(players int) int {
	if players < 3 {
		return 0
	}
	return max(1, (players-1)/3)
}

// outvote chooses without those few for whom nothing suits that suits all others, if
// that is why no server suits everyone. They come along without a say.
func (r *Room) outvote(group []*player, selected selection.Selection) ([]*player, selection.Selection) {
	most, rest := few(len(group)), slices.Clone(group)
	for len(group)-len(rest) < most {
		name := selection.Objector(r.round.servers, r.round.table(rest), r.criteria(r.settings, rest), most-(len(group)-len(rest)))
		if name == "" {
			break
		}
		rest = slices.DeleteFunc(rest, func(p *player) bool { return p.name == name })
		s := r.selectFor(rest)
		if s.Chosen == nil {
			continue
		}
		for _, p := range group { // the first of them may stand in nobody's way
			if with := append(slices.Clone(rest), p); !slices.Contains(rest, p) {
				if again := r.selectFor(with); again.Chosen != nil {
					rest, s = with, again
				}
			}
		}
		out := filtered(group, func(p *player) bool { return !slices.Contains(rest, p) })
		for _, p := range out {
			p.leftOut = true
		}
		r.note("no server suits everyone, but some suit all but %s, to whom they did not answer or are too far away: choosing without; the organiser can begin another round", strings.Join(names(out), ", "))
		return filtered(group, func(p *player) bool { return slices.Contains(rest, p) }), s
	}
	return group, selected
}

// objections are those of players who are not vouched for, where there are others
// enough to tell.
func (r *Room) objections(s *selection.Selection, group []*player) []selection.Objection {
	if few(len(group)) == 0 || s.Chosen == nil {
		return nil
	}
	all := selection.Objections(r.round.servers, r.round.table(group), r.criteria(r.settings, group), s.Chosen.Server, worthLooking)
	return slices.DeleteFunc(all, func(o selection.Objection) bool { return r.round.player(o.Player).trusted })
}

// hoped are servers that did not answer one player, but half of the others and more,
// and that are better for these than the chosen one, the best first, as far as the
// search can tell what it asked nobody any more after that silence.
func (r *Room) hoped(p *player, group []*player, s *selection.Selection) []int {
	search := r.round.search
	if search == nil {
		return nil
	}
	others := filtered(group, func(other *player) bool { return other != p })
	objective, table := s.Above(r.criteria(r.settings, others).Objective(names(others)), names(others)), r.round.table(others)
	rtts := make([]float64, len(others))
	score := func(server int) (ms float64, known bool) {
		answered := 0
		for i, other := range others {
			state, rtt := table.At(i, server)
			switch {
			case state == discovery.Answered:
				answered++
			case state != discovery.Unprobed:
				return 0, false
			default:
				if rtt, known = search.Predict(other.name, server); !known {
					return 0, false
				}
			}
			rtts[i] = rttMS(rtt)
		}
		return objective.Score(rtts), 2*answered >= len(others)
	}
	most, _ := score(s.Chosen.Server)
	scores := map[int]float64{}
	for server := range p.witness.Servers() {
		if state := r.round.knowledge(p).At(server).State; state == discovery.Answered || state == discovery.Unprobed {
			continue
		}
		if ms, known := score(server); known && ms <= most-rttMS(worthLooking) {
			scores[server] = ms
		}
	}
	servers := slices.Sorted(maps.Keys(scores))
	slices.SortStableFunc(servers, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	return servers
}

// disputed are servers that would be better for all but one player, whom they did
// not answer: what may have been bad luck a second look shows. The player with the
// most such servers comes first.
func (r *Room) disputed(s *selection.Selection) []int {
	var servers []int
	group := r.round.chosenFor()
	all := r.objections(s, group)
	for _, p := range group { // what not all others have measured may be better, too
		if !p.trusted && few(len(group)) > 0 {
			all = append(all, selection.Objection{Player: p.name, Servers: r.hoped(p, group, s)})
		}
	}
	slices.SortStableFunc(all, func(a, b selection.Objection) int { return len(b.Servers) - len(a.Servers) })
	for _, o := range all {
		for _, server := range slices.Concat(r.round.apart(o.Servers), o.Servers) {
			if len(servers) < disputed && !slices.Contains(r.round.look.Seen, server) && !slices.Contains(servers, server) {
				servers = append(servers, server)
			}
		}
	}
	return servers
}

// apart are the first of some servers in each network: an AS, or where that is not
// known as many addresses as a provider has in one place.
func (r *round) apart(servers []int) []int {
	seen := map[network]bool{}
	var first []int
	for _, server := range servers {
		if n := r.networkOf(server); !seen[n] {
			seen[n] = true
			first = append(first, server)
		}
	}
	return first
}

// network is an AS, or where that is not known a prefix.
type network struct {
	asn    uint32
	prefix netip.Prefix
}

func (r *round) networkOf(server int) network {
	n := network{asn: r.servers.List[server].ASN}
	if addr, bits := r.servers.List[server].Addr.Addr(), 16; n.asn == 0 {
		if addr.Is6() {
			bits = 32
		}
		n.prefix, _ = addr.Prefix(bits)
	}
	return n
}

// accidents are how many accidents it takes for servers not to answer a player: one for
// each, but of a network that answers the player nowhere one for all, as a route or a
// firewall that is to blame for one is for the others.
func (r *round) accidents(p *player, servers []int) int {
	reached, known := map[network]bool{}, r.knowledge(p)
	for server := range known.Servers() {
		if known.At(server).State == discovery.Answered {
			reached[r.networkOf(server)] = true
		}
	}
	isCutOff := func(server int) bool { return !reached[r.networkOf(server)] }
	cutOff := slices.DeleteFunc(slices.Clone(servers), func(server int) bool { return !isCutOff(server) })
	return len(servers) - len(cutOff) + len(r.apart(cutOff))
}

// overrule leaves a player out for whom far more of what would be better for all others
// did not answer than of all else, in several networks, and not in the second look
// either. It reports whether it did.
func (r *Room) overrule(s *selection.Selection, group []*player) bool {
	overruled := false
	for _, o := range r.objections(s, group) {
		again := filteredServers(o.Servers, r.round.look.Seen)
		// Who reaches little elsewhere too, by a poor line, hides nothing.
		elsewhere := max(usuallySilent, float64(o.Silent+1)/float64(o.Others+2))
		p := r.round.player(o.Player)
		many := r.round.accidents(p, o.Servers)
		if len(r.round.apart(again)) < fewNetworks || atLeast(many, o.Better-len(o.Servers)+many, elsewhere) > accident {
			continue
		}
		if left := len(r.round.excluded()) + 1; left > few(len(group)+left-1) {
			continue // so many are not wrong
		}
		p.anomaly, p.leftOut, overruled = &anomaly.Anomaly{Player: p.name, Sign: anomaly.SilentBest, Servers: len(o.Servers), Of: o.Better}, true, true
		r.note("%s: that does not count in the choice", strings.TrimSuffix(p.anomaly.String(), "."))
	}
	return overruled
}

// atLeast is how likely it is that at least so many of n happen, each with a
// probability p.
func atLeast(many, n int, p float64) float64 {
	factorial := func(n int) float64 { // its logarithm
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

func filteredServers(servers, among []int) (some []int) {
	for _, server := range servers {
		if slices.Contains(among, server) {
			some = append(some, server)
		}
	}
	return some
}
