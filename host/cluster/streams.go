package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// streamVersion is the version of the streams' shape. Their metadata holds it under versionKey.
	streamVersion = 1
	versionKey    = "muster"
	// markerLife is how long the servers keep the marker of an expired message. A watch learns of
	// the expiry unless it was away for longer.
	markerLife = time.Minute
	// electionTime is how long the election of a leader may take. askTime is how long one request
	// may take.
	electionTime = 15 * time.Second
	askTime      = 2 * time.Second
	// retryPause is the time between the first attempts, and longestPause between later ones.
	retryPause   = 20 * time.Millisecond
	longestPause = 16 * retryPause
	// maxReplicas is enough to survive the loss of one server; more replicas only cost.
	maxReplicas = 3
)

// streams makes the streams of a cluster, on the given number of servers.
type streams struct {
	js       jetstream.JetStream
	prefix   string
	replicas int
}

// streamConfigs returns the streams of a cluster: one for rooms' records, one for leases and locks,
// which expire soon, and one for large data such as parts of rooms, blobs and lists.
func (s streams) streamConfigs() []jetstream.StreamConfig {
	stream := func(name string, subjects ...string) jetstream.StreamConfig {
		for i, subject := range subjects {
			subjects[i] = s.prefix + "." + subject
		}
		return jetstream.StreamConfig{
			Name: s.prefix + "-" + name, Subjects: subjects, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew,
			AllowMsgTTL: true, SubjectDeleteMarkerTTL: markerLife, Metadata: map[string]string{versionKey: strconv.Itoa(streamVersion)},
		}
	}
	large := stream("large", "part.>", "blob.>", "list.>")
	large.SubjectDeleteMarkerTTL = 0 // no host watches it
	// Any server may answer for data that never changes. For rooms and leases only the leader may:
	// a server that lags behind could name an owner that was replaced.
	large.AllowDirect = true
	return []jetstream.StreamConfig{stream("rooms", "room.*"), stream("hosts", "host.*", "lock.*"), large}
}

// prepare makes sure that the streams exist in the shape that this program needs. It waits while
// JetStream has no leader, such as after a restart of all NATS servers.
func (c *Cluster) prepare(ctx context.Context) error {
	if _, err := c.js.AccountInfo(ctx); errors.Is(err, jetstream.ErrJetStreamNotEnabled) ||
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) || errors.Is(err, nats.ErrNoResponders) {
		return &Error{ErrNoJetStream, "NATS keeps nothing: its JetStream is off",
			"start nats-server with -js, or turn JetStream on for the account"}
	}
	s := streams{c.js, c.prefix, c.config.Replicas}
	for _, config := range s.streamConfigs() {
		for {
			made, err := s.prepare(ctx, config)
			var refused *Error
			if err == nil {
				switch config.Name {
				case c.prefix + "-rooms":
					c.rooms = made
				case c.prefix + "-hosts":
					c.hosts = made
				default:
					c.large.stream = made
				}
				break
			}
			if errors.As(err, &refused) {
				return err
			}
			c.tellWaiting(err)
			if !pause(ctx, 10*retryPause) {
				return ctx.Err()
			}
		}
	}
	return nil
}

// prepare makes a stream, or checks the existing one.
func (s streams) prepare(ctx context.Context, want jetstream.StreamConfig) (jetstream.Stream, error) {
	look, cancel := context.WithTimeout(ctx, askTime) // who asks while there is no leader gets no answer
	found, err := s.js.Stream(look, want.Name)
	cancel()
	ask, cancel := context.WithTimeout(ctx, electionTime/2)
	defer cancel()
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return s.replicated(ask, want, 1, s.js.CreateStream)
	}
	if err != nil {
		return nil, err
	}
	have := found.CachedInfo().Config
	version, err := strconv.Atoi(have.Metadata[versionKey])
	switch {
	case err == nil && version > streamVersion:
		return nil, &Error{ErrNewer,
			fmt.Sprintf("the cluster is of version %d, this program knows %d", version, streamVersion), "update this host's muster"}
	case err != nil, !slices.Equal(have.Subjects, want.Subjects), have.MaxMsgsPerSubject != want.MaxMsgsPerSubject,
		have.MaxMsgs > 0, have.MaxAge != 0,
		have.Retention != want.Retention, have.Discard != want.Discard, !have.AllowMsgTTL,
		have.AllowDirect != want.AllowDirect, have.SubjectDeleteMarkerTTL != want.SubjectDeleteMarkerTTL:
		return nil, &Error{ErrShape, fmt.Sprintf("the stream %s is there, but not as Muster makes it", want.Name),
			"give Muster an account of its own in NATS, or remove that stream if nobody needs it"}
	}
	switch n := s.replicas; {
	case n == have.Replicas, n == 0 && have.Replicas >= maxReplicas:
		return found, nil
	case n == 0:
		have.Replicas++
		if more, err := s.replicated(ask, have, have.Replicas, s.js.UpdateStream); err == nil {
			return more, nil
		}
		return found, nil // keeps the replicas that there are
	}
	return s.replicated(ask, have, 1, s.js.UpdateStream)
}

// replicated makes or updates a stream with the wanted number of replicas, or as many as possible,
// but at least the given number.
func (s streams) replicated(ctx context.Context, config jetstream.StreamConfig, least int,
	do func(context.Context, jetstream.StreamConfig) (jetstream.Stream, error)) (jetstream.Stream, error) {
	config.Replicas = s.replicas
	if config.Replicas == 0 {
		config.Replicas = maxReplicas
	}
	for {
		made, err := do(ctx, config)
		var api *jetstream.APIError
		switch {
		case !errors.As(err, &api):
			return made, err
		case api.ErrorCode == errNoPeers, api.ErrorCode == errNotClustered, api.ErrorCode == errResources:
		case api.Code >= 400 && api.Code < 500:
			return nil, &Error{ErrShape, fmt.Sprintf("the stream %s cannot be made: %s", config.Name, api.Description),
				"give Muster an account of its own in NATS"}
		default:
			return made, err
		}
		if s.replicas != 0 {
			return nil, &Error{ErrReplicas,
				fmt.Sprintf("NATS has not the %d servers for so many replicas", config.Replicas), "give --replicas fewer, or start more servers"}
		}
		if config.Replicas--; config.Replicas < least {
			return nil, err
		}
	}
}

// These JetStream error codes have no names in its client.
const (
	errNoPeers             jetstream.ErrorCode = 10005
	errResources           jetstream.ErrorCode = 10023
	errStorage             jetstream.ErrorCode = 10047
	errNotClustered        jetstream.ErrorCode = 10074
	errStoreFailed         jetstream.ErrorCode = 10077
	errWrongSequence       jetstream.ErrorCode = 10071
	errWrongSequenceFlight jetstream.ErrorCode = 10164 // another write is on its way
)

// pacing spaces the attempts at one request. Thousands of rooms may repeat theirs while no server answers.
type pacing time.Duration

// pause waits twice as long as before; see [pause].
func (p *pacing) pause(ctx context.Context) bool {
	d := max(time.Duration(*p), retryPause)
	*p = pacing(min(2*d, longestPause))
	return pause(ctx, d)
}

// pause waits, and reports whether ctx is still alive: not at its very deadline, of which two timers tell in any order.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		end, ends := ctx.Deadline()
		return !ends || time.Now().Before(end)
	}
}
