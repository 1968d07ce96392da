package clustertest

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Behaviours are what package cluster relies on, of any number of servers, of one, and of three.
// Each line is an operation and its answer; see [Play].
//
//go:embed testdata/any.txt
var Behaviours string

//go:embed testdata/one.txt
var BehavioursOfOne string

//go:embed testdata/three.txt
var BehavioursOfThree string

const (
	// patience is how long a line that begins with "until" may take to get its answer.
	patience = time.Minute
	// silence is how long an operation waits for an answer.
	silence = 3 * time.Second
)

// Play does what the lines of a text say, over a connection to the model or to real servers, and
// returns a line for each answer that differs. Streams have so many replicas if the line does not
// say. fault does what lines with "fault" ask for.
//
//	# comment
//	OPERATION => ANSWER
//	until OPERATION => ANSWER
//	fault TEXT
func Play(nc *nats.Conn, text string, replicas int, fault func(string) error) (wrong []string) {
	p := player{nc, replicas, map[string]*nats.Subscription{}}
	for i, line := range strings.Split(text, "\n") {
		operation, want, _ := strings.Cut(line, " =>")
		want = strings.TrimSpace(want)
		if line == "" || line[0] == '#' {
			continue
		}
		if what, is := strings.CutPrefix(line, "fault "); is {
			if err := fault(what); err != nil {
				return append(wrong, fmt.Sprintf("line %d: %s: %v", i+1, line, err))
			}
			continue
		}
		operation, isUntil := strings.CutPrefix(operation, "until ")
		got := p.do(operation)
		for began := time.Now(); isUntil && got != want && time.Since(began) < patience; got = p.do(operation) {
			time.Sleep(50 * time.Millisecond)
		}
		if got != want {
			wrong = append(wrong, fmt.Sprintf("line %d: %s\n\t=> %s\n\tnot %s", i+1, operation, got, want))
		}
	}
	return wrong
}

type player struct {
	nc       *nats.Conn
	replicas int
	inboxes  map[string]*nats.Subscription
}

// do does one operation and returns its answer.
func (p player) do(operation string) string { return strings.TrimSpace(p.answer(operation)) }

func (p player) answer(operation string) string {
	ctx, cancel := context.WithTimeout(context.Background(), silence)
	defer cancel()
	verb, rest, _ := strings.Cut(operation, " ")
	name, rest, _ := strings.Cut(rest, " ")
	switch verb {
	case "create", "update": // STREAM JSON
		config := map[string]any{"name": name, "subjects": []string{strings.ToLower(name) + ".*"}, "num_replicas": p.replicas, "storage": "file"}
		if err := json.Unmarshal([]byte(rest), &config); err != nil {
			return err.Error()
		}
		data, err := json.Marshal(config)
		if err != nil {
			return err.Error()
		}
		return p.ask("STREAM."+strings.ToUpper(verb)+"."+name, string(data), func(a answer) string { return "ok" })
	case "sleep": // TIME
		life, err := time.ParseDuration(name)
		if err != nil {
			return err.Error()
		}
		time.Sleep(life)
		return ""
	case "account":
		return p.ask("INFO", "", func(answer) string { return "ok" })
	case "info": // STREAM [FILTER]
		if rest != "" {
			return p.ask("STREAM.INFO."+name, fmt.Sprintf(`{"subjects_filter":%q}`, rest), func(a answer) string { return fmt.Sprint(a.State.Subjects) })
		}
		return p.ask("STREAM.INFO."+name, "", func(a answer) string {
			s := a.State
			return fmt.Sprintf("%d messages, %d bytes, %d–%d, %d subjects, %d deleted", s.Msgs, s.Bytes, s.FirstSeq, s.LastSeq, s.NumSubjects, s.NumDeleted)
		})
	case "shape": // STREAM
		return p.ask("STREAM.INFO."+name, "", func(a answer) string {
			c := a.Config
			return fmt.Sprintf("%v %v %d %v %v %v %v", c.Subjects, c.Discard, c.MaxMsgsPerSubject, c.AllowMsgTTL, c.AllowDirect, c.SubjectDeleteMarkerTTL, c.AllowRollup)
		})
	case "servers": // STREAM
		return p.ask("STREAM.INFO."+name, "", func(a answer) string {
			if a.Cluster == nil {
				return "no cluster"
			}
			is := []string{map[bool]string{true: "a leader", false: "no leader"}[a.Cluster.Leader != ""]}
			for _, r := range a.Cluster.Replicas {
				if !r.Offline && r.Current && r.Lag == 0 && r.Active < 3*time.Second {
					is = append(is, "one current")
				} else {
					is = append(is, "one away")
				}
			}
			slices.Sort(is[1:])
			return strings.Join(is, ", ")
		})
	case "put": // SUBJECT [over=SEQ] [last=SEQ] [ttl=TIME] [DATA]
		m := nats.NewMsg(name)
		for word := range strings.FieldsSeq(rest) {
			switch key, value, _ := strings.Cut(word, "="); key {
			case "over":
				m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, value)
			case "last":
				m.Header.Set(jetstream.ExpectedLastSeqHeader, value)
			case "ttl":
				m.Header.Set(jetstream.MsgTTLHeader, value)
			default:
				m.Data = []byte(word)
			}
		}
		reply, err := p.nc.RequestMsgWithContext(ctx, m)
		return read(reply, err, func(a answer) string { return fmt.Sprint(a.Stream, " ", a.Seq) })
	case "get": // STREAM SUBJECT
		return p.ask("STREAM.MSG.GET."+name, fmt.Sprintf(`{"last_by_subj":%q}`, rest), func(a answer) string {
			header, _ := nats.DecodeHeadersMsg(a.Message.Header)
			return describe(a.Message.Subject, a.Message.Seq, header, a.Message.Data)
		})
	case "direct": // STREAM SUBJECT
		m, err := p.nc.RequestWithContext(ctx, apiPrefix+"DIRECT.GET."+name+"."+rest, nil)
		if err != nil || m.Header.Get("Status") != "" {
			return status(m, err)
		}
		seq, _ := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
		return m.Header.Get(jetstream.StreamHeader) + ": " + describe(m.Header.Get(jetstream.SubjectHeader), seq, m.Header, m.Data)
	case "purge": // STREAM FILTER
		return p.ask("STREAM.PURGE."+name, fmt.Sprintf(`{"filter":%q}`, rest), func(a answer) string { return fmt.Sprint(a.Purged, " purged") })
	case "watch": // STREAM NAME FILTER JSON
		consumer, rest, _ := strings.Cut(rest, " ")
		filter, rest, _ := strings.Cut(rest, " ")
		config := map[string]any{"ack_policy": "none", "mem_storage": true, "num_replicas": 1, "inactive_threshold": 3 * time.Second, "filter_subject": filter,
			"replay_policy": "instant", "deliver_policy": "last_per_subject"}
		if err := json.Unmarshal([]byte(rest), &config); err != nil {
			return err.Error()
		}
		data, err := json.Marshal(map[string]any{"stream_name": name, "config": config, "action": "create"})
		if err != nil {
			return err.Error()
		}
		return p.ask("CONSUMER.CREATE."+name+"."+consumer+"."+filter, string(data), func(a answer) string { return fmt.Sprint(a.Pending, " pending") })
	case "step": // STREAM
		return p.ask("STREAM.LEADER.STEPDOWN."+name, "", func(answer) string { return "ok" })
	case "unwatch": // STREAM NAME
		return p.ask("CONSUMER.DELETE."+name+"."+rest, "", func(answer) string { return "ok" })
	case "pull": // STREAM NAME BATCH EXPIRES HEARTBEAT
		f := strings.Fields(rest)
		expires, err1 := time.ParseDuration(f[2])
		beat, err2 := time.ParseDuration(f[3])
		if err := errors.Join(err1, err2); err != nil {
			return err.Error()
		}
		inbox := p.nc.NewInbox()
		sub, err := p.nc.SubscribeSync(inbox)
		if err != nil {
			return err.Error()
		}
		p.inboxes[f[0]] = sub
		err = p.nc.PublishRequest(apiPrefix+"CONSUMER.MSG.NEXT."+name+"."+f[0], inbox, fmt.Appendf(nil, `{"batch":%s,"expires":%d,"idle_heartbeat":%d}`, f[1], expires, beat))
		if err != nil {
			return err.Error()
		}
		return "ok"
	case "next", "beat": // NAME
		m, err := p.nextOf(name)
		for err == nil && verb == "next" && m.Header.Get("Status") == "100" {
			m, err = p.nextOf(name)
		}
		if err != nil || m.Header.Get("Status") != "" {
			return status(m, err)
		}
		at := strings.Split(m.Reply, ".") // $JS.ACK.stream.consumer.delivered.sseq.cseq.time.pending
		if len(at) < 9 {
			return m.Reply
		}
		at = at[len(at)-7:]
		if strings.HasPrefix(m.Reply, "$JS.ACK._.") { // the longer form
			at = strings.Split(m.Reply, ".")[4:]
		}
		return fmt.Sprintf("%s %s, number %s, %s pending, %s%s", m.Subject, at[3], at[4], at[6], described(m.Header), m.Data)
	}
	return "no such operation"
}

// nextOf waits for a subscription's next message.
func (p player) nextOf(name string) (*nats.Msg, error) {
	sub := p.inboxes[name]
	if sub == nil {
		return nil, errors.New("no such inbox")
	}
	for began := time.Now(); time.Since(began) < silence; time.Sleep(time.Millisecond) {
		if n, _, _ := sub.Pending(); n > 0 {
			return sub.NextMsg(silence)
		}
	}
	return nil, nats.ErrTimeout
}

// answer has what the answers tell that Play looks at.
type answer struct {
	Error   *jetstream.APIError
	Stream  string
	Seq     uint64
	Purged  uint64
	State   jetstream.StreamState
	Config  jetstream.StreamConfig
	Cluster *jetstream.ClusterInfo
	Pending uint64 `json:"num_pending"`
	Message struct {
		Subject string
		Seq     uint64
		Header  []byte `json:"hdrs"`
		Data    []byte
	}
}

func (p player) ask(method, body string, say func(answer) string) string {
	ctx, cancel := context.WithTimeout(context.Background(), silence)
	defer cancel()
	m, err := p.nc.RequestWithContext(ctx, apiPrefix+method, []byte(body))
	return read(m, err, say)
}

func read(m *nats.Msg, err error, say func(answer) string) string {
	if err != nil {
		return status(m, err)
	}
	var a answer
	var failed struct{ Error *jetstream.APIError }
	if err := json.Unmarshal(m.Data, &failed); err == nil && failed.Error != nil {
		if failed.Error.ErrorCode == 10005 || failed.Error.ErrorCode == 10077 { // their texts differ
			return fmt.Sprintf("error %d", failed.Error.ErrorCode)
		}
		return fmt.Sprintf("error %d %s", failed.Error.ErrorCode, failed.Error.Description)
	}
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return err.Error()
	}
	return say(a)
}

// status says what came instead of a message.
func status(m *nats.Msg, err error) string {
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return "nobody"
	case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return "silence"
	case err != nil:
		return err.Error()
	}
	return m.Header.Get("Status") + " " + m.Header.Get("Description") + " " + described(m.Header)
}

func describe(subject string, seq uint64, header nats.Header, data []byte) string {
	return fmt.Sprintf("%s %d %s%s", subject, seq, described(header), data)
}

// described lists the headers that matter.
func described(header nats.Header) (text string) {
	for _, key := range []string{jetstream.MarkerReasonHeader, jetstream.MsgTTLHeader, "Nats-Msg-Size", jetstream.ExpectedLastSubjSeqHeader,
		"Nats-Pending-Messages", "Nats-Last-Consumer", "Nats-Last-Stream"} {
		if value := header.Get(key); value != "" {
			text += key + ":" + value + " "
		}
	}
	return text
}
