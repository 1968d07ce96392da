package publichost

import (
	"context"
	"errors"
	"fmt"
	"os"

	"muster/host/cluster"
	"muster/host/store"
	"muster/internal/hint"
	"muster/internal/term"
)

// openStore opens a file of rooms.
func openStore(name string) (*store.File, error) {
	file, err := store.Open(name)
	switch {
	case errors.Is(err, store.ErrInUse):
		return nil, hint.With(fmt.Errorf("the rooms in %s are %w", name, store.ErrInUse),
			"end the muster that serves them, or give this one another file")
	case errors.Is(err, store.ErrNewer):
		return nil, hint.With(fmt.Errorf("the rooms in %s were %w", name, store.ErrNewer),
			"start that one, or take another file; this one is as it was")
	case err != nil:
		return nil, hint.With(fmt.Errorf("cannot keep rooms in %s: %w", name, hint.Reason(err)), "is the folder there, and writable?")
	}
	return file, nil
}

// Move imports a file's rooms into the cluster, or exports the cluster's rooms into one, while its hosts continue.
func (h *Host) Move(ctx context.Context, say func(string, ...any)) error {
	name, from := h.Import, true
	if name == "" {
		name, from = h.Export, false
	}
	if _, err := os.Stat(name); from && err != nil {
		return fmt.Errorf("cannot open %s: %w", name, hint.Reason(err))
	}
	file, err := openStore(name)
	if err != nil {
		return err
	}
	defer file.Close()
	h.Cluster.Logger = h.log
	many, err := cluster.Open(ctx, h.Cluster)
	if err != nil {
		return err
	}
	defer many.Close()
	do, what := many.Export, "written to "+name
	if from {
		do, what = many.Import, "taken over into NATS"
	}
	moved, err := do(ctx, file)
	say("%s %s, %d that are over, and %s; %d were there already",
		term.Count(moved.Rooms, "room"), what, moved.Tombstones, term.Count(moved.Blobs, "list"), moved.Present)
	switch {
	case errors.Is(err, store.ErrTaken):
		return hint.With(err, "what is there stays as it is; move to another place if you need both")
	case errors.Is(err, store.ErrAway):
		return hint.With(err, "say the same command again: it goes on where it stopped")
	}
	return err
}
