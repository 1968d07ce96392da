// Package visits keeps measurements of a game's servers for the next visit, in one file a game. It is optional: without
// a cache folder, or with an unreadable file, the next visit starts like the first.
package visits

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/adrg/xdg"

	"muster/discovery"
	"muster/discovery/plan/history"
)

// Visits are the visits to one game's servers.
type Visits struct {
	history.Memory
	file string // empty without a cache folder
	log  *slog.Logger
}

// Recall returns what is known from earlier visits, or nothing for a fresh start.
func Recall(game string, fresh bool, log *slog.Logger) *Visits {
	v := &Visits{log: log}
	var err error
	if v.file, err = xdg.CacheFile(filepath.Join("muster", "visits", game+".json")); err == nil && !fresh {
		var f *os.File
		if f, err = os.Open(v.file); err == nil {
			v.Memory, err = history.Read(f)
			f.Close()
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Debug("nothing remembered of the last visit", "error", err)
	}
	return v
}

// Keep saves what a visit measured. A concurrent reader sees either the old file or the new one.
func (v *Visits) Keep(servers []discovery.Server, results []discovery.Result, now time.Time) {
	memory := v.After(servers, results, now)
	if v.file == "" || len(memory) == 0 {
		return // nothing answered, which is no reason to forget
	}
	draft, err := os.CreateTemp(filepath.Dir(v.file), ".draft-*") // mode 0600
	if err == nil {
		if err = errors.Join(memory.WriteJSON(draft), draft.Close()); err == nil {
			err = os.Rename(draft.Name(), v.file)
		}
		if err != nil {
			os.Remove(draft.Name())
		}
	}
	if err != nil {
		v.log.Debug("this visit is not remembered", "error", err)
	}
}
