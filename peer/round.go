package peer

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/host/wire/conn"
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
	measure *wire.Measure
	ledger  *ledger // nil until measuring began
	agenda  *discovery.Agenda
	running bool // the agenda
	// sent counts the ledger's results that this connection was given. Those
	// that were lost with one are sent again, all of them: see welcome.
	sent     int
	saidDone bool
	shown    Progress
}

// receive acts on a message of the host.
func (p *peer) receive(conn *conn.Conn, m wire.Message) error {
	switch m := m.(type) {
	case wire.Welcome:
		if m.Version != wire.Version {
			return otherVersion(m)
		}
		p.conn = conn
		p.welcome(m)
	case wire.Refusal:
		return m
	case wire.Room:
		p.tell(RoomChanged{m})
		p.finishIfFailed(m)
	case wire.List:
		p.list(m)
	case wire.Measure:
		return p.measure(m)
	case wire.Ask:
		return p.ask(m)
	case wire.Report:
		return p.known(m)
	case wire.Finalists:
		return p.verify(m)
	case wire.Launch:
		p.launch(m)
	default:
		return fmt.Errorf("peer: a %T from the host", m)
	}
	return nil
}

// otherVersion turns away a host that did not look at the peer's version.
func otherVersion(m wire.Welcome) error {
	return wire.Refusal{
		Reason: wire.ReasonVersion, Message: fmt.Sprintf("the host speaks version %d, this program %d", m.Version, wire.Version),
		Hint: "update muster, here or there",
	}
}

func (p *peer) welcome(m wire.Welcome) {
	p.token = m.Token
	if p.options.SaveToken != nil {
		p.options.SaveToken(m.Token)
	}
	if p.round != nil {
		p.round.sent, p.round.saidDone = 0, false
	}
	if p.launched != nil {
		p.send(*p.launched)
	}
	if p.finishing {
		p.leave(errFinished)
	}
	p.tell(Joined{m.Name})
}

// list begins a round, unless it is the one we are in. A host that lost its
// memory may send another list under the same number.
func (p *peer) list(m wire.List) {
	if p.round != nil && p.round.number == m.Round && slices.Equal(p.round.servers, m.Servers) {
		return
	}
	p.stop()
	p.look = nil
	p.round = &round{number: m.Round, servers: m.Servers, host: p.host}
}

// measure starts the discovery, or waits for what the host knows already.
func (p *peer) measure(m wire.Measure) error {
	if p.round == nil || p.round.number != m.Round {
		return fmt.Errorf("peer: asked to measure round %d without its list", m.Round)
	}
	if p.round.ledger != nil {
		return nil // the connection was lost, the discovery was not
	}
	p.round.measure = &m
	if m.Known > 0 {
		return nil
	}
	return p.discover(nil)
}

// known takes what the host still has from before this program was started.
func (p *peer) known(m wire.Report) error {
	if p.round == nil || p.round.number != m.Round || p.round.measure == nil || p.round.ledger != nil {
		return nil
	}
	for _, result := range m.Results {
		if result.Server >= len(p.round.servers) {
			return fmt.Errorf("peer: the host knows server %d of %d", result.Server, len(p.round.servers))
		}
	}
	return p.discover(m.Results)
}

// discover begins the round's measuring.
func (p *peer) discover(known []discovery.Result) error {
	r := p.round
	plan, err := p.options.NewPlan(*r.measure, r.servers)
	if err != nil {
		return err
	}
	shunned := append(slices.Clip(known), r.outOfReach(known)...)
	if n := len(shunned) - len(known); n > 0 {
		p.log.Warn("the host is on the internet but lists servers on networks such as yours: they are not asked; if they are yours, join the host by its address there", "servers", n)
	}
	r.ledger, r.agenda = newLedger(shunned), discovery.NewAgenda(plan, shunned)
	if r.measure.Strategy == wire.Coordinated {
		r.agenda.Hold() // the host says what to ask
	}
	r.sent = len(known)
	p.runAgenda()
	return nil
}

// ask puts what the host wants to know first.
func (p *peer) ask(m wire.Ask) error {
	r := p.round
	if r == nil || r.number != m.Round || r.agenda == nil {
		return nil // of a round that is over, or not yet begun here
	}
	if slices.ContainsFunc(m.Servers, func(s int) bool { return s < 0 || s >= len(r.servers) }) {
		return fmt.Errorf("peer: asked for a server outside the list of %d", len(r.servers))
	}
	r.agenda.Allow(m.Own)
	r.agenda.Ask(m.Servers)
	if !r.running {
		p.runAgenda()
	}
	return nil
}

// runAgenda measures in the background until the agenda has nothing more.
func (p *peer) runAgenda() {
	r := p.round
	r.running = true
	r.agenda.Resume()
	task := task{game: r.measure.Game, servers: r.servers, plan: r.agenda, seen: r.ledger.add}
	p.inBackground(func(ctx context.Context) {
		err := p.scanner.run(ctx, task)
		if ctx.Err() != nil {
			err = nil // stopped by the peer itself, for something else
		}
		p.post(func() { p.agendaEnded(r, err) })
	})
}

// agendaEnded goes on if the host asked for more in the last moment.
func (p *peer) agendaEnded(r *round, err error) {
	r.running = false
	switch {
	case err != nil:
		p.leave(err)
	case p.round == r && r.agenda.Pending():
		p.runAgenda()
	default:
		r.ledger.finish()
	}
}

// inBackground stops what was under way and does the next thing.
func (p *peer) inBackground(do func(ctx context.Context)) {
	p.stop()
	ctx, cancel := context.WithCancel(p.ctx)
	p.stop = cancel
	p.work.Go(func() {
		defer cancel()
		do(ctx)
	})
}

// fail leaves the room over an error of our own, such as a firewall that lets
// no probe out. An error after being stopped is none.
func (p *peer) fail(ctx context.Context, err error) {
	if ctx.Err() == nil {
		p.leave(err)
	}
}

// flush sends the host what it has not heard yet, as fast as the line takes it.
func (p *peer) flush() {
	r := p.round
	if r == nil || r.ledger == nil {
		return
	}
	p.progress()
	if p.conn == nil {
		return
	}
	results, done := r.ledger.since(r.sent)
	for len(results) > 0 && p.conn.Queued() < maxQueued {
		n := min(chunk, len(results))
		p.report(wire.Report{Round: r.number, First: r.sent, Now: time.Since(r.ledger.began), Results: results[:n]})
		results, r.sent = results[n:], r.sent+n
	}
	if done && len(results) == 0 && !r.saidDone {
		r.saidDone = true
		p.send(wire.Done{Round: r.number})
	}
}

// progress shows the player how far the measuring is, if it has got on.
func (p *peer) progress() {
	r := p.round
	probed, answered := r.ledger.counts()
	if now := (Progress{Probed: probed, Answered: answered, Listed: len(r.servers)}); now != r.shown {
		r.shown = now
		p.tell(now)
	}
}

// report says what servers tell of themselves first: with the results the host
// decides at once.
func (p *peer) report(report wire.Report) {
	infos := wire.Infos{Round: report.Round}
	for i := range report.Results {
		if info := report.Results[i].Info; info != nil {
			nameless := *info
			nameless.Name = "" // only finalists need one, and names repeat least
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: report.Results[i].Server, Info: nameless})
		}
	}
	if len(infos.Servers) > 0 {
		p.send(infos)
	}
	p.send(report)
}

// finishIfFailed ends a peer that came for one round, if that found nothing.
func (p *peer) finishIfFailed(room wire.Room) {
	if p.options.Once && room.Stage == wire.Failed {
		p.leave(ErrNothingSuitable)
	}
}
