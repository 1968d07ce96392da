package term

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
)

// Screen is a terminal with lines and, below them, what moves or waits: a bar or a
// question. Its methods may be called from several goroutines.
type Screen struct {
	Terminal

	mu       sync.Mutex // guards following
	progress *progress
	question string
}

// NewScreen is an empty screen.
func NewScreen(t Terminal) *Screen { return &Screen{Terminal: t} }

// Say writes a line.
func (s *Screen) Say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintf(s.Writer, format+"\n", args...)
	fmt.Fprint(s.Writer, s.question)
}

// clearLine takes the terminal's last line away.
const clearLine = "\r\x1b[K"

// clear makes room for a line where the bar or the question stands.
func (s *Screen) clear() {
	if s.progress != nil {
		s.progress.clear()
	}
	switch {
	case s.question == "":
	case s.IsAnimated:
		fmt.Fprint(s.Writer, clearLine)
	default:
		fmt.Fprintln(s.Writer)
	}
}

// ask shows a question, below which nothing is written.
func (s *Screen) ask(question string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.question = question
	fmt.Fprint(s.Writer, question)
}

// unask takes the question away; if it was answered on a terminal, Enter has ended
// its line.
func (s *Screen) unask(answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !answered || !s.IsTerminal {
		s.clear()
	}
	s.question = ""
}

// Unknown is the number of steps of which nobody knows how many there will be.
const Unknown = -1

// Moves shows how far something is, with a remark such as "812 answered": by a bar
// on a terminal, a line now and then elsewhere. It shows not every step.
func (s *Screen) Moves(what string, done, most int, remark string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.progress == nil {
		s.progress = newProgress(s.Terminal, what, most)
	}
	s.progress.set(done, remark)
}

// Rests takes the bar away.
func (s *Screen) Rests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.progress == nil {
		return
	}
	s.progress.clear()
	s.progress = nil
}

const (
	// barEvery is how often a bar moves, lineEvery how often a line shows
	// progress where no bar can move.
	barEvery  = 100 * time.Millisecond
	lineEvery = 5 * time.Second
)

// progress is how far something is.
type progress struct {
	Terminal
	what  string
	most  int
	begun time.Time
	next  time.Time // when it may be shown again
}

func newProgress(t Terminal, what string, most int) *progress {
	p := &progress{Terminal: t, what: what, most: most, begun: time.Now(), next: time.Now()}
	if !t.IsAnimated {
		p.next = p.next.Add(lineEvery)
	}
	return p
}

func (p *progress) set(done int, remark string) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	if remark != "" {
		remark = ", " + remark
	}
	text := fmt.Sprintf("%s: %d%s", p.what, done, remark)
	switch {
	case p.IsAnimated:
		if p.most != Unknown {
			text = p.what + remark + p.bar(done, now)
		}
		p.next = now.Add(barEvery)
		fmt.Fprint(p.Writer, clearLine+runewidth.Truncate(text, p.Width()-1, "…"))
		return
	case p.most != Unknown:
		text = fmt.Sprintf("%s: %d of %d%s", p.what, done, p.most, remark)
	}
	p.next = now.Add(lineEvery)
	fmt.Fprintln(p.Writer, text)
}

// bar draws how much is done, and how long the rest takes if it goes on as fast.
func (p *progress) bar(done int, now time.Time) string {
	width := barWidth(p.Width())
	part := min(1, float64(done)/float64(max(1, p.most)))
	full := int(part * float64(width))
	text := fmt.Sprintf(" %3.0f%% |%s%s| (%d/%d)", 100*part, strings.Repeat("█", full), strings.Repeat(" ", width-full), done, p.most)
	if part > 0 {
		left := time.Duration(float64(now.Sub(p.begun)) * (1 - part) / part)
		text += fmt.Sprintf(" %v left", left.Round(time.Second))
	}
	return text
}

// barWidth leaves the description and the counts their place on the line.
func barWidth(columns int) int { return min(30, max(5, columns-60)) }

// clear takes what moves from the line until it is set again.
func (p *progress) clear() {
	if p.IsAnimated {
		fmt.Fprint(p.Writer, clearLine)
		p.next = time.Time{}
	}
}

// Console shares the one standard input between questions to the player and
// Enter pressed unasked.
type Console struct {
	*Screen
	in    *bufio.Reader
	idle  func(line string) // one that was typed while nothing was asked
	ended func()            // nobody can press anything any more
	begun sync.Once
	// Answer puts questions to the person in place of the input, which is not read then;
	// nil leaves that as it is.
	Answer func(ctx context.Context, question string) (answer string, ok bool)

	mu        sync.Mutex // guards following
	listening bool
	asking    chan string // who waits for the next line, or nil
	closed    bool
}

// NewConsole is a console that has read nothing yet.
func NewConsole(in io.Reader, s *Screen, idle func(line string), ended func()) *Console {
	return &Console{Screen: s, in: bufio.NewReader(in), idle: idle, ended: ended}
}

// Listen reads lines in the background for as long as the program runs: a read of
// standard input cannot be called back. Until then a line is read for each
// question only, so that what was piped in ahead of it is its answer.
func (c *Console) Listen() {
	if c.Answer != nil {
		return
	}
	c.begun.Do(func() {
		c.mu.Lock()
		c.listening = true
		c.mu.Unlock()
		go func() {
			for c.read() {
			}
		}()
	})
}

// read takes the next line to whoever waits for it, and reports whether there was
// one.
func (c *Console) read() bool {
	text, err := c.in.ReadString('\n')
	c.mu.Lock()
	c.closed = err != nil && text == ""
	asking, closed := c.asking, c.closed
	c.asking = nil
	c.mu.Unlock()
	if asking != nil {
		if !closed {
			asking <- strings.TrimSpace(text)
		}
		close(asking)
	} else if !closed {
		c.idle(strings.TrimSpace(text))
	}
	if closed {
		c.ended()
	}
	return !closed
}

// Ask puts a question. ok is false if nobody can answer any more.
func (c *Console) Ask(ctx context.Context, question string) (answer string, ok bool) {
	if c.Answer != nil {
		return c.Answer(ctx, question)
	}
	asking := make(chan string, 1)
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return "", false
	}
	c.asking = asking
	listening := c.listening
	c.mu.Unlock()
	c.ask(question)
	if !listening {
		go c.read()
	}
	defer func() { c.unask(ok) }()
	select {
	case answer, ok = <-asking:
	case <-ctx.Done():
		c.mu.Lock()
		if c.asking == asking { // the next line is not meant for it
			c.asking = nil
		}
		c.mu.Unlock()
	}
	return answer, ok
}

// Yes reports whether an answer is that of someone who presses Enter or says so.
func Yes(answer string) bool {
	switch strings.ToLower(answer) {
	case "", "y", "yes", "j", "ja":
		return true
	}
	return false
}
