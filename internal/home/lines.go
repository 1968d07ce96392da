package home

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"muster/discovery"
)

// maxLines is how many lines of a command are kept: more than anybody scrolls through.
const maxLines = 200

// lines splits a command's output into lines, and calls tell with each.
type lines struct {
	mu   sync.Mutex // guards what follows
	part []byte
	tell func(line string)
}

// Lines returns a writer that calls tell with each line of a command's output.
func Lines(tell func(line string)) io.Writer { return &lines{tell: tell} }

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = append(l.part, p...)
	for {
		line, rest, isWhole := bytes.Cut(l.part, []byte("\n"))
		if !isWhole {
			return len(p), nil
		}
		l.part = rest
		if text := discovery.CleanText(string(line)); strings.TrimSpace(text) != "" {
			l.tell(text)
		}
	}
}

// shortened returns the newest lines.
func shortened(all []string) []string { return all[max(0, len(all)-maxLines):] }
