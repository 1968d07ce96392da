package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
)

// console shares the one standard input between questions to the player and
// the organiser's Enter.
type console struct {
	out io.Writer

	mu     sync.Mutex // guards following
	asking chan string
	idle   func(line string)
	ended  bool
}

// newConsole reads lines in the background for as long as the program runs: a
// read of standard input cannot be called back.
func newConsole(in io.Reader, out io.Writer, idle func(line string)) *console {
	c := &console{out: out, idle: idle}
	go c.read(in)
	return c
}

func (c *console) read(in io.Reader) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		c.line(strings.TrimSpace(lines.Text()))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.asking != nil {
		close(c.asking)
		c.asking = nil
	}
}

func (c *console) line(text string) {
	c.mu.Lock()
	asking := c.asking
	c.asking = nil
	c.mu.Unlock()
	if asking != nil {
		asking <- text
		return
	}
	c.idle(text)
}

// ask puts a question. ok is false if nobody can answer any more.
func (c *console) ask(ctx context.Context, question string) (answer string, ok bool) {
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return "", false
	}
	asking := make(chan string, 1)
	c.asking = asking
	c.mu.Unlock()
	fmt.Fprint(c.out, question)
	select {
	case answer, ok = <-asking:
		return answer, ok
	case <-ctx.Done():
		return "", false
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
