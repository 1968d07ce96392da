package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
)

// News is what a notification says. As long as it is not written, newer news of the same kind
// replaces it.
type News interface {
	// After returns the news in place of older news that nobody has read.
	After(older News) News
}

// MaxUnread bounds the answers that nobody has read, in bytes: while they have as many, no more is begun.
// The longest single answers have some megabytes.
const MaxUnread = 32 << 20

// Outbox writes messages, and keeps what nobody reads in bounded memory: each answer, and one
// notification of each kind.
type Outbox struct {
	w io.Writer

	mu     sync.Mutex // guards what follows
	queue  []*item
	kinds  map[string]*item // notifications in the queue
	unread int              // bytes of the answers in the queue
	isOff  bool
	wake   chan struct{}
	wrote  chan struct{} // for Await
}

type item struct {
	kind    string
	line    []byte // without news
	method  string
	news    News
	written func()
}

// NewOutbox returns an empty outbox. Run writes what it holds.
func NewOutbox(w io.Writer) *Outbox {
	return &Outbox{w: w, kinds: map[string]*item{}, wake: make(chan struct{}, 1), wrote: make(chan struct{}, 1)}
}

// Unread returns how many bytes of answers wait.
func (o *Outbox) Unread() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.unread
}

// Await waits until fewer than MaxUnread bytes of answers wait, or ctx ends. One goroutine at a time
// may wait.
func (o *Outbox) Await(ctx context.Context) {
	for o.Unread() >= MaxUnread {
		select {
		case <-o.wrote:
		case <-ctx.Done():
			return
		}
	}
}

// Answer queues an answer, which [Encode] or [Batch] has written. It calls written when the answer is
// written or given up.
func (o *Outbox) Answer(line []byte, written func()) {
	o.mu.Lock()
	isOff := o.isOff
	if !isOff {
		o.queue = append(o.queue, &item{line: line, written: written})
		o.unread += len(line)
	}
	o.mu.Unlock()
	if isOff {
		written()
	}
	o.rouse()
}

// Notify queues a notification. news replaces what waits of its kind, at that one's place.
func (o *Outbox) Notify(kind, method string, news News) {
	o.mu.Lock()
	if old, waits := o.kinds[kind]; waits {
		old.news = news.After(old.news)
	} else if !o.isOff {
		fresh := &item{kind: kind, method: method, news: news}
		o.kinds[kind], o.queue = fresh, append(o.queue, fresh)
	}
	o.mu.Unlock()
	o.rouse()
}

func (o *Outbox) rouse() { signal(o.wake) }

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// next takes the first message of the queue, and returns nil if there is none.
func (o *Outbox) next() *item {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		return nil
	}
	first := o.queue[0]
	o.queue[0] = nil
	if o.queue = o.queue[1:]; len(o.queue) == 0 {
		o.queue = nil
	}
	if first.news != nil {
		delete(o.kinds, first.kind)
		first.line = Encode(notification{"2.0", first.method, first.news})
	}
	return first
}

// Run writes until ctx ends and the queue is empty, or until nobody can read any more, which is an
// error.
func (o *Outbox) Run(ctx context.Context) error {
	defer o.giveUp()
	for {
		next := o.next()
		if next == nil {
			select {
			case <-o.wake:
				continue
			case <-ctx.Done():
			}
			if next = o.next(); next == nil {
				return nil
			}
		}
		_, err := o.w.Write(next.line)
		if next.written != nil {
			o.mu.Lock()
			o.unread -= len(next.line)
			o.mu.Unlock()
			signal(o.wrote)
			next.written()
		}
		if err != nil {
			return err
		}
	}
}

// Encode returns a message as a line. An answer that is no JSON, such as one with a number that is
// not finite, becomes an error; other news is left out.
func Encode(message any) []byte {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line) // it ends the line
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(message)
	if err == nil {
		return line.Bytes()
	}
	if a, is := message.(answer); is {
		return Encode(Failure(a.ID, Errorf(InternalError, "%v", err)))
	}
	return nil
}

// Batch returns the lines of several answers as the one answer to a batch.
func Batch(answers [][]byte) []byte {
	for i, one := range answers {
		answers[i] = bytes.TrimSuffix(one, []byte("\n"))
	}
	return append(append([]byte{'['}, bytes.Join(answers, []byte{','})...), "]\n"...)
}

// giveUp drops what waits, and everything that follows.
func (o *Outbox) giveUp() {
	o.mu.Lock()
	queue := o.queue
	o.queue, o.unread, o.isOff = nil, 0, true
	clear(o.kinds)
	o.mu.Unlock()
	for _, one := range queue {
		if one.written != nil {
			one.written()
		}
	}
}
