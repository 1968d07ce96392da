// Package tomlerr says what is wrong with a line of TOML: what people forgot, in place of the character at which the
// decoder stopped.
package tomlerr

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"muster/discovery"
)

// Explain returns the line of a text at which the decoder stopped, and what is wrong in it. The
// decoder's own messages name a character, but not what people forgot.
func Explain(text string, wrong *toml.DecodeError) (line int, why string) {
	line, _ = wrong.Position()
	if rows := strings.Split(text, "\n"); wrong.Key() == nil && line > 0 && line <= len(rows) {
		why = inRow(strings.TrimSpace(rows[line-1]))
	}
	return line, cmp.Or(why, codePoint.ReplaceAllString(strings.TrimPrefix(wrong.Error(), "toml: "), ""))
}

// codePoint is how the decoder names a character before it shows it.
var codePoint = regexp.MustCompile(`U\+[0-9A-F]+ `)

// inRow returns what is wrong with a row, or nothing.
func inRow(row string) string {
	key, value, hasEquals := strings.Cut(row, "=")
	key = strings.TrimSpace(key)
	switch first, then := cutWord(row); {
	case strings.HasPrefix(row, ";"), strings.HasPrefix(row, "//"):
		return "a comment begins with #"
	case strings.HasPrefix(row, "["):
		if !hasEquals && !strings.Contains(row, "]") {
			return "a ] is missing: " + short(row) + "]"
		}
		return ""
	case strings.HasPrefix(row, "{"):
		return ""
	case hasEquals && strings.ContainsAny(key, `"'`):
		return inValues(row)
	case hasEquals && key == "":
		return "the key before = is missing"
	case hasEquals && strings.TrimSpace(value) == "":
		return fmt.Sprintf(`a value is missing: %s = "…"`, short(key))
	case hasEquals && strings.ContainsAny(key, " \t"):
		return fmt.Sprintf("a key is one word, and %q is not", short(key))
	case hasEquals:
		return inValues(value)
	case isKey(first) && then != "" && !strings.ContainsAny(row[len(row)-1:], ",]"):
		return fmt.Sprintf("a = is missing: %s = %s", first, short(then))
	}
	return inValues(row)
}

// cutWord splits a row after its first word, and what may stand there in place of the equals sign.
func cutWord(row string) (word, rest string) {
	if end := strings.IndexAny(row, ": \t"); end > 0 {
		return row[:end], strings.TrimLeft(row[end:], ": \t")
	}
	return row, ""
}

func isKey(word string) bool {
	return !strings.ContainsFunc(word, func(c rune) bool { return c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c) })
}

// truths are the words that people write for true and false.
var truths = map[string]string{"yes": "true", "on": "true", "no": "false", "off": "false", "true": "true", "false": "false"}

// inValues returns what is wrong with the values of a row, or nothing.
func inValues(rest string) string {
	for {
		rest = strings.TrimLeft(rest, " \t,[]{}")
		switch first := firstRune(rest); {
		case rest == "", first == '#':
			return ""
		case first == '"' || first == '\'':
			text, after, isClosed := quoted(rest)
			if !isClosed {
				return fmt.Sprintf("a quotation mark is missing: nothing ends %s", short(rest))
			}
			after = strings.TrimLeft(after, " \t")
			if next := firstRune(after); next == '"' || next == '\'' || unicode.IsLetter(next) {
				if first == '\'' && strings.Contains(after, "'") {
					return fmt.Sprintf(`a text with ' in it stands in double quotation marks: "%s'%s"`, text, strings.TrimRight(after, " '\t,]"))
				}
				return fmt.Sprintf("a quotation mark is missing or too much before %s", short(after))
			} else if next != 0 && !strings.ContainsRune(",]}#=.", next) {
				return fmt.Sprintf("only a comment may follow a value, and not %s", short(after))
			}
			rest = after
		case strings.ContainsRune("“”„‟«»‘’‚「『", first):
			return fmt.Sprintf(`%c is no quotation mark here: write "`, first)
		case unicode.IsLetter(first):
			word := strings.TrimSpace(strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(",]#", r) })[0])
			if strings.HasSuffix(word, `"`) || strings.HasSuffix(word, "'") {
				return fmt.Sprintf("a quotation mark is missing before %s", short(word))
			}
			truth := truths[strings.ToLower(word)]
			if truth != "" && truth != word {
				return fmt.Sprintf("%s is written %s here, without quotation marks", discovery.CleanText(word), truth)
			}
			if text := discovery.CleanText(word); truth == "" && text != "" && word != "inf" && word != "nan" {
				return fmt.Sprintf(`a text stands in quotation marks: "%s"`, text)
			}
			rest = rest[len(word):]
		default: // a number or a date
			end := strings.IndexAny(rest, " \t,]}#")
			if end < 0 {
				end = len(rest)
			}
			if !isNumber(rest[:end]) {
				return fmt.Sprintf(`a text stands in quotation marks: "%s"`, short(rest[:end]))
			}
			rest = rest[end:]
			if unicode.IsDigit(firstRune(strings.TrimLeft(rest, " \t"))) {
				return ""
			}
		}
	}
}

// isNumber reports whether a value can stand without quotation marks: a number, a date or a time.
func isNumber(text string) bool {
	_, noInteger := strconv.ParseInt(text, 0, 64)
	_, noNumber := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return noInteger == nil || noNumber == nil || moment.MatchString(text)
}

var moment = regexp.MustCompile(`^(\d{4}-\d\d-\d\d.*|\d\d:\d\d.*)$`)

// quoted splits a row after the text that it begins with. Of a text over several rows it knows no end.
func quoted(row string) (text, after string, isClosed bool) {
	mark := row[0]
	if strings.HasPrefix(row, strings.Repeat(row[:1], 3)) {
		return row, "", true
	}
	for i := 1; i < len(row); i++ {
		switch {
		case row[i] == '\\' && mark == '"':
			i++
		case row[i] == mark:
			return row[1:i], row[i+1:], true
		}
	}
	return row[1:], "", false
}

// short returns the beginning of a row, as an error quotes it.
func short(row string) string {
	const most = 40 // letters
	text := []rune(discovery.CleanText(strings.TrimSpace(row)))
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

// firstRune returns the first letter of a text, or 0.
func firstRune(text string) rune {
	for _, r := range text {
		return r
	}
	return 0
}
