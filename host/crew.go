package host

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// crew are players behind one address who measure as one: a server is asked by
// one of them, and by another only if it stays silent. Most have one player.
type crew struct {
	members []*Member
	// waiting are the servers that a member was asked for and has not reported.
	waiting map[int]*Member
}

// newCrew is a crew that goes on with what its members were asked for as part of
// one before, and have not reported since.
func newCrew(members []*Member, before []*crew) *crew {
	c := &crew{members: members, waiting: map[int]*Member{}}
	for _, old := range before {
		for server, m := range old.waiting {
			if slices.Contains(members, m) && m.Results[server].State == discovery.Unprobed {
				c.waiting[server] = m
			}
		}
	}
	return c
}

// crews are one a site.
func crewsOf(sites [][]*Member, before []*crew) []*crew {
	var crews []*crew
	for _, members := range sites {
		crews = append(crews, newCrew(members, before))
	}
	return crews
}

// areCrews tells that the crews are still those of the sites.
func areCrews(crews []*crew, sites [][]*Member) bool {
	return slices.EqualFunc(crews, sites, func(c *crew, site []*Member) bool { return slices.Equal(c.members, site) })
}

// deal shares servers out to the members, neighbours in the network to different
// ones, each in the order given.
func (c *crew) deal(r *Room, servers []int) []effect {
	list := make([]discovery.Server, len(servers))
	for i, server := range servers {
		list[i] = r.Servers[server]
	}
	var effects []effect
	for player, share := range selection.Share(list, len(c.members)) {
		var asked []int
		for _, i := range share {
			asked = append(asked, servers[i])
		}
		effects = append(effects, c.ask(r, c.members[player], asked)...)
	}
	return effects
}

// ask has one member ask servers.
func (c *crew) ask(r *Room, m *Member, servers []int) []effect {
	var effects []effect
	for _, server := range servers {
		c.waiting[server] = m
	}
	for part := range slices.Chunk(servers, wire.MaxAsked) {
		effects = append(effects, send{m.Name, wire.Ask{Round: r.Round, Servers: part}})
	}
	return effects
}

// heard takes a member's result, and has another member ask a server that stayed
// silent: a player's own line may be to blame.
func (c *crew) heard(r *Room, m *Member, result discovery.Result) []effect {
	if c.waiting[result.Server] == m {
		delete(c.waiting, result.Server)
	}
	if _, asked := c.waiting[result.Server]; asked || result.State != discovery.Lost {
		return nil
	}
	at := slices.Index(c.members, m)
	for i := range c.members {
		next := c.members[(at+1+i)%len(c.members)]
		switch next.Results[result.Server].State {
		case discovery.Answered:
			return nil
		case discovery.Unprobed:
			return c.ask(r, next, []int{result.Server})
		}
	}
	return nil
}

// release forgets what a member was asked for, whose connection has ended, and
// breaks up its crew: it is to be formed anew.
func (c *crew) release(m *Member) {
	if !slices.Contains(c.members, m) {
		return
	}
	c.members = nil
	for server, asked := range c.waiting {
		if asked == m {
			delete(c.waiting, server)
		}
	}
}

// isIdle tells that a member has nothing left to report.
func (c *crew) isIdle(m *Member) bool {
	for _, asked := range c.waiting {
		if asked == m {
			return false
		}
	}
	return true
}

// release has whatever a member was asked for asked again.
func (r *Room) release(m *Member) {
	for _, c := range r.crews {
		c.release(m)
	}
	if r.search != nil {
		for _, c := range r.search.crews {
			c.release(m)
		}
	}
}

// excuseTheIdle: who has been asked nothing has nothing to report.
func excuseTheIdle(crews []*crew, now time.Time) {
	for _, c := range crews {
		for _, m := range c.members {
			if m.Connected && c.isIdle(m) {
				m.Heard = now
			}
		}
	}
}

// finishCrews notes who has measured the list together.
func (r *Room) finishCrews(now time.Time) {
	for _, c := range r.crews {
		if len(c.waiting) > 0 || len(c.members) == 0 {
			continue
		}
		site := r.siteOf(c.members[0])
		news := 0
		for _, m := range site {
			if m.Shares && !m.Done {
				m.Done, m.Heard = true, now
				news++
			}
		}
		if news > 0 {
			p := progressOf(pooled(site, len(r.Servers)))
			r.note(now, "%d players behind one address have measured %s together, %d answered", len(site), serversInWords(p.probed), p.answered)
		}
	}
}

// sharers are members of larger sites who measure their parts of the list.
func (r *Room) sharers() []*Member {
	return r.activeWho(func(m *Member) bool { return m.Shares && m.Connected })
}

// shareOut has the crews of the sharers ask what their sites do not know, if they
// are no longer the same.
func (r *Room) shareOut() []effect {
	sites := r.sites(r.sharers())
	if areCrews(r.crews, sites) {
		return nil
	}
	r.crews = crewsOf(sites, r.crews)
	var effects []effect
	for _, c := range r.crews {
		effects = append(effects, c.deal(r, r.unasked(c))...)
	}
	return effects
}

// unasked are the servers of which a crew's site knows nothing, and that nobody
// is asking.
func (r *Room) unasked(c *crew) []int {
	var servers []int
	for server, result := range pooled(r.siteOf(c.members[0]), len(r.Servers)) {
		if _, asked := c.waiting[server]; !asked && result.State == discovery.Unprobed {
			servers = append(servers, server)
		}
	}
	return servers
}

// crewOf is the crew of a member, nil for who measures alone.
func crewOf(crews []*crew, m *Member) *crew {
	i := slices.IndexFunc(crews, func(c *crew) bool { return slices.Contains(c.members, m) })
	if i < 0 {
		return nil
	}
	return crews[i]
}
