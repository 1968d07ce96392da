package sim

import (
	"cmp"
	"slices"
	"time"

	"muster/discovery"
	"muster/selection"
	"muster/selection/anomaly"
	"muster/selection/coordinate"
)

// play is one group's search in virtual time.
type play struct {
	*Group
	options GroupOptions
	run     uint64
	servers selection.Servers
	table   *selection.Table
	now     time.Duration
	free    []time.Duration // when each player may send again
	pending []answer
	// asked counts the servers that each player was asked for.
	asked []int
	round int
	// doubts are those about the players' reports.
	doubts []anomaly.Anomaly
}

// answer is what comes of a question, and when.
type answer struct {
	at     time.Duration
	player int
	result discovery.Result
}

func (g *Group) newPlay(o GroupOptions, run uint64) *play {
	servers := g.servers()
	return &play{
		Group: g, options: o, run: run, servers: servers, table: selection.NewTable(g.Players, len(servers.List)),
		free: make([]time.Duration, len(g.Players)), asked: make([]int, len(g.Players)),
	}
}

const (
	// turn is what it takes to tell the players what to ask, and the host what
	// they measured.
	turn = 100 * time.Millisecond
	// late is when a round waits for an answer no longer.
	late = 500 * time.Millisecond
)

// coordinate has a planner lead the group, round after round.
func (p *play) coordinate(planner *coordinate.Planner) {
	for !planner.Progress().Done {
		batches := planner.Next()
		if len(batches) > 0 {
			p.round++
		}
		end := p.now
		for _, batch := range batches {
			for _, server := range batch.Servers {
				end = max(end, p.ask(batch.Player, server))
			}
		}
		if len(batches) == 0 {
			if len(p.pending) == 0 {
				return
			}
			end = p.next()
		}
		p.now = end + turn
		p.deliver(planner)
		p.distrust(planner)
	}
}

// ask has a player ask a server, and tells until when to wait for the answer.
func (p *play) ask(player, server int) time.Duration {
	sent := max(p.now, p.free[player])
	p.free[player] = sent + time.Duration(float64(time.Second)/p.options.Replay.Rate)
	p.asked[player]++
	v := p.Vantages[player]
	result := discovery.Result{Server: server, Order: p.asked[player], Phase: discovery.Refining}
	var took time.Duration
	result.State, result.RTT, took = v.query(server, p.run<<8, p.options.Replay)
	if v.Infos != nil && result.State == discovery.Answered {
		result.Info = &v.Infos[server]
	}
	p.pending = append(p.pending, answer{sent + took, player, result})
	return min(sent+took, sent+late)
}

// query asks a server, and again while it is silent.
func (v *Vantage) query(server int, n uint64, o ReplayOptions) (state discovery.State, rtt, took time.Duration) {
	for attempt := range o.Retries + 1 {
		if rtt, lost := v.Pair(server, n|uint64(attempt)); !lost {
			state, told := v.told(server, rtt)
			return state, told, took + rtt
		}
		took += o.Timeout
	}
	return discovery.Lost, 0, took
}

// next is when the next answer comes.
func (p *play) next() time.Duration {
	return slices.MinFunc(p.pending, func(a, b answer) int { return cmp.Compare(a.at, b.at) }).at
}

// deliver tells the planner what has come until now.
func (p *play) deliver(planner *coordinate.Planner) {
	var later []answer
	for _, a := range p.pending {
		if a.at > p.now {
			later = append(later, a)
			continue
		}
		p.note(a.player, a.result)
		planner.Observe(a.player, a.result)
		if a.result.Info != nil {
			planner.Inform(a.result.Server)
		}
	}
	p.pending = later
}

// note puts a result into the table.
func (p *play) note(player int, r discovery.Result) {
	p.table.Set(player, r.Server, r.State, r.RTT)
	if r.Info != nil {
		p.servers.Infos[r.Server] = r.Info
	}
}

// samples apart, in packet pairs that no query used.
const (
	second  = 1 << 40
	spacing = time.Second
)

// settle has everybody probe the finalists again, several times, and chooses by
// the lowest RTTs. It is -1 if nothing suits.
func (p *play) settle(finalists []int) (chosen int) {
	if len(finalists) == 0 {
		return -1
	}
	longest := time.Duration(0)
	for _, server := range finalists {
		for player, v := range p.Vantages {
			state, lowest := p.table.At(player, server)
			for n := range uint64(p.options.Samples) {
				rtt, lost := v.Pair(server, second|p.run<<8|n)
				told, rtt := v.told(server, rtt)
				if !lost && told == discovery.Answered && (state != discovery.Answered || rtt < lowest) {
					state, lowest = discovery.Answered, rtt
				}
			}
			p.table.Set(player, server, state, lowest)
			longest = max(longest, lowest)
		}
	}
	sending := time.Duration(float64(len(finalists)) / p.options.Replay.Rate * float64(time.Second))
	p.now += max(sending, spacing)*time.Duration(p.options.Samples-1) + sending + longest + turn
	return p.choose(finalists)
}

// choose takes the best of some servers for those whose numbers count.
func (p *play) choose(among []int) int {
	wish := p.options.Wish
	wish.Top, wish.Reasons = 1, -1
	trusted := p.trusted()
	some := selection.Servers{}
	table := selection.NewTable(trusted, len(among))
	for row, server := range among {
		some.List = append(some.List, p.servers.List[server])
		some.Infos = append(some.Infos, p.servers.Infos[server])
		for column, name := range trusted {
			state, rtt := p.table.At(slices.Index(p.Players, name), server)
			table.Set(column, row, state, rtt)
		}
	}
	doc := selection.NewFilter(some, wish).Select(table)
	if doc.Chosen == nil {
		return -1
	}
	return among[doc.Chosen.Server]
}

// ranked are the best servers of the table.
func (p *play) ranked(n int) []int {
	wish := p.options.Wish
	wish.Top, wish.Reasons = n, -1
	var best []int
	for _, r := range selection.NewFilter(p.servers, wish).Select(p.table).Ranking {
		best = append(best, r.Server)
	}
	return best
}
