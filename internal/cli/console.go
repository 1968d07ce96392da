package cli

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"
)

// console shares the one standard input between questions to the player and
// the organiser's Enter.
type console struct {
	screen *screen
	in     io.Reader
	idle   func() // Enter while nothing was asked
	ended  func() // nobody can press anything any more
	begun  sync.Once

	mu     sync.Mutex  // guards following
	asking chan string // who waits for the next line, or nil
	closed bool
}

func newConsole(in io.Reader, s *screen, idle, ended func()) *console {
	return &console{screen: s, in: in, idle: idle, ended: ended}
}

// listen reads lines in the background for as long as the program runs: a read of
// standard input cannot be called back.
func (c *console) listen() { c.begun.Do(func() { go c.read(c.in) }) }

func (c *console) read(in io.Reader) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		c.line(strings.TrimSpace(lines.Text()))
	}
	c.mu.Lock()
	c.closed = true
	if c.asking != nil {
		close(c.asking)
		c.asking = nil
	}
	c.mu.Unlock()
	c.ended()
}

func (c *console) line(text string) {
	c.mu.Lock()
	asking := c.asking
	c.asking = nil
	c.mu.Unlock()
	if asking == nil {
		c.idle()
		return
	}
	c.screen.answered()
	asking <- text
}

// ask puts a question. ok is false if nobody can answer any more.
func (c *console) ask(ctx context.Context, question string) (answer string, ok bool) {
	asking := make(chan string, 1)
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return "", false
	}
	c.asking = asking
	c.mu.Unlock()
	c.screen.ask(question)
	defer c.screen.unask()
	select {
	case answer, ok = <-asking:
		return answer, ok
	case <-ctx.Done():
		c.forget(asking)
		return "", false
	}
}

// forget takes a question back: the next line is not meant for it.
func (c *console) forget(asking chan string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asking == asking {
		c.asking = nil
	}
}

// yes is the answer of someone who presses Enter or says so.
func yes(answer string) bool {
	switch strings.ToLower(answer) {
	case "", "y", "yes", "j", "ja":
		return true
	}
	return false
}
