package coordinate

// A packet pair now and then meets a full queue, and with sixteen players one row
// in five has one such sample. It would hide how near a server is, and its
// neighbours with it. So an RTT that sticks out of what its player has of the
// machine's relatives is doubted: as far as the row's promise goes it counts as
// not measured, and the player is asked for a neighbour too, which may be another
// server of the same machine. Neighbours that agree are believed.

const (
	// sticksOut is by how many standard deviations, and doubtfulBy by how many ms
	// at least, an RTT that is doubted is higher than its relatives say.
	sticksOut  = 3.3
	doubtfulBy = 15.0
	// doubtRound is which share of a player's batch neighbours of what is doubted
	// may take up.
	doubtRound = 4
)

// doubted tells an RTT that sticks out, and what is likely in its place.
func (p *Planner) doubted(player int, at int32, ms float64) (likely, off float64, doubt bool) {
	likely, off, known := p.relatives.without(player, at, ms)
	return likely, off, known && ms > likely+max(doubtfulBy, sticksOut*off)
}

// hidden are machines that may be better than the best if what is doubted is as
// likely, by how much.
func (p *Planner) hidden(most int) []int32 {
	var better []guess
	for _, at := range p.known {
		if r := p.rows[at]; len(r.doubts) > 0 && p.suits(r) && r.hope < p.best {
			better = append(better, guess{at, r.hope})
		}
	}
	sortGuesses(better)
	var hidden []int32
	for _, g := range better[:min(most, len(better))] {
		hidden = append(hidden, g.machine)
	}
	return hidden
}

// askAround has players whose RTTs are doubted asked for neighbours, where the
// group's best server may be hidden.
func (p *Planner) askAround(a *asking) {
	var hidden []guess
	for _, at := range p.known {
		if r := p.rows[at]; len(r.doubts) > 0 && r.wanted && r.promise < p.best {
			hidden = append(hidden, guess{at, r.promise})
		}
	}
	sortGuesses(hidden)
	left := make(map[int]int)
	for player, quota := range a.quota {
		left[player] = quota / doubtRound
	}
	for _, g := range hidden {
		for _, player := range p.rows[g.machine].doubts {
			if left[player] > 0 && p.askNeighbour(a, player, g.machine) {
				left[player]--
			}
		}
	}
}

// askNeighbour has a player asked for a server as near to a machine as possible,
// of its network at most.
func (p *Planner) askNeighbour(a *asking, player int, at int32) bool {
	for node := at; p.tree.level[node] >= network; node = p.tree.parent[node] {
		for _, server := range p.tree.servers(node)[:min(p.tree.size(node), mostNeighbours)] {
			r := p.rows[p.tree.of[server]]
			dead := r != nil && r.server < 0
			if !dead && p.usable(int(server)) && a.ask(player, int(server)) {
				return true
			}
		}
	}
	return false
}

// mostNeighbours are tried of each level.
const mostNeighbours = 50
