// Package config reads what the user has commands take for granted: config.toml, a
// flat table of values, whose mistakes it tells by their lines.
package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"muster/discovery"
)

// maxFile is the largest file, in bytes, that is read.
const maxFile = 1 << 16

// Value is what stands in the file, as a flag takes it, and in which line.
type Value struct {
	Text string
	Line int
}

// Error says what is wrong in the file, and where.
type Error struct {
	File string
	Line int // 0 if it is not about one line
	Err  error
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Read reads a file of some known keys; name is what errors call it. Errors are
// [*Error]s.
func Read(from io.Reader, name string, known []string) (map[string]Value, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	switch {
	case err != nil:
		return nil, &Error{File: name, Err: err}
	case len(text) > maxFile:
		return nil, &Error{File: name, Err: fmt.Errorf("%w: over %d bytes", discovery.ErrMalformed, maxFile)}
	}
	var table map[string]any
	if err := toml.Unmarshal(text, &table); err != nil {
		var wrong *toml.DecodeError
		if errors.As(err, &wrong) {
			line, _ := wrong.Position()
			return nil, &Error{name, line, errors.New(strings.TrimPrefix(wrong.Error(), "toml: "))}
		}
		return nil, &Error{File: name, Err: errors.New(strings.TrimPrefix(err.Error(), "toml: "))}
	}
	values := map[string]Value{}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		line := lineOf(string(text), key)
		if !slices.Contains(known, key) {
			return nil, &Error{name, line, fmt.Errorf("unknown key %q: known are %s", discovery.CleanText(key), strings.Join(known, ", "))}
		}
		switch value := table[key].(type) {
		case string, bool, int64, float64:
			values[key] = Value{fmt.Sprint(value), line}
		default:
			return nil, &Error{name, line, fmt.Errorf("%s: one value is wanted, such as %s = \"…\"", key, key)}
		}
	}
	return values, nil
}

// lineOf is where a key of the table stands: each is there once, or the decoder would
// have said so. It is 0 where the key is written in another way.
func lineOf(text, key string) int {
	begins := regexp.MustCompile(`^\s*(\[+\s*)?["']?` + regexp.QuoteMeta(key) + `["']?\s*[=.\]]`)
	n := 0
	for line := range strings.Lines(text) {
		if n++; begins.MatchString(line) {
			return n
		}
	}
	return 0
}
