package player

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan"
	"muster/discovery/plan/topology"
	"muster/host/wire"
)

const (
	// chunk is how many results one message carries. Even with new, long texts from every server it fits a message.
	chunk = 1024
	// maxQueued is how many messages may wait on a slow line before results are held back.
	maxQueued = 16
)

// round is one round of the room as this player sees it.
type round struct {
	number  int
	servers []discovery.Server
	host    netip.Addr // the host that sent the list
	// near are the private addresses at which this machine found servers itself.
	near     map[netip.AddrPort]bool
	measure  *wire.Measure
	agenda   *discovery.Agenda // nil until measuring begins
	began    time.Time
	results  []discovery.Result // in order of arrival
	answered int
	// run is the task that follows the agenda, 0 for none. isCut says that something else goes first. A run that was
	// cut short may still deliver results.
	run    int
	isCut  bool
	isDone bool
	// known is how many of the results came from the host instead of this machine.
	known int
	// sent counts the results that this connection has carried. After a lost connection all of them are sent again; see
	// welcome.
	sent     int
	saidDone bool
	shown    Progress
	// isCutOff says that the connection to the host is lost, and heard is the number of results up to the last answer
	// before that.
	isCutOff bool
	heard    int
	// silent are servers to ask again after that, and again those that were.
	silent []int
	again  map[int]bool
}

// list begins a round, unless it repeats the current one. A host that lost its memory may send another list under the
// same number.
func (p *Player) list(m wire.List) {
	if r := p.round; r != nil && r.number == m.Round && slices.Equal(r.servers, m.Servers) {
		return
	}
	p.stop()
	p.stopLaunch()
	p.recall.keep(&p.port, p.round)
	p.recall.kept, p.look = 0, nil
	p.exposure.Forget()
	p.round = &round{number: m.Round, servers: m.Servers, host: p.line.host, near: p.near.addrs, again: map[int]bool{}}
}

// stop cuts the measuring short.
func (p *Player) stop() {
	if r := p.round; r != nil && r.run != 0 && !r.isCut {
		r.isCut = true
		p.do(Stop{r.run})
	}
	if p.look != nil {
		p.drop(&p.look.sampling)
	}
}

// measure starts the discovery, or waits for the results that the host already knows.
func (p *Player) measure(m wire.Measure) error {
	r := p.round
	if r == nil || r.number != m.Round {
		return fmt.Errorf("peer: asked to measure round %d without its list", m.Round)
	}
	if r.agenda != nil { // only the connection was lost; the discovery continues
		p.exposes(m.Max)
		if m.Strategy == wire.Coordinated {
			r.agenda.Hold() // from now on the host says what to ask
		}
		return nil
	}
	r.measure = &m
	if m.Known == 0 {
		return p.follow(nil)
	}
	return nil
}

// known takes the results that the host kept from before this program started.
func (p *Player) known(m wire.Report) error {
	r := p.round
	if r == nil || r.number != m.Round || r.measure == nil || r.agenda != nil {
		return nil
	}
	for _, result := range m.Results {
		if result.Server >= len(r.servers) {
			return fmt.Errorf("peer: the host knows server %d of %d", result.Server, len(r.servers))
		}
	}
	return p.follow(m.Results)
}

// follow begins a plan. The host remembers results from before this program started.
func (p *Player) follow(remembered []discovery.Result) error {
	r := p.round
	plan, err := p.options.NewPlan(*r.measure, r.servers)
	if err != nil {
		return err
	}
	shunned := append(slices.Clip(remembered), r.outOfReach(remembered)...)
	if n := len(shunned) - len(remembered); n > 0 {
		p.do(Warn{"the host is on the internet but lists servers on networks such as yours: they are not asked; " +
			"if they are yours, join the host by its address there", []any{"servers", n}})
	}
	r.began, r.agenda = p.now, discovery.NewAgenda(plan, shunned)
	for i := range shunned {
		shunned[i].At = 0
	}
	r.add(shunned)
	if r.measure.Strategy == wire.Coordinated {
		r.agenda.Hold() // the host says what to ask
	}
	p.exposes(r.measure.Max)
	r.known, r.sent = len(remembered), len(remembered)
	p.run()
	return nil
}

func (r *round) add(results []discovery.Result) {
	r.results = append(r.results, results...)
	for i := range results {
		if results[i].State == discovery.Answered {
			r.answered++
		}
	}
}

// exposes tells the player the most servers that will see their address, and enforces that bound. A host that wants
// more must say so, and the player hears it first.
func (p *Player) exposes(most int) {
	isShown := func(s discovery.Server) bool { return !discovery.IsPlaceholder(s.Addr.Addr()) }
	if p.exposure.Promise(most) && slices.ContainsFunc(p.round.servers, isShown) {
		p.tell(Exposing{most, len(p.round.servers)})
	}
}

// ask puts the servers that the host wants to know first.
func (p *Player) ask(m wire.Ask) error {
	r := p.round
	if r == nil || r.number != m.Round || r.agenda == nil {
		return nil // that round is over, or has not begun here
	}
	if slices.ContainsFunc(slices.Concat(m.Servers, m.Names), func(s int) bool { return s < 0 || s >= len(r.servers) }) {
		return fmt.Errorf("peer: asked for a server outside the list of %d", len(r.servers))
	}
	if m.Only {
		r.agenda.Drop()
	}
	p.sayNames(m.Names)
	if len(m.Servers) == 0 && m.Own == 0 {
		return nil
	}
	r.agenda.Allow(m.Own)
	r.agenda.Ask(m.Servers)
	if r.run == 0 {
		p.run()
	}
	return nil
}

// sayNames tells the host the names of leading servers, as heard when they were measured.
func (p *Player) sayNames(servers []int) {
	if len(servers) == 0 {
		return
	}
	r := p.round
	infos := wire.Infos{Round: r.number}
	for i := range r.results {
		if info := r.results[i].Info; info != nil && info.Name != "" && slices.Contains(servers, r.results[i].Server) {
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: r.results[i].Server, Info: *info})
		}
	}
	if len(infos.Servers) > 0 {
		p.send(infos)
	}
}

// run measures until the agenda has nothing left.
func (p *Player) run() {
	p.stop()
	r := p.round
	r.run, r.isCut, r.isDone = p.begin(), false, false
	r.agenda.Resume()
	r.agenda.AskAgain(r.silent)
	r.silent = nil
	among := len(slices.DeleteFunc(p.room.Players(), func(p wire.Person) bool { return !p.Connected }))
	p.do(Run{Task: r.run, Game: r.measure.Game, Servers: r.servers, Plan: r.agenda, Exposure: p.exposure, Among: among, Began: r.began,
		MinReach: discovery.ReachOf(r.host)})
}

func (p *Player) seen(in Seen) {
	if r := p.round; r != nil && in.Task == r.run {
		r.add(in.Results)
	}
	for _, s := range p.samplings() {
		if s.task == in.Task {
			for _, result := range in.Results {
				s.results[result.Server] = result
			}
		}
	}
}

// ran continues after a run.
func (p *Player) ran(in Ran) {
	if r := p.round; r != nil && in.Task == r.run {
		r.run = 0
		switch {
		case in.Err != nil:
			p.do(Leave{in.Err})
		case !r.isCut && (len(r.silent) > 0 || r.agenda.Pending()): // there is more to ask, and nothing goes first
			p.run()
		default:
			r.isDone = true
		}
	}
	for _, s := range p.samplings() {
		if s.task == in.Task {
			p.sampled(s, in.Err)
		}
	}
}

// cutOff notes that the connection to the host is lost, and with it perhaps the whole line.
func (r *round) cutOff() {
	if r.isCutOff {
		return
	}
	r.isCutOff, r.heard = true, len(r.results)
	for r.heard > r.known && r.results[r.heard-1].State != discovery.Answered {
		r.heard--
	}
}

// isBack sends a host all results. While the player measures, the servers that have been silent since the last answer
// before the connection was lost are asked again, because the line may have been down. Otherwise the group would lose
// them, and whoever heard them in time would seem to lie. However often a host hangs up, a server is asked again only once
// a round.
func (p *Player) isBack() {
	r := p.round
	if r == nil {
		return
	}
	r.sent, r.saidDone = 0, false
	isPast := r.isCut || p.look != nil || p.launch.newest != nil && p.launch.newest.Round == r.number
	if !r.isCutOff || r.agenda == nil || isPast {
		return
	}
	r.isCutOff = false
	results := slices.Clone(r.results[:r.heard]) // messages that wait have parts of the old ones
	for _, result := range r.results[r.heard:] {
		if result.State == discovery.Lost && !r.again[result.Server] {
			r.again[result.Server] = true
			r.silent = append(r.silent, result.Server)
		} else {
			results = append(results, result)
		}
	}
	r.results = results
	if r.run == 0 && len(r.silent) > 0 {
		p.run()
	}
}

// flush shows the player the progress, and sends the host the new results as fast as the line takes them.
func (p *Player) flush() {
	r := p.round
	if r == nil || r.agenda == nil {
		return
	}
	if now := (Progress{Probed: len(r.results), Answered: r.answered, Listed: len(r.servers)}); now != r.shown {
		r.shown = now
		p.tell(now)
	}
	if !p.line.isIn {
		return
	}
	for r.sent < len(r.results) && p.line.queued < maxQueued {
		end := min(r.sent+chunk, len(r.results))
		p.report(wire.Report{Round: r.number, First: r.sent, Now: p.now.Sub(r.began), Results: r.results[r.sent:end:end]})
		r.sent = end
	}
	if r.isDone && r.sent == len(r.results) && !r.saidDone {
		r.saidDone = true
		p.send(wire.Done{Round: r.number})
	}
}

// rests warns the host of a pause. Without the warning, the host would take the silence for a dead program.
func (p *Player) rests(d time.Duration) {
	if r := p.round; r != nil && r.agenda != nil && p.line.isIn {
		p.flush()
		p.send(wire.Rests{Round: r.number, For: discovery.Millis(d)})
	}
}

// report sends what servers say of themselves before the results, because the host decides as soon as it has results.
func (p *Player) report(report wire.Report) {
	infos := wire.Infos{Round: report.Round}
	for i := range report.Results {
		if info := report.Results[i].Info; info != nil {
			nameless := *info
			nameless.Name = "" // only leaders and finalists need names, and names compress worst
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: report.Results[i].Server, Info: nameless})
		}
	}
	if len(infos.Servers) > 0 {
		p.send(infos)
	}
	p.send(report)
}

// mayAsk reports whether a host may ask for probes of a server. A host on the internet does not know our networks. The
// private addresses in its list would be our own machines, and no stranger should make us probe those.
func mayAsk(host, server netip.Addr) bool {
	reach := discovery.ReachOf(server)
	return reach != discovery.NoReach && reach >= discovery.ReachOf(host)
}

// mayAsk reports whether the host may ask for probes of a server of its list: one that it can know itself, or one that
// we have announced.
func (r *round) mayAsk(server int) bool {
	at := r.servers[server].Addr
	return r.near[at] || mayAsk(r.host, at.Addr())
}

// outOfReach returns results for the servers that the host may not ask for, except those already known.
func (r *round) outOfReach(known []discovery.Result) (forbidden []discovery.Result) {
	isKnown := make([]bool, len(r.servers))
	for i := range known {
		isKnown[known[i].Server] = true
	}
	for i := range r.servers {
		if !isKnown[i] && !r.mayAsk(i) {
			forbidden = append(forbidden, discovery.Result{Server: i, State: discovery.Forbidden})
		}
	}
	return forbidden
}

// ownNearest is how many near servers a player looks for while people vote.
const ownNearest = 50

// NewPlan returns the plan that the host asks for. In a room, a plan covers its whole list, because a server that one
// player skips is lost to everyone. If the host coordinates, this is the player's own plan, which runs only as far as
// the host allows.
func NewPlan(m wire.Measure, servers []discovery.Server) (discovery.Plan, error) {
	options := discovery.PlanOptions{Seed: m.Seed, MaxRTT: time.Duration(m.MaxRTT), AutoStop: discovery.StopOff}
	strategy := discovery.Strategy(m.Strategy)
	if m.Strategy == wire.Coordinated {
		strategy, options.AutoStop, options.Nearest = discovery.Adaptive, "", ownNearest
	}
	if strategy == discovery.Conventional && len(servers) > 0 {
		first := rand.New(rand.NewPCG(m.Seed, 0)).IntN(len(servers))
		return turned{discovery.NewConventional(len(servers)), first, len(servers)}, nil
	}
	return plan.New(strategy, topology.New(servers), options)
}

// turned starts a list at another server than the first. Otherwise all players would ask each server at the same
// moment.
type turned struct {
	discovery.Plan
	first, servers int
}

func (t turned) Next() (discovery.Probe, discovery.Verdict) {
	probe, verdict := t.Plan.Next()
	probe.Server = (probe.Server + t.first) % t.servers
	return probe, verdict
}
