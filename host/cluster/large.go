package cluster

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"muster/host/store"
)

const (
	// inline is how many compressed bytes of a room fit in the record itself. partSize is how many
	// bytes fit in a part. bench/experiments/cluster.md says how they were chosen. Headers come on
	// top, and a message may have 1 MB unless max_payload is set.
	inline   = 256 << 10
	partSize = 512 << 10
	// partsAtOnce is how many parts are on their way at a time.
	partsAtOnce = 4
	// payloadRest is how much of a message the subject and headers take.
	payloadRest = 8 << 10
)

// errPacked is the error for a room whose bytes differ from the saved ones.
var errPacked = errors.New("cluster: a room is damaged")

// large keeps everything that is large: parts of rooms, and blobs by their content.
type large struct {
	*servers
	stream jetstream.Stream
	pack   *zstd.Encoder
	unpack *zstd.Decoder
}

// packWindow is how far back the compressor looks, in bytes; names and addresses repeat within it.
const packWindow = 256 << 10

func (l *large) init(s *servers) (err error) {
	l.servers = s
	if l.pack, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(packWindow)); err == nil {
		l.unpack, err = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxRoom))
	}
	return err
}

// limit returns how many bytes a message may have for its content, where servers accept less than
// length.
func (l *large) limit(length int) int {
	if most := int(l.conn.MaxPayload()) - payloadRest; most > 0 {
		return min(length, most)
	}
	return length
}

func (l *large) partSubject(code, group, number string) string {
	return l.subject("part", code+"."+group+"."+number)
}

// packed returns a room's record and the body of its message. If the room is too long for a
// message, its parts are in the store when packed returns.
func (l *large) packed(ctx context.Context, code string, data []byte) (r record, body []byte, err error) {
	if len(data) > maxRoom {
		return r, nil, fmt.Errorf("cluster: a room of %d bytes is too long", len(data))
	}
	body = l.pack.EncodeAll(data, nil)
	r.Length = len(data)
	if len(body) <= l.limit(inline) {
		return r, body, nil
	}
	r.Group = rand.Text()
	r.Parts, r.Sum, err = l.putParts(ctx, body, 0, func(n int) string { return l.partSubject(code, r.Group, strconv.Itoa(n)) })
	return r, nil, err
}

// unpacked returns a room as it was saved.
func (l *large) unpacked(ctx context.Context, code string, m message) ([]byte, error) {
	body := m.body
	if m.Parts > 0 {
		var err error
		body, err = l.getParts(ctx, m.Parts, m.Sum, func(n int) string { return l.partSubject(code, m.Group, strconv.Itoa(n)) })
		if err != nil {
			return nil, err
		}
	}
	data, err := l.unpack.DecodeAll(body, nil)
	if err != nil || len(data) != m.Length {
		return nil, errPacked
	}
	return data, nil
}

// putParts writes bytes in parts, each to its own subject. They live for ttl, 0 for ever. It
// returns the number of parts and the hash of all.
func (l *large) putParts(ctx context.Context, body []byte, ttl time.Duration, subject func(n int) string) (parts int,
	sum string, err error) {
	size := l.limit(partSize)
	parts = (len(body) + size - 1) / size
	err = each(parts, partsAtOnce, func(n int) error {
		return l.putLarge(ctx, subject(n), body[n*size:min(len(body), (n+1)*size)], ttl)
	})
	return parts, hashOf(body), err
}

// putLarge writes one message over any earlier one, and repeats it until the servers acknowledge
// it. A second write does no harm.
func (l *large) putLarge(ctx context.Context, subject string, data []byte, ttl time.Duration) error {
	options := []jetstream.PublishOpt{jetstream.WithRetryAttempts(0)}
	if ttl > 0 {
		options = append(options, jetstream.WithMsgTTL(ttl))
	}
	var tries pacing
	for {
		attempt, cancel := context.WithTimeout(ctx, attemptTime)
		_, err := l.js.PublishMsg(attempt, &nats.Msg{Subject: subject, Data: data}, options...)
		cancel()
		switch {
		case err == nil:
			return nil
		case isFull(err):
			return asFull(err)
		case !tries.pause(ctx):
			return asAway(err)
		}
	}
}

// getParts reads what putParts wrote. It returns store.ErrUnknown if a part is gone.
func (l *large) getParts(ctx context.Context, parts int, sum string, subject func(n int) string) ([]byte, error) {
	read := make([][]byte, parts)
	err := each(parts, partsAtOnce, func(n int) error {
		m, err := l.readLarge(ctx, subject(n))
		if err == nil {
			read[n] = m.Data
		}
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, errTorn
	}
	if err != nil {
		return nil, err
	}
	var body []byte
	for _, part := range read {
		body = append(body, part...)
	}
	if hashOf(body) != sum {
		return nil, errPacked
	}
	return body, nil
}

// errTorn is the error of a read whose parts are gone, because there is a newer record.
var errTorn = errors.New("cluster: parts are gone")

// readLarge returns the message of a subject in the stream for large data. A server that lags
// behind may not have it yet.
func (l *large) readLarge(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	return l.stream.GetLastMsgForSubject(ctx, subject)
}

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// each calls do for 0 up to n, atOnce calls at a time. It returns one of the errors.
func each(n, atOnce int, do func(n int) error) error {
	var work sync.WaitGroup
	failed := make(chan error, n)
	free := make(chan struct{}, atOnce)
	for i := range n {
		free <- struct{}{}
		work.Go(func() {
			if err := do(i); err != nil {
				failed <- err
			}
			<-free
		})
	}
	work.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// purge deletes parts that no record names; the caller has the turn. Parts that it cannot delete now
// are deleted at the next purge, and when the room ends.
func (cl *claim) purge() {
	c := cl.cluster
	var spare []string
	for _, group := range cl.spare {
		if group != cl.newest.Group {
			spare = append(spare, group)
		}
	}
	cl.spare = nil
	if len(spare) == 0 || c.ctx.Err() != nil {
		return
	}
	c.work.Go(func() {
		ctx, cancel := context.WithTimeout(c.ctx, saveTime)
		defer cancel()
		for _, group := range spare {
			if err := c.large.purge(ctx, cl.code, group); err != nil {
				c.log.Debug("parts not purged", "error", err)
			}
		}
	})
}

// purge deletes the parts of one group of a room, or of all groups if group is *.
func (l *large) purge(ctx context.Context, code, group string) error {
	return l.stream.Purge(ctx, jetstream.WithPurgeSubject(l.partSubject(code, group, "*")))
}

const (
	// keptFor is how long a blob is kept. keptAgain is how old a blob may be for Keep to leave it
	// as it is.
	keptFor   = 7 * 24 * time.Hour
	keptAgain = 24 * time.Hour
	// partRest is how much longer a blob's parts live than the message that counts them.
	partRest = time.Hour
)

// Keep keeps a blob by its content; see [store.Store].
func (c *Cluster) Keep(ctx context.Context, blob []byte) (hash string, err error) {
	return c.large.Keep(ctx, blob)
}

// Kept returns the blob with a hash; see [store.Store].
func (c *Cluster) Kept(ctx context.Context, hash string) ([]byte, error) {
	return c.large.Kept(ctx, hash)
}

// Keep keeps a blob by its content.
func (l *large) Keep(ctx context.Context, blob []byte) (hash string, err error) {
	hash = store.HashOf(blob)
	return hash, l.keep(ctx, hash, blob)
}

func (l *large) keep(ctx context.Context, hash string, blob []byte) error {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	m, err := l.readLarge(ctx, l.subject("blob", hash))
	if err == nil && time.Since(m.Time) < keptAgain {
		return nil
	}
	body := l.pack.EncodeAll(blob, nil)
	parts, sum, err := l.putParts(ctx, body, keptFor+partRest, func(n int) string { return l.subject("blob", hash+"."+strconv.Itoa(n)) })
	if err != nil {
		return err
	}
	return l.putLarge(ctx, l.subject("blob", hash), fmt.Appendf(nil, "1 %d %s", parts, sum), keptFor)
}

// parseHead reads the message that counts a blob's parts.
func parseHead(text string) (parts int, sum string, ok bool) {
	fields := strings.Fields(text)
	if len(fields) != 3 || fields[0] != "1" {
		return 0, "", false
	}
	parts, err := strconv.Atoi(fields[1])
	return parts, fields[2], err == nil && parts > 0 && parts <= maxParts
}

// Kept returns the blob with the given hash.
func (l *large) Kept(ctx context.Context, hash string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	var tries pacing
	for {
		blob, err := l.readBlob(ctx, hash)
		switch {
		case err == nil, errors.Is(err, store.ErrUnknown):
			return blob, err
		case !tries.pause(ctx):
			return nil, asAway(err)
		}
	}
}

func (l *large) readBlob(ctx context.Context, hash string) ([]byte, error) {
	if !isToken(hash) {
		return nil, store.ErrUnknown
	}
	m, err := l.readLarge(ctx, l.subject("blob", hash))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, store.ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	parts, sum, ok := parseHead(string(m.Data))
	if !ok {
		return nil, store.ErrUnknown
	}
	body, err := l.getParts(ctx, parts, sum, func(n int) string { return l.subject("blob", hash+"."+strconv.Itoa(n)) })
	if errors.Is(err, errTorn) || errors.Is(err, errPacked) {
		return nil, store.ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	blob, err := l.unpack.DecodeAll(body, nil)
	if err != nil || store.HashOf(blob) != hash {
		return nil, store.ErrUnknown
	}
	return blob, nil
}
