// Package input reads the files that users name: as they are, gzipped, or as Windows
// writes text; and standard input by the name -.
package input

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Standard is the name by which standard input is read.
const Standard = "-"

// Name is what people call a file.
func Name(file string) string {
	if file == Standard {
		return "standard input"
	}
	return file
}

// Open opens a file, or in by its name, and unpacks it if need be. Errors say what
// is wrong, not with which file.
func Open(file string, in io.Reader) (io.ReadCloser, error) {
	from := io.NopCloser(in)
	if file != Standard {
		f, err := os.Open(file)
		if err != nil {
			return nil, errors.Unwrap(err) // of the *os.PathError
		}
		if info, err := f.Stat(); err == nil && info.IsDir() {
			f.Close()
			return nil, syscall.EISDIR
		}
		from = f
	}
	type opened struct {
		io.Reader
		io.Closer
	}
	plain := bufio.NewReader(from)
	if magic, _ := plain.Peek(2); string(magic) != "\x1f\x8b" {
		return opened{Text(plain), from}, nil
	}
	text, err := gzip.NewReader(plain)
	if err != nil {
		from.Close()
		return nil, err
	}
	return opened{Text(text), from}, nil
}

// Text is what a file of text says, in UTF-8 without a byte-order mark: editors on Windows
// put one before it, and what PowerShell writes by > is UTF-16.
func Text(r io.Reader) io.Reader {
	return transform.NewReader(r, unicode.BOMOverride(transform.Nop))
}
