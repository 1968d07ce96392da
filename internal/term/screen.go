package term

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/schollz/progressbar/v3"
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
	if s.progress.line {
		fmt.Fprint(s.Writer, clearLine)
	}
	if s.progress.bar != nil {
		s.progress.bar.Finish()
	}
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
	bar  *progressbar.ProgressBar // nil without a terminal, or without an end
	line bool                     // one line that changes stands in for the bar
	what string
	most int
	next time.Time // when it may be shown again
}

func newProgress(t Terminal, what string, most int) *progress {
	p := &progress{Terminal: t, what: what, most: most, next: time.Now()}
	switch {
	case !t.IsAnimated:
		p.next = p.next.Add(lineEvery)
	case most == Unknown:
		p.line = true
	default:
		p.bar = progressbar.NewOptions(most,
			progressbar.OptionSetWriter(t.Writer),
			progressbar.OptionSetDescription(what),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionSetWidth(barWidth(t.Width())),
			progressbar.OptionEnableColorCodes(t.HasColours),
			progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

// barWidth leaves the description and the counts their place on the line.
func barWidth(columns int) int { return min(30, max(5, columns-60)) }

func (p *progress) set(done int, remark string) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	if remark != "" {
		remark = ", " + remark
	}
	p.next = now.Add(barEvery)
	switch count := strconv.Itoa(done); {
	case p.line:
		fmt.Fprint(p.Writer, clearLine+runewidth.Truncate(p.what+": "+count+remark, p.Width()-1, "…"))
	case p.bar != nil:
		p.bar.Describe(p.what + remark)
		p.bar.Set(done) // an error of the terminal is no reason to stop
	default:
		p.next = now.Add(lineEvery)
		if p.most != Unknown {
			count = fmt.Sprintf("%d of %d", done, p.most)
		}
		fmt.Fprintf(p.Writer, "%s: %s%s\n", p.what, count, remark)
	}
}

// clear takes the bar from the line until it is set again.
func (p *progress) clear() {
	if p.bar == nil && !p.line {
		return
	}
	if p.bar != nil {
		p.bar.Clear()
	} else {
		fmt.Fprint(p.Writer, clearLine)
	}
	p.next = time.Time{}
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
