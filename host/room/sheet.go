package room

import (
	"iter"
	"maps"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// sheet is what one player measured in a round. Every probe is kept once, in the
// order in which they ended.
type sheet struct {
	probes []discovery.Result
	// places says where in probes a server's stands.
	places map[int]int
	// asked is what counts of them.
	asked asked
	// looks are what the second looks showed; they count before probes.
	looks            map[int]secondLook
	probed, answered int
}

// secondLook is what several samples of a finalist showed.
type secondLook struct {
	discovery.Result
	quality selection.Quality
	// rtts are all samples after a short search, in ms, the search's own first.
	rtts []float64
}

// at is what is known of a server, and was asked for.
func (s *sheet) at(server int) discovery.Result {
	if look, looked := s.looks[server]; looked {
		return look.Result
	}
	if place, probed := s.places[server]; probed && s.asked.has(server) {
		return s.probes[place]
	}
	return discovery.Result{Server: server}
}

func (s *sheet) isUnprobed(server int) bool { return s.at(server).State == discovery.Unprobed }

// add notes a probe, or what a later one of the same server said.
func (s *sheet) add(p discovery.Result) {
	defer s.count(p.Server, s.at(p.Server).State)
	if place, again := s.places[p.Server]; again {
		s.probes[place].State, s.probes[place].RTT = p.State, p.RTT
		return
	}
	if s.places == nil {
		s.places = map[int]int{}
	}
	s.places[p.Server] = len(s.probes)
	p.Info = nil // is kept once, for all
	s.probes = append(s.probes, p)
}

func (s *sheet) look(look secondLook) {
	defer s.count(look.Server, s.at(look.Server).State)
	if s.looks == nil {
		s.looks = map[int]secondLook{}
	}
	s.looks[look.Server] = look
}

// forget has a server be unprobed again.
func (s *sheet) forget(server int) {
	before := s.at(server).State
	delete(s.looks, server)
	if place, probed := s.places[server]; probed {
		s.probes = slices.Delete(s.probes, place, place+1)
		delete(s.places, server)
		for i := range s.probes[place:] {
			s.places[s.probes[place+i].Server] = place + i
		}
	}
	s.count(server, before)
}

// count keeps the sums after a change from a state.
func (s *sheet) count(server int, before discovery.State) {
	after := s.at(server).State
	s.probed += count(after.Asked()) - count(before.Asked())
	s.answered += count(after == discovery.Answered) - count(before == discovery.Answered)
}

// servers are those of which anything is known, each once.
func (s *sheet) servers() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s.probes {
			if server := s.probes[i].Server; s.asked.has(server) && !yield(server) {
				return
			}
		}
		for _, server := range slices.Sorted(maps.Keys(s.looks)) {
			if _, probed := s.places[server]; !(probed && s.asked.has(server)) && !yield(server) {
				return
			}
		}
	}
}

// report adds what a player measured. Reports of a round before, still on their
// way when it ended, are ignored.
func (Hear) report(r *Room, p *player, report wire.Report) error {
	voting, choosing := r.isVoting(), r.phase.stage() == wire.Chosen
	if report.Round != r.round.number || !r.isMeasuring() && !choosing {
		return nil
	}
	for i := range report.Results {
		if server := report.Results[i].Server; server >= len(r.round.servers.List) {
			return nonsensef("a report of server %d of %d", server, len(r.round.servers.List))
		}
	}
	passed, news := min(max(0, r.now.Sub(r.round.measuring)), wire.LongestTime), false
	for _, probe := range report.Results {
		if choosing && !p.isUnprobed(probe.Server) || r.round.isOutOfReach(p, probe.Server) {
			continue // the finalists had their second look
		}
		// The players' pictures share an axis: the time since the measuring began, by
		// our clock. A peer's clock cannot put a probe before that, or ahead of us.
		probe.At = min(max(0, passed+probe.At-report.Now), passed)
		if n := len(p.probes); n > 0 {
			probe.At = max(probe.At, p.probes[n-1].At)
		}
		if !p.asked.has(probe.Server) && probe.State == discovery.Answered && p.asked.own > 0 {
			before := p.at(probe.Server).State
			p.asked.own--
			p.asked.shown.add(probe.Server)
			p.asked.servers.add(probe.Server)
			p.count(probe.Server, before) // also what was told of it while nobody wanted it
			r.round.weigh(probe.Server)
		}
		unknown := p.isUnprobed(probe.Server)
		p.add(p.asked.believed(probe, r.now))
		if !p.asked.has(probe.Server) {
			continue
		}
		news = news || unknown
		if r.isMeasuring() || voting {
			r.heard(p, p.at(probe.Server))
		}
	}
	if news {
		p.returned = time.Time{}
		p.isHeard(r.now)
	}
	if news && p.leftOut && p.anomaly == nil && p.missed <= mostMissed && r.isMeasuring() && !r.asksMore() {
		p.leftOut = false
		r.note("%s measures again", p.name)
	}
	switch phase := r.phase.(type) {
	case *Measuring:
		phase.advance(r)
	case *Coordinating:
		phase.advance(r)
	}
	return nil
}

// infos takes what a player heard servers say of themselves. Who came too late for a
// say in the round has none here either; who is left out of a measuring is back with
// the next report.
func (Hear) infos(r *Room, p *player, infos wire.Infos) error {
	if infos.Round != r.round.number || p.leftOut && !r.isMeasuring() {
		return nil
	}
	for i := range infos.Servers {
		if server := infos.Servers[i].Server; server >= len(r.round.servers.List) {
			return nonsensef("infos of server %d of %d", server, len(r.round.servers.List))
		}
	}
	for i := range infos.Servers {
		r.said(p, infos.Servers[i].Server, infos.Servers[i].Info)
	}
	return nil
}

// rttMS is an RTT in milliseconds, as pages show it.
func rttMS(rtt time.Duration) float64 { return float64(rtt) / float64(time.Millisecond) }
