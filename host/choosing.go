package host

import (
	"fmt"
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
	// samples is how often each finalist is asked again.
	samples = 3
	// maxAttempts bounds how often the finalists may turn out to be useless.
	maxAttempts = 4
	// rankingLength is how many runners-up a room keeps and shows.
	rankingLength = 25
)

// Final is the second look at the best few.
type Final struct {
	Attempt int   `json:"attempt"`
	Servers []int `json:"servers"`
	// Seen are the servers that had their second look in this round.
	Seen []int `json:"seen"`
	// Waiting are the members who have not answered yet.
	Waiting []string `json:"waiting"`
}

func (r *Room) finalistsMessage() wire.Message {
	return wire.Finalists{
		Round: r.Round, Game: r.Settings.Game, Attempt: r.Final.Attempt, Servers: r.Final.Servers, Samples: samples,
	}
}

// choose ranks what has been measured and has everyone look at the best again.
func (r *Room) choose(now time.Time) []effect {
	r.leaveOutTheBlank(now)
	r.Final = &Final{}
	r.selectNow()
	if r.Selection.Chosen == nil && r.leaveOutTheSlow(now) {
		r.selectNow()
	}
	return r.verifyOrLaunch(now)
}

// leaveOutTheBlank drops members who have measured nothing at all: they would
// cull every server.
func (r *Room) leaveOutTheBlank(now time.Time) {
	for _, m := range r.active() {
		if m.Probed == 0 {
			m.LeftOut = true
			r.note(now, "choosing without %s, who has measured nothing", m.Name)
		}
	}
}

// leaveOutTheSlow drops unfinished members if someone else is finished.
func (r *Room) leaveOutTheSlow(now time.Time) bool {
	active := r.active()
	done := slices.ContainsFunc(active, func(m *Member) bool { return m.Done })
	dropped := false
	for _, m := range active {
		if done && !m.Done {
			m.LeftOut, dropped = true, true
			r.note(now, "choosing without %s, who has measured only %d of %d servers", m.Name, m.Probed, len(r.Servers))
		}
	}
	return dropped
}

func (r *Room) selectNow() {
	s := selection.Select(selection.Servers{List: r.Servers, Infos: r.Infos}, r.table(), r.wish())
	r.Selection = &s
}

func (r *Room) table() *selection.Table {
	active := r.active()
	names := make([]string, len(active))
	for i, m := range active {
		names[i] = m.Name
	}
	t := selection.NewTable(names, len(r.Servers))
	for player, m := range active {
		for server := range m.Results {
			t.Set(player, server, m.Results[server].State, m.Results[server].RTT)
		}
	}
	return t
}

func (r *Room) wish() selection.Wish {
	return selection.Wish{
		By: r.Settings.By, Limits: r.Settings.Limits, Seats: max(r.Settings.Players, len(r.active())),
		Map: r.Settings.Map, Mode: r.Settings.Mode, Top: rankingLength,
	}
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
		return r.launch(chosen, now)
	case r.Final.Attempt == maxAttempts:
		r.note(now, "the best servers keep changing: taking %s unverified", r.serverName(chosen))
		return r.launch(chosen, now)
	}
	return r.verify(now)
}

func (r *Room) verify(now time.Time) []effect {
	r.enter(wire.Chosen, now)
	f := r.Final
	f.Attempt++
	f.Servers, f.Waiting = nil, nil
	for _, ranked := range r.Selection.Ranking[:min(finalists, len(r.Selection.Ranking))] {
		f.Servers = append(f.Servers, r.indexOf(ranked.Addr))
	}
	for _, m := range r.active() {
		f.Waiting = append(f.Waiting, m.Name)
	}
	r.note(now, "everyone looks at the best %d again", len(f.Servers))
	return []effect{send{message: r.finalistsMessage()}}
}

// verified takes a member's second look.
func (r *Room) verified(m *Member, v wire.Verified, now time.Time) ([]effect, error) {
	if r.Stage != wire.Chosen || v.Round != r.Round || v.Attempt != r.Final.Attempt {
		return nil, nil
	}
	for _, seen := range v.Servers {
		if !slices.Contains(r.Final.Servers, seen.Server) {
			return nil, fmt.Errorf("host: %s verifies server %d, which is no finalist", m.Name, seen.Server)
		}
		r.look(m, seen)
	}
	r.Final.Waiting = slices.DeleteFunc(r.Final.Waiting, func(name string) bool { return name == m.Name })
	return r.settle(now), nil
}

// look merges a second look: the lowest sample is the path's RTT, all of them
// silent means that the server is lost by now.
func (r *Room) look(m *Member, seen wire.Finalist) {
	if seen.Info != nil {
		info := cleanInfo(*seen.Info)
		r.Infos[seen.Server] = &info
	}
	result := discovery.Result{Server: seen.Server, State: seen.State}
	if seen.State == discovery.Answered && len(seen.RTTs) > 0 {
		result.RTT = time.Duration(slices.Min(seen.RTTs) * float64(time.Millisecond))
		if old := m.Results[seen.Server]; old.State == discovery.Answered {
			result.RTT = min(result.RTT, old.RTT)
		}
	}
	if seen.State != discovery.Unprobed {
		m.add(result)
	}
}

// cleanInfo cleans the texts that a peer forwards.
func cleanInfo(info discovery.Info) discovery.Info {
	for _, text := range []*string{&info.Name, &info.Map, &info.Mode, &info.Version} {
		*text = discovery.CleanText(*text)
	}
	return info
}

// settle decides once nobody is waited for.
func (r *Room) settle(now time.Time) []effect {
	if len(r.Final.Waiting) > 0 {
		return nil
	}
	r.Final.Seen = append(r.Final.Seen, r.Final.Servers...)
	before := r.Selection.Chosen
	r.selectNow()
	r.noteChange(before, now)
	return r.verifyOrLaunch(now)
}

// noteChange says why the favourite of a moment ago lost.
func (r *Room) noteChange(before *selection.Ranked, now time.Time) {
	after := r.Selection.Chosen
	if after != nil && after.Addr == before.Addr {
		return
	}
	server := r.indexOf(before.Addr)
	why := "is no longer the best"
	for _, culled := range r.Selection.Reasons {
		if culled.Addr == before.Addr {
			why = fmt.Sprintf("turned out to be %s", culled.Cause)
		}
	}
	next := "there is no other"
	if after != nil {
		next = r.serverName(r.indexOf(after.Addr)) + " takes its place"
	}
	r.note(now, "%s %s: %s", r.serverName(server), why, next)
}

// tickVerifying stops waiting for members who do not look.
func (r *Room) tickVerifying(now time.Time) []effect {
	if now.Sub(r.Since) < verifyingTime {
		return nil
	}
	for _, name := range r.Final.Waiting {
		r.note(now, "%s did not look again: taking the first measurements", name)
	}
	r.Final.Waiting = nil
	return r.settle(now)
}
