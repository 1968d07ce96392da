package cli

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
)

// opened is a file that is read, unpacked if need be.
type opened struct {
	io.Reader
	io.Closer
}

// open opens a file, as it is or gzipped.
func open(name string) (*opened, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	plain := bufio.NewReader(f)
	if magic, _ := plain.Peek(2); string(magic) != "\x1f\x8b" {
		return &opened{plain, f}, nil
	}
	unpacked, err := gzip.NewReader(plain)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &opened{unpacked, f}, nil
}
