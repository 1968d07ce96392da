package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

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
