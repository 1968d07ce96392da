package home

import (
	"sync"

	"muster/discovery/report"
)

// finding is a growing table of servers. Each page keeps its own position in it.
type finding struct {
	mu   sync.Mutex // guards what follows
	id   int
	rows []report.Measurement
}

// begin starts an empty table, and returns its number.
func (f *finding) begin() (id int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.id, f.rows = f.id+1, nil
	return f.id
}

// add adds a server, or a newer result for it.
func (f *finding) add(m report.Measurement) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows = append(f.rows, m)
}

// unread returns the rows that a page has not read, at most one frame of them, and advances the
// page's position.
func (f *finding) unread(find, read *int) []report.Measurement {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *find != f.id {
		*find, *read = f.id, 0
	}
	fresh := f.rows[*read:]
	fresh = fresh[:min(len(fresh), rowsAtOnce)] // rows are only added, never changed
	*read += len(fresh)
	return fresh
}
