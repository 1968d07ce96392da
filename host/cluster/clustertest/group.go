package clustertest

import (
	"slices"
	"time"
)

// group is some servers that elect a leader and agree on a log.
type group struct {
	peers []int
	// leader is the newest one, -1 for none.
	leader int
	// Following have an entry for each server of the model.
	believes []bool      // that it is the leader
	doubt    []time.Time // since when a leader does not hear most of the servers
	deaf     []time.Time // since when it hears no leader
	silent   []time.Time // since when the leader does not hear it
	got      []int       // how much of the log it knows
	// committed is how much of the log most of the servers know.
	log       []entry
	committed int
	told      int // how much of that Keeps has been told
	// life counts how often committed entries were lost. A copy of an earlier life is built again.
	life int
}

// entry is a write in a stream's log.
type entry struct {
	at      time.Time
	put     *message // to be stored, nil for one of the following
	expired uint64   // the sequence of a message that ended
	purge   *purge
	// answer is called once the write is committed, and gets the sequence or the number of purged
	// messages.
	answer func(uint64)
}

type purge struct {
	Filter string `json:"filter"`
}

// newGroup returns a group that has a leader already.
func (m *Model) newGroup(peers []int, leader int) *group {
	n := len(m.servers)
	g := &group{
		peers:    peers,
		believes: make([]bool, n),
		doubt:    make([]time.Time, n),
		deaf:     make([]time.Time, n),
		silent:   make([]time.Time, n),
		got:      make([]int, n),
	}
	g.leader, g.believes[leader] = leader, true
	return g
}

// elect makes a server the leader. Entries that it does not know are lost.
func (g *group) elect(i int) {
	g.leader, g.believes[i] = i, true
	g.log = g.log[:g.got[i]]
	if g.committed > len(g.log) {
		g.committed = len(g.log)
		g.told = min(g.told, g.committed)
		g.life++
	}
	for j := range g.got {
		g.got[j] = min(g.got[j], len(g.log))
		g.silent[j] = time.Time{}
	}
	g.deaf[i], g.doubt[i] = time.Time{}, time.Time{}
}

// succeed makes another server the leader, the preferred one if it can be; without any the group waits
// for an election.
func (m *Model) succeed(g *group, after int, preferred string) {
	clear(g.believes)
	g.leader = -1
	for _, i := range g.peers {
		if i != after && m.isHeard(after, i) && g.got[i] == len(g.log) && (g.leader < 0 || m.servers[i].name == preferred) {
			g.leader = i
		}
	}
	if g.leader >= 0 {
		g.elect(g.leader)
	}
}

// groups returns all groups, that of JetStream itself first.
func (m *Model) groups() []*group {
	all := []*group{m.meta}
	for _, s := range m.streams {
		all = append(all, s.group)
	}
	return all
}

// isOn reports whether a server runs JetStream.
func (m *Model) isOn(i int) bool { return m.servers[i].isRunning && m.servers[i].hasJS }

// isOpen reports whether a server's messages reach another one.
func (m *Model) isOpen(from, to int) bool {
	return m.servers[from].isRunning && m.servers[to].isRunning && !m.cut[from][to]
}

// isHeard reports whether a server answers another one.
func (m *Model) isHeard(by, other int) bool {
	return m.isOn(other) && m.isOpen(by, other) && m.isOpen(other, by)
}

// hasQuorum reports whether most servers of a group answer a server.
func (m *Model) hasQuorum(g *group, i int) bool {
	return m.isOn(i) && 2*m.count(g, func(j int) bool { return m.isHeard(i, j) }) > len(g.peers)
}

func (m *Model) count(g *group, is func(int) bool) (n int) {
	for _, j := range g.peers {
		if is(j) {
			n++
		}
	}
	return n
}

// hears reports whether a server hears a leader of a group.
func (m *Model) hears(g *group, j int) bool {
	for i, believes := range g.believes {
		if believes && m.isOn(i) && m.isOpen(i, j) {
			return true
		}
	}
	return false
}

// isLeaderless reports whether a server has not heard a leader for so long that it says so.
func (m *Model) isLeaderless(g *group, j int, now time.Time) bool {
	return !m.hears(g, j) && !g.deaf[j].IsZero() && now.Sub(g.deaf[j]) >= Election
}

// settle does all that follows from the state of servers and links at a time; the caller holds mu.
func (m *Model) settle(now time.Time) {
	for _, g := range m.groups() {
		m.vote(g, now)
	}
	for _, s := range m.streams {
		m.expire(s, now)
		m.replicate(s, now)
		m.deliver(s, now)
	}
}

// vote ends leaders who lost most of the servers, and elects new ones.
func (m *Model) vote(g *group, now time.Time) {
	for _, i := range g.peers {
		switch {
		case !g.believes[i]:
			continue
		case !m.isOn(i), i != g.leader && g.leader >= 0 && m.isOpen(g.leader, i) && m.isOn(g.leader):
			g.believes[i] = false
		case m.hasQuorum(g, i):
			g.doubt[i] = time.Time{}
			continue
		case g.doubt[i].IsZero():
			g.doubt[i] = now
			continue
		case now.Sub(g.doubt[i]) < LostQuorum:
			continue
		}
		g.believes[i], g.doubt[i] = false, time.Time{}
		if i == g.leader {
			g.leader = -1
		}
	}
	for _, j := range g.peers {
		switch {
		case !m.isOn(j), m.hears(g, j):
			g.deaf[j] = time.Time{}
		case g.deaf[j].IsZero():
			g.deaf[j] = now
		}
		if g.leader >= 0 && m.isHeard(g.leader, j) {
			g.silent[j] = time.Time{}
		} else if g.silent[j].IsZero() {
			g.silent[j] = now
		}
	}
	best := -1
	for _, i := range g.peers {
		votes := m.count(g, func(j int) bool { return m.isHeard(i, j) && !g.deaf[j].IsZero() && g.got[j] <= g.got[i] })
		isReady := !g.deaf[i].IsZero() && (now.Sub(g.deaf[i]) >= Election || len(g.peers) == 1)
		if isReady && 2*votes > len(g.peers) && (best < 0 || g.got[i] > g.got[best]) {
			best = i
		}
	}
	if best >= 0 {
		g.elect(best)
		m.vote(g, now)
	}
}

// replicate tells a stream's servers what its leader knows, commits what most know, and applies it.
func (m *Model) replicate(s *stream, now time.Time) {
	leader := s.leader
	if leader < 0 || !m.isOn(leader) {
		return
	}
	if s.got[leader] < len(s.log) && m.servers[leader].isFull { // what it cannot keep it does not send
		s.log = s.log[:s.got[leader]]
		m.stopJetStream(leader)
		m.vote(s.group, now)
		return
	}
	for _, j := range s.peers {
		if !m.isOn(j) || !m.isOpen(leader, j) {
			continue
		}
		if s.got[j] < len(s.log) && m.servers[j].isFull {
			m.stopJetStream(j)
			continue
		}
		s.got[j] = len(s.log)
	}
	if m.hasQuorum(s.group, leader) {
		s.committed = len(s.log)
	}
	for ; s.told < s.committed; s.told++ {
		if put := s.log[s.told].put; put != nil && m.keeps != nil {
			m.keeps(put.subject, put.header)
		}
	}
	for _, j := range s.peers {
		if !m.isOn(j) || !m.isOpen(leader, j) || m.servers[j].isSlow && j != leader {
			continue
		}
		c := s.copies[j]
		if c == nil || c.applied > s.committed || c.life != s.life {
			c = s.rebuilt(0)
			s.copies[j] = c
		}
		if m.servers[j].isBlank && j != leader {
			c.applied = s.committed
		}
		for c.applied < s.committed {
			e := &s.log[c.applied]
			if c.chokes(*e) {
				m.stopJetStream(j)
				break
			}
			n := c.apply(s.config, *e)
			if j == leader && e.answer != nil {
				e.answer(n)
				e.answer = nil
			}
		}
	}
}

// rebuilt returns a copy that has applied so many entries of the log.
func (s *stream) rebuilt(applied int) *storage {
	c := newStorage(s.life)
	for c.applied < applied {
		c.apply(s.config, s.log[c.applied])
	}
	return c
}

// expire proposes what follows from the end of messages. Without most servers none ends.
func (m *Model) expire(s *stream, now time.Time) {
	c := s.led(m)
	if c == nil || !m.hasQuorum(s.group, s.leader) || s.committed < len(s.log) {
		return
	}
	for _, seq := range c.expired(now) {
		s.log = append(s.log, entry{at: now, expired: seq})
	}
}

// forget ends the consumers on a server, which keeps them in memory.
func (m *Model) forget(i int) {
	for _, s := range m.streams {
		s.consumers = slices.DeleteFunc(s.consumers, func(c *consumer) bool { return c.on == i })
	}
}
