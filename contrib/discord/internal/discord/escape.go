package discord

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is how many letters of a name are shown. Only the two longest names of servers have more.
const maxName = 100

// Escape escapes a text with strangers' words so that Discord shows it literally: no bold, link, mention or emoji. A
// backslash before ASCII punctuation is Markdown's own way, and it also breaks the beginning of a URL. Control
// characters, and those that turn the direction of writing, are left out.
func Escape(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case unicode.IsSpace(c):
			c = ' '
		case c == utf8.RuneError || !unicode.IsPrint(c):
			continue
		case c < utf8.RuneSelf && !isAlphanumeric(c):
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// EscapeName escapes a name and shortens it.
func EscapeName(name string) string { return Escape(Cut(name, maxName)) }

func isAlphanumeric(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Cut cuts a text to a number of letters.
func Cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
