package room

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/editions"
	"muster/host/room/estimates"
	"muster/host/room/trust"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/anomaly"
)

const (
	// spareSeat is by how much a server with a seat left over is preferred to a
	// better one that the group would fill: somebody may take a seat on the way
	// there. It costs a tenth of a millisecond on average, and halves the launches
	// that fail.
	spareSeat = 2 * time.Millisecond
	// rankingLength is how many runners-up a room keeps and shows.
	rankingLength = 25
	// reasonsLength is how many of the culled servers it tells of, those that
	// got furthest: everyone is sent them.
	reasonsLength = 50
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
	r.round.selection = &selected
	r.verifyOrLaunch()
}

func (r *Room) selectFor(group []*player) selection.Selection {
	r.attend()
	before, counted, b := r.round.record, r.counted(), r.basis(group).For(names(group))
	c := r.record(counted.In(b), len(group))
	selected := c.basis.Select()
	if selected.Chosen == nil && len(counted.Names()) > 0 { // a guess is no reason to play nowhere
		counted, c = estimates.Counted{}, r.record(b, len(group))
		selected = b.Select()
	}
	counted.Confess(&selected)
	if c.found = selected.Chosen != nil; !c.found && before != nil && before.found {
		r.round.record = before // nobody takes a choice of nothing, or all give up
	}
	return selected
}

// criteria are what settings ask of a server for a group.
func (r *Room) criteria(s wire.Settings, group []*player) selection.Criteria {
	c := s.Criteria()
	if !s.AnyVersion {
		c.Editions = r.editions.Of(names(group), r.settings.Game)
	}
	c.Seats, c.Spare = max(s.Players, r.seatsFor(group)), max(0, cmp.Or(r.tuning.Spare, spareSeat))
	c.Weights = r.tuning.Weights
	c.Vetoes, c.Keep = r.round.ballot.Vetoes(), r.previous
	c.Ours, c.Hidden = r.lists.Ours(), r.lists.Hidden(r.round.servers.List, r.organiserName())
	c.Blacklist = append(c.Blacklist, r.round.trust.Blacklist(&r.round.servers)...)
	c.Top, c.Reasons = rankingLength, reasonsLength
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
	r.round.selection, r.round.whatIf = &selected, nil
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
		before := r.round.selection
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
		r.round.selection = &after
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
	return r.round.trust.Disputed(b, r.round.selection, o, r.round.looks.Seen())
}

// culledText says how many servers went, and what for.
func culledText(s *selection.Selection) string {
	var parts []string
	c := s.Culled
	for _, part := range []struct {
		n    int
		what string
	}{
		{c.Unreachable, "unreachable for someone"},
		{c.Full, "without enough free seats"},
		{c.Filtered + c.Unknown, "of the wrong kind"},
		{c.Passworded, "with a password"},
		{c.Hygiene + c.Blacklisted + c.Vetoed, "unwanted"},
		{c.Hidden, "that somebody hides"},
		{c.PingLimits, "that refuse someone's ping"},
		{c.OverThreshold, "too far for someone"},
		{c.Unmeasured, "not measured by everyone"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if text := shutOutText(s); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// shutOutText says how many servers let some players not in, and whom, or nothing.
func shutOutText(s *selection.Selection) string {
	if s.Culled.WrongVersion == 0 {
		return ""
	}
	var whom []string
	for _, reason := range s.Reasons {
		if reason.Cause == selection.WrongVersion {
			whom = append(whom, reason.Players...)
		}
	}
	text := fmt.Sprintf("%d of another version", s.Culled.WrongVersion)
	if slices.Sort(whom); len(whom) > 0 {
		text += " than " + strings.Join(slices.Compact(whom), ", ") + " has"
	}
	return text
}
