package discovery

import (
	"bufio"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is the longest text, in bytes, that Muster keeps of a stranger's name. Games
// cut names far shorter.
const maxText = 256

// CleanText makes a stranger's text safe to show in one line. It drops control
// characters, invalid UTF-8 and characters that turn the writing direction. It folds
// white space to single blanks, and cuts what is too long.
func CleanText(s string) string {
	var b strings.Builder
	blank := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			blank = true
			continue
		case r == utf8.RuneError || !unicode.IsPrint(r):
			continue
		}
		if b.Len()+len(" ")+utf8.RuneLen(r) > maxText {
			break
		}
		if blank && b.Len() > 0 {
			b.WriteByte(' ')
		}
		blank = false
		b.WriteRune(r)
	}
	return b.String()
}

// SkipBOM drops the byte-order mark that some editors put before a text.
func SkipBOM(r io.Reader) io.Reader {
	text := bufio.NewReader(r)
	const mark = "\ufeff"
	if head, _ := text.Peek(len(mark)); string(head) == mark {
		text.Discard(len(mark))
	}
	return text
}
