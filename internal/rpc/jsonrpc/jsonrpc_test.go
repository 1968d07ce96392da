package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestParse checks which lines are calls, and what is wrong with the others.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		line    string
		id      string // of the first call; empty for none
		method  string
		code    int
		isBatch bool
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"hello"}`, "1", "hello", 0, false},
		{`{"jsonrpc":"2.0","id":"one","method":"hello","params":{}}`, `"one"`, "hello", 0, false},
		{`{"jsonrpc":"2.0","id":-1.5e3,"method":"hello"}`, "-1.5e3", "hello", 0, false},
		{`{"jsonrpc":"2.0","id":null,"method":"hello"}`, "null", "hello", 0, false},
		{`{"jsonrpc":"2.0","method":"hello"}`, "", "hello", 0, false},
		{`{"jsonrpc":"2.0","method":"hello","params":[1]}`, "", "hello", 0, false},
		{`[{"jsonrpc":"2.0","method":"hello"},1]`, "", "hello", 0, true},
		{`[1]`, "null", "", InvalidRequest, true},
		{`[]`, "null", "", InvalidRequest, false},
		{`[` + strings.Repeat("1,", MaxBatch) + `1]`, "null", "", InvalidRequest, false},
		{`{"jsonrpc":"2.0","id":{},"method":"hello"}`, "null", "", InvalidRequest, false},
		{`{"jsonrpc":"2.0","id":true,"method":"hello"}`, "null", "", InvalidRequest, false},
		{`{"jsonrpc":"2.0","id":"` + strings.Repeat("i", maxID) + `","method":"hello"}`, "null", "", InvalidRequest, false},
		{`{"jsonrpc":"1.0","id":7,"method":"hello"}`, "7", "", InvalidRequest, false},
		{`{"id":7,"method":"hello"}`, "7", "", InvalidRequest, false},
		{`{"jsonrpc":"2.0","id":7,"Method":"hello"}`, "7", "", InvalidRequest, false},
		{`{"jsonrpc":"2.0","id":7,"method":1}`, "7", "", InvalidRequest, false},
		{`{"jsonrpc":"2.0","id":7,"method":"hello","params":1}`, "7", "", InvalidRequest, false},
		{`{"jsonrpc":"2.0","id":7,"result":1}`, "7", "", InvalidRequest, false},
		{`null`, "null", "", InvalidRequest, false},
		{`"hello"`, "null", "", InvalidRequest, false},
		{`{"jsonrpc":"2.0","id":1,"method":"hello"`, "null", "", ParseError, false},
		{`hello`, "null", "", ParseError, false},
		{`Content-Length: 52`, "null", "", ParseError, false},
		{strings.Repeat("[", 20000) + strings.Repeat("]", 20000), "null", "", ParseError, false},
	} {
		calls, isBatch := Parse([]byte(c.line))
		if len(calls) == 0 || isBatch != c.isBatch {
			t.Errorf("%.60s: %d calls, a batch: %v", c.line, len(calls), isBatch)
			continue
		}
		code := 0
		if calls[0].Wrong != nil {
			code = calls[0].Wrong.Code
		}
		if string(calls[0].ID) != c.id || code != c.code || code == 0 && calls[0].Method != c.method {
			t.Errorf("%.60s: id %s, method %q, error %v", c.line, calls[0].ID, calls[0].Method, calls[0].Wrong)
		}
	}
}

// endless is a line of a hundred million bytes, and one behind it.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= n
	return n, nil
}

// TestLongLine checks that a line of 100 MB takes no memory, and that the next one is read.
func TestLongLine(t *testing.T) {
	lines := NewLines(io.MultiReader(&endless{100 << 20}, strings.NewReader("\n\r\n  next\r\nlast")))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := lines.Next(); !errors.Is(err, ErrTooLong) {
		t.Fatalf("the long line: %v", err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 8*MaxLine {
		t.Errorf("the long line takes %d bytes", took)
	}
	for _, want := range []string{"next", "last"} {
		if line, err := lines.Next(); string(line) != want || err != nil {
			t.Errorf("then %q, %v, want %q", line, err, want)
		}
	}
	if line, err := lines.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end %q, %v", line, err)
	}
}

// TestLongestLine checks the bound itself, with both ends of a line.
func TestLongestLine(t *testing.T) {
	long := strings.Repeat("x", MaxLine)
	for _, end := range []string{"\n", "\r\n", ""} {
		if line, err := NewLines(strings.NewReader(long + end)).Next(); len(line) != MaxLine || err != nil {
			t.Errorf("before %q: %d bytes, %v", end, len(line), err)
		}
	}
	if _, err := NewLines(strings.NewReader(long + "xyz\n")).Next(); !errors.Is(err, ErrTooLong) {
		t.Errorf("three bytes more: %v", err)
	}
}

// TestByteOrderMark checks that a mark before the first line is none of its text, and one within is.
func TestByteOrderMark(t *testing.T) {
	for input, want := range map[string]string{
		"\ufeff{}\n{}\n": "{}", "\ufeff\n{}\n": "{}", "\ufeff{}": "{}", "{}\n\ufeff{}\n": "{}", "{\"\ufeff\":1}\n": "{\"\ufeff\":1}", "\ufeff\ufeff{}\n": "\ufeff{}",
	} {
		if line, err := NewLines(strings.NewReader(input)).Next(); string(line) != want || err != nil {
			t.Errorf("%q begins with the line %q, %v, want %q", input, line, err, want)
		}
	}
}

// count is a piece of news that counts how many it has replaced.
type count int

func (c count) After(older News) News { return c + older.(count) }

// held is a reader of the output that takes a line at a time.
type held struct {
	lines chan string
	fails bool
}

func (h *held) Write(p []byte) (int, error) {
	if h.fails {
		return 0, io.ErrClosedPipe
	}
	h.lines <- string(p)
	return len(p), nil
}

// TestUnread checks that news which nobody reads is merged, and that answers keep their order.
func TestUnread(t *testing.T) {
	w := &held{lines: make(chan string)}
	o := NewOutbox(w)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- o.Run(ctx) }()
	written := 0
	o.Answer(Encode(Result(json.RawMessage("1"), nil)), func() { written++ })
	first := <-w.lines // Run is between two messages, or waits with one
	for range 1000 {
		o.Notify("a", "state", count(1))
	}
	o.Answer(Encode(Failure(json.RawMessage("2"), Errorf(Cancelled, "over"))), func() { written++ })
	o.Notify("b", "state", count(1))
	for range 1000 {
		o.Notify("a", "state", count(1))
	}
	cancel()
	all, sum := []string{first}, count(0)
	for more := true; more; {
		select {
		case line := <-w.lines:
			all = append(all, line)
			var said struct{ Params count }
			if err := json.Unmarshal([]byte(line), &said); err != nil {
				t.Fatal(err)
			}
			sum += said.Params
		case err := <-done:
			if more = false; err != nil {
				t.Errorf("the end: %v", err)
			}
		}
	}
	if sum != 2001 || len(all) > 6 || written != 2 || all[0] != `{"jsonrpc":"2.0","id":1,"result":null}`+"\n" {
		t.Errorf("%d news in %q, %d answers written", sum, all, written)
	}
	gone := false
	o.Answer(nil, func() { gone = true })
	if o.Notify("a", "state", count(1)); !gone || len(o.queue)+len(o.kinds) > 0 {
		t.Error("after its end the outbox keeps what nobody will read")
	}
}

// TestBroken checks that an outbox whose reader is gone gives up what waits.
func TestBroken(t *testing.T) {
	o := NewOutbox(&held{fails: true})
	given := 0
	for range 3 {
		o.Answer(Encode(Result(json.RawMessage("1"), 1)), func() { given++ })
	}
	if err := o.Run(t.Context()); !errors.Is(err, io.ErrClosedPipe) || given != 3 {
		t.Errorf("%v, %d answers given up", err, given)
	}
}

// TestEncode checks that an answer which is no JSON becomes an error, and news of that kind nothing.
func TestEncode(t *testing.T) {
	if line := Encode(Result(json.RawMessage("1"), func() {})); !bytes.Contains(line, []byte(`"code":-32603`)) {
		t.Errorf("an answer is %s", line)
	}
	if line := Batch([][]byte{Encode(Result(json.RawMessage("1"), 2)), Encode(Result(null, func() {}))}); !json.Valid(line) ||
		!bytes.HasSuffix(line, []byte("]\n")) || bytes.Count(line, []byte("\n")) != 1 {
		t.Errorf("a batch is %q", line)
	}
	if line := Encode(notification{Params: func() {}}); line != nil {
		t.Errorf("news is %s", line)
	}
	if line := Encode(Result(json.RawMessage("1"), "<a&b>\n")); string(line) != `{"jsonrpc":"2.0","id":1,"result":"<a&b>\n"}`+"\n" {
		t.Errorf("a text is %s", line)
	}
}

// FuzzLines checks that any input becomes lines of bounded length, and that each line can be answered.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\"}\n[]\r\n\n[1,{\"id\":{}}]"))
	f.Add([]byte("Content-Length: 7\r\n\r\n{\"id\":\"\\ud800\"}\x00"))
	f.Fuzz(func(t *testing.T, input []byte) {
		lines := NewLines(bytes.NewReader(input))
		for began := time.Now(); time.Since(began) < time.Minute; {
			line, err := lines.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil || len(line) == 0 || len(line) > MaxLine+2 {
				t.Fatalf("a line of %d bytes, %v", len(line), err)
			}
			calls, isBatch := Parse(line)
			if len(calls) == 0 || len(calls) > MaxBatch || len(calls) > 1 && !isBatch {
				t.Fatalf("%q is %d calls", line, len(calls))
			}
			for _, c := range calls {
				switch {
				case c.Wrong != nil && c.ID == nil, c.Wrong == nil && c.Method == "":
					t.Fatalf("%q is the call %+v", line, c)
				case c.ID != nil && !json.Valid(Encode(Result(c.ID, 1))):
					t.Fatalf("%q has the id %q", line, c.ID)
				}
			}
		}
		t.Fatal("the input does not end")
	})
}
