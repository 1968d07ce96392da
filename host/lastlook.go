package host

import (
	"slices"
	"time"

	"muster/host/wire"
	"muster/selection"
)

// freshLook is how long what was seen of the finalists holds: a third look within
// it would say the same.
const freshLook = 10 * time.Second

// lookBeforeLaunch has everyone look at what they vote on once more while the
// countdown runs: minutes may have passed, and seats go quickly.
func (r *Room) lookBeforeLaunch(now time.Time) []effect {
	if now.Sub(r.Agreement.Looked) < freshLook {
		return nil
	}
	r.Agreement.Looked, r.Final.Repeats = now, r.Final.Repeats+1
	var servers []int
	for _, ranked := range r.ballot() {
		servers = append(servers, r.placeOf(ranked))
	}
	return r.askToLook(servers, now)
}

// askToLook asks all who count to look at servers again.
func (r *Room) askToLook(servers []int, now time.Time) []effect {
	f := r.Final
	f.Attempt++
	f.Servers, f.Waiting, f.Silent = servers, nil, nil
	var effects []effect
	for _, m := range r.active() {
		f.Waiting = append(f.Waiting, m.Name)
		effects = append(effects, send{m.Name, r.finalistsMessage(m, now)})
	}
	return effects
}

// takesLooks tells whether second looks count now: before people agree, and those
// that were asked for since.
func (r *Room) takesLooks() bool {
	return r.Stage == wire.Chosen && (r.Agreement == nil || r.Final.Repeats > r.Agreement.Repeats)
}

// launchFavourite sends everyone to what they agreed on. If that has filled up
// since, the next takes its place.
func (r *Room) launchFavourite(now time.Time) []effect {
	target := r.favourite()
	if r.suits(target) {
		r.Agreement = nil
		return r.launch(r.indexOf(target.Addr), now)
	}
	selected := r.selectFor(r.chosenFor())
	r.Selection, r.Agreement = &selected, nil
	r.noteChange(target.Addr, now)
	if selected.Chosen == nil || !slices.Contains(r.Final.Seen, r.placeOf(*selected.Chosen)) {
		return r.verifyOrLaunch(now)
	}
	return r.launch(r.placeOf(*selected.Chosen), now)
}

// suits tells a server that the group could still play on, as far as is known.
func (r *Room) suits(ranked selection.Ranked) bool {
	wish := r.wish(r.chosenFor())
	wish.Keep, wish.Top, wish.Reasons = ranked.Addr, 1, -1
	return selection.NewFilter(r.servers(), wish).Select(r.table(r.chosenFor())).Keep.Culled == nil
}
