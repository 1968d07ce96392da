package calendar

import (
	"net/netip"
	"time"

	"muster/discovery/sentence"
	"muster/host/wire"
)

// pledgeStays is how long somebody's yes counts in a room without a date: an evening, and the hours
// before it.
const pledgeStays = 12 * time.Hour

// isPledge reports whether an answer is to no date, but to whenever enough people say yes.
func (c Coming) isPledge() bool { return !c.At.IsZero() }

// pledged counts the people who have said yes in a room without a date, or are there, and those of
// them who are away. Anybody can open many pages, so the strangers of one network count as one.
func (c *Calendar) pledged(f Facts) (n, away int) {
	networks := map[netip.Addr]bool{}
	for _, p := range f.People {
		coming := c.state.Coming[p.Mark]
		switch {
		case !p.IsHere && !(c.HasAnswered(p.Mark) && coming.isPledge() && coming.Comes):
			continue
		case p.IsPlayer || p.IsRegular || p.IsOrganiser:
		case networks[p.From]:
			continue
		default:
			networks[p.From] = true
		}
		if n++; !p.IsHere {
			away++
		}
	}
	return n, away
}

// expirePledges drops old answers, and reports whether there were any.
func (c *Calendar) expirePledges(now time.Time) (expired bool) {
	for mark, coming := range c.state.Coming {
		if coming.isPledge() && (now.Sub(coming.At) >= pledgeStays || coming.At.After(now.Add(maxAhead))) {
			delete(c.state.Coming, mark)
			expired = true
		}
	}
	return expired
}

// applyQuorum opens the room once enough people have said yes, and tells everybody, once a session.
func (c *Calendar) applyQuorum(f Facts) []Event {
	if f.Quorum == 0 || !c.upcoming.next.IsZero() || c.state.Agreed || !c.IsAsleep() && !f.IsGathering {
		return nil
	}
	if n, away := c.pledged(f); n < f.Quorum || away == 0 { // who is there needs no telling
		return nil
	}
	why := sentence.Of("room.quorum", "n", f.Quorum)
	events := []Event{Save{}}
	if c.IsAsleep() {
		events = append(events, c.open(why, f.Now.Wall))
	} else {
		events = append(events, Note{why})
	}
	c.state.Agreed, c.state.Posts.Opened = true, true
	coming := []wire.AnnouncedPlayer{}
	for _, p := range f.People {
		isOwn := p.IsPlayer || p.IsRegular || p.IsOrganiser // no stranger's nickname is posted anywhere
		if isOwn && (p.IsHere || c.HasAnswered(p.Mark) && c.state.Coming[p.Mark].Comes) {
			coming = append(coming, wire.AnnouncedPlayer{Name: p.Name})
		}
	}
	return append(events, c.Announce(wire.Announcement{Kind: wire.AnnouncedOpen, Players: coming}, f)...)
}

// forgetPledges drops all pledges, because the session that they were for is over.
func (c *Calendar) forgetPledges() {
	c.state.Agreed = false
	for mark, coming := range c.state.Coming {
		if coming.isPledge() {
			delete(c.state.Coming, mark)
		}
	}
}
