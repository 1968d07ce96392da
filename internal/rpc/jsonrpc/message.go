package jsonrpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Codes of errors. The first five are those of JSON-RPC 2.0, section 5.1. The last is the one that
// the Language Server Protocol has for a request that its caller has cancelled.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	MethodNotFound = -32601
	InvalidParams  = -32602
	InternalError  = -32603
	Cancelled      = -32800
)

// MaxBatch is the largest number of calls in a batch.
const MaxBatch = 50

// maxID is the longest ID, in bytes.
const maxID = 256

// Call is a request, or a notification if it has no ID.
type Call struct {
	// ID is a string, a number or null as it was written; nil in a notification.
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	// Wrong says why it is no call; nil for a call.
	Wrong *Error
}

// Error is an error as an answer has it.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Errorf returns an error without data.
func Errorf(code int, format string, a ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, a...)}
}

// null is the ID of an answer to something that has none.
var null = json.RawMessage("null")

// Parse reads a line. A call that is wrong says why, and has an ID to answer with.
func Parse(line []byte) (calls []Call, isBatch bool) {
	if !json.Valid(line) {
		why := Errorf(ParseError, "this line is no JSON")
		if bytes.HasPrefix(bytes.ToLower(line), []byte("content-")) {
			why = Errorf(ParseError, "a message is one line of JSON, without headers such as Content-Length")
		}
		return []Call{{ID: null, Wrong: why}}, false
	}
	if line[0] != '[' {
		return []Call{parse(line)}, false
	}
	var batch []json.RawMessage
	switch err := json.Unmarshal(line, &batch); {
	case err != nil: // too deep
		return []Call{{ID: null, Wrong: Errorf(ParseError, "%v", err)}}, false
	case len(batch) == 0:
		return []Call{{ID: null, Wrong: Errorf(InvalidRequest, "an empty batch asks nothing")}}, false
	case len(batch) > MaxBatch:
		return []Call{{ID: null, Wrong: Errorf(InvalidRequest, "a batch has at most %d calls, and this one has %d", MaxBatch, len(batch))}}, false
	}
	for _, one := range batch {
		calls = append(calls, parse(one))
	}
	return calls, true
}

// parse reads one call. Names count as they are written: encoding/json would take Method for method.
func parse(text json.RawMessage) Call {
	wrong := func(id json.RawMessage, why string) Call {
		if id == nil {
			id = null
		}
		return Call{ID: id, Wrong: Errorf(InvalidRequest, "%s", why)}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil || members == nil {
		return wrong(nil, "a call is an object")
	}
	c := Call{ID: members["id"], Params: members["params"]}
	if len(c.ID) > 0 && (c.ID[0] == '{' || c.ID[0] == '[' || c.ID[0] == 't' || c.ID[0] == 'f') || len(c.ID) > maxID {
		return wrong(nil, "an id is a text or a number, and is short")
	}
	var version string
	if json.Unmarshal(members["jsonrpc"], &version) != nil || version != "2.0" {
		return wrong(c.ID, `"jsonrpc" has to be "2.0"`)
	}
	if json.Unmarshal(members["method"], &c.Method) != nil || c.Method == "" {
		return wrong(c.ID, `"method" has to name a method`)
	}
	if len(c.Params) > 0 && c.Params[0] != '{' && c.Params[0] != '[' {
		return wrong(c.ID, `"params" has to be an object`)
	}
	return c
}

type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Result returns the answer to a call that worked. A result of nil is null.
func Result(id json.RawMessage, result any) any {
	if result == nil {
		result = null
	}
	return answer{Version: "2.0", ID: id, Result: result}
}

// Failure returns the answer to a call that did not work.
func Failure(id json.RawMessage, why *Error) any { return answer{Version: "2.0", ID: id, Error: why} }

// IDOf returns the ID of an answer.
func IDOf(message any) json.RawMessage { return message.(answer).ID }

type notification struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// MaxLine is the longest line that is read, in bytes. A list of 20,000 servers takes half of it.
const MaxLine = 1 << 20

// ErrTooLong says that a line was longer than MaxLine. It was skipped.
var ErrTooLong = fmt.Errorf("jsonrpc: a line has more than %d bytes", MaxLine)

// Lines reads lines, and never keeps more than one of them. A byte-order mark before the first one, as
// PowerShell writes it, is no part of it.
type Lines struct {
	r       *bufio.Reader
	line    []byte
	hasRead bool
}

// NewLines returns the lines of a reader.
func NewLines(r io.Reader) *Lines { return &Lines{r: bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next line that is not blank. It is valid until the next call. After ErrTooLong,
// the line after the long one follows.
func (l *Lines) Next() ([]byte, error) {
	for {
		line, err := l.next()
		if !l.hasRead {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
			l.hasRead = true
		}
		if line = bytes.TrimSpace(line); err != nil || len(line) > 0 {
			return line, err
		}
	}
}

func (l *Lines) next() ([]byte, error) {
	l.line = l.line[:0]
	for isLong := false; ; {
		part, err := l.r.ReadSlice('\n')
		if isLong = isLong || len(l.line)+len(part) > MaxLine+len("\r\n"); !isLong {
			l.line = append(l.line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && !isLong && len(l.line) > 0 && errors.Is(err, io.EOF): // the last line has no end
			return l.line, nil
		case err != nil:
			return nil, err
		case isLong:
			l.line = nil
			return nil, ErrTooLong
		default:
			return l.line, nil
		}
	}
}
