package host

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

const (
	// finalists is how many servers get a second look and stand ready as
	// fallbacks: with five, a launch hardly ever finds all of them full.
	finalists = 5
	// hiddenFinalists is how many others may be among them whose first RTTs may
	// have been unlucky.
	hiddenFinalists = 2
	// samples is how often each finalist is asked again.
	samples = 3
	// spare is by how much a server with a seat left over is preferred to a better
	// one that the group would fill: somebody may take a seat on the way there. It
	// costs a tenth of a millisecond on average, and halves the launches that fail.
	spare = 2 * time.Millisecond
	// maxAttempts bounds how often the finalists may turn out to be useless.
	maxAttempts = 4
	// rankingLength is how many runners-up a room keeps and shows.
	rankingLength = 25
	// reasonsLength is how many of the culled servers it tells of, those that
	// got furthest: everyone is sent them.
	reasonsLength = 50
)

// Final is the second look at the best few.
type Final struct {
	Attempt int `json:"attempt"`
	// Repeats are those of the attempts that came just before a launch.
	Repeats int   `json:"repeats,omitempty"`
	Servers []int `json:"servers"`
	// Seen are the servers that had their second look in this round.
	Seen []int `json:"seen"`
	// Silent counts players who sent a server a single packet, in vain.
	Silent map[int]int `json:"silent,omitempty"`
	// Waiting are the members who have not answered yet.
	Waiting []string `json:"waiting"`
}

func (r *Room) finalistsMessage(m *Member, now time.Time) wire.Message {
	turns := r.turnsOf(m, now)
	return wire.Finalists{
		Round: r.Round, Game: r.Settings.Game, Attempt: r.Final.Attempt, Servers: r.Final.Servers,
		Samples: turns.samples, After: discovery.Millis(turns.after), Every: discovery.Millis(turns.every),
	}
}

// choose ranks what has been measured and has everyone look at the best again.
func (r *Room) choose(now time.Time) []effect {
	r.distrust(r.activeWho(r.hasMeasured), now)
	group, selected := r.preview()
	if len(group) == 0 {
		return r.fail(now, "nobody has measured anything")
	}
	return r.decide(group, selected, now)
}

// chooseEarly chooses while some still measure, unless nothing suits everyone
// yet: what is measured should not be lost to impatience.
func (r *Room) chooseEarly(now time.Time) []effect {
	r.distrust(r.activeWho(r.hasMeasured), now)
	group, selected := r.preview()
	if selected.Chosen == nil {
		r.note(now, "the organiser says go, but no server suits everyone so far: measuring goes on")
		return nil
	}
	r.note(now, "the organiser says go: choosing from what has been measured")
	return r.decide(group, selected, now)
}

// preview finds for whom to choose, and what they would get: all who measured
// anything or, if that leaves no server, those who have finished: what the others
// have not measured yet would cull every server.
func (r *Room) preview() (group []*Member, selected selection.Selection) {
	group = r.activeWho(r.hasMeasured)
	selected = r.selectFor(group)
	if selected.Chosen != nil {
		return group, selected
	}
	finished := r.activeWho(func(m *Member) bool { return r.hasMeasured(m) && m.Done })
	if s := r.selectFor(finished); s.Chosen != nil {
		return finished, s
	}
	return group, selected
}

func (r *Room) decide(group []*Member, selected selection.Selection, now time.Time) []effect {
	for _, doubt := range r.doubtsAbout(group) {
		r.note(now, "%s", doubt)
	}
	for _, m := range r.active() {
		if slices.Contains(group, m) {
			continue
		}
		m.LeftOut = true
		r.note(now, "choosing without %s, who has measured %d of %d servers", m.Name, m.Probed, len(r.Servers))
	}
	r.Selection, r.Final = &selected, &Final{}
	return r.verifyOrLaunch(now)
}

func (r *Room) selectFor(group []*Member) selection.Selection {
	return selection.Select(r.servers(), r.table(group), r.wish(group))
}

func (r *Room) servers() selection.Servers {
	return selection.Servers{List: r.Servers, Infos: r.Infos}
}

func (r *Room) table(group []*Member) *selection.Table {
	t := selection.NewTable(names(group), len(r.Servers))
	knows := r.knowledge(group)
	for player, m := range group {
		for server := range m.Results {
			result := knows[player].at(server)
			t.Set(player, server, result.State, result.RTT)
		}
		for server, quality := range m.Quality {
			t.SetQuality(player, server, quality)
		}
	}
	return t
}

func names(group []*Member) []string {
	names := make([]string, len(group))
	for i, m := range group {
		names[i] = m.Name
	}
	return names
}

func (r *Room) wish(group []*Member) selection.Criteria {
	return selection.Criteria{
		By: r.Settings.By, Limits: r.Settings.Limits, Seats: r.seats(group),
		Map: r.Settings.Map, Mode: r.Settings.Mode, Vetoes: r.Vetoes, Top: rankingLength, Reasons: reasonsLength,
		Keep: r.Previous, NoPassword: r.Settings.Password == "", Spare: spare,
	}
}

// seats is how many the server must have free: for the group, and for those who
// come along without a say.
func (r *Room) seats(group []*Member) int {
	coming := len(group)
	for _, m := range r.Members {
		coming += count(m.Connected && !slices.Contains(group, m))
	}
	return max(r.Settings.Players, coming)
}

// verifyOrLaunch sends everyone to the chosen server if it has had its second
// look, and otherwise asks for one.
func (r *Room) verifyOrLaunch(now time.Time) []effect {
	if r.Selection.Chosen == nil {
		return r.fail(now, "no server suits everyone: %s", culledText(r.Selection.Culled))
	}
	chosen := r.indexOf(r.Selection.Chosen.Addr)
	switch {
	case slices.Contains(r.Final.Seen, chosen):
		return r.agreeOrLaunch(chosen, now)
	case r.Final.Attempt-r.Final.Repeats >= maxAttempts:
		r.note(now, "the best servers keep changing: taking %s unverified", r.serverName(chosen))
		return r.agreeOrLaunch(chosen, now)
	}
	return r.verify(now)
}

func (r *Room) verify(now time.Time) []effect {
	r.enter(wire.Chosen, now)
	var servers []int
	for _, ranked := range r.Selection.Ranking[:min(finalists, len(r.Selection.Ranking))] {
		servers = append(servers, r.indexOf(ranked.Addr))
	}
	for _, server := range r.hidden() {
		if !slices.Contains(servers, server) {
			servers = append(servers, server)
		}
	}
	r.note(now, "everyone looks at the best %d again", len(servers))
	return r.askToLook(servers, now)
}

// verified takes a member's second look.
func (r *Room) verified(m *Member, v wire.Verified, now time.Time) ([]effect, error) {
	if !r.takesLooks() || v.Round != r.Round || v.Attempt != r.Final.Attempt || m.LeftOut {
		return nil, nil
	}
	for _, seen := range v.Servers {
		if !slices.Contains(r.Final.Servers, seen.Server) {
			return nil, fmt.Errorf("host: %s verifies server %d, which is no finalist", m.Name, seen.Server)
		}
	}
	if r.isElsewhere(m, v.Servers) {
		m.Apart = true
		r.note(now, "what the others behind %s's address measured does not hold for %s, who measures alone from now on", m.Name, m.Name)
	}
	for _, seen := range v.Servers {
		r.look(m, seen)
	}
	m.Heard = now
	r.Final.Waiting = slices.DeleteFunc(r.Final.Waiting, func(name string) bool { return name == m.Name })
	return r.settle(now), nil
}

// look merges a second look: the lowest sample is the path's RTT, all of them
// silent means that the server is lost by now.
func (r *Room) look(m *Member, seen wire.Finalist) {
	if seen.Info != nil {
		info := wire.TidyInfo(*seen.Info)
		r.Infos[seen.Server] = &info
	}
	result := discovery.Result{Server: seen.Server, State: seen.State}
	switch {
	case seen.State == discovery.Unprobed, seen.State == discovery.Answered && len(seen.RTTs) == 0, r.isShutOut(m, seen.Server), r.forgives(seen):
		return // nothing was seen
	case seen.State == discovery.Answered:
		result.RTT = wire.RoundRTT(time.Duration(slices.Min(seen.RTTs) * float64(time.Millisecond)))
		if old := m.Results[seen.Server]; old.State == discovery.Answered {
			result.RTT = min(result.RTT, old.RTT)
		}
	}
	if m.Quality == nil {
		m.Quality = map[int]selection.Quality{}
	}
	m.Quality[seen.Server] = qualityOf(seen)
	m.add(result)
}

// forgives tells that a server's silence may be the line's. Players who share an
// address send it so few packets (see turnOf) that all of them may get lost. If
// more than half of the group met silence, it is the server's.
func (r *Room) forgives(seen wire.Finalist) bool {
	if seen.State != discovery.Lost || seen.Sent > forgiven {
		return false
	}
	if r.Final.Silent == nil {
		r.Final.Silent = map[int]int{}
	}
	r.Final.Silent[seen.Server]++
	return 2*r.Final.Silent[seen.Server] <= len(r.active())
}

// forgiven is how many lost packets say nothing: of three each that four players
// send, one is lost in every fifth second look on lines that lose 2 %.
const forgiven = 1

// qualityOf is what the samples show of a way.
func qualityOf(seen wire.Finalist) selection.Quality {
	q := selection.Quality{}
	if lost := seen.Sent - len(seen.RTTs) - forgiven; lost > 0 {
		q.Loss = float64(lost) / float64(seen.Sent)
	}
	if len(seen.RTTs) > 1 {
		sum := 0.0
		for i := range seen.RTTs[1:] {
			sum += math.Abs(seen.RTTs[i+1] - seen.RTTs[i])
		}
		q.Jitter = time.Duration(sum / float64(len(seen.RTTs)-1) * float64(time.Millisecond))
	}
	return q
}

// settle decides once nobody is waited for.
func (r *Room) settle(now time.Time) []effect {
	if len(r.Final.Waiting) > 0 || r.Agreement != nil {
		return nil
	}
	r.Final.Seen = append(r.Final.Seen, r.Final.Servers...)
	before, selected := r.Selection.Chosen.Addr, r.selectFor(r.active())
	selected.Doubts = append(r.acted(), r.doubtsAbout(r.active())...)
	r.Selection = &selected
	r.noteChange(before, now)
	return r.verifyOrLaunch(now)
}

// noteChange says why the favourite of a moment ago lost.
func (r *Room) noteChange(before netip.AddrPort, now time.Time) {
	after := r.Selection.Chosen
	if after != nil && after.Addr == before {
		return
	}
	next := "there is no other"
	if after != nil {
		next = r.serverName(r.indexOf(after.Addr)) + " takes its place"
	}
	r.note(now, "%s %s: %s", r.serverName(r.indexOf(before)), r.whyNot(before), next)
}

// whyNot says what came between the group and a server.
func (r *Room) whyNot(addr netip.AddrPort) string {
	wish := r.wish(r.active())
	wish.Keep, wish.Top, wish.Reasons = addr, 1, -1
	selected := selection.NewFilter(r.servers(), wish).Select(r.table(r.active()))
	if cause := selected.Keep.Culled; cause != nil {
		return fmt.Sprintf("turned out to be %s", *cause)
	}
	return "is no longer the best"
}

// tickVerifying stops waiting for members who do not look.
func (r *Room) tickVerifying(now time.Time) []effect {
	if now.Sub(r.Since) < r.lookingTime() {
		return nil
	}
	for _, name := range r.Final.Waiting {
		r.note(now, "%s did not look again: taking the first measurements", name)
	}
	r.Final.Waiting = nil
	return r.settle(now)
}
