package host

import (
	"errors"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"muster/host/store"
)

// disk notes which writes the store's disk refuses. It logs one line for all rooms together.
type disk struct {
	log *slog.Logger

	mu     sync.Mutex // guards following
	outage store.Outage
	// rooms are the codes of rooms whose newest save has failed. Each retries until it succeeds.
	rooms map[string]bool
	// refused is when a write failed that is not retried.
	refused time.Time
	why     string
}

// refusedFor is how long a host reports a failing disk after a write failed that is not retried.
const refusedFor = 30 * time.Second

// whyNot explains a disk's error to people.
func whyNot(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full"
	case isAway(err):
		return "the store takes no rooms"
	}
	return "the disk takes nothing"
}

// noteFailure notes that a room could not be written; an empty code stands for a write that is not
// retried. waits says that binding steps wait, too. The log reports the failure at once, and again
// each minute.
func (d *disk) noteFailure(code string, err error, now time.Time, waits bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if code == "" {
		d.refused = now
	} else {
		if d.rooms == nil {
			d.rooms = map[string]bool{}
		}
		d.rooms[code] = true
	}
	d.why = whyNot(err)
	since, tell := d.outage.Fails(now)
	if !tell {
		return
	}
	then := "rooms go on and are not kept: a restart would lose what has changed since"
	if waits {
		then = "what binds waits in all rooms until it is kept, players read so, and nobody can open one"
	}
	hint := "free space, or mend the disk, where the store is (with NATS, look into its log); rooms are saved by themselves then"
	if isAway(err) && !errors.Is(err, syscall.ENOSPC) {
		hint = "look whether the NATS servers run and reach each other, and into their logs; rooms are saved by themselves then"
	}
	lasts := now.Sub(since).Round(time.Second)
	d.log.Error(d.why+": "+then, "for", lasts, "rooms", len(d.rooms), "error", err, "hint", hint)
}

// noteSaved notes that a room was written, or that it is no longer here.
func (d *disk) noteSaved(code string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.rooms, code)
	if len(d.rooms) > 0 {
		return
	}
	d.refused = time.Time{}
	if lasted, wasTold := d.outage.Ends(now); wasTold {
		d.log.Info("the disk takes rooms again: all of them are kept", "after", lasted.Round(time.Second))
	}
}

// trouble says why the disk accepts no writes; it is empty while the disk does.
func (d *disk) trouble(now time.Time) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.rooms) == 0 && (d.refused.IsZero() || now.Sub(d.refused) > refusedFor) {
		return ""
	}
	return d.why
}
