package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// row is a fault: in a file, an old text becomes a new one. Name says what breaks. A file of rows is text:
//
//	the choice is told before it is kept
//	host/saving.go
//	-	case !away && trusted:
//	+	default:
//
// A row ends with an empty line, lines with # are comments, and an old or new text without a sign is none.
type row struct{ name, file, before, after string }

// parseRows reads a file of rows.
func parseRows(text string) (rows []row, err error) {
	for block := range strings.SplitSeq(text, "\n\n") {
		r, signed := row{}, map[byte][]string{}
		for line := range strings.SplitSeq(block, "\n") {
			switch {
			case line == "" || line[0] == '#':
			case line[0] == '-' || line[0] == '+':
				signed[line[0]] = append(signed[line[0]], line[1:])
			case r.name == "":
				r.name = line
			case r.file == "":
				r.file = line
			default:
				return nil, fmt.Errorf("%s: a line without a sign: %s", r.name, line)
			}
		}
		if r.before, r.after = strings.Join(signed['-'], "\n"), strings.Join(signed['+'], "\n"); r.before != "" {
			rows = append(rows, r)
		} else if r.name != "" {
			return nil, fmt.Errorf("%s: no old text", r.name)
		}
	}
	return rows, nil
}

// String writes a row as parseRows reads it.
func (r row) String() string {
	signed := func(sign, text string) string {
		if text == "" {
			return ""
		}
		return sign + strings.ReplaceAll(text, "\n", "\n"+sign) + "\n"
	}
	return r.name + "\n" + r.file + "\n" + signed("-", r.before) + signed("+", r.after) + "\n"
}

// apply returns a file's text with the fault. A row is stale unless its old text is there once.
func (r row) apply(text string) (string, error) {
	if n := strings.Count(text, r.before); n != 1 {
		return "", fmt.Errorf("stale: the old text is in %s %d times", r.file, n)
	}
	return strings.Replace(text, r.before, r.after, 1), nil
}

// overlay writes the fault into a folder, and returns the file that makes the go command read it.
func (r row) overlay(root, folder string) (file string, err error) {
	whole, changed := filepath.Join(root, r.file), filepath.Join(folder, "changed.go")
	text, err := os.ReadFile(whole)
	if err != nil {
		return "", err
	}
	other, err := r.apply(string(text))
	file = filepath.Join(folder, "overlay.json")
	return file, cmp.Or(err, os.WriteFile(changed, []byte(other), 0o644),
		os.WriteFile(file, fmt.Appendf(nil, `{"Replace": {%q: %q}}`, whole, changed), 0o644))
}
