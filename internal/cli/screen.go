package cli

import (
	"fmt"
	"io"
	"sync"

	"muster/discovery"
)

// screen is standard error while a room goes on: lines and, below them, what
// moves or waits, a bar or a question. Its methods may be called from several
// goroutines.
type screen struct {
	*program
	w io.Writer

	mu       sync.Mutex // guards following
	progress *progress
	question string
}

func (p *program) screen() *screen { return &screen{program: p, w: p.streams.Err} }

// say writes a line.
func (s *screen) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintf(s.w, format+"\n", args...)
	fmt.Fprint(s.w, s.question)
}

// clear makes room for a line where the bar or the question stands.
func (s *screen) clear() {
	if s.progress != nil {
		s.progress.clear()
	}
	switch {
	case s.question == "":
	case s.animated(s.w):
		fmt.Fprint(s.w, "\r\x1b[K")
	default:
		fmt.Fprintln(s.w)
	}
}

// ask shows a question, to which the answer is typed.
func (s *screen) ask(question string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.question = question
	fmt.Fprint(s.w, question)
}

// answered notes that Enter has ended the line of the question.
func (s *screen) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.question = ""
}

// unask takes away a question that was not answered.
func (s *screen) unask() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.question = ""
}

// moves shows how far the measuring is.
func (s *screen) moves(done, max int, remark string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.progress == nil {
		what := "measuring"
		if max == unknown {
			what = "asked"
		}
		s.progress = s.program.progress(what, max)
	}
	s.progress.set(done, remark)
}

// rests takes the bar away.
func (s *screen) rests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.progress != nil {
		s.progress.finish()
		s.progress = nil
	}
}

// warn says what could not be had while the rest could.
func (s *screen) warn(warnings []error) {
	for _, line := range warningLines(warnings) {
		s.say("%s", line)
	}
}

// warningLines are the first of the warnings: a list can have thousands.
func warningLines(warnings []error) []string {
	const most = 5
	var lines []string
	for _, w := range warnings[:min(most, len(warnings))] {
		lines = append(lines, "muster: warning: "+withoutPackage(discovery.CleanText(w.Error())))
	}
	if more := len(warnings) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("muster: warning: %d more like these", more))
	}
	return lines
}
