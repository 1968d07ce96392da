package room

import (
	"slices"

	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/choice"
	"muster/host/room/editions"
	"muster/host/room/trust"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/anomaly"
)

// choose ranks what has been measured and has everyone look at the best again.
// Whom it chooses for are all who measured anything or, if that leaves no server,
// those who have finished: what the others have not measured yet would cull every
// server. Early is the organiser's word, while some still measure: it counts only
// if something suits everyone, as what is measured should not be lost to impatience.
func (r *Room) choose(early bool) {
	moment := trust.Measured
	if _, searching := r.phase.(*Coordinating); searching {
		moment = trust.Found
	}
	r.judge(filtered(r.round.active(), r.round.hasMeasured), moment)
	r.discredit()
	group := filtered(r.round.active(), r.round.hasMeasured)
	selected := r.selectFor(group)
	if selected.Chosen == nil {
		finished := filtered(group, func(p *player) bool { return r.round.mark(p).Done })
		if s := r.selectFor(finished); s.Chosen != nil {
			group, selected = finished, s
		}
	}
	if selected.Chosen == nil && !early {
		group, selected = r.outvote(group, selected)
	}
	switch {
	case early && selected.Chosen == nil:
		r.note("the organiser says go, but no server suits everyone so far: measuring goes on")
		return
	case early:
		r.note("the organiser says go: choosing from what has been measured")
	case len(group) == 0:
		r.fail(true, "nobody has measured anything")
		return
	}
	for _, a := range r.round.trust.Find(r.basis(group)) {
		r.note("%s", a)
	}
	best := selected.Ranking[:min(finalists, len(selected.Ranking))]
	for _, note := range editions.Describe(r.round.servers, r.editions.Of(names(group), r.settings.Game), best, r.settings.AnyVersion) {
		r.note("%s", note)
	}
	for _, p := range r.round.active() {
		if !slices.Contains(group, p) {
			r.round.attendance.LeaveOut(attendance.Behind, p.name)
			probed, _ := p.witness.Progress()
			r.note("choosing without %s, who has measured %d of %d servers", p.name, probed, len(r.round.servers.List))
		}
	}
	r.round.looks.Forget()
	r.round.choice.Take(selected)
	r.verifyOrLaunch()
}

// selectFor returns what would be chosen for a group now.
func (r *Room) selectFor(group []*player) selection.Selection {
	r.attend()
	return r.round.choice.Try(r.basisFor(group))
}

// criteria are what settings ask of a server for a group.
func (r *Room) criteria(s wire.Settings, group []*player) selection.Criteria {
	c := choice.Criteria(s, r.tuning.Spare)
	if !s.AnyVersion {
		c.Editions = r.editions.Of(names(group), r.settings.Game)
	}
	c.Seats = max(s.Players, r.seatsFor(group))
	c.Weights = r.tuning.Weights
	c.Vetoes, c.Keep = r.round.ballot.Vetoes(), r.round.choice.Previous()
	c.Ours, c.Hidden = r.lists.Ours(), r.lists.Hidden(r.round.servers.List, r.organiserName())
	c.Blacklist = append(c.Blacklist, r.round.trust.Blacklist(&r.round.servers)...)
	return c
}

// basis is what a choice for a group, or for some of it, can be made from, but for the guests
// who are counted in.
func (r *Room) basis(group []*player) selection.Basis {
	b := selection.Basis{Servers: r.round.servers, Table: r.round.table(group), Criteria: r.criteria(r.settings, group)}
	b.Criteria.Seats, b.Guests = r.settings.Players, len(r.counted().Names())
	b.Along = names(filtered(r.round.players, func(p *player) bool { return r.round.mark(p).Here }))
	return b
}

// basisFor is what a choice for a group is made from, with the guests who are counted in.
func (r *Room) basisFor(group []*player) selection.Basis {
	return r.counted().In(r.basis(group).For(names(group)))
}

// seatsFor returns how many seats a group needs, with all who come along without a say.
func (r *Room) seatsFor(group []*player) int {
	seats := len(group) + len(r.counted().Names())
	for _, p := range r.round.players {
		seats += count(r.round.mark(p).Here && !slices.Contains(group, p))
	}
	return seats
}

// rechoose puts another choice in the place of the last one. Servers that had no
// second look get it.
func (r *Room) rechoose(selected selection.Selection) {
	r.round.choice.Take(selected)
	if r.phase.stage() != wire.Chosen {
		r.since = r.now
	}
	r.round.launches.Restart()
	r.round.ballot.Withdraw("", ballot.Ready|ballot.ByHand) // nobody has said of this choice that they are ready
	r.verifyOrLaunch()
}

// judge leaves players out whose numbers fit nobody else's.
func (r *Room) judge(group []*player, at trust.Moment) {
	r.carryOut(r.round.trust.Judge(r.basis(group), names(r.round.players), at), attendance.Odd)
}

// carryOut goes on without those whom a verdict leaves out.
func (r *Room) carryOut(v trust.Verdict, why attendance.Why) {
	r.round.attendance.LeaveOut(why, v.LeftOut...)
	r.noteAll(v.Notes)
}

func (r *Room) noteAll(notes []string) {
	for _, note := range notes {
		r.note("%s", note)
	}
}

// outvote chooses without those few for whom nothing suits that suits all others.
func (r *Room) outvote(group []*player, selected selection.Selection) ([]*player, selection.Selection) {
	v, others := r.round.trust.Outvote(r.basis(group))
	if len(v.LeftOut) == 0 {
		return group, selected
	}
	var rest []*player
	for _, name := range others {
		rest = append(rest, r.round.player(name))
	}
	selected = r.selectFor(rest)
	r.carryOut(v, attendance.Outvoted)
	return filtered(group, func(p *player) bool { return slices.Contains(others, p.name) }), selected
}

// tryAlone chooses again as long as the choice hangs on a ping that one player alone reports.
func (r *Room) tryAlone() {
	for range trust.MostTrials {
		before := r.round.choice.Newest()
		if before == nil || before.Chosen == nil {
			return
		}
		group, pings := r.round.chosenFor(), map[string]trust.Ping{}
		for _, p := range group {
			first, _ := p.witness.Probe(before.Chosen.Server)
			pings[p.name] = trust.Ping{First: first.RTT, Now: r.round.knowledge(p).At(before.Chosen.Server).RTT}
		}
		trial := r.round.trust.Try(r.basis(group), before, pings)
		var after selection.Selection
		for trial.Raise() {
			after = r.selectFor(group)
			trial.Chose(&after)
		}
		notes := trial.End()
		if len(notes) == 0 {
			return
		}
		r.noteAll(notes)
		after.LookedS, after.Doubts = before.LookedS, r.doubts()
		r.round.choice.Refine(after)
	}
}

// doubts are all that is odd about players.
func (r *Room) doubts() []anomaly.Anomaly {
	answered := map[string]int{}
	for _, p := range r.round.players {
		_, answered[p.name] = p.witness.Progress()
	}
	return r.round.trust.List(r.basis(r.round.active()), names(r.round.players), answered)
}

// disputed are servers that would be better for all but one player, whom they did not answer.
func (r *Room) disputed() []int {
	group, o := r.round.chosenFor(), trust.Outlook{}
	b := r.basis(group)
	if r.round.search != nil {
		o = trust.Outlook{Silent: map[string][]int{}, RTTs: r.round.search.Predict(b.Table)}
		for _, p := range group {
			o.Silent[p.name] = r.round.knowledge(p).Silent()
		}
	}
	return r.round.trust.Disputed(b, r.round.choice.Newest(), o, r.round.looks.Seen())
}

// Record is that of [choice.Record].
type Record = choice.Record

// Record returns what the newest choice was made from, or nil before there is one.
func (r *Room) Record() *Record {
	record, isKnown := r.round.choice.Record()
	if !isKnown { // the room was restored, or has given up
		record = r.round.choice.Note(r.basisFor(r.round.chosenFor()))
	}
	return record
}
