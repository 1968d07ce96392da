package seats

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/host/wire"
)

// This file says what people see and read of a wait.

// View returns the wait as everyone sees it, if the whole group needs so many seats. Cards are the
// servers' other facts.
func (w *Watch) View(everyone int, cards map[int]wire.ServerCard) *wire.Seats {
	v := &wire.Seats{
		Need:    w.Need(everyone),
		For:     slices.Clone(w.outside),
		Began:   w.began,
		Until:   w.until,
		Servers: []wire.SeatsOn{},
		News:    w.news,
		Over:    w.over,
		Chance:  w.chance,
	}
	if w.look != nil {
		v.By = w.look.By
	}
	for i := range w.servers {
		s := &w.servers[i]
		on := wire.SeatsOn{
			Addr: s.Ranked.Addr.String(), ServerCard: cards[s.Server], MeanMS: s.Ranked.MeanMS, MaxMS: s.Ranked.MaxMS, RTT: s.Ranked.RTT,
			Free: s.Free, At: s.At, Checks: len(s.Words) > 0, Asked: s.Asked, MostAt: s.MostAt, Dropped: s.Dropped,
		}
		on.Most, on.From, on.To = s.most()
		if s.Dropped == "" && w.over == "" {
			on.Next = s.due()
		}
		if w.going != nil && w.going.Server == s.Server {
			v.Target, v.LaunchAt = on.Addr, w.going.LaunchAt
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
func (w *Watch) Describe(f Facts) string {
	var names []string
	whom := "everybody"
	if len(w.outside) > 0 {
		whom = strings.Join(w.outside, ", ")
	}
	for i := range w.servers {
		if s := &w.servers[i]; !s.Instead {
			names = append(names, f.Servers[s.Server].Name)
		}
	}
	return fmt.Sprintf("waiting for %s for %s on %s, for up to %s: one of you looks at a time, every %v at first",
		InWords(f.Need), whom, strings.Join(names, ", or "), minutes(w.until.Sub(w.began)), gapAfter(0))
}

// chanceOf describes in a sentence the server that came nearest.
func (w *Watch) chanceOf(f Facts) string {
	var best *watched
	for i := range w.servers {
		s := &w.servers[i]
		if !s.Instead && len(s.Counts) > 0 && (best == nil || len(s.Counts) > len(best.Counts)) {
			best = s
		}
	}
	if best == nil {
		return ""
	}
	most, from, to := best.most()
	usual := fmt.Sprintf("mostly %d to %d", from, to)
	if from == to {
		usual = fmt.Sprintf("mostly %d", from)
	}
	return fmt.Sprintf("%s had at most %d free, %s.", f.Servers[best.Server].Name, most, usual)
}

// InWords returns a number of seats as people say it.
func InWords(n int) string {
	if n == 1 {
		return "a seat"
	}
	return fmt.Sprintf("%d seats", n)
}

// and returns names as people list them.
func and(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// minutes returns a time as people say it.
func minutes(d time.Duration) string {
	if n := int(d.Round(time.Minute).Minutes()); n != 1 {
		return fmt.Sprintf("%d minutes", n)
	}
	return "a minute"
}
