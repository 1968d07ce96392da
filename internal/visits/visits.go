// Package visits keeps what visits to a game's servers measured for the next one, in
// one file a game. It only ever helps: without a cache folder, or with a file that
// cannot be read, the next visit starts as the first did.
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

// Visits are those to one game's servers.
type Visits struct {
	history.Memory
	file string // none without a cache folder
	log  *slog.Logger
}

// Recall is what is known of the last visits, or nothing for a fresh start.
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

// Keep writes down what a visit measured. Who reads the file at the same time sees
// the old one or the new one.
func (v *Visits) Keep(servers []discovery.Server, results []discovery.Result, now time.Time) {
	memory := v.After(servers, results, now)
	if v.file == "" || len(memory) == 0 {
		return // nothing answered: no reason to forget
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
