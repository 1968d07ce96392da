package clustertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	apiPrefix   = "$JS.API."
	clusterName = "model"
	// pageOfSubjects is how many subjects an answer lists, as in nats-server.
	pageOfSubjects = 100_000
)

// failure is an error as JetStream tells it.
type failure = jetstream.APIError

// What nats-server answers; its server/errors.json has them all.
var (
	errAway        = &failure{Code: 503, ErrorCode: 10008, Description: "JetStream system temporarily unavailable"}
	errNoPeers     = &failure{Code: 400, ErrorCode: 10005, Description: "no suitable peers for placement"}
	errNoConsumer  = &failure{Code: 404, ErrorCode: 10014, Description: "consumer not found"}
	errResources   = &failure{Code: 503, ErrorCode: 10023, Description: "insufficient resources"}
	errNoMessage   = &failure{Code: 404, ErrorCode: 10037, Description: "no message found"}
	errNameTaken   = &failure{Code: 400, ErrorCode: 10058, Description: "stream name already in use with a different configuration"}
	errNoStream    = &failure{Code: 404, ErrorCode: 10059, Description: "stream not found"}
	errOverlap     = &failure{Code: 400, ErrorCode: 10065, Description: "subjects overlap with an existing stream"}
	errAlone       = &failure{Code: 500, ErrorCode: 10074, Description: "replicas > 1 not supported in non-clustered mode"}
	errStoreFailed = &failure{Code: 503, ErrorCode: 10077, Description: "no space left on device"}
	errOffline     = &failure{Code: 500, ErrorCode: 10118, Description: "stream is offline"}
	errInFlight    = &failure{Code: 400, ErrorCode: 10164, Description: "wrong last sequence"}
	errTTL         = &failure{Code: 400, ErrorCode: 10165, Description: "invalid per-message TTL"}
	errTTLOff      = &failure{Code: 400, ErrorCode: 10166, Description: "per-message TTL is disabled"}
)

func errWrongSequence(last uint64) *failure {
	return &failure{Code: 400, ErrorCode: 10071, Description: fmt.Sprint("wrong last sequence: ", last)}
}

// voice returns the server of a group that answers a request which came to a server, -1 if none
// does. Only a leader's answer is more than an error.
func (m *Model) voice(g *group, from int) (i int, leads bool) {
	order := append([]int{from}, g.peers...)
	for _, i := range order {
		if g.believes[i] && m.isOn(i) && m.isOpen(from, i) {
			return i, true
		}
	}
	for _, i := range order {
		if slices.Contains(g.peers, i) && m.isOn(i) && m.isOpen(from, i) && m.isLeaderless(g, i, time.Now()) {
			return i, false
		}
	}
	return -1, false
}

// request does what a request of JetStream's API asks for. It reports whether any server takes such
// requests; from is the server that got it.
func (m *Model) request(from int, subject, reply string, data []byte) (isHeard bool) {
	name := strings.Split(strings.TrimPrefix(subject, apiPrefix), ".")
	switch {
	case strings.HasPrefix(subject, apiPrefix+"DIRECT.GET."):
		return m.readDirect(from, name[2], strings.Join(name[3:], "."), reply)
	case strings.HasPrefix(subject, apiPrefix+"CONSUMER.MSG.NEXT."):
		return m.pull(from, name[3], name[4], reply, data)
	case !slices.ContainsFunc(m.all(), m.isOn):
		return false
	}
	answer := func(by int, what any) {
		text, err := json.Marshal(what)
		if err != nil {
			panic(err) // cannot fail: plain data
		}
		m.route(by, reply, reply, "", nil, text)
	}
	fail := func(by int, err *failure) { answer(by, map[string]any{"type": "error", "error": err}) }
	by, leads := m.voice(m.meta, from)
	method := strings.Join(name[:min(2, len(name))], ".")
	if name[0] == "INFO" || method == "STREAM.CREATE" || method == "STREAM.UPDATE" || name[0] == "CONSUMER" {
		switch {
		case by < 0 || leads && !m.hasQuorum(m.meta, by):
		case !leads:
			fail(by, errAway)
		case name[0] == "INFO":
			answer(by, struct {
				Type string `json:"type"`
				jetstream.AccountInfo
			}{Type: "info"})
		case method == "CONSUMER.CREATE":
			m.createConsumer(by, m.stream(name[2]), name[3], data, answer, fail)
		case method == "CONSUMER.DELETE":
			m.deleteConsumer(by, m.stream(name[2]), name[3], answer, fail)
		case name[0] == "CONSUMER":
			panic("clustertest: a request of " + subject)
		default:
			var config jetstream.StreamConfig
			decode(data, &config)
			if err := m.configure(config, method == "STREAM.UPDATE"); err != nil {
				fail(by, err)
				break
			}
			s := m.stream(config.Name)
			m.settle(time.Now())
			answer(by, m.info(s, s.leader, nil))
		}
		return true
	}
	s := m.stream(name[len(name)-1])
	if s == nil {
		if leads {
			fail(by, errNoStream)
		} else if by >= 0 {
			fail(by, errAway)
		}
		return true
	}
	on, isLed := m.voice(s.group, from)
	switch {
	case method == "STREAM.INFO" && on >= 0:
		answer(on, m.info(s, on, data))
	case by >= 0 && !leads:
		fail(by, errAway)
	case on < 0:
	case !isLed:
		fail(on, errAway)
	case method == "STREAM.MSG" && name[2] == "GET":
		var ask struct {
			Last string `json:"last_by_subj"`
		}
		decode(data, &ask)
		found := s.copies[on].newest(ask.Last)
		if found == nil {
			fail(on, errNoMessage)
			break
		}
		answer(on, map[string]any{"type": "get", "message": map[string]any{"subject": found.subject, "seq": found.seq,
			"hdrs": found.header, "data": found.data, "time": found.at.UTC()}})
	case method == "STREAM.LEADER": // it steps down
		var ask struct {
			Placement struct {
				Preferred string `json:"preferred"`
			} `json:"placement"`
		}
		decode(data, &ask)
		answer(on, map[string]any{"type": "stepdown", "success": true})
		m.succeed(s.group, on, ask.Placement.Preferred)
	case method == "STREAM.PURGE":
		var p purge
		decode(data, &p)
		if p.Filter == "" {
			p.Filter = ">"
		}
		m.propose(s, on, entry{purge: &p, answer: func(n uint64) {
			answer(on, map[string]any{"type": "purge", "success": true, "purged": n})
		}})
	default:
		panic("clustertest: a request of " + subject)
	}
	return true
}

// decode reads a request, which has nothing that the model does not know.
func decode(data []byte, into any) {
	if len(data) == 0 {
		return
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		panic(fmt.Sprintf("clustertest: a request says %s: %v", data, err))
	}
}

// configure makes or changes a stream.
func (m *Model) configure(config jetstream.StreamConfig, isUpdate bool) *failure {
	if config.MaxMsgs > 0 || config.MaxBytes > 0 || config.MaxAge != 0 || config.Retention != 0 || config.Mirror != nil || config.Sources != nil {
		panic(fmt.Sprintf("clustertest: a stream with %+v", config))
	}
	config.Replicas = max(1, config.Replicas)
	config.MaxConsumers, config.MaxMsgs, config.MaxBytes, config.MaxMsgSize, config.Duplicates = -1, -1, -1, -1, 2*time.Minute
	if config.MaxMsgsPerSubject == 0 {
		config.MaxMsgsPerSubject = -1
	}
	if config.SubjectDeleteMarkerTTL > 0 {
		config.AllowRollup = true
	}
	s := m.stream(config.Name)
	on := m.fewest()
	switch {
	case isUpdate && s == nil:
		return errNoStream
	case config.Replicas > 1 && len(m.servers) == 1:
		return errAlone
	case config.Replicas > len(on):
		return errNoPeers
	case s != nil && !isUpdate:
		if !reflect.DeepEqual(s.config, config) {
			return errNameTaken
		}
		return nil
	}
	for _, other := range m.streams {
		if other == s {
			continue
		}
		for _, a := range other.config.Subjects {
			if slices.ContainsFunc(config.Subjects, func(b string) bool { return matches(a, b) || matches(b, a) }) {
				return errOverlap
			}
		}
	}
	if s == nil {
		on = on[:config.Replicas]
		s = &stream{group: m.newGroup(on, on[len(m.streams)%len(on)]), config: config, created: time.Now(), copies: make([]*storage, len(m.servers))}
		m.streams = append(m.streams, s)
		return nil
	}
	s.config = config
	for _, i := range on {
		if len(s.peers) < config.Replicas && !slices.Contains(s.peers, i) {
			s.peers = append(slices.Clone(s.peers), i)
			s.got[i] = 0
		}
	}
	for len(s.peers) > config.Replicas { // the leader stays
		at := slices.IndexFunc(s.peers, func(i int) bool { return i != s.leader })
		s.copies[s.peers[at]] = nil
		s.peers = slices.Delete(slices.Clone(s.peers), at, at+1)
	}
	return nil
}

// info returns what a server says of a stream; data is the request.
func (m *Model) info(s *stream, by int, data []byte) any {
	var ask struct {
		Filter string `json:"subjects_filter"`
		Offset int    `json:"offset"`
	}
	decode(data, &ask)
	answer := struct {
		Type string `json:"type"`
		*jetstream.StreamInfo
		Total  int `json:"total"`
		Offset int `json:"offset"`
		Limit  int `json:"limit"`
	}{Type: "info", StreamInfo: &jetstream.StreamInfo{Config: s.config, Created: s.created.UTC(), TimeStamp: time.Now().UTC()}}
	c := s.copies[by]
	if c == nil {
		c = newStorage(0)
	}
	answer.State = c.state()
	answer.State.Consumers = len(s.consumers)
	if ask.Filter != "" {
		answer.State.Subjects = map[string]uint64{}
		for subject, seqs := range c.subjects {
			if matches(ask.Filter, subject) {
				answer.Total++
				answer.State.Subjects[subject] = uint64(len(seqs))
			}
		}
		answer.Offset, answer.Limit = ask.Offset, pageOfSubjects
	}
	answer.Cluster = m.cluster(s.group, by, func(j int) uint64 {
		if s.copies[j] == nil {
			return uint64(s.committed)
		}
		return uint64(max(0, s.committed-s.copies[j].applied))
	})
	return answer
}

// cluster returns what a server says of a group; lag is how many writes a server lacks. Servers
// learn late that one was killed, so none is said to be offline.
func (m *Model) cluster(g *group, by int, lag func(int) uint64) *jetstream.ClusterInfo {
	info := &jetstream.ClusterInfo{}
	if len(m.servers) > 1 {
		info.Name = clusterName
	}
	if g.believes[by] || len(g.peers) == 1 {
		info.Leader = m.servers[by].name
	}
	now := time.Now()
	for _, j := range g.peers {
		if j == by && info.Leader != "" {
			continue
		}
		p := &jetstream.PeerInfo{Name: m.servers[j].name, Lag: lag(j), Active: Step}
		if !m.isHeard(by, j) {
			since := g.silent[j]
			if by != g.leader {
				since = g.doubt[by]
			}
			if p.Active = 0; !since.IsZero() {
				p.Active = now.Sub(since)
			}
		}
		p.Current = p.Lag == 0 && p.Active < LostQuorum && info.Leader != ""
		info.Replicas = append(info.Replicas, p)
	}
	return info
}

// streamFor returns the stream that keeps a subject, nil if none does.
func (m *Model) streamFor(subject string) *stream {
	for _, s := range m.streams {
		if slices.ContainsFunc(s.config.Subjects, func(pattern string) bool { return matches(pattern, subject) }) {
			return s
		}
	}
	return nil
}

// ingest takes a message for a stream. It reports whether any server leads the stream.
func (m *Model) ingest(from int, s *stream, f frame, reply string) (isHeard bool) {
	for _, i := range append([]int{from}, s.peers...) {
		if !s.believes[i] || !m.isOn(i) {
			continue
		}
		isHeard = true
		if i != s.leader || !m.isOpen(from, i) {
			continue
		}
		answer := func(text string) {
			if reply != "" {
				m.route(i, reply, reply, "", nil, []byte(text))
			}
		}
		put := &message{subject: f.args[0], header: f.header, data: f.data}
		if err := m.check(s, i, put); err != nil {
			text, _ := json.Marshal(err)
			answer(fmt.Sprintf(`{"error":%s,"stream":%q,"seq":0}`, text, s.config.Name))
			if err == errStoreFailed {
				m.stopJetStream(i)
			}
			return true
		}
		m.propose(s, i, entry{put: put, answer: func(seq uint64) {
			if m.muteAck[s.config.Name] > 0 {
				m.muteAck[s.config.Name]--
				return
			}
			answer(fmt.Sprintf(`{"stream":%q,"seq":%d}`, s.config.Name, seq))
		}})
		return true
	}
	return isHeard
}

// check returns why a stream's leader does not take a message, and sets when it ends.
func (m *Model) check(s *stream, i int, put *message) *failure {
	var kept int64
	for _, other := range m.streams {
		if c := other.copies[i]; c != nil {
			kept += c.bytes
		}
	}
	c := s.copies[i]
	life, isValid := lifeOf(put.header)
	switch most := m.servers[i].most; {
	case most > 0 && kept > most:
		return errResources
	case m.servers[i].isFull && len(s.peers) == 1:
		return errStoreFailed
	case headerOf(put.header, jetstream.MsgTTLHeader) != "" && !s.config.AllowMsgTTL:
		return errTTLOff
	case !isValid:
		return errTTL
	case headerOf(put.header, jetstream.MsgIDHeader) != "":
		panic("clustertest: a message with an ID")
	}
	if put.ends = time.Now().Add(life); life == 0 {
		put.ends = time.Time{}
	}
	if text := headerOf(put.header, jetstream.ExpectedLastSeqHeader); text != "" && text != strconv.FormatUint(c.last, 10) {
		return errWrongSequence(c.last)
	}
	text := headerOf(put.header, jetstream.ExpectedLastSubjSeqHeader)
	switch last := c.lastOf(put.subject); {
	case text == "":
		return nil
	case slices.ContainsFunc(s.log[s.committed:], func(e entry) bool { return e.put != nil && e.put.subject == put.subject }):
		return errInFlight
	case text != strconv.FormatUint(last, 10):
		return errWrongSequence(last)
	}
	return nil
}

// propose adds a write to a stream's log, if the server is its newest leader. What an old one takes
// is lost.
func (m *Model) propose(s *stream, by int, e entry) {
	if by != s.leader {
		return
	}
	e.at = time.Now()
	s.log = append(s.log, e)
	m.replicate(s, e.at)
}

// readDirect answers with the newest message of a subject, from any server that keeps the stream.
func (m *Model) readDirect(from int, name, subject, reply string) (isHeard bool) {
	s := m.stream(name)
	if s == nil || !s.config.AllowDirect {
		return false
	}
	for _, i := range append([]int{from}, s.peers...) {
		if !m.isOn(i) || s.copies[i] == nil {
			continue
		}
		isHeard = true
		if !m.isOpen(from, i) {
			continue
		}
		found := s.copies[i].newest(subject)
		if found == nil {
			m.route(i, reply, reply, "", []byte("NATS/1.0 404 Message Not Found\r\n\r\n"), nil)
			return true
		}
		m.route(i, reply, reply, "", withHeader(found.header, fmt.Sprintf("Nats-Stream: %s\r\nNats-Subject: %s\r\nNats-Sequence: %d\r\nNats-Time-Stamp: %s\r\n",
			name, found.subject, found.seq, found.at.UTC().Format(time.RFC3339Nano))), found.data)
		return true
	}
	return isHeard
}
