package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"muster/discovery"
	"muster/discovery/history"
	"muster/internal/game"
)

// remembering keeps what visits measured for the next one, in one file a game.
// It only ever helps: without a cache folder, or with a file that cannot be
// read, the next visit starts as the first did.
type remembering struct {
	file   string // none without a cache folder
	memory history.Memory
	log    *slog.Logger
}

// remembered is what is kept of a game's servers.
func (p *program) remembered(game string) *remembering {
	r := &remembering{log: p.logger()}
	file, err := cacheFile(filepath.Join("visits", game+".json"))
	if err == nil {
		r.file = file
		r.memory, err = readMemory(file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.log.Debug("nothing remembered of the last visit", "error", err)
	}
	return r
}

func readMemory(file string) (history.Memory, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return history.Read(f)
}

// recall has the plan start from the last visits, and says so.
func (d *discover) recall(g game.Game, now time.Time) *remembering {
	r := d.remembered(g.ID)
	if d.fresh {
		r.memory = nil
	}
	if d.options.Priors = r.memory.Priors(now); len(d.options.Priors) > 0 && d.strategy != discovery.Conventional {
		seen := r.memory.Newest()
		fmt.Fprintf(d.streams.Err, "starting from the last visit, %s (%s ago): %s remembered; --fresh starts anew\n",
			seen.Local().Format("2 Jan 15:04"), roughly(now.Sub(seen)), some(len(d.options.Priors), "network"))
	}
	return r
}

// remember writes down what the visit measured, and says so if it was elsewhere.
func (d *discover) remember(r *remembering, servers []discovery.Server, results []discovery.Result) {
	if r.memory.OutdatedBy(servers, results) {
		fmt.Fprintln(d.streams.Err, "what was remembered does not hold here, and is forgotten")
	}
	r.keep(servers, results, time.Now())
}

// keep writes down what a visit measured.
func (r *remembering) keep(servers []discovery.Server, results []discovery.Result, now time.Time) {
	if r.file == "" {
		return
	}
	memory := r.memory.After(servers, results, now)
	if len(memory) == 0 {
		return // nothing answered: no reason to forget
	}
	var text bytes.Buffer
	err := memory.WriteJSON(&text)
	if err == nil {
		err = replaceFile(r.file, &text)
	}
	if err != nil {
		r.log.Debug("this visit is not remembered", "error", err)
	}
}

// replaceFile puts a whole file in the place of another: who reads it at the
// same time sees the one or the other.
func replaceFile(file string, text io.Reader) error {
	draft, err := os.CreateTemp(filepath.Dir(file), ".draft-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = io.Copy(draft, text)
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), file)
	}
	if err != nil {
		os.Remove(draft.Name())
	}
	return err
}

// roughly is a time as people say it.
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	units := []struct {
		of   time.Duration
		name string
	}{{day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}}
	for _, u := range units {
		if n := int(d / u.of); n == 1 {
			return "1 " + u.name
		} else if n > 1 {
			return fmt.Sprintf("%d %ss", n, u.name)
		}
	}
	return "a moment"
}
