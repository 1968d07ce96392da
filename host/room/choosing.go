package room

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/host/room/ballot"
	"muster/host/room/editions"
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
	r.exclude(filtered(r.round.active(), r.round.hasMeasured), true)
	r.discredit()
	group := filtered(r.round.active(), r.round.hasMeasured)
	selected := r.selectFor(group)
	if selected.Chosen == nil {
		finished := filtered(group, func(p *player) bool { return p.done })
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
	for _, a := range r.round.anomalies(r.round.table(group)) {
		r.note("%s", a)
	}
	best := selected.Ranking[:min(finalists, len(selected.Ranking))]
	for _, note := range editions.Describe(r.round.servers, r.editions.Of(names(group), r.settings.Game), best, r.settings.AnyVersion) {
		r.note("%s", note)
	}
	for _, p := range r.round.active() {
		if !slices.Contains(group, p) {
			p.leftOut = true
			probed, _ := p.witness.Progress()
			r.note("choosing without %s, who has measured %d of %d servers", p.name, probed, len(r.round.servers.List))
		}
	}
	done := r.round.look.Attempt // peers take a look of the same number for the same one
	r.round.selection, r.round.look = &selected, look{Attempt: done, Repeats: done}
	r.verifyOrLaunch()
}

func (r *Room) selectFor(group []*player) selection.Selection {
	r.attend()
	before, guests := r.round.record, r.counted()
	c := r.record(group, guests)
	selected := selection.Select(r.round.servers, c.table, c.criteria)
	if selected.Chosen == nil && len(guests) > 0 { // a guess is no reason to play nowhere
		guests, c = nil, r.record(group, nil)
		selected = selection.Select(r.round.servers, c.table, c.criteria)
	}
	r.confess(&selected, guests)
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
	for _, server := range r.round.tooNear {
		addr := r.round.servers.List[server].Addr.Addr()
		c.Blacklist = append(c.Blacklist, netip.PrefixFrom(addr, addr.BitLen()))
	}
	c.Top, c.Reasons = rankingLength, reasonsLength
	return c
}

// basis is what a choice for a group, or for some of it, can be made from, but for the guests
// who are counted in.
func (r *Room) basis(group []*player) selection.Basis {
	b := selection.Basis{Servers: r.round.servers, Table: r.round.table(group), Criteria: r.criteria(r.settings, group)}
	b.Criteria.Seats, b.Guests = r.settings.Players, len(r.counted())
	b.Along = names(filtered(r.round.players, func(p *player) bool { return p.connected }))
	return b
}

// seatsFor returns how many seats a group needs, with all who come along without a say.
func (r *Room) seatsFor(group []*player) int {
	seats := len(group) + len(r.counted())
	for _, p := range r.round.players {
		seats += count(p.connected && !slices.Contains(group, p))
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
	for _, p := range r.round.players {
		p.launch, p.detail = "", ""
	}
	r.round.ballot.Withdraw("", ballot.Ready|ballot.ByHand) // nobody has said of this choice that they are ready
	r.verifyOrLaunch()
}

// exclude leaves those out whose numbers fit nobody else's, as long as the others
// are the most. Whose distances alone are odd may sit behind a slow line: that is said,
// and they count as long as it costs the others little. If a line would explain them, they
// count unless all would be better off without what is longer than the others' allow: that
// is known once all have measured what leads, and not while a search goes on. It
// does not change its mind: that is for the organiser, see [Trust], and for the next round.
func (r *Room) exclude(group []*player, chooses bool) {
	table := r.round.table(group)
	r.judgeServers(table)
	found, excluded, players := r.round.anomalies(table), r.round.excluded(), names(group)
	for _, a := range excluded {
		players = append(players, a.Player)
	}
	counted := anomaly.Exclude(players, slices.Concat(excluded, found))
	odd := map[anomaly.Sign][]anomaly.Anomaly{}
	for _, a := range found {
		switch {
		case slices.Contains(counted, a.Player), a.Sign == anomaly.Slow && !chooses:
		case a.Sign == anomaly.Slow, a.Sign == anomaly.Geometry && float64(a.Servers) <= overwhelming*float64(a.Of):
			odd[a.Sign] = append(odd[a.Sign], a)
		default:
			r.leaveOut(a)
		}
	}
	for _, sign := range []anomaly.Sign{anomaly.Geometry, anomaly.Slow} {
		if len(odd[sign]) == 0 {
			continue
		}
		var some, these []*player
		for _, p := range filtered(group, func(p *player) bool { return !p.leftOut }) {
			if slices.ContainsFunc(odd[sign], func(a anomaly.Anomaly) bool { return a.Player == p.name }) {
				these = append(these, p)
			} else {
				some = append(some, p)
			}
		}
		harmful := r.isHarmed(some, these, sign == anomaly.Slow)
		for _, a := range odd[sign] {
			if p := r.round.player(a.Player); harmful {
				r.leaveOut(a)
			} else if p.odd == nil {
				p.odd = &a
				r.note("%s: that counts as long as the others lose little by it", strings.TrimSuffix(a.String(), "."))
			}
		}
	}
}

// leaveOut goes on without whose numbers fit nobody else's.
func (r *Room) leaveOut(a anomaly.Anomaly) {
	p := r.round.player(a.Player)
	p.anomaly, p.leftOut = &a, true
	r.note("%s: that does not count in the choice", strings.TrimSuffix(a.String(), "."))
}

const (
	// overwhelming is the share of contradicted pings from which on no honest line
	// explains them: of honest players between PlanetLab's hosts the oddest has 54 %.
	overwhelming = 2. / 3
	// harmless is how much worse for the others what is chosen with odd numbers may be
	// than what they would choose alone. Between PlanetLab's hosts the odd but honest
	// cost 4 ms at most, who exaggerates mostly 6 to 38.
	harmless = 5 * time.Millisecond
)

// isHarmed reports whether some would be better off by a choice of their own than by that
// of the whole group; or, if the others are believed as far as theirs allow, whether all
// would be.
func (r *Room) isHarmed(some, others []*player, believed bool) bool {
	group := slices.Concat(some, others)
	basis := r.basis(group)
	basis.Criteria.Top, basis.Criteria.Reasons = 1, -1
	all, own := basis.For(names(group)).Select(), basis.For(names(some)).Select()
	if own.Chosen == nil || all.Chosen == nil {
		_, searching := r.phase.(*Coordinating) // and may find what suits all
		return own.Chosen != nil && !(believed && searching)
	}
	judges, chosen := some, own
	if believed {
		judges, chosen = group, all
	}
	table, objective := r.round.table(some), chosen.Above(r.criteria(r.settings, judges).Objective(names(judges)), names(judges))
	rtts := func(server int) (ms []float64) {
		for player := range some {
			_, rtt := table.At(player, server)
			ms = append(ms, rttMS(rtt))
		}
		for _, p := range judges[len(some):] {
			ms = append(ms, rttMS(anomaly.Credible(r.round.servers.List, r.round.table(append(slices.Clone(some), p)))(server)))
		}
		return ms
	}
	with, without := rtts(all.Chosen.Server), rtts(own.Chosen.Server)
	for _, limit := range objective.Limits() { // the strictest first
		if keep, kept := slices.Max(with) <= rttMS(limit), slices.Max(without) <= rttMS(limit); keep != kept {
			return kept
		} else if kept {
			break
		}
	}
	return objective.Score(with)-objective.Score(without) > rttMS(harmless)
}

// judgeServers leaves out servers that are nearer to players than these are to each
// other: they answer before they are asked, and say nothing of how far they are.
func (r *Room) judgeServers(table *selection.Table) {
	for _, server := range anomaly.TooNear(r.round.servers.List, table) {
		if !slices.Contains(r.round.tooNear, server) {
			r.round.tooNear = append(r.round.tooNear, server)
			r.note("%s answers players who are far apart as if it was next to each: it is left out", r.round.serverName(server))
		}
	}
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
