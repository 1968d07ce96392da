package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"muster/host/store"
)

const (
	// saveTime is how long a host retries a write before it reports that the servers are away. It
	// is mostly longer than the election of a leader takes.
	saveTime = 3 * time.Second
	// tombstoneLife is how long the servers remember that a room existed, because old links stay in
	// chats.
	tombstoneLife = 30 * 24 * time.Hour
)

// claim is this host's claim to a room.
type claim struct {
	cluster *Cluster
	code    string
	id      string
	epoch   uint64
	number  uint64 // tells this process's claims apart

	// turn is full while a write is under way, and guards following. A lock would not do: whoever
	// waits for one cannot give up.
	turn   chan struct{}
	seq    uint64 // of this claim's newest known record
	writes uint64
	newest record
	// spare are groups of parts that no record names.
	spare []string

	// lost is closed by fence, once.
	lost  chan struct{}
	fence func()
	// unkept is closed when the servers have lost messages. The directory's lock guards it.
	unkept chan struct{}
}

// newClaim returns a new claim of this process.
func (c *Cluster) newClaim(code, id string, epoch uint64) *claim {
	lost := make(chan struct{})
	return &claim{
		cluster: c,
		code:    code,
		id:      id,
		epoch:   epoch,
		number:  c.claims.Add(1),
		turn:    make(chan struct{}, 1),
		lost:    lost,
		unkept:  make(chan struct{}),
		fence:   sync.OnceFunc(func() { close(lost) }),
	}
}

// Lost is closed once this host knows that the room is no longer its own; see [store.Claim].
func (cl *claim) Lost() <-chan struct{} { return cl.lost }

// Unkept is closed when the servers have lost messages; see [store.Claim].
func (cl *claim) Unkept() <-chan struct{} {
	cl.cluster.directory.mu.Lock()
	defer cl.cluster.directory.mu.Unlock()
	return cl.unkept
}

// keptAgain notes that a save is kept which began when Unkept returned a channel.
func (cl *claim) keptAgain(unkept <-chan struct{}) {
	select {
	case <-unkept:
	default:
		return
	}
	cl.cluster.directory.mu.Lock()
	defer cl.cluster.directory.mu.Unlock()
	cl.unkept = make(chan struct{})
	cl.cluster.log.Warn("a room is kept again, after NATS has lost messages", "room", cl.id)
}

// missed notes that the servers have let this claim write over an older message than the one with the
// known number, which they had acknowledged. What they lost of other rooms shows only when somebody
// writes those, so the first room that misses something makes the host keep all of its own again.
func (cl *claim) missed(known uint64) {
	cl.cluster.directory.mu.Lock()
	defer cl.cluster.directory.mu.Unlock()
	select {
	case <-cl.unkept:
	default:
		cl.cluster.log.Error("NATS has lost messages", "room", cl.id, "of", known, "left", cl.seq)
		cl.cluster.directory.keepAgain()
	}
}

func (cl *claim) isFenced() bool {
	select {
	case <-cl.lost:
		return true
	default:
		return false
	}
}

// Epoch returns the claim's epoch, which is greater than that of any earlier claim to the room.
func (cl *claim) Epoch() uint64 { return cl.epoch }

// message is a room's newest message.
type message struct {
	record
	seq  uint64
	body []byte
	at   time.Time // by the servers' clocks
}

// last returns a room's newest message. Its epoch is 0 if there is none, or only a marker. It may
// be a moment old if the server that answers lags behind.
func (c *Cluster) last(ctx context.Context, code string) (message, error) {
	if err := ctx.Err(); err != nil {
		return message{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	m, err := c.rooms.GetLastMsgForSubject(ctx, c.subject("room", code))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return message{}, nil
	case err != nil:
		return message{}, err
	}
	text := m.Header.Get(recordHeader)
	if text == "" {
		return message{seq: m.Sequence}, nil
	}
	r, err := parseRecord(text)
	if errors.Is(err, errRecord) {
		return message{}, fmt.Errorf("room %s: %w", c.FindID(code), err)
	}
	return message{r, m.Sequence, m.Data, m.Time}, nil
}

// conflict is the error of a write that another write preceded.
type conflict struct{ last message }

func (conflict) Error() string { return "cluster: another write came before" }

// put writes a record over the message with the given sequence, 0 over none. It is no conflict if
// put's own acknowledgement was lost, or if a write is still on its way.
func (c *Cluster) put(ctx context.Context, code string, r record, body []byte, over uint64, ttl time.Duration) (seq uint64, err error) {
	var tries pacing
	for {
		seq, err = c.publish(ctx, &nats.Msg{Subject: c.subject("room", code), Header: r.header(), Data: body}, over, ttl)
		switch {
		case err == nil:
			return seq, nil
		case isFull(err):
			return 0, asFull(err)
		case isWrongSequence(err):
			last, failed := c.last(ctx, code)
			switch {
			case errors.Is(failed, errRecord):
				return 0, failed
			case failed != nil:
			case last.isSame(r):
				return last.seq, nil
			case last.seq != over:
				return 0, conflict{last}
			}
		}
		if !tries.pause(ctx) {
			return 0, asAway(err)
		}
	}
}

// noSpace matches what JetStream says of a store that fails for lack of space.
var noSpace = regexp.MustCompile(`no space|exceeded|insufficient`)

// isFull reports whether the servers lack space for a message.
func isFull(err error) bool {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return false
	}
	return api.ErrorCode == errResources || api.ErrorCode == errStorage ||
		api.ErrorCode == errStoreFailed && noSpace.MatchString(api.Description) // also said of a damaged disk
}

// asFull returns the error of a write for which the servers lack space. Without a disk of its own a
// host could go on, but not without the servers. So it treats them as away.
func asFull(err error) error {
	return fmt.Errorf("%w: %w: %s", store.ErrAway, syscall.ENOSPC, withoutPrefix(err))
}

// asAway returns store.ErrAway with its reason.
func asAway(err error) error {
	if err == nil {
		return store.ErrAway
	}
	return fmt.Errorf("%w: %s", store.ErrAway, withoutPrefix(err))
}

// Create keeps a new room; see [store.Store].
func (c *Cluster) Create(ctx context.Context, code, id string, data []byte) (store.Claim, error) {
	if !isToken(code) {
		return nil, fmt.Errorf("cluster: a code that is none: %w", store.ErrTaken)
	}
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	defer c.directory.claiming(code)()
	cl := c.newClaim(code, id, 1)
	err := cl.Save(ctx, data)
	switch {
	case errors.Is(err, store.ErrFenced):
		return nil, store.ErrTaken
	case err != nil && !errors.Is(err, store.ErrAway):
		return nil, err
	}
	c.directory.hold(cl)
	return cl, err
}

// claiming notes that this host is about to claim a room, until the returned function is called.
func (d *directory) claiming(code string) (done func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy[code]++
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.busy[code]--; d.busy[code] == 0 {
			delete(d.busy, code)
		}
		if e, known := d.rooms[code]; known && d.stateOf(code, e) == store.Orphaned {
			d.changed = wake(d.changed)
		}
	}
}

// hold notes that this host has a room, and replaces its earlier claim.
func (d *directory) hold(cl *claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old := d.claims[cl.code]; old != nil {
		old.fence()
	}
	if e := d.rooms[cl.code]; e.epoch > cl.epoch {
		cl.fence() // the directory learned of a newer claim before the answer came
		return
	}
	d.claims[cl.code] = cl
}

// drop notes that this host no longer has a room.
func (d *directory) drop(cl *claim) {
	cl.fence()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.claims[cl.code] == cl {
		delete(d.claims, cl.code)
	}
}

// Claim makes a room this host's; see [store.Store].
func (c *Cluster) Claim(ctx context.Context, code string) (store.Claim, []byte, error) {
	if !isToken(code) {
		return nil, nil, store.ErrUnknown
	}
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	defer c.directory.claiming(code)()
	var tries pacing
	for {
		cl, data, err := c.claim(ctx, code)
		if err == nil {
			c.directory.hold(cl)
			return cl, data, nil
		}
		var other conflict
		for _, final := range []error{store.ErrUnknown, store.ErrOver, store.ErrElsewhere, store.ErrNewer, store.ErrAway, errRecord, errPacked} {
			if errors.Is(err, final) {
				return nil, nil, err
			}
		}
		if !tries.pause(ctx) {
			return nil, nil, asAway(err)
		}
		if errors.As(err, &other) {
			continue // another write came between
		}
	}
}

// claim tries once to claim a room.
func (c *Cluster) claim(ctx context.Context, code string) (*claim, []byte, error) {
	last, err := c.last(ctx, code)
	switch {
	case err != nil:
		return nil, nil, err
	case last.Epoch == 0:
		return nil, nil, c.deny(ctx, code, last.seq)
	case last.Version > recordVersion:
		return nil, nil, fmt.Errorf("cluster: a room of version %d: %w", last.Version, store.ErrNewer)
	case last.Over:
		return nil, nil, store.ErrOver
	}
	if living, err := c.isLiving(ctx, owner{last.Owner, last.Life}); living || err != nil {
		if err == nil {
			c.directory.lacks(last.seq)
			err = store.ErrElsewhere
		}
		return nil, nil, err
	}
	data, err := c.large.unpacked(ctx, code, last)
	if err != nil {
		return nil, nil, err
	}
	cl := c.newClaim(code, last.ID, last.Epoch+1)
	cl.newest = last.record
	r := cl.sign(last.record)
	if cl.seq, err = c.put(ctx, code, r, last.body, last.seq, 0); err != nil {
		return nil, nil, err
	}
	cl.newest = r
	return cl, data, nil
}

// stepAgain is how soon a host again asks a leader of the rooms to let another server lead.
const stepAgain = 10 * time.Second

// deny says what it means that the leader of the rooms has no message of a room, or one with the given
// sequence that is a marker. A leader with a damaged disk says so, too. So if this host has heard of a
// newer message, another server is asked to lead. The room is unknown once each of them has led and
// has not found it.
func (c *Cluster) deny(ctx context.Context, code string, seq uint64) error {
	d := &c.directory
	d.mu.Lock()
	e, known := d.rooms[code]
	d.mu.Unlock()
	if !known || e.seq <= seq {
		return store.ErrUnknown
	}
	info, err := c.rooms.Info(ctx)
	if err != nil || !isLed(info) {
		return asAway(cmp.Or(err, errBehind))
	}
	if last, err := c.last(ctx, code); err != nil || last.Epoch > 0 { // another one leads by now
		return asAway(cmp.Or(err, errBehind))
	}
	next, isLost := d.deny(code, e, info, c.config.Clock.Now())
	switch {
	case isLost:
		c.log.Error("NATS has lost a room", "room", e.id)
		return store.ErrUnknown
	case next == "":
		return asAway(errUnread)
	}
	c.log.Error("a NATS server cannot read a room: another one is asked to lead", "server", info.Cluster.Leader, "room", e.id, "next", next, "hint", hintDamaged)
	_, err = c.conn.RequestWithContext(ctx, "$JS.API.STREAM.LEADER.STEPDOWN."+info.Config.Name, fmt.Appendf(nil, `{"placement":{"preferred":%q}}`, next))
	return asAway(cmp.Or(err, errUnread))
}

// deny notes that a stream's leader has not found a room's newest message. It returns which server
// should lead next, "" if none should now, and whether all have denied the room, which it then forgets.
func (d *directory) deny(code string, e entry, info *jetstream.StreamInfo, now time.Time) (next string, isLost bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var others []*jetstream.PeerInfo
	if !isAlone(info) {
		if !slices.Contains(d.denied[code], info.Cluster.Leader) {
			d.denied[code] = append(d.denied[code], info.Cluster.Leader)
		}
		others = slices.DeleteFunc(slices.Clone(info.Cluster.Replicas), func(r *jetstream.PeerInfo) bool { return slices.Contains(d.denied[code], r.Name) })
	}
	if len(others) == 0 {
		delete(d.rooms, code)
		delete(d.codes, e.id)
		delete(d.denied, code)
		return "", true
	}
	i := slices.IndexFunc(others, func(r *jetstream.PeerInfo) bool { return r.Current && isHeard(r) })
	if i < 0 || now.Sub(d.stepped) < stepAgain {
		return "", false
	}
	d.stepped = now
	return others[i].Name, false
}

const (
	// endedFor is how long a host remembers that a process has no lease, because it claims all
	// rooms of that process one after the other. If the process comes back, the directory mostly
	// learns of it earlier.
	endedFor = renewAgain
	// maxEnded is for how many processes the host remembers this.
	maxEnded = 64
)

// isLiving reports whether a process has a lease, and is not this one.
func (c *Cluster) isLiving(ctx context.Context, of owner) (bool, error) {
	if of.node == "" || of == c.directory.self {
		return false, nil
	}
	d := &c.directory
	d.mu.Lock()
	isHeard, hasEnded := d.hosts[of.node].Life == of.life, c.config.Clock.Since(d.ended[of]) < endedFor
	d.mu.Unlock()
	if isHeard || hasEnded {
		return isHeard, nil
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	asked := c.config.Clock.Now()
	l, _, err := c.readLease(ctx, of.node)
	if err != nil || l.Life == of.life {
		return err == nil, err
	}
	// A server that was cut off may not know that the lease was taken again.
	if info, err := c.hosts.Info(ctx); err != nil || !isLed(info) {
		return false, cmp.Or(err, errBehind)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.ended) >= maxEnded {
		clear(d.ended)
	}
	d.ended[of] = asked
	return false, nil
}

// begin waits until no other write of the room is under way. It gives up when ctx ends. Whoever has the
// turn calls end.
func (cl *claim) begin(ctx context.Context) error {
	select {
	case cl.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		if cl.isFenced() {
			return store.ErrFenced
		}
		return asAway(ctx.Err())
	}
}

func (cl *claim) end() { <-cl.turn }

// sign turns a record into this claim's next one.
func (cl *claim) sign(r record) record {
	cl.writes++
	r.Version, r.Epoch, r.ID = recordVersion, cl.epoch, cl.id
	r.Owner, r.Life, r.Claim, r.Write = cl.cluster.config.Node, cl.cluster.life, cl.number, cl.writes
	r.Last, r.Heir = "", ""
	return r
}

// Save keeps the room; see [store.Claim].
func (cl *claim) Save(ctx context.Context, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	if err := cl.begin(ctx); err != nil {
		return err
	}
	defer cl.end()
	if cl.isFenced() {
		return store.ErrFenced
	}
	unkept := cl.Unkept()
	r, body, err := cl.cluster.large.packed(ctx, cl.code, data)
	if r.Group != "" {
		cl.spare = append(cl.spare, r.Group) // until the record names it
	}
	if err != nil {
		return err
	}
	if err := cl.write(ctx, cl.sign(r), body, 0); err != nil {
		return err
	}
	cl.keptAgain(unkept)
	return nil
}

// write replaces the claim's last record by the next one, and purges parts that no record names any
// longer; the caller has the turn.
func (cl *claim) write(ctx context.Context, r record, body []byte, ttl time.Duration) error {
	known := cl.seq
	var tries pacing
	for {
		seq, err := cl.cluster.put(ctx, cl.code, r, body, cl.seq, ttl)
		var other conflict
		switch {
		case err == nil:
			if cl.seq < known {
				cl.missed(known)
			}
			before := cl.newest
			cl.seq, cl.newest = seq, r
			if before.Group != "" && before.Group != r.Group {
				cl.spare = append(cl.spare, before.Group)
			}
			cl.purge()
			return nil
		case !errors.As(err, &other):
			return err
		case other.last.Epoch > r.Epoch, other.last.Epoch == r.Epoch && !other.last.isOfClaim(r):
			cl.cluster.directory.drop(cl)
			cl.purge()
			return store.ErrFenced
		}
		// No other host has claimed the room. Either this is our own write, whose acknowledgement
		// was lost, or the servers have lost acknowledged writes.
		cl.seq = other.last.seq
		if other.last.Group != "" {
			cl.newest = other.last.record
		}
		if !tries.pause(ctx) {
			return asAway(err)
		}
	}
}

// End leaves a tombstone; see [store.Claim].
func (cl *claim) End(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	if err := cl.begin(ctx); err != nil {
		return err
	}
	defer cl.end()
	if cl.isFenced() {
		return store.ErrFenced
	}
	r := cl.sign(record{})
	r.Owner, r.ID, r.Over = "", "", true
	if err := cl.write(ctx, r, nil, tombstoneLife); err != nil {
		return err
	}
	err := cl.cluster.large.purge(ctx, cl.code, "*")
	if err != nil {
		return asAway(err)
	}
	cl.cluster.directory.drop(cl)
	return nil
}

// Release lets any host take the room; see [store.Claim].
func (cl *claim) Release(ctx context.Context) error { return cl.Give(ctx, "") }

// Give gives the room to a host. If that host does not take it, any other may; see [store.Claim].
func (cl *claim) Give(ctx context.Context, to string) error {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	if err := cl.begin(ctx); err != nil {
		return err
	}
	defer cl.end()
	var tries pacing
	for {
		if cl.isFenced() {
			return store.ErrFenced
		}
		last, err := cl.cluster.last(ctx, cl.code)
		if err == nil && last.Epoch == cl.epoch && last.seq >= cl.seq {
			r := cl.sign(last.record)
			r.Owner, r.Last, r.Heir = "", cl.cluster.config.Node, to
			cl.seq = last.seq
			if err := cl.write(ctx, r, last.body, 0); err != nil {
				return err
			}
			cl.cluster.directory.drop(cl)
			return nil
		}
		if err == nil && last.Epoch > cl.epoch {
			cl.cluster.directory.drop(cl)
			return store.ErrFenced
		}
		if !tries.pause(ctx) {
			return asAway(err)
		}
	}
}
