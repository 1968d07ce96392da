package room

import (
	"fmt"
	"iter"
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
	// looks are what the second looks showed; they count before probes.
	looks            map[int]secondLook
	probed, answered int
}

// secondLook is what several samples of a finalist showed.
type secondLook struct {
	discovery.Result
	quality selection.Quality
}

// at is what is known of a server.
func (s *sheet) at(server int) discovery.Result {
	if look, looked := s.looks[server]; looked {
		return look.Result
	}
	if place, probed := s.places[server]; probed {
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
	s.probed += count(after != discovery.Unprobed) - count(before != discovery.Unprobed)
	s.answered += count(after == discovery.Answered) - count(before == discovery.Answered)
}

// servers are those of which anything is known, each once.
func (s *sheet) servers() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s.probes {
			if !yield(s.probes[i].Server) {
				return
			}
		}
		for server := range s.looks {
			if _, probed := s.places[server]; !probed && !yield(server) {
				return
			}
		}
	}
}

// report adds what a player measured. Reports of a round before, still on their
// way when it ended, are ignored.
func (r *Room) report(p *player, report wire.Report) error {
	voting, choosing := r.isVoting(), r.phase.stage() == wire.Chosen
	if report.Round != r.round.number || !r.isMeasuring() && !choosing {
		return nil
	}
	for i := range report.Results {
		if server := report.Results[i].Server; server >= len(r.round.servers.List) {
			return fmt.Errorf("room: %s reports server %d of %d", p.name, server, len(r.round.servers.List))
		}
	}
	passed := max(0, r.now.Sub(r.round.measuring))
	for _, probe := range report.Results {
		if choosing && !p.isUnprobed(probe.Server) || r.isOutOfReach(p, probe.Server) {
			continue // the finalists had their second look
		}
		// The players' pictures share an axis: the time since the measuring began, by
		// our clock. A peer's clock cannot put a probe before that, or ahead of us.
		probe.At = min(max(0, passed+probe.At-report.Now), passed)
		if n := len(p.probes); n > 0 {
			probe.At = max(probe.At, p.probes[n-1].At)
		}
		p.add(probe)
		if r.isMeasuring() || voting {
			r.heard(p, p.at(probe.Server))
		}
	}
	p.heard = r.now
	if p.leftOut && p.anomaly == nil && r.isMeasuring() {
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

// inform notes what servers say of themselves.
func (r *Room) inform(infos wire.Infos) error {
	if infos.Round != r.round.number {
		return nil
	}
	for i := range infos.Servers {
		if server := infos.Servers[i].Server; server >= len(r.round.servers.List) {
			return fmt.Errorf("room: infos name server %d of %d", server, len(r.round.servers.List))
		}
	}
	for i := range infos.Servers {
		s := &infos.Servers[i]
		r.round.servers.Infos[s.Server] = &s.Info
		if r.round.search != nil {
			r.round.search.planner.Inform(s.Server)
		}
	}
	return nil
}

// knowledge is what a player knows of the servers: own answers and second looks,
// and where there are none, what the others of the NAT group found. The lowest
// RTT counts, and lost is only what was lost for all who asked.
type knowledge struct {
	*player
	mates []*player
}

func (r *Room) knowledge(p *player) knowledge {
	return knowledge{p, r.natGroupOf(p)}
}

func (k knowledge) at(server int) discovery.Result {
	best := k.sheet.at(server)
	if _, looked := k.looks[server]; looked || best.State == discovery.Answered {
		return best
	}
	return pooled(k.mates, server)
}

// pooled is the best that several players know of a server.
func pooled(players []*player, server int) (best discovery.Result) {
	for _, p := range players {
		result := p.sheet.at(server)
		better := result.State == discovery.Answered || best.State == discovery.Unprobed
		if result.State == discovery.Answered && best.State == discovery.Answered {
			better = result.RTT < best.RTT
		}
		if better {
			best = result
		}
	}
	return best
}

// servers are those of which the player or the NAT group knows anything, each once.
func (k knowledge) servers() iter.Seq[int] {
	if len(k.mates) < 2 {
		return k.sheet.servers()
	}
	return func(yield func(int) bool) {
		seen := map[int]bool{}
		for _, mate := range k.mates {
			for server := range mate.sheet.servers() {
				if !seen[server] && !yield(server) {
					return
				}
				seen[server] = true
			}
		}
	}
}

// progress counts the servers that a player knows of, and those that answered.
func (k knowledge) progress() (probed, answered int) {
	if len(k.mates) < 2 {
		return k.probed, k.answered
	}
	for server := range k.servers() {
		state := pooled(k.mates, server).State
		probed += count(state != discovery.Unprobed)
		answered += count(state == discovery.Answered)
	}
	return probed, answered
}

// table is what players measured, for a choice among them.
func (r *Room) table(group []*player) *selection.Table {
	t := selection.NewTable(names(group), len(r.round.servers.List))
	for column, p := range group {
		k := r.knowledge(p)
		for server := range k.servers() {
			result := k.at(server)
			t.Set(column, server, result.State, result.RTT)
		}
		for i := range r.round.local {
			if local := &r.round.local[i]; local.isHiddenFrom(p) {
				t.Set(column, local.Server, discovery.Lost, 0)
			}
		}
		for server, look := range p.looks {
			t.SetQuality(column, server, look.quality)
		}
	}
	return t
}

// rttMS is an RTT in milliseconds, as pages show it.
func rttMS(rtt time.Duration) float64 { return float64(rtt) / float64(time.Millisecond) }
