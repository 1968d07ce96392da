package game

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"muster/discovery"
)

// quoteTrouble returns what is wrong with the quotation marks in a row of TOML, or nothing. The decoder's own messages
// name a character, and not what people forgot.
func quoteTrouble(row string) string {
	rest := strings.TrimSpace(row)
	if key, value, found := strings.Cut(rest, "="); found && !strings.ContainsAny(key, `"'`) {
		rest = value
	} else if strings.HasPrefix(rest, "[") { // the head of an entry
		return ""
	}
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
			}
			rest = after
		case strings.ContainsRune("“”„‟«»‘’‚「『", first):
			return fmt.Sprintf(`%c is no quotation mark here: write "`, first)
		case unicode.IsLetter(first):
			word := strings.TrimSpace(strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(",]#", r) })[0])
			if strings.HasSuffix(word, `"`) || strings.HasSuffix(word, "'") {
				return fmt.Sprintf("a quotation mark is missing before %s", short(word))
			}
			if !slices.Contains([]string{"true", "false", "inf", "nan"}, word) {
				return fmt.Sprintf(`a text stands in quotation marks: "%s"`, discovery.CleanText(word))
			}
			rest = rest[len(word):]
		default: // a number or a date
			end := strings.IndexAny(rest, " \t,]}#")
			if end < 0 {
				return ""
			}
			rest = rest[end:]
			if unicode.IsDigit(firstRune(strings.TrimLeft(rest, " \t"))) {
				return ""
			}
		}
	}
}

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
