// Package config reads and changes the user's defaults for commands: config.toml has a table of values, and another for
// each command that has many. The environment overrides it. Errors name the line of the mistake.
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
	"strconv"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"muster/discovery"
	"muster/internal/input"
	"muster/internal/slip"
	"muster/internal/tomlerr"
)

// maxFile is the largest file that is read, in bytes.
const maxFile = 1 << 16

// Value is a setting in the file: the texts that its flag would take, and its line. A list has one text for each
// value, or none.
type Value struct {
	Texts []string
	Line  int
}

// Known are the keys of each table that a reader knows; the file's own table is "". Tables without an entry belong to
// other commands, and Read skips them.
type Known map[string][]string

// Error says what is wrong in the file, and where.
type Error struct {
	File string
	Line int // 0 if the error has no line
	Err  error
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Read reads a file of known keys. It returns the values by key, with the table's name in front. Errors call the file
// by name, and are [*Error]s: one for the whole file, or one for each wrong key, joined. Then the values are those of
// the other keys.
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
		if wrong, is := errors.AsType[*toml.DecodeError](err); is {
			line, why := tomlerr.Explain(string(text), wrong)
			return nil, &Error{name, line, errors.New(why)}
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
				err = errors.Join(err, &Error{name, line, unknownKey(key, table, known)})
				continue
			}
			texts, is := textsOf(tables[table][key])
			if !is {
				err = errors.Join(err, &Error{name, line, fmt.Errorf("%s: one value is wanted, such as %s = \"…\"", key, key)})
				continue
			}
			values[strings.TrimPrefix(table+"."+key, ".")] = Value{texts, line}
		}
	}
	return values, err
}

// unknownKey says what somebody may have meant by a key that a table does not have.
func unknownKey(key, table string, known Known) error {
	meant := ""
	for other, keys := range known {
		if other != table && slices.Contains(keys, key) {
			meant = ": it belongs below [" + other + "]"
			if other == "" {
				meant = ": it belongs above the first [ ]"
			}
		}
	}
	if near := slip.Near(key, known[table]); near != "" {
		meant = ": did you mean " + near + "?"
	}
	return fmt.Errorf("unknown key %q%s", discovery.CleanText(key), meant)
}

// textsOf returns the texts of a value, or of a list of values.
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

// lineOf returns the line of a key in a table. Each key occurs once, or the decoder would have failed. An unusual
// spelling of the key gives 0.
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

// Set changes values that stand before the file's tables, and returns the new text. An empty value removes its line.
// The rest stays as people wrote it. Numbers and booleans are written without quotes.
func Set(text string, changes map[string]string) (string, error) {
	var lines []string
	if text != "" {
		lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	var tables []string
	if first := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "[") }); first >= 0 {
		lines, tables = slices.Clip(lines[:first]), lines[first:]
	}
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		value := changes[key]
		if strings.ContainsFunc(value, unicode.IsControl) {
			return "", fmt.Errorf("config: %s: one line of text is wanted", key)
		}
		own := regexp.MustCompile(`^\s*` + regexp.QuoteMeta(key) + `\s*=`)
		at := slices.IndexFunc(lines, own.MatchString)
		line := key + " = " + written(value)
		switch {
		case value == "" && at >= 0:
			lines = slices.Delete(lines, at, at+1)
		case value == "":
		case at >= 0:
			lines[at] = line
		default:
			lines = append(lines, line)
		}
	}
	if lines = append(lines, tables...); len(lines) == 0 {
		return "", nil
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// written returns a value in TOML's notation.
func written(value string) string {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && strconv.FormatInt(n, 10) == value || value == "true" || value == "false" {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
