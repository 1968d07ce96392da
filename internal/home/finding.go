package home

import (
	"sync"

	"muster/discovery/report"
)

// finding is a table of servers that grows. A page that is shown it notes how far it has
// read.
type finding struct {
	mu   sync.Mutex // guards following
	id   int
	rows []report.Measurement
}

// begin begins an empty table, and returns its number.
func (f *finding) begin() (id int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.id, f.rows = f.id+1, nil
	return f.id
}

// add adds a server, or its newest word.
func (f *finding) add(m report.Measurement) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows = append(f.rows, m)
}

// unread returns the rows of the newest table that a page has not read, as many as go in one
// frame, and notes that it has.
func (f *finding) unread(find, read *int) []report.Measurement {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *find != f.id {
		*find, *read = f.id, 0
	}
	fresh := f.rows[*read:]
	fresh = fresh[:min(len(fresh), rowsAtOnce)] // it only grows: what it has is not changed
	*read += len(fresh)
	return fresh
}
