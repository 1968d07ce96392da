package host

import (
	"time"

	"muster/host/wire"
)

// tracesPerServer bounds a trace: an honest one has a probe a server, and some
// twice where a program was started again.
const tracesPerServer = 2

// trace adds to the story of a member's discovery. Its times become those since
// the measuring began, by the host's clock: the players' pictures share an axis.
// What a peer's clock says cannot put a probe before that, or ahead of us.
func (r *Room) trace(m *Member, t wire.Report, now time.Time) {
	if t.Round != r.Round || t.First > len(m.Probes) {
		return // a round that is over, or a gap: there is no story to go on with
	}
	passed := max(0, now.Sub(r.Measuring))
	for i := len(m.Probes) - t.First; i < len(t.Results); i++ {
		p := t.Results[i]
		p.At = min(max(0, passed+p.At-t.Now), passed)
		if n := len(m.Probes); n > 0 {
			p.At = max(p.At, m.Probes[n-1].At)
		}
		if len(m.Probes) == tracesPerServer*len(r.Servers) {
			return
		}
		m.Probes = append(m.Probes, p)
	}
}
