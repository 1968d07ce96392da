// Package charset reads texts of the years before UTF-8, which do not say which character set
// they are in. Games' servers keep to what their machines once used.
//
//	UTF-8? ─▶ whole words of another script? ─▶ letters where only these languages have any? ─▶ Western
//	          Windows 1251, 1253, KOI8-R        Windows 1250, 1254                             Windows 1252
//
// A set other than the Western one must show plainly in the bytes. Languages of two bytes a letter
// do not: Chinese, Japanese and Korean texts are valid in each other's sets.
package charset

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// UTF8 returns a text in UTF-8. A text in UTF-8 that was cut within a letter, or has single bytes
// that are none, stays as it is.
func UTF8(text string) string {
	if utf8.ValidString(text) || isMostlyUTF8(text) {
		return text
	}
	if set := ofScript(text); set != nil {
		return decode(set, text)
	}
	switch {
	case isCentral(text):
		return decode(charmap.Windows1250, text)
	case isTurkish(text):
		return decode(charmap.Windows1254, text)
	}
	return decode(charmap.Windows1252, text)
}

func decode(set *charmap.Charmap, text string) string {
	decoded, err := set.NewDecoder().String(text)
	if err != nil { // cannot be: every byte is a letter or the replacement character
		return text
	}
	return decoded
}

// isMostlyUTF8 reports whether a text has letters of several bytes, and at most as many bytes that
// are no letters. Or it is ASCII up to a last letter that was cut: a Western text does not end so.
func isMostlyUTF8(text string) bool {
	letters, wrong := 0, 0
	for i, r := range text {
		switch rest := text[i:]; {
		case r == utf8.RuneError && letters == 0 && wrong == 0 && len(rest) > 1 && !utf8.FullRuneInString(rest):
			return true
		case r == utf8.RuneError:
			wrong++
		case r >= utf8.RuneSelf:
			letters++
		}
	}
	return letters > 0 && letters >= wrong
}

// scripts are the character sets of scripts without Latin letters, in the order of their use.
var scripts = [...]struct {
	set    *charmap.Charmap
	script *unicode.RangeTable
}{{charmap.Windows1251, unicode.Cyrillic}, {charmap.Windows1253, unicode.Greek}, {charmap.KOI8R, unicode.Cyrillic}}

// ofScript returns the set in which a text has whole words of another script, or nil. Capitals
// within a word tell similar sets apart.
func ofScript(text string) (best *charmap.Charmap) {
	fewest := 0
	for _, s := range scripts {
		if odd, ok := read(decode(s.set, text), s.script); ok && (best == nil || odd < fewest) {
			best, fewest = s.set, odd
		}
	}
	return best
}

// A text is plainly of a script if it has so many letters, so many different ones, and a word as
// long. At most one of three letters is an odd capital.
const fewestLetters, fewestKinds, longestWord, oddShare = 4, 3, 3, 3

// read reports whether a text is plainly of a script: its words have letters of that script or of
// ASCII, and none has both. odd is how many capitals follow small letters.
func read(text string, script *unicode.RangeTable) (odd int, ok bool) {
	letters, longest := 0, 0
	kinds := map[rune]bool{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		own, length, before := 0, 0, rune(0)
		for _, r := range word {
			length++
			switch {
			case unicode.Is(script, r):
				own++
				kinds[unicode.ToLower(r)] = true
			case r >= utf8.RuneSelf:
				return 0, false
			}
			if unicode.IsUpper(r) && unicode.IsLower(before) && own > 0 {
				odd++
			}
			before = r
		}
		if own > 0 && own < length {
			return 0, false
		}
		letters, longest = letters+own, max(longest, own)
	}
	return odd, letters >= fewestLetters && longest >= longestWord && len(kinds) >= fewestKinds && odd*oddShare <= letters
}

// These are letters of Windows 1250 in the places of other characters of Windows 1252: of £, ³, ¹,
// ¿ and the like, and of none.
const centralWithin, centralAfter = "\xa3\xa5\xaf\xb3\xb9\xbc\xbe\xbf", "\x8d\x8f\x9d\x9f" // ŁĄŻłąĽľż, ŤŹťź

// isCentral reports whether one of them is within a word or, where Western texts have nothing or a
// Ÿ, after a letter: then the text is Polish, Czech, Slovak or Hungarian.
func isCentral(text string) bool {
	isLetter := func(c byte) bool {
		return 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0xc0 && c != 0xd7 && c != 0xf7 || strings.IndexByte(centralWithin, c) >= 0
	}
	for i := 1; i < len(text); i++ {
		isWithin := strings.IndexByte(centralWithin, text[i]) >= 0 && i+1 < len(text) && isLetter(text[i+1])
		if isLetter(text[i-1]) && (isWithin || strings.IndexByte(centralAfter, text[i]) >= 0) {
			return true
		}
	}
	return false
}

// These are letters of Windows 1254: the ones in the places of Icelandic letters, the ones that
// Icelandic lacks, and other Turkish ones.
const (
	turkishAlone = "\xd0\xdd\xde\xf0\xfd\xfe" // ĞİŞğış
	turkishProof = "\xc7\xdc\xe7\xfc"         // ÇÜçü
	turkishToo   = "\xc2\xce\xd6\xdb\xe2\xee\xf6\xfb"
)

// isTurkish reports whether all letters of a text are Turkish, and no other language has them all.
func isTurkish(text string) bool {
	has := func(set string) bool {
		return slices.ContainsFunc([]byte(text), func(c byte) bool { return strings.IndexByte(set, c) >= 0 })
	}
	isForeign := slices.ContainsFunc([]byte(text), func(c byte) bool {
		return c >= 0xc0 && strings.IndexByte(turkishAlone+turkishProof+turkishToo, c) < 0
	})
	return !isForeign && has(turkishAlone) && has(turkishProof)
}
