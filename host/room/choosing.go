package room

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
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
func (r *Room) choose() {
	r.exclude(filtered(r.active(), r.hasMeasured))
	group, selected := r.preview()
	if len(group) == 0 {
		r.fail("nobody has measured anything")
		return
	}
	r.decide(group, selected)
}

// chooseEarly chooses while some still measure, unless nothing suits everyone
// yet: what is measured should not be lost to impatience.
func (r *Room) chooseEarly() {
	r.exclude(filtered(r.active(), r.hasMeasured))
	group, selected := r.preview()
	if selected.Chosen == nil {
		r.note("the organiser says go, but no server suits everyone so far: measuring goes on")
		return
	}
	r.note("the organiser says go: choosing from what has been measured")
	r.decide(group, selected)
}

// preview finds for whom to choose, and what they would get: all who measured
// anything or, if that leaves no server, those who have finished: what the others
// have not measured yet would cull every server.
func (r *Room) preview() (group []*player, selected selection.Selection) {
	group = filtered(r.active(), r.hasMeasured)
	selected = r.selectFor(group)
	if selected.Chosen != nil {
		return group, selected
	}
	finished := filtered(group, func(p *player) bool { return p.done })
	if s := r.selectFor(finished); s.Chosen != nil {
		return finished, s
	}
	return group, selected
}

// hasMeasured reports whether there is anything to choose from for a player.
func (r *Room) hasMeasured(p *player) bool {
	return p.probed > 0 || slices.ContainsFunc(r.natGroupOf(p), func(mate *player) bool { return mate.probed > 0 })
}

func (r *Room) decide(group []*player, selected selection.Selection) {
	for _, a := range r.anomalies(group) {
		r.note("%s", a)
	}
	for _, p := range r.active() {
		if !slices.Contains(group, p) {
			p.leftOut = true
			r.note("choosing without %s, who has measured %d of %d servers", p.name, p.probed, len(r.round.servers.List))
		}
	}
	r.round.selection, r.round.look = &selected, look{}
	r.verifyOrLaunch()
}

func (r *Room) selectFor(group []*player) selection.Selection {
	return selection.Select(r.round.servers, r.table(group), r.criteria(group))
}

// chosenFor are the players for whom the choice was made.
func (r *Room) chosenFor() []*player {
	return filtered(r.active(), func(p *player) bool { return slices.Contains(r.round.selection.Players, p.name) })
}

func (r *Room) criteria(group []*player) selection.Criteria { return r.criteriaOf(r.settings, group) }

// criteriaOf are what settings ask of a server for a group.
func (r *Room) criteriaOf(s wire.Settings, group []*player) selection.Criteria {
	// The server must have seats for the group, and for those who come along without
	// a say.
	seats := len(group)
	for _, p := range r.round.players {
		seats += count(p.connected && !slices.Contains(group, p))
	}
	c := s.Criteria()
	c.Seats, c.Spare = max(s.Players, seats), spareSeat
	c.Vetoes, c.Keep = r.round.vetoes, r.previous
	c.Top, c.Reasons = rankingLength, reasonsLength
	return c
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
	for name, b := range r.round.ballots {
		r.round.ballots[name] = ballot{vetoed: b.vetoed}
	}
	r.verifyOrLaunch()
}

// exclude leaves those out whose numbers fit nobody else's, as long as the others
// are the most. It does not change its mind: that is for the organiser, see
// [Trust], and for the next round.
func (r *Room) exclude(group []*player) {
	found, excluded, players := r.anomalies(group), r.excluded(), names(group)
	for _, a := range excluded {
		players = append(players, a.Player)
	}
	counted := anomaly.Exclude(players, slices.Concat(excluded, found))
	for _, a := range found {
		if !slices.Contains(counted, a.Player) {
			p := r.player(a.Player)
			p.anomaly, p.leftOut = &a, true
			r.note("%s: that does not count in the choice", strings.TrimSuffix(a.String(), "."))
		}
	}
}

// excluded are the anomalies for which somebody is left out.
func (r *Room) excluded() (excluded []anomaly.Anomaly) {
	for _, p := range r.round.players {
		if p.anomaly != nil {
			excluded = append(excluded, *p.anomaly)
		}
	}
	return excluded
}

// anomalies are those of players whom the organiser has not vouched for.
func (r *Room) anomalies(group []*player) []anomaly.Anomaly {
	return slices.DeleteFunc(anomaly.Find(r.round.servers.List, r.table(group)), func(a anomaly.Anomaly) bool {
		return r.player(a.Player).trusted
	})
}

// placeOf is where a ranked server stands in the list. It is at hand, except
// after a restart.
func (r *Room) placeOf(ranked selection.Ranked) int {
	if s := ranked.Server; s < len(r.round.servers.List) && r.round.servers.List[s].Addr == ranked.Addr {
		return s
	}
	return r.indexOf(ranked.Addr)
}

func (r *Room) indexOf(addr netip.AddrPort) int {
	return slices.IndexFunc(r.round.servers.List, func(s discovery.Server) bool { return s.Addr == addr })
}

// connect is where players connect to: the game's port, which need not be the
// one that answers queries.
func (r *Room) connect(server int) netip.AddrPort {
	addr := r.round.servers.List[server].Addr
	if info := r.round.servers.Infos[server]; info != nil && info.GamePort != 0 {
		return netip.AddrPortFrom(addr.Addr(), info.GamePort)
	}
	return addr
}

// serverName is what people call the server.
func (r *Room) serverName(server int) string {
	addr := r.connect(server).String()
	if info := r.round.servers.Infos[server]; info != nil && info.Name != "" {
		return fmt.Sprintf("%s (%s)", info.Name, addr)
	}
	return addr
}

// culledText says how many servers went, and what for.
func culledText(c selection.Culled) string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{
		{c.Unreachable, "unreachable for someone"},
		{c.Full, "without enough free seats"},
		{c.Filtered + c.Unknown + c.WrongVersion, "of the wrong kind"},
		{c.Passworded, "with a password"},
		{c.Hygiene + c.Blacklisted + c.Vetoed, "unwanted"},
		{c.PingLimits, "that refuse someone's ping"},
		{c.OverThreshold, "too far for someone"},
		{c.Unmeasured, "not measured by everyone"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return strings.Join(parts, ", ")
}
