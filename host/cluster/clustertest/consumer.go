package clustertest

import (
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// consumer reads a stream for one client, on one of the stream's servers and in its memory.
type consumer struct {
	name    string
	config  jetstream.ConsumerConfig
	on      int
	list    []uint64 // what to deliver first
	next    uint64   // and then what matches from here
	told    uint64   // messages so far
	last    uint64   // the sequence of the newest of them
	atEnd   bool     // it has waited for another message
	unread  uint64   // how many could not be read: they count as pending until it reaches the end
	waiting []*pull
	active  time.Time // when there was last a request
}

// pull is a client's request for messages.
type pull struct {
	reply     string
	rest      int
	ends      time.Time
	heartbeat time.Duration
	spoke     time.Time
}

func (m *Model) createConsumer(by int, s *stream, name string, data []byte, answer func(int, any), fail func(int, *failure)) {
	var ask struct {
		Config jetstream.ConsumerConfig `json:"config"`
		Stream string                   `json:"stream_name"`
		Action string                   `json:"action"`
	}
	decode(data, &ask)
	now := time.Now()
	c := &consumer{name: name, config: ask.Config, active: now}
	if s == nil {
		fail(by, errNoStream)
		return
	}
	if c.config.AckPolicy != jetstream.AckNonePolicy || !c.config.MemoryStorage || c.config.Replicas != 1 || c.config.InactiveThreshold == 0 {
		panic(fmt.Sprintf("clustertest: a consumer with %+v", c.config))
	}
	on := slices.DeleteFunc(slices.Clone(s.peers), func(i int) bool { return !m.isOn(i) })
	if len(on) == 0 {
		fail(by, errOffline)
		return
	}
	c.on = on[m.placed%len(on)]
	m.placed++
	if !m.isOpen(by, c.on) {
		return // nobody answers
	}
	if s.copies[c.on] == nil {
		s.copies[c.on] = newStorage(s.life)
	}
	from := s.copies[c.on]
	switch c.config.DeliverPolicy {
	case jetstream.DeliverLastPerSubjectPolicy:
		for subject, seqs := range from.subjects {
			if matches(c.config.FilterSubject, subject) {
				c.list = append(c.list, seqs[len(seqs)-1])
			}
		}
		slices.Sort(c.list)
		c.next = from.last + 1
	case jetstream.DeliverByStartSequencePolicy:
		c.next = c.config.OptStartSeq
	default:
		panic(fmt.Sprintf("clustertest: a consumer with %+v", c.config))
	}
	s.consumers = append(s.consumers, c)
	cluster := &jetstream.ClusterInfo{Leader: m.servers[c.on].name}
	if len(m.servers) > 1 {
		cluster.Name = clusterName
	}
	answer(c.on, struct {
		Type string `json:"type"`
		jetstream.ConsumerInfo
	}{"consumer", jetstream.ConsumerInfo{Stream: s.config.Name, Name: name, Created: now.UTC(), Config: c.config,
		NumPending: c.pending(from), Cluster: cluster, TimeStamp: now.UTC()}})
}

func (m *Model) deleteConsumer(by int, s *stream, name string, answer func(int, any), fail func(int, *failure)) {
	if s == nil {
		fail(by, errNoStream)
		return
	}
	i := slices.IndexFunc(s.consumers, func(c *consumer) bool { return c.name == name })
	if i < 0 {
		fail(by, errNoConsumer)
		return
	}
	c := s.consumers[i]
	for _, p := range c.waiting {
		m.route(c.on, p.reply, p.reply, "", []byte("NATS/1.0 409 Consumer Deleted\r\n\r\n"), nil)
	}
	s.consumers = slices.Delete(s.consumers, i, i+1)
	answer(by, map[string]any{"type": "deleted", "success": true})
}

// pull takes a request for messages. It reports whether there is such a consumer.
func (m *Model) pull(from int, stream, name, reply string, data []byte) (isHeard bool) {
	s := m.stream(stream)
	if s == nil {
		return false
	}
	i := slices.IndexFunc(s.consumers, func(c *consumer) bool { return c.name == name })
	if i < 0 || !m.isOn(s.consumers[i].on) {
		return false
	}
	c := s.consumers[i]
	if !m.isOpen(from, c.on) {
		return true
	}
	var ask struct {
		Batch     int           `json:"batch"`
		Expires   time.Duration `json:"expires"`
		Heartbeat time.Duration `json:"idle_heartbeat"`
	}
	decode(data, &ask)
	if ask.Expires == 0 {
		panic("clustertest: a pull that does not end")
	}
	now := time.Now()
	c.active = now
	c.waiting = append(c.waiting, &pull{reply: reply, rest: ask.Batch, ends: now.Add(ask.Expires), heartbeat: ask.Heartbeat, spoke: now})
	return true
}

// due returns when the consumer does something by itself.
func (c *consumer) due() time.Time {
	if len(c.waiting) == 0 {
		return c.active.Add(c.config.InactiveThreshold)
	}
	next := c.waiting[0].ends
	for _, p := range c.waiting {
		if p.ends.Before(next) {
			next = p.ends
		}
		if beat := p.spoke.Add(p.heartbeat); p.heartbeat > 0 && beat.Before(next) {
			next = beat
		}
	}
	return next
}

// deliver gives consumers' requests what there is, and ends those that are too old.
func (m *Model) deliver(s *stream, now time.Time) {
	for _, c := range s.consumers {
		from := s.copies[c.on]
		c.waiting = slices.DeleteFunc(c.waiting, func(p *pull) bool { return !m.hasInterest(p.reply) })
		for len(c.waiting) > 0 {
			found := c.peek(from)
			if found == nil {
				break
			}
			p := c.waiting[0]
			c.take(found)
			header, data := found.header, found.data
			if c.config.HeadersOnly {
				header, data = withHeader(header, fmt.Sprintf("Nats-Msg-Size: %d\r\n", len(data))), nil
			}
			m.route(c.on, p.reply, found.subject, fmt.Sprintf("$JS.ACK.%s.%s.1.%d.%d.%d.%d", s.config.Name, c.name, found.seq, c.told,
				found.at.UnixNano(), c.pending(from)), header, data)
			p.spoke, c.active = now, now
			if p.rest--; p.rest == 0 {
				c.waiting = c.waiting[1:]
			}
		}
		c.waiting = slices.DeleteFunc(c.waiting, func(p *pull) bool {
			status := ""
			isOver := !p.ends.After(now)
			switch {
			case isOver:
				status = fmt.Sprintf("408 Request Timeout\r\nNats-Pending-Messages: %d\r\nNats-Pending-Bytes: 0", p.rest)
				c.active = now
			case p.heartbeat > 0 && !p.spoke.Add(p.heartbeat).After(now):
				status = fmt.Sprintf("100 Idle Heartbeat\r\nNats-Last-Consumer: %d\r\nNats-Last-Stream: %d", c.told, c.last)
				p.spoke = now
			default:
				return false
			}
			m.route(c.on, p.reply, p.reply, "", []byte("NATS/1.0 "+status+"\r\n\r\n"), nil)
			return isOver
		})
	}
	s.consumers = slices.DeleteFunc(s.consumers, func(c *consumer) bool {
		return len(c.waiting) == 0 && now.Sub(c.active) >= c.config.InactiveThreshold
	})
}

// peek returns the next message for the consumer, nil if there is none yet.
func (c *consumer) peek(from *storage) *message {
	for len(c.list) > 0 {
		m := from.messages[c.list[0]]
		if m != nil && !m.isRotten {
			return m
		}
		if c.list = c.list[1:]; m != nil { // otherwise it was replaced; the new one comes later
			c.unread++
		}
	}
	at, _ := slices.BinarySearch(from.seqs, c.next)
	for _, seq := range from.seqs[at:] {
		if m := from.messages[seq]; matches(c.config.FilterSubject, m.subject) {
			if !m.isRotten {
				return m
			}
			c.unread++
		}
		c.next = seq + 1
	}
	c.atEnd = true
	return nil
}

// take notes that a message was delivered.
func (c *consumer) take(m *message) {
	c.told++
	if c.atEnd {
		c.unread = 0
	}
	c.last = m.seq
	if len(c.list) > 0 {
		c.list = c.list[1:]
	} else {
		c.next = m.seq + 1
	}
}

// pending counts the messages that are still to be delivered.
func (c *consumer) pending(from *storage) (n uint64) {
	n = c.unread
	for _, seq := range c.list {
		if from.messages[seq] != nil {
			n++
		}
	}
	at, _ := slices.BinarySearch(from.seqs, c.next)
	for _, seq := range from.seqs[at:] {
		if matches(c.config.FilterSubject, from.messages[seq].subject) {
			n++
		}
	}
	return n
}
