package term

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"

	"muster/discovery/sentence"
	"muster/internal/catalogue"
)

// Screen prints lines on a terminal. A progress bar or a question stays below them. Several
// goroutines may call its methods.
type Screen struct {
	Terminal
	// Language is what its reader reads.
	Language *catalogue.Language

	mu       sync.Mutex // guards what follows
	progress *progress
	question string
	// prompt says what Enter does while nothing is asked, if it does something.
	prompt string
}

// NewScreen returns an empty screen.
func NewScreen(t Terminal, l *catalogue.Language) *Screen { return &Screen{Terminal: t, Language: l} }

// Words returns a sentence of the catalogue in the reader's language; see [catalogue.Language.Words].
func (s *Screen) Words(key string, pairs ...any) string { return s.Language.Words(key, pairs...) }

// Tell writes a sentence of the catalogue and wraps its lines.
func (s *Screen) Tell(key string, pairs ...any) { s.Print(sentence.Of(key, pairs...)) }

// Print writes a sentence and wraps its lines, except indented ones, which are for pasting.
func (s *Screen) Print(what sentence.Sentence) {
	lines := strings.Split(s.Language.Say(what), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, " ") {
			lines[i] = s.Wrap(line, 0)
		}
	}
	s.Say("%s", strings.Join(lines, "\n"))
}

// Say writes a line.
func (s *Screen) Say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintf(s.Writer, format+"\n", args...)
	fmt.Fprint(s.Writer, s.question)
}

// clearLine erases the terminal's last line.
const clearLine = "\r\x1b[K"

// clear erases the bar or the question to make room for a line.
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

// ask shows a question, which stays the last line.
func (s *Screen) ask(question string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.question = question
	fmt.Fprint(s.Writer, question)
}

// Prompt writes a line that says what Enter does. Questions use Enter, too, so the line comes after an
// open one, and again after each that follows. An empty text says that Enter does nothing any more.
func (s *Screen) Prompt(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prompt = text; text != "" && s.question == "" {
		s.clear()
		fmt.Fprintln(s.Writer, text)
	}
}

// unask removes the question. If somebody answered it on a terminal, Enter has already ended its
// line.
func (s *Screen) unask(answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !answered || !s.IsTerminal {
		s.clear()
	}
	if s.question = ""; s.prompt != "" {
		fmt.Fprintln(s.Writer, s.prompt)
	}
}

// Unknown is the number of steps when the total is unknown.
const Unknown = -1

// Moves shows progress with a remark such as "812 answered", both in the reader's language: a bar on a
// terminal, occasional lines elsewhere. It skips steps that follow too closely.
func (s *Screen) Moves(what string, done, most int, remark string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.progress == nil {
		s.progress = newProgress(s, what, most)
	}
	s.progress.set(done, remark)
}

// Rests removes the bar.
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
	// barEvery is how often a bar moves. Without a bar, a line shows the progress every lineEvery.
	barEvery  = 100 * time.Millisecond
	lineEvery = 5 * time.Second
)

// progress is the state of a progress bar.
type progress struct {
	Terminal
	language *catalogue.Language
	what     string
	most     int
	begun    time.Time
	next     time.Time // when it may be shown again
}

func newProgress(s *Screen, what string, most int) *progress {
	p := &progress{Terminal: s.Terminal, language: s.Language, what: what, most: most, begun: time.Now(), next: time.Now()}
	if !s.IsAnimated {
		p.next = p.next.Add(lineEvery)
	}
	return p
}

func (p *progress) set(done int, remark string) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	what := sentence.Of("term.done", "what", p.what, "n", done)
	switch {
	case p.most == Unknown:
	case p.IsAnimated:
		what = sentence.Plain(p.what)
	default:
		what = sentence.Of("term.done-of", "what", p.what, "n", done, "all", p.most)
	}
	if remark != "" {
		what = sentence.Of("term.remark", "what", what, "remark", remark)
	}
	text := p.language.Say(what)
	if !p.IsAnimated {
		p.next = now.Add(lineEvery)
		fmt.Fprintln(p.Writer, text)
		return
	}
	if p.most != Unknown {
		text += p.bar(done, now)
	}
	p.next = now.Add(barEvery)
	fmt.Fprint(p.Writer, clearLine+runewidth.Truncate(text, p.Width()-1, "…"))
}

// bar draws how much is done, and how long the rest takes at this pace.
func (p *progress) bar(done int, now time.Time) string {
	width := barWidth(p.Width())
	part := min(1, float64(done)/float64(max(1, p.most)))
	full := int(part * float64(width))
	text := fmt.Sprintf(" %3.0f%% |%s%s| (%d/%d)", 100*part, strings.Repeat("█", full), strings.Repeat(" ", width-full), done, p.most)
	if part > 0 {
		left := time.Duration(float64(now.Sub(p.begun)) * (1 - part) / part)
		text += " " + p.language.Words("term.left", "time", brief(left))
	}
	return text
}

// brief returns a duration in few columns.
func brief(d time.Duration) sentence.Sentence {
	if d < time.Minute {
		return sentence.Of("unit.s", "n", int(d.Round(time.Second)/time.Second))
	}
	return sentence.Of("unit.min", "n", int(d.Round(time.Minute)/time.Minute))
}

// barWidth leaves room for the description and the counts on the line.
func barWidth(columns int) int { return min(30, max(5, columns-60)) }

// clear erases the bar until it is drawn again.
func (p *progress) clear() {
	if p.IsAnimated {
		fmt.Fprint(p.Writer, clearLine)
		p.next = time.Time{}
	}
}

// Console reads the standard input. It gives each line either to a question or to whoever wants
// lines that nobody asked for.
type Console struct {
	*Screen
	in    *bufio.Reader
	idle  func(line string) // receives a line that was typed while nothing was asked
	ended func()            // is called when the input has ended
	begun sync.Once
	// Answer answers questions instead of the input, which is then not read; nil reads the input.
	Answer func(ctx context.Context, question string) (answer string, ok bool)
	// turn belongs to the question that is asked: people answer one at a time.
	turn chan struct{}

	mu        sync.Mutex // guards what follows
	listening bool
	asking    chan string // receives the next line, or nil
	closed    bool
}

// NewConsole returns a console that has read nothing yet.
func NewConsole(in io.Reader, s *Screen, idle func(line string), ended func()) *Console {
	return &Console{Screen: s, in: bufio.NewReader(in), idle: idle, ended: ended, turn: make(chan struct{}, 1)}
}

// Listen reads lines in the background until the program ends, because a read of standard input
// cannot be cancelled. Before Listen, each question reads one line, so that input piped in ahead
// answers it.
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

// read passes the next line to the question that waits for it, or to idle. It reports whether there
// was a line.
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

// Ask asks a question, after those that are asked already. ok is false if nobody can answer any more.
func (c *Console) Ask(ctx context.Context, question string) (answer string, ok bool) {
	if c.Answer != nil {
		return c.Answer(ctx, question)
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return "", false
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
		if c.asking == asking { // the next line is not an answer to it
			c.asking = nil
		}
		c.mu.Unlock()
	}
	return answer, ok
}

// Yes reports whether an answer is Enter alone, or a yes in English or in the reader's language.
func (s *Screen) Yes(answer string) bool {
	yes := append(strings.Fields(s.Words("term.yes")), "", "y", "yes", "j", "ja")
	return slices.Contains(yes, strings.ToLower(answer))
}
