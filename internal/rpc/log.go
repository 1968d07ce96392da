package rpc

import (
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"
)

// maxLog is how many lines of the log wait for a launcher that does not read them.
const maxLog = 256

// logEndWithin bounds the wait for the last lines of the log.
const logEndWithin = 100 * time.Millisecond

// NewLog returns a log that waits for nobody: lines that the launcher does not read are dropped, and
// counted. end writes what is left.
func NewLog(w io.Writer, level slog.Level) (log *slog.Logger, end func()) {
	l := &patient{lines: make(chan []byte, maxLog), ends: make(chan struct{}), done: make(chan struct{})}
	go l.run(w)
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: level})), func() {
		close(l.ends)
		select {
		case <-l.done:
		case <-time.After(logEndWithin):
		}
	}
}

// patient is a writer that drops a line if too many wait already.
type patient struct {
	lines      chan []byte
	ends, done chan struct{}
	dropped    atomic.Int64
}

func (p *patient) Write(line []byte) (int, error) {
	select {
	case p.lines <- append([]byte(nil), line...):
	default:
		p.dropped.Add(1)
	}
	return len(line), nil
}

func (p *patient) run(w io.Writer) {
	defer close(p.done)
	for {
		select {
		case line := <-p.lines:
			p.put(w, line)
		case <-p.ends:
			for len(p.lines) > 0 {
				p.put(w, <-p.lines)
			}
			return
		}
	}
}

func (p *patient) put(w io.Writer, line []byte) {
	if n := p.dropped.Swap(0); n > 0 {
		fmt.Fprintf(w, "%d lines of the log were dropped, because nobody read them\n", n)
	}
	w.Write(line)
}
