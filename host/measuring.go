package host

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// Listed takes the server list that was asked for, with those servers that are on
// the host's own networks, and has everyone measure it.
func (r *Room) Listed(servers []discovery.Server, err error, now time.Time, near ...Neighbour) []effect {
	servers = shared(withHidden(servers, near))
	switch {
	case r.Stage != wire.Listing:
		return nil // nobody waits for it
	case err != nil:
		return r.fail(now, "no server list: %v", err)
	case len(servers) == 0:
		return r.fail(now, "the server list is empty")
	}
	r.Servers = servers
	r.Infos = make([]*discovery.Info, len(servers))
	r.placeNeighbours(near)
	r.enter(wire.Measuring, now)
	if r.strategy() == wire.Coordinated {
		r.enter(wire.Refining, now)
	}
	r.Measuring, r.search, r.crews = now, nil, nil
	r.note(now, "%s listed", serversInWords(len(servers)))
	r.noteNeighbours(now)
	effects := r.listMessages()
	for _, m := range r.Members {
		m.reset(len(servers), now)
		m.Shares = r.Stage == wire.Measuring && len(r.siteOf(m)) > 1
		r.shutOut(m, m.Origin.Near)
		effects = append(effects, r.measureMessages(m)...)
	}
	return append(effects, r.shareOut()...)
}

// shared is a list as everyone in the room has it: what cannot be asked or said
// on the wire is gone, each server stands in it once, by country, origin AS and
// address. Neighbours share their markers then, and have nearly the same RTT.
func shared(servers []discovery.Server) []discovery.Server {
	var usable []discovery.Server
	for _, s := range servers {
		if s = canonical(s); s.Addr.IsValid() && s.Addr.Port() != 0 {
			usable = append(usable, s)
		}
	}
	slices.SortFunc(usable, discovery.CompareAddr)
	usable = slices.CompactFunc(usable, func(a, b discovery.Server) bool { return a.Addr == b.Addr })
	usable = usable[:min(len(usable), discovery.MaxServers)]
	slices.SortStableFunc(usable, func(a, b discovery.Server) int {
		return cmp.Or(cmp.Compare(a.Country, b.Country), cmp.Compare(a.ASN, b.ASN))
	})
	return usable
}

// canonical is a server as [discovery.AppendList] can say it: a country of two
// capitals or none, and no AS of the numbers that its markers use.
func canonical(s discovery.Server) discovery.Server {
	s.Addr = discovery.Canonical(s.Addr)
	s.Addr = netip.AddrPortFrom(s.Addr.Addr().WithZone(""), s.Addr.Port())
	if len(s.Country) != 2 || strings.Trim(s.Country, capitals) != "" {
		s.Country = ""
	}
	if s.ASN >= firstMarker {
		s.ASN = 0
	}
	return s
}

const (
	capitals    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	firstMarker = 0xff000000
)

func (r *Room) listMessage(m *Member) wire.Message {
	return wire.List{Round: r.Round, Servers: r.serversFor(m)}
}

// measureMessages starts a member, and gives back what is already known of it.
func (r *Room) measureMessages(m *Member) []effect {
	limit := time.Duration(0)
	if n := len(r.Settings.Limits); n > 0 {
		limit = r.Settings.Limits[n-1]
	}
	strategy := r.strategy()
	if m.Shares {
		strategy = wire.Coordinated
	}
	known := m.known()
	effects := []effect{send{m.Name, wire.Measure{
		Round: r.Round, Game: r.Settings.Game, Strategy: strategy, MaxRTT: discovery.Millis(limit),
		Seed: uint64(r.Round), Known: len(known),
	}}}
	if len(known) > 0 {
		effects = append(effects, send{m.Name, wire.Report{Round: r.Round, Results: known}})
	}
	return append(effects, r.neighbourMessages(m)...)
}

// known are the member's results of this round, by server.
func (m *Member) known() []discovery.Result {
	known := make([]discovery.Result, 0, m.Probed)
	for _, result := range m.Results {
		if result.State != discovery.Unprobed {
			known = append(known, result)
		}
	}
	return known
}

// Receive takes what a member says. Its error means that the member's program
// makes no sense.
func (r *Room) Receive(name string, message wire.Message, now time.Time) ([]effect, error) {
	m := r.member(name)
	if m == nil {
		return nil, fmt.Errorf("host: %q is no member of room %s", name, r.Code)
	}
	switch message := message.(type) {
	case wire.Report:
		r.trace(m, message, now)
		return r.report(m, message, now)
	case wire.Infos:
		if m.Doubt != nil {
			return nil, nil // who is not believed about RTTs might send all to another port
		}
		return nil, r.inform(message)
	case wire.Done:
		return r.done(m, message, now), nil
	case wire.Verified:
		return r.verified(m, message, now)
	case wire.Launched:
		r.launched(m, message, now)
		return nil, nil
	}
	return nil, fmt.Errorf("host: a %T from a peer", message)
}

// report adds a member's results. Those of a round before, still on their way
// when it ended, are ignored.
func (r *Room) report(m *Member, report wire.Report, now time.Time) ([]effect, error) {
	if report.Round != r.Round || !r.isMeasuring() && r.Stage != wire.Chosen {
		return nil, nil
	}
	var effects []effect
	for i := range report.Results {
		result := &report.Results[i]
		if result.Server >= len(m.Results) {
			return nil, fmt.Errorf("host: %s reports server %d of %d", m.Name, result.Server, len(m.Results))
		}
		if r.Stage == wire.Chosen && m.Results[result.Server].State != discovery.Unprobed {
			continue // the finalists had their second look
		}
		if r.isShutOut(m, result.Server) {
			continue
		}
		m.add(*result)
		if r.isMeasuring() || r.Agreement != nil {
			effects = append(effects, r.heard(m, *result)...)
		}
	}
	m.Heard = now
	if m.LeftOut && m.Doubt == nil && r.isMeasuring() {
		m.LeftOut = false
		r.note(now, "%s measures again", m.Name)
	}
	r.finishCrews(now)
	if r.Stage == wire.Measuring {
		return append(effects, r.chooseWhenDone(now)...), nil
	}
	return append(effects, r.refineWhenAnswered(now)...), nil
}

// heard tells those who coordinate of a result.
func (r *Room) heard(m *Member, result discovery.Result) []effect {
	if r.search != nil {
		return r.search.answered(r, m, result)
	}
	if c := crewOf(r.crews, m); c != nil {
		return c.heard(r, m, result)
	}
	return nil
}

// add notes the newest result for a server: what travels of it, and no pointer.
func (m *Member) add(result discovery.Result) {
	r := &m.Results[result.Server]
	m.Probed += count(result.State != discovery.Unprobed) - count(r.State != discovery.Unprobed)
	m.Answered += count(result.State == discovery.Answered) - count(r.State == discovery.Answered)
	r.Server, r.State, r.RTT = result.Server, result.State, result.RTT
}

func serversInWords(n int) string {
	if n == 1 {
		return "1 server"
	}
	return fmt.Sprintf("%d servers", n)
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (r *Room) inform(infos wire.Infos) error {
	if infos.Round != r.Round {
		return nil
	}
	for i := range infos.Servers {
		s := &infos.Servers[i]
		if s.Server >= len(r.Infos) {
			return fmt.Errorf("host: infos name server %d of %d", s.Server, len(r.Infos))
		}
		r.Infos[s.Server] = &s.Info
		if r.search != nil {
			r.search.planner.Inform(s.Server)
		}
	}
	return nil
}

func (r *Room) done(m *Member, done wire.Done, now time.Time) []effect {
	if done.Round != r.Round || r.Stage != wire.Measuring || m.Done || m.Shares {
		return nil
	}
	m.Done, m.Heard = true, now
	r.note(now, "%s has measured %s, %d answered", m.Name, serversInWords(m.Probed), m.Answered)
	return r.chooseWhenDone(now)
}

func (r *Room) chooseWhenDone(now time.Time) []effect {
	if len(r.active()) == 0 || !r.allActive(func(m *Member) bool { return m.Done }) {
		return nil
	}
	return r.choose(now)
}

// tickMeasuring goes on without players who vanished or say nothing, and with
// what there is when the time is up: nobody holds the others for ever.
func (r *Room) tickMeasuring(now time.Time) []effect {
	excuseTheIdle(r.crews, now)
	r.leaveOutTheOverdue(now)
	if len(r.active()) == 0 {
		return r.fail(now, "nobody is left to measure")
	}
	effects := r.shareOut()
	r.finishCrews(now)
	if limit := r.measuringTime(); now.Sub(r.Since) > limit {
		r.note(now, "time is up after %v: choosing from what has been measured", limit)
		return r.choose(now)
	}
	return append(effects, r.chooseWhenDone(now)...)
}

func (r *Room) leaveOutTheOverdue(now time.Time) {
	for _, m := range r.active() {
		if why := m.overdue(now); why != "" {
			m.LeftOut = true
			r.note(now, "going on without %s, who %s", m.Name, why)
		}
	}
}

// measuringTime is how long a round's measuring may take.
func (r *Room) measuringTime() time.Duration {
	return measuringGrace + time.Duration(len(r.Servers)/slowestRate)*time.Second
}

// overdue says why a member is no longer waited for, or nothing.
func (m *Member) overdue(now time.Time) string {
	silence := now.Sub(m.Heard)
	switch {
	case m.Done:
		return ""
	case !m.Connected && silence > goneAfter:
		return fmt.Sprintf("has been gone for %v", goneAfter)
	case m.Connected && silence > stalledAfter:
		return fmt.Sprintf("has reported nothing for %v", stalledAfter)
	}
	return ""
}
