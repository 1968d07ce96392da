package webhook

import (
	"strings"
	"unicode/utf8"

	"muster/discovery"
)

// maxName is how many letters of a name are shown. Only the two longest names of servers have more.
const maxName = 100

// escape escapes a stranger's text so that Discord shows it literally: no bold, link, mention or emoji. A backslash
// before ASCII punctuation is Markdown's own way, and it also breaks the beginning of a URL. Control characters, and
// those that turn the direction of writing, are left out.
func escape(text string) string {
	var b strings.Builder
	for _, c := range cut(discovery.CleanText(text), maxName) {
		if c > ' ' && c < utf8.RuneSelf && !isAlphanumeric(c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func isAlphanumeric(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// cut cuts a text to a number of letters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
