// Package input reads files that users name, whether plain, gzipped or in Windows' encodings. The name - is standard
// input.
package input

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Standard is the name of standard input.
const Standard = "-"

// Name returns people's name for a file.
func Name(file string) string {
	if file == Standard {
		return "standard input"
	}
	return file
}

// Open opens and unpacks a file, or in if the file is Standard. Errors say what is wrong, but do not name the file.
func Open(file string, in io.Reader) (io.ReadCloser, error) {
	from := io.NopCloser(in)
	if file != Standard {
		f, err := os.Open(file)
		if err != nil {
			return nil, errors.Unwrap(err) // without the *os.PathError, which names the file
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

// Text returns a text file's content in UTF-8 without a byte-order mark. Editors on Windows add
// such a mark. PowerShell's > writes UTF-16.
func Text(r io.Reader) io.Reader {
	return transform.NewReader(r, unicode.BOMOverride(transform.Nop))
}

// FirstLine returns the first line of a text file, which is empty if it is blank.
func FirstLine(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(Text(f))
	first, _, _ := strings.Cut(string(text), "\n")
	if strings.TrimSpace(first) == "" {
		first = ""
	}
	return strings.TrimSuffix(first, "\r"), err
}
