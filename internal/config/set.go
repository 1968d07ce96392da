package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Set is the text of a file with some values changed that stand before its tables; an
// empty one is taken out. All else stays as people wrote it. What is a number or a truth is written as such.
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

// written is a value as TOML has it.
func written(value string) string {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && strconv.FormatInt(n, 10) == value || value == "true" || value == "false" {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
