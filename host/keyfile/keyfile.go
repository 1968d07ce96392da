// Package keyfile reads the files in which an operator keeps keys: a line each, of words with spaces
// between them. # begins a comment.
package keyfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// Min is the least length of a key or secret, in bytes: nobody guesses so many.
	Min = 20
	// longestLine bounds a line, in bytes.
	longestLine = 1 << 10
)

// EachLine calls take with the words of each line that has some. The error has all mistakes: it names
// their lines, and says what take says.
func EachLine(from io.Reader, take func(words []string) error) (err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, longestLine), longestLine)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if wrong := take(words); wrong != nil {
			err = errors.Join(err, fmt.Errorf("line %d: %w", n, wrong))
		}
	}
	return errors.Join(err, lines.Err())
}
