package publichost

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"muster/host/cluster"
	"muster/host/networks"
	"muster/host/store"
	"muster/internal/hint"
	"muster/internal/term"
	"muster/internal/userfile"
)

const (
	// lookEvery is how often a host looks whether its memory's document has changed, by another host
	// or because somebody has deleted it. saveEvery is how often it keeps what it has learnt.
	lookEvery = time.Minute
	saveEvery = time.Hour
	// keepTime is how long one round of saving and reading may take. endTime bounds the last round
	// of a host that ends.
	keepTime = 30 * time.Second
	endTime  = 2 * time.Second
	// tries is how often a host begins again because another was faster.
	tries = 5
)

// shelf is where a memory's document is kept: a file, or a cluster. A stamp says which document it is,
// and is empty if there is none.
type shelf interface {
	// read returns the document and its stamp, and no document if the stamp is still the known one.
	// With an error, the stamp belongs to a document that cannot be read.
	read(ctx context.Context, known string) (document []byte, stamp string, err error)
	// write replaces the document with a stamp, else the error is errChanged.
	write(ctx context.Context, document []byte, over string) (stamp string, err error)
}

var errChanged = errors.New("the memory's document has changed")

// fileShelf keeps a document in a file beside the rooms'.
type fileShelf struct{ name string }

func memoryFile(rooms string) string { return rooms + ".networks" }

func (f fileShelf) stamp() (string, error) {
	info, err := os.Stat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size()), nil
}

func (f fileShelf) read(_ context.Context, known string) ([]byte, string, error) {
	stamp, err := f.stamp()
	if err != nil || stamp == "" || stamp == known {
		return nil, stamp, err
	}
	data, err := os.ReadFile(f.name)
	return data, stamp, err
}

// write holds a lock, because a command may delete the memory at the same moment.
func (f fileShelf) write(ctx context.Context, document []byte, over string) (string, error) {
	lock := flock.New(f.name+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return "", err
	}
	defer lock.Unlock()
	if now, err := f.stamp(); err != nil || now != over {
		return "", errors.Join(errChanged, err)
	}
	if err := userfile.Replace(f.name, document); err != nil {
		return "", err
	}
	return f.stamp()
}

// sharedShelf keeps a document in a cluster, for all its hosts.
type sharedShelf struct{ cluster.Document }

const documentName = "networks"

func (c sharedShelf) read(ctx context.Context, known string) ([]byte, string, error) {
	before, _ := strconv.ParseUint(known, 10, 64)
	data, at, err := c.Read(ctx, before)
	return data, stampOf(at), err
}

func (c sharedShelf) write(ctx context.Context, document []byte, over string) (string, error) {
	before, _ := strconv.ParseUint(over, 10, 64)
	at, err := c.Replace(ctx, document, before)
	if errors.Is(err, cluster.ErrChanged) {
		err = errChanged
	}
	return stampOf(at), err
}

func stampOf(at uint64) string {
	if at == 0 {
		return ""
	}
	return strconv.FormatUint(at, 10)
}

// remembering keeps a host's memory of networks.
type remembering struct {
	memory *networks.Memory
	shelf  shelf
	log    *slog.Logger

	stamp string
	// kept is the sum of the document that the shelf has, version the memory's at that time, and
	// saved when the host last wrote one.
	kept    [sha256.Size]byte
	version int
	saved   time.Time
	// isNewer says that a newer Muster has written the document: this host leaves it as it is.
	isNewer bool
}

// newMemory returns an empty memory with a key of its own.
func newMemory() *networks.Memory {
	var key [32]byte
	rand.Read(key[:]) // never fails
	return networks.New(key)
}

func remember(on shelf, log *slog.Logger) *remembering {
	return &remembering{memory: newMemory(), shelf: on, log: log, saved: time.Now()}
}

// remember returns the memory that the host's rooms teach, nil if it has none. It is kept until ctx
// ends; await then waits for that.
func (h *Host) remember(ctx context.Context, kept store.Store) (memory *networks.Memory, await func(), err error) {
	if !h.Remembers {
		return nil, func() {}, nil
	}
	var on shelf
	if many, is := kept.(*cluster.Cluster); is {
		on = sharedShelf{cluster.DocumentOf(many, documentName)}
	} else {
		rooms, err := h.roomsFile()
		if err != nil {
			return nil, nil, err
		}
		on = fileShelf{memoryFile(rooms)}
	}
	var work sync.WaitGroup
	r := remember(on, h.log)
	work.Go(func() { r.keep(ctx) })
	return r.memory, work.Wait, nil
}

// keep looks at the document until ctx ends, and then keeps the memory a last time.
func (r *remembering) keep(ctx context.Context) {
	r.look(ctx, time.Now(), false)
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
			defer cancel()
			r.look(last, time.Now(), true)
			return
		case now := <-ticker.C:
			r.look(ctx, now, false)
		}
	}
}

// look takes over a changed document, and keeps what the host has learnt, if it is time or if isLast.
func (r *remembering) look(ctx context.Context, now time.Time, isLast bool) {
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	var err error
	for range tries {
		if err = r.take(ctx, now); err != nil || r.isNewer {
			break
		}
		if now.Sub(r.saved).Abs() < saveEvery && !isLast {
			return
		}
		if err = r.put(ctx, now); !errors.Is(err, errChanged) {
			r.saved = now
			break
		}
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrAway) { // the store logs its own outages
		r.log.Warn("the memory of networks is not kept", "error", hint.Plain(err))
	}
}

// take merges a document that somebody else has written.
func (r *remembering) take(ctx context.Context, now time.Time) error {
	data, stamp, err := r.shelf.read(ctx, r.stamp)
	if err != nil && (errors.Is(err, store.ErrAway) || stamp == "" || ctx.Err() != nil) {
		return err
	}
	if stamp == r.stamp {
		return nil
	}
	r.stamp, r.isNewer, r.kept = stamp, false, [sha256.Size]byte{}
	if data == nil && err == nil { // it is gone
		return nil
	}
	document, broken := networks.Parse(data)
	switch {
	case errors.Is(broken, networks.ErrNewer):
		r.isNewer = true
		r.log.Warn("the memory of networks is a newer Muster's: this host leaves it as it is")
	case broken != nil:
		r.log.Warn("the memory of networks is damaged: this host begins another", "error", hint.Plain(errors.Join(broken, err)))
	default:
		isClean := r.memory.Version() == r.version
		r.memory.Merge(document, now)
		if r.kept = sha256.Sum256(data); isClean {
			r.version = r.memory.Version()
		}
	}
	return nil
}

// put saves the memory, unless the shelf already holds the same.
func (r *remembering) put(ctx context.Context, now time.Time) error {
	r.memory.Expire(now)
	version := r.memory.Version()
	if version == r.version && r.kept != [sha256.Size]byte{} {
		return nil
	}
	data := r.memory.Append(nil)
	if sum := sha256.Sum256(data); sum == r.kept || r.stamp == "" && bytes.Equal(data, newMemory().Append(nil)) {
		r.version = version
		return nil
	}
	stamp, err := r.shelf.write(ctx, data, r.stamp)
	if err != nil {
		return err
	}
	r.stamp, r.kept, r.version = stamp, sha256.Sum256(data), version
	return nil
}

// Remembered is what a memory has, as muster serve memory says it.
type Remembered struct {
	networks.Summary
	// Bytes is the length of the document, and Where says where it is.
	Bytes int
	Where string
}

// Document returns the memory as programs read it. isDeleted says that it was.
func (r Remembered) Document(isDeleted bool) any {
	return struct {
		Format   string    `json:"format"`
		Where    string    `json:"where"`
		Cells    int       `json:"cells"`
		Networks int       `json:"networks"`
		Bytes    int       `json:"bytes"`
		Oldest   time.Time `json:"oldest,omitzero"`
		Newest   time.Time `json:"newest,omitzero"`
		Forgot   time.Time `json:"forgot,omitzero"`
		Deleted  bool      `json:"deleted,omitempty"`
	}{"muster.memory/1", r.Where, r.Cells, r.Networks, r.Bytes, r.Oldest, r.Newest, r.Forgot, isDeleted}
}

// Describe tells people what the memory has. isDeleted says that it had that until now.
func (r Remembered) Describe(isDeleted bool) string {
	has := fmt.Sprintf("%s for players of %s, %.1f kB in %s", term.Count(r.Cells, "distance"),
		term.Count(r.Networks, "network"), float64(r.Bytes)/1e3, r.Where)
	switch {
	case isDeleted && r.Cells == 0:
		return "Nothing was kept. A running host forgets within a minute what it has learnt."
	case isDeleted:
		return fmt.Sprintf("Deleted: %s. A running host forgets it within a minute.", has)
	case r.Cells == 0:
		return "The host has learnt nothing yet: it takes three rooms with players of three networks that agree."
	}
	return fmt.Sprintf("%s; learnt from %s to %s", has, r.Oldest.Format(time.DateOnly), r.Newest.Format(time.DateOnly))
}

// Memory returns what a host's memory has, and deletes it if forget is set. The host may be running: it
// forgets within a minute.
func Memory(ctx context.Context, s *Settings, forget bool, log *slog.Logger) (found Remembered, err error) {
	on, where, end, err := s.openShelf(ctx, log)
	if err != nil {
		return found, err
	}
	defer end()
	for range tries {
		data, stamp, failed := on.read(ctx, "")
		if failed != nil && (stamp == "" || !forget) {
			return found, hint.With(fmt.Errorf("the memory cannot be read: %w", hint.Reason(failed)), "--delete begins another")
		}
		found = Remembered{Bytes: len(data), Where: where}
		if data != nil {
			document, broken := networks.Parse(data)
			if broken != nil && !forget {
				return found, hint.With(broken, "update this muster, or begin another memory with --delete")
			}
			m := newMemory()
			m.Merge(document, time.Now())
			found.Summary = m.Summary()
		}
		if !forget { // else a host may have learnt what it has not kept yet
			return found, nil
		}
		if _, err = on.write(ctx, networks.Forgetting(time.Now()), stamp); !errors.Is(err, errChanged) {
			return found, err
		}
	}
	return found, err
}

// openShelf opens the shelf without serving, and says where it is.
func (s *Settings) openShelf(ctx context.Context, log *slog.Logger) (on shelf, where string, end func(), err error) {
	if s.Cluster.URL == "" {
		rooms, err := s.roomsFile()
		return fileShelf{memoryFile(rooms)}, memoryFile(rooms), func() {}, err
	}
	machine, err := os.Hostname()
	if err != nil {
		return nil, "", nil, fmt.Errorf("this machine has no name: %w", err)
	}
	s.Cluster.Logger, s.Cluster.Node = log, cluster.NodeName(machine+"-memory")
	many, err := cluster.Open(ctx, s.Cluster)
	if err != nil {
		return nil, "", nil, err
	}
	return sharedShelf{cluster.DocumentOf(many, documentName)}, "NATS", func() { many.Close() }, nil
}

// roomsFile returns the file of a store that is not a cluster.
func (s *Settings) roomsFile() (string, error) {
	if s.Store != "" {
		return s.Store, nil
	}
	file, err := userfile.State("rooms.db")
	if err != nil {
		return "", hint.NoFolder("the rooms", err)
	}
	return file, nil
}
