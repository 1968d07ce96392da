package seats

import (
	"time"

	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// This file describes a wait for people.

// View returns the wait as everyone sees it. Everyone is the number of seats that the whole group
// needs. Cards are the servers' other facts.
func (w *Watch) View(everyone int, cards map[int]wire.ServerCard, now roomtime.Clocks, names *people.Names) *wire.Seats {
	v := &wire.Seats{
		Need:    w.Need(everyone),
		For:     names.All(w.state.For),
		Began:   now.Of(w.state.Began),
		Until:   now.Of(w.state.Until),
		Servers: []wire.SeatsOn{},
		News:    names.Word(w.state.News),
		Over:    names.Word(w.state.Over),
		Chance:  names.Word(w.state.Chance),
	}
	if w.state.Look != nil {
		v.By = names.Of(w.state.Look.By)
	}
	for i := range w.state.Servers {
		s := &w.state.Servers[i]
		on := wire.SeatsOn{
			Addr: s.Ranked.Addr.String(), ServerCard: cards[s.Server], MeanMS: s.Ranked.MeanMS, MaxMS: s.Ranked.MaxMS, RTT: people.Named(s.Ranked.RTT, names),
			Free: s.Free, At: now.Of(s.At), Checks: len(s.Words) > 0, Asked: s.Asked, MaxAt: now.Of(s.MaxAt), Dropped: names.Word(s.Dropped),
		}
		on.Max, on.From, on.To = s.mostFree()
		if s.Dropped.IsZero() && w.state.Over.IsZero() {
			on.Next = now.Of(s.due())
		}
		if w.state.Going != nil && w.state.Going.Server == s.Server {
			v.Target, v.LaunchAt = on.Addr, now.Of(w.state.Going.LaunchAt)
		}
		if s.Instead {
			v.Instead = append(v.Instead, on)
		} else {
			v.Servers = append(v.Servers, on)
		}
	}
	return v
}

// Describe tells people of the wait: its players, its servers and its time.
func (w *Watch) Describe(f Facts) sentence.Sentence {
	var names []string
	for i := range w.state.Servers {
		if s := &w.state.Servers[i]; !s.Instead {
			names = append(names, f.Servers[s.Server].Name)
		}
	}
	first, second, third := "", "", ""
	for i, at := range []*string{&first, &second, &third}[:min(maxWatched, len(names))] {
		*at = names[i]
	}
	limit, gap := minutes(w.state.Until.Sub(w.state.Began)), gapAfter(0).Seconds()
	if len(w.state.For) > 0 { // they wait for one server
		return sentence.Of("room.waits-outside", "n", f.Need, "players", people.Texts(w.state.For), "server", first, "minutes", limit, "seconds", gap)
	}
	return sentence.Of("room.waits", "n", f.Need,
		"servers", len(names), "first", first, "second", second, "third", third, "minutes", limit, "seconds", gap)
}

// chanceOf describes the server that came nearest to enough seats.
func (w *Watch) chanceOf(f Facts) sentence.Sentence {
	var best *watched
	for i := range w.state.Servers {
		s := &w.state.Servers[i]
		if !s.Instead && len(s.Counts) > 0 && (best == nil || len(s.Counts) > len(best.Counts)) {
			best = s
		}
	}
	if best == nil {
		return sentence.Sentence{}
	}
	most, from, to := best.mostFree()
	server := f.Servers[best.Server].Name
	if from == to {
		return sentence.Of("seats.chance", "server", server, "most", most, "n", from)
	}
	return sentence.Of("seats.chance-range", "server", server, "most", most, "from", from, "to", to)
}

// minutes returns a time in minutes.
func minutes(d time.Duration) int { return int(d.Round(time.Minute).Minutes()) }
