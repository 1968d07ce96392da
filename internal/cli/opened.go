package cli

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"syscall"
)

// opened is a file that is read, unpacked if need be.
type opened struct {
	io.Reader
	io.Closer
}

// standardInput is the name by which standard input is read.
const standardInput = "-"

// fileName is what people call a file.
func fileName(name string) string {
	if name == standardInput {
		return "standard input"
	}
	return name
}

// open opens a file, or in by its name, as it is or gzipped.
func open(name string, in io.Reader) (*opened, error) {
	if name == standardInput {
		return unpacked(in, io.NopCloser(in))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, &os.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	}
	return unpacked(f, f)
}

// unpacked is what r reads, which closes with c.
func unpacked(r io.Reader, c io.Closer) (*opened, error) {
	plain := bufio.NewReader(r)
	if magic, _ := plain.Peek(2); string(magic) != "\x1f\x8b" {
		return &opened{plain, c}, nil
	}
	text, err := gzip.NewReader(plain)
	if err != nil {
		c.Close()
		return nil, err
	}
	return &opened{text, c}, nil
}
