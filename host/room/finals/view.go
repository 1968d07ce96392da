package finals

import (
	"muster/discovery"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// View returns how far a long look is, nil if the newest look is not long. The caller fills in each
// server's name and address.
func (l *Looks) View(f Facts, now roomtime.Clocks, names *people.Names) *wire.LongLook {
	if !l.state.IsLong {
		return nil
	}
	began := f.Now.Add(-f.Passed)
	v := &wire.LongLook{Until: now.Of(began.Add(lastSlot(f.Players).after + f.Long)), Finalists: []wire.LookedAt{}}
	for _, server := range l.state.Servers {
		lines := map[string]wire.Line{}
		for _, p := range f.Players {
			if look := p.Known[server].Look; look != nil && look.Quality.Sent > 0 {
				lines[names.Of(p.ID)] = lineOf(*look)
			}
		}
		v.Finalists = append(v.Finalists, wire.LookedAt{Lines: lines})
	}
	return v
}

func lineOf(look Look) wire.Line {
	q := look.Quality
	return wire.Line{
		Sent:     q.Sent,
		RTT:      discovery.MS(look.RTT),
		Loss:     q.Loss,
		JitterMS: discovery.MS(q.Jitter),
		WorstMS:  discovery.MS(look.RTT + q.Worst),
	}
}
