// Package config reads what the user has commands take for granted: config.toml, a
// table of values and one more for each command that has many, whose mistakes it tells by
// their lines.
//
//	name = "ann"                         name
//	[serve]
//	trusted_proxy = ["10.0.0.1", …]      serve.trusted_proxy
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
	"muster/internal/input"
)

// maxFile is the largest file, in bytes, that is read.
const maxFile = 1 << 16

// Value is what stands in the file, as a flag takes it, and in which line. Where a list
// stands it is its values, of which there may be none.
type Value struct {
	Texts []string
	Line  int
}

// Known are the keys of each table that a reader knows, that of the file itself being "".
// Those of a table without any are passed over: they are for another command.
type Known map[string][]string

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

// Read reads a file of known keys, which are returned with the name of their table before
// them; name is what errors call the file. Errors are [*Error]s.
func Read(from io.Reader, name string, known Known) (map[string]Value, error) {
	text, err := io.ReadAll(io.LimitReader(input.Text(from), maxFile+1))
	switch {
	case err != nil:
		return nil, &Error{File: name, Err: err}
	case len(text) > maxFile:
		return nil, &Error{File: name, Err: fmt.Errorf("%w: over %d bytes", discovery.ErrMalformed, maxFile)}
	}
	var file map[string]any
	if err := toml.Unmarshal(text, &file); err != nil {
		var wrong *toml.DecodeError
		if errors.As(err, &wrong) {
			line, _ := wrong.Position()
			return nil, &Error{name, line, errors.New(strings.TrimPrefix(wrong.Error(), "toml: "))}
		}
		return nil, &Error{File: name, Err: errors.New(strings.TrimPrefix(err.Error(), "toml: "))}
	}
	tables := map[string]map[string]any{"": file}
	for key := range known {
		if inner, is := file[key].(map[string]any); is {
			tables[key] = inner
			delete(file, key)
		}
	}
	values := map[string]Value{}
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		if len(known[table]) == 0 {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(tables[table])) {
			line := lineOf(string(text), table, key)
			if !slices.Contains(known[table], key) {
				return nil, &Error{name, line, fmt.Errorf("unknown key %q: known are %s", discovery.CleanText(key), strings.Join(known[table], ", "))}
			}
			texts, is := textsOf(tables[table][key])
			if !is {
				return nil, &Error{name, line, fmt.Errorf("%s: one value is wanted, such as %s = \"…\"", key, key)}
			}
			values[strings.TrimPrefix(table+"."+key, ".")] = Value{texts, line}
		}
	}
	return values, nil
}

// textsOf are the texts of a value, or of a list of values.
func textsOf(value any) (texts []string, is bool) {
	switch value := value.(type) {
	case string, bool, int64, float64:
		return []string{fmt.Sprint(value)}, true
	case []any:
		texts = []string{}
		for _, one := range value {
			if _, isList := one.([]any); isList {
				return nil, false
			}
			inner, is := textsOf(one)
			if !is {
				return nil, false
			}
			texts = append(texts, inner...)
		}
		return texts, true
	}
	return nil, false
}

// lineOf is where a key of a table stands: each is there once, or the decoder would have
// said so. It is 0 where the key is written in another way.
func lineOf(text, table, key string) int {
	begins := regexp.MustCompile(`^\s*(\[+\s*)?["']?` + regexp.QuoteMeta(key) + `["']?\s*[=.\]]`)
	header := regexp.MustCompile(`^\s*\[\s*["']?` + regexp.QuoteMeta(table) + `["']?\s*\]`)
	n, isIn := 0, table == ""
	for line := range strings.Lines(text) {
		if n++; isIn && begins.MatchString(line) {
			return n
		}
		isIn = isIn || header.MatchString(line)
	}
	return 0
}
