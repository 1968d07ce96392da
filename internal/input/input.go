// Package input reads the files that users name: as they are or gzipped, and
// standard input by the name -.
package input

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"syscall"
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
		return opened{plain, from}, nil
	}
	text, err := gzip.NewReader(plain)
	if err != nil {
		from.Close()
		return nil, err
	}
	return opened{text, from}, nil
}
