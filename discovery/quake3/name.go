package quake3

import (
	"strings"

	"muster/discovery"
)

// CleanName makes the name of a server or a player fit to show: colour codes go,
// and then what [discovery.CleanText] takes out. A caret and the character after
// it are a colour in Quake III Arena and everything that came of it, save before
// another caret; DarkPlaces adds ^xRGB with three hexadecimal digits.
func CleanName(s string) string { return discovery.CleanText(withoutColours(s)) }

func withoutColours(s string) string {
	before, after, found := strings.Cut(s, "^")
	if !found {
		return s
	}
	var b strings.Builder
	for found {
		b.WriteString(before)
		n := colourLen(after)
		if n == 0 {
			b.WriteByte('^')
		}
		before, after, found = strings.Cut(after[n:], "^")
	}
	b.WriteString(before)
	return b.String()
}

// colourLen is how many bytes after a caret belong to its colour code.
func colourLen(s string) int {
	switch {
	case s == "" || s[0] == '^' || s[0] <= ' ' || s[0] > '~':
		return 0
	case len(s) >= 4 && s[0] == 'x' && isHex(s[1]) && isHex(s[2]) && isHex(s[3]):
		return 4
	}
	return 1
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
