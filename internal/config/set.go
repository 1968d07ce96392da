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
