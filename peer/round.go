package peer

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

const (
	// chunk is how many results go together: what their servers say of
	// themselves fits a message even if all texts are new and long.
	chunk = 1024
	// maxQueued is how many messages wait for a slow line before results are
	// held back.
	maxQueued = 16
)

// round is one round of the room as this player sees it.
type round struct {
	number  int
	servers []discovery.Server
	host    netip.Addr // where the list is from
	// near are the private addresses that this machine found servers at itself.
	near    map[netip.AddrPort]bool
	measure *wire.Measure
	ledger  *ledger // nil until measuring began
	agenda  *discovery.Agenda
	running bool // the agenda
	// known is how many of the ledger's results the host said, not this machine.
	known int
	// sent counts the ledger's results that this connection was given. Those
	// that were lost with one are sent again, all of them: see welcome.
	sent     int
	saidDone bool
	shown    Progress
}

// list begins a round, unless it is the one we are in. A host that lost its
// memory may send another list under the same number.
func (s *session) list(m wire.List) {
	if s.round != nil && s.round.number == m.Round && slices.Equal(s.round.servers, m.Servers) {
		return
	}
	s.stop()
	s.stopLaunch()
	s.look = nil
	s.scanner.exposure.Forget()
	s.round = &round{number: m.Round, servers: m.Servers, host: s.host, near: s.near.addrs}
}

// measure starts the discovery, or waits for what the host knows already.
func (s *session) measure(m wire.Measure) error {
	if s.round == nil || s.round.number != m.Round {
		return fmt.Errorf("peer: asked to measure round %d without its list", m.Round)
	}
	if s.round.ledger != nil { // the connection was lost, the discovery was not
		s.exposes(m.Most)
		if m.Strategy == wire.Coordinated {
			s.round.agenda.Hold() // from now on the host says what to ask
		}
		return nil
	}
	s.round.measure = &m
	if m.Known > 0 {
		return nil
	}
	return s.discover(nil)
}

// known takes what the host still has from before this program was started.
func (s *session) known(m wire.Report) error {
	if s.round == nil || s.round.number != m.Round || s.round.measure == nil || s.round.ledger != nil {
		return nil
	}
	for _, result := range m.Results {
		if result.Server >= len(s.round.servers) {
			return fmt.Errorf("peer: the host knows server %d of %d", result.Server, len(s.round.servers))
		}
	}
	return s.discover(m.Results)
}

// discover begins the round's measuring.
func (s *session) discover(known []discovery.Result) error {
	r := s.round
	plan, err := s.options.NewPlan(*r.measure, r.servers)
	if err != nil {
		return err
	}
	shunned := append(slices.Clip(known), r.outOfReach(known)...)
	if n := len(shunned) - len(known); n > 0 {
		s.log.Warn("the host is on the internet but lists servers on networks such as yours: they are not asked; if they are yours, join the host by its address there", "servers", n)
	}
	r.ledger, r.agenda = newLedger(shunned), discovery.NewAgenda(plan, shunned)
	if r.measure.Strategy == wire.Coordinated {
		r.agenda.Hold() // the host says what to ask
	}
	s.exposes(r.measure.Most)
	r.known, r.sent = len(known), len(known)
	s.runAgenda()
	return nil
}

// exposes tells the player how many servers will see the player's address at most, and lets
// no more be asked than that. A host that wants more says so, and the player hears it first.
func (s *session) exposes(most int) {
	if e := s.scanner.exposure; e.Promise(most) {
		s.tell(Exposing{most, len(s.round.servers)})
	}
}

// ask puts what the host wants to know first.
func (s *session) ask(m wire.Ask) error {
	r := s.round
	if r == nil || r.number != m.Round || r.agenda == nil {
		return nil // of a round that is over, or not yet begun here
	}
	if slices.ContainsFunc(slices.Concat(m.Servers, m.Names), func(s int) bool { return s < 0 || s >= len(r.servers) }) {
		return fmt.Errorf("peer: asked for a server outside the list of %d", len(r.servers))
	}
	s.sayNames(m.Names)
	if len(m.Servers) == 0 && m.Own == 0 {
		return nil
	}
	r.agenda.Allow(m.Own)
	r.agenda.Ask(m.Servers)
	if !r.running {
		s.runAgenda()
	}
	return nil
}

// sayNames says what servers that lead called themselves when they were measured.
func (s *session) sayNames(servers []int) {
	if len(servers) == 0 {
		return
	}
	infos := wire.Infos{Round: s.round.number}
	results, _, _ := s.round.ledger.since(0)
	for i := range results {
		if info := results[i].Info; info != nil && info.Name != "" && slices.Contains(servers, results[i].Server) {
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: results[i].Server, Info: *info})
		}
	}
	if len(infos.Servers) > 0 {
		s.send(infos)
	}
}

// runAgenda measures in the background until the agenda has nothing more.
func (s *session) runAgenda() {
	r := s.round
	r.running = true
	r.agenda.Resume()
	among := len(slices.DeleteFunc(s.room.Players(), func(p wire.Person) bool { return !p.Connected }))
	task := s.tasks + 1
	s.inBackground(func(ctx context.Context) {
		err := s.scanner.run(ctx, among, r.measure.Game, r.servers, r.agenda, r.ledger.add)
		if ctx.Err() != nil {
			err = nil // stopped by the peer itself, for something else
		}
		s.post(func() {
			r.running = false
			switch {
			case err != nil:
				s.leave(err)
			case s.round == r && s.tasks == task && r.agenda.Pending(): // the host asked for more in the last moment, and for nothing else since
				s.runAgenda()
			default:
				r.ledger.finish()
			}
		})
	})
}

// flush shows the player how far the measuring is, and sends the host what it has
// not heard yet, as fast as the line takes it.
func (s *session) flush() {
	r := s.round
	if r == nil || r.ledger == nil {
		return
	}
	results, done, answered := r.ledger.since(r.sent)
	if now := (Progress{Probed: r.sent + len(results), Answered: answered, Listed: len(r.servers)}); now != r.shown {
		r.shown = now
		s.tell(now)
	}
	if s.conn == nil {
		return
	}
	for len(results) > 0 && s.conn.Queued() < maxQueued {
		n := min(chunk, len(results))
		s.report(wire.Report{Round: r.number, First: r.sent, Now: time.Since(r.ledger.began), Results: results[:n]})
		results, r.sent = results[n:], r.sent+n
	}
	if done && len(results) == 0 && !r.saidDone {
		r.saidDone = true
		s.send(wire.Done{Round: r.number})
	}
}

// rests tells the host that nothing is to be expected for a while: silence without a word
// is taken for that of a program that has died.
func (s *session) rests(d time.Duration) {
	if r := s.round; r != nil && r.ledger != nil && s.conn != nil {
		s.flush()
		s.send(wire.Rests{Round: r.number, For: discovery.Millis(d)})
	}
}

// report says what servers tell of themselves first: with the results the host
// decides at once.
func (s *session) report(report wire.Report) {
	infos := wire.Infos{Round: report.Round}
	for i := range report.Results {
		if info := report.Results[i].Info; info != nil {
			nameless := *info
			nameless.Name = "" // only leaders and finalists need one, and names repeat least
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: report.Results[i].Server, Info: nameless})
		}
	}
	if len(infos.Servers) > 0 {
		s.send(infos)
	}
	s.send(report)
}

// mayAsk reports whether a host may have us ask a server. A host on the internet
// knows nothing of the networks that we are on: at the private addresses in its
// list are our own machines, which no stranger should have us probe.
func mayAsk(host, server netip.Addr) bool {
	reach := discovery.ReachOf(server)
	return reach != discovery.NoReach && reach >= discovery.ReachOf(host)
}

// mayAsk reports whether the host may have us ask a server of its list: what it can know
// itself, or what we have told it.
func (r *round) mayAsk(server int) bool {
	at := r.servers[server].Addr
	return r.near[at] || mayAsk(r.host, at.Addr())
}

// outOfReach are the servers that the host may not have us ask, besides those
// that are known.
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
