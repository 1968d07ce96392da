package clustertest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// stream is a stream of messages, and the servers that keep it.
type stream struct {
	*group
	config    jetstream.StreamConfig
	created   time.Time
	copies    []*storage // by server, nil where there is none
	consumers []*consumer
}

// led returns the copy of a stream's newest leader, nil without one.
func (s *stream) led(m *Model) *storage {
	if s.leader < 0 || !m.isOn(s.leader) {
		return nil
	}
	return s.copies[s.leader]
}

// message is a stored message.
type message struct {
	subject      string
	header, data []byte
	seq          uint64
	at           time.Time
	ends         time.Time // zero for never
	isRotten     bool      // this copy of it cannot be read
}

// size is how many bytes the message takes in nats-server's files.
func (m *message) size() int64 {
	n := 30 + len(m.subject) + len(m.data)
	if len(m.header) > 0 {
		n += 4 + len(m.header)
	}
	return int64(n)
}

func (m *message) isMarker() bool { return headerOf(m.header, jetstream.MarkerReasonHeader) != "" }

// storage is one server's copy of a stream.
type storage struct {
	life, applied int
	isDamaged     bool // it lacks some message
	last          uint64
	lastAt        time.Time
	bytes         int64
	seqs          []uint64 // of all messages, in order
	messages      map[uint64]*message
	subjects      map[string][]uint64
}

func newStorage(life int) *storage {
	return &storage{life: life, messages: map[uint64]*message{}, subjects: map[string][]uint64{}}
}

// apply does the next write of the log. It returns the sequence of a message that it stored, or how
// many messages it purged.
func (c *storage) apply(config jetstream.StreamConfig, e entry) (n uint64) {
	c.applied++
	switch {
	case e.put != nil:
		return c.put(config, *e.put, e.at)
	case e.purge != nil:
		for _, seq := range slices.Clone(c.seqs) {
			if m := c.messages[seq]; matches(e.purge.Filter, m.subject) {
				c.remove(m)
				n++
			}
		}
	default:
		m := c.messages[e.expired]
		if m == nil {
			return 0
		}
		if life := config.SubjectDeleteMarkerTTL; life > 0 && !m.isMarker() && len(c.subjects[m.subject]) == 1 {
			marker := message{subject: m.subject, header: fmt.Appendf(nil, "NATS/1.0\r\nNats-Marker-Reason: MaxAge\r\nNats-TTL: %v\r\n\r\n", life)}
			marker.ends = e.at.Add(life)
			c.put(config, marker, e.at)
		}
		if c.messages[e.expired] != nil {
			c.remove(m)
		}
	}
	return n
}

func (c *storage) put(config jetstream.StreamConfig, m message, at time.Time) uint64 {
	c.last++
	m.seq, m.at = c.last, at
	c.lastAt = at
	c.seqs = append(c.seqs, m.seq)
	c.messages[m.seq] = &m
	c.subjects[m.subject] = append(c.subjects[m.subject], m.seq)
	c.bytes += m.size()
	for most := config.MaxMsgsPerSubject; most > 0 && int64(len(c.subjects[m.subject])) > most; {
		c.remove(c.messages[c.subjects[m.subject][0]])
	}
	return m.seq
}

func (c *storage) remove(m *message) {
	delete(c.messages, m.seq)
	at, _ := slices.BinarySearch(c.seqs, m.seq)
	c.seqs = slices.Delete(c.seqs, at, at+1)
	of := c.subjects[m.subject]
	at, _ = slices.BinarySearch(of, m.seq)
	if of = slices.Delete(of, at, at+1); len(of) == 0 {
		delete(c.subjects, m.subject)
	} else {
		c.subjects[m.subject] = of
	}
	c.bytes -= m.size()
}

// nextExpiry returns when the next message ends, zero if none does.
func (c *storage) nextExpiry() (next time.Time) {
	for _, m := range c.messages {
		if !m.ends.IsZero() && (next.IsZero() || m.ends.Before(next)) {
			next = m.ends
		}
	}
	return next
}

// expired returns the sequences of messages that have ended, in order.
func (c *storage) expired(now time.Time) (seqs []uint64) {
	for _, seq := range c.seqs {
		if m := c.messages[seq]; !m.ends.IsZero() && !m.ends.After(now) {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

// chokes reports whether a copy cannot do a write, because that would replace what it cannot read.
func (c *storage) chokes(e entry) bool {
	if e.put == nil {
		return false
	}
	of := c.subjects[e.put.subject]
	return len(of) > 0 && c.messages[of[len(of)-1]].isRotten
}

// newest returns the newest message whose subject matches, nil if there is none that can be read.
func (c *storage) newest(pattern string) *message {
	if seq := c.lastOf(pattern); seq > 0 {
		return c.messages[seq]
	}
	for _, seq := range slices.Backward(c.seqs) {
		if m := c.messages[seq]; matches(pattern, m.subject) {
			if m.isRotten {
				return nil
			}
			return m
		}
	}
	return nil
}

// lastOf returns the sequence of a subject's newest message, 0 if there is none that can be read.
func (c *storage) lastOf(subject string) uint64 {
	if of := c.subjects[subject]; len(of) > 0 && !c.messages[of[len(of)-1]].isRotten {
		return of[len(of)-1]
	}
	return 0
}

// state describes the copy as nats-server does.
func (c *storage) state() jetstream.StreamState {
	s := jetstream.StreamState{Msgs: uint64(len(c.seqs)), Bytes: uint64(c.bytes), FirstSeq: c.last + 1, LastSeq: c.last,
		LastTime: c.lastAt.UTC(), NumSubjects: uint64(len(c.subjects))}
	switch {
	case c.last == 0:
		s.FirstSeq = 0
	case len(c.seqs) > 0:
		s.FirstSeq, s.FirstTime = c.seqs[0], c.messages[c.seqs[0]].at.UTC()
		s.NumDeleted = int(s.LastSeq-s.FirstSeq+1) - len(c.seqs)
	}
	return s
}

// lifeOf returns how long a message lives by its header, 0 for ever.
func lifeOf(header []byte) (life time.Duration, isValid bool) {
	text := headerOf(header, jetstream.MsgTTLHeader)
	if text == "" || text == "never" {
		return 0, true
	}
	if life, err := time.ParseDuration(text); err == nil {
		return life.Truncate(time.Second), life >= time.Second
	}
	seconds, err := strconv.ParseUint(text, 10, 31)
	return time.Duration(seconds) * time.Second, err == nil
}
