package master

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Cache is a folder that keeps lists of the web; empty keeps none. An error in it costs
// a fetch, and nothing else.
type Cache string

// maxCacheFile is the longest list, in bytes, that is read back: MaxServers rows
// with a long name each.
const maxCacheFile = 128 << 20

// maxCached is how many lists are kept; the oldest are removed.
const maxCached = 200

func (c Cache) load(key string) *cached {
	if c == "" {
		return nil
	}
	file := filepath.Join(string(c), key)
	if info, err := os.Stat(file); err != nil || info.Size() > maxCacheFile {
		return nil
	}
	text, err := os.ReadFile(file)
	var list cached
	if err != nil || json.Unmarshal(text, &list) != nil || len(list.Rows) == 0 || time.Since(list.At) < -time.Minute {
		return nil
	}
	return &list
}

// save replaces an older list, completely or not at all.
func (c Cache) save(key string, list *cached) {
	if c == "" || len(list.Rows) == 0 {
		return
	}
	text, err := json.Marshal(list)
	if err != nil || os.MkdirAll(string(c), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(string(c), "new-*")
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if closed := f.Close(); err != nil || closed != nil || os.Rename(f.Name(), filepath.Join(string(c), key)) != nil {
		os.Remove(f.Name())
		return
	}
	c.tidy()
}

// tidy removes the oldest lists, which nobody has requested for a long time.
func (c Cache) tidy() {
	files, err := filepath.Glob(filepath.Join(string(c), "*.json"))
	if err != nil || len(files) <= maxCached {
		return
	}
	at := func(file string) time.Time {
		info, err := os.Stat(file)
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortFunc(files, func(a, b string) int { return at(a).Compare(at(b)) })
	for _, file := range files[:len(files)-maxCached] {
		os.Remove(file)
	}
}
