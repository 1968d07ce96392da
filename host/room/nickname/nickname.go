// Package nickname says how people may be called in a room, and which two names
// look alike.
//
// A name that a stranger chose passes through [Clean] once, where it enters. From
// then on everybody sees the same text:
//
//	what the stranger sent ─▶ one line, no invisible characters
//	                       ─▶ few marks on a letter
//	                       ─▶ RFC 8266 (blanks folded, NFKC: fullwidth becomes ASCII)
//	                       ─▶ 32 bytes ─▶ a letter or digit left?
//
// [Alike] compares two names by what people see. It uses the skeletons of Unicode's
// confusable characters (UTS 39, section 4), where Cyrillic "а" is Latin "a".
package nickname

import (
	"strings"
	"unicode"

	"go.mau.fi/util/confusable"
	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/norm"

	"muster/discovery"
)

const (
	// MaxBytes is the length of the longest name, in bytes of UTF-8.
	MaxBytes = 32
	// maxMarks is how many marks one letter may bear: UTS 39, section 5.4, doubts more.
	maxMarks = 4
	// maxAccents is how many of them may be accents, which no language needs more of
	// than Vietnamese with two. More of them hide the letter.
	maxAccents = 2
	// maxPasses is how often the steps may change a name before they leave it as it is.
	maxPasses = 8
)

// accents are the marks that any letter can bear, by Unicode's blocks. Marks of one
// script alone, such as vowels of Devanagari, are part of its spelling.
var accents = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0300, Hi: 0x036f, Stride: 1},
	{Lo: 0x1ab0, Hi: 0x1aff, Stride: 1},
	{Lo: 0x1dc0, Hi: 0x1dff, Stride: 1},
	{Lo: 0x20d0, Hi: 0x20ff, Stride: 1},
	{Lo: 0xfe20, Hi: 0xfe2f, Stride: 1},
}}

// blanks are symbols that show nothing: an empty Braille cell, a musical null
// notehead, and the place of an object that is not there.
const blanks = "\u2800\U0001d159\ufffc"

// Clean returns a name as everybody in the room sees it, or "" if nobody could see
// or say it: a name needs a letter or a digit.
func Clean(text string) string {
	// A mark that is dropped may leave two alike marks side by side, and composing
	// makes new letters: one pass is not always enough. Each pass that changes
	// something leaves less, so a name that does not settle is a stranger's game.
	for range maxPasses {
		clean := pass(text)
		if clean == text {
			return clean
		}
		text = clean
	}
	return ""
}

// pass applies each of the steps once.
func pass(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(blanks, r):
			return ' '
		case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return -1
		}
		return r
	}, text)
	text = prepared(bareMarks(discovery.CleanText(text)))
	if len(text) > MaxBytes {
		text = strings.ToValidUTF8(text[:MaxBytes], "")
	}
	text = strings.TrimSpace(text)
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return ""
	}
	return text
}

// prepared applies the Nickname profile of RFC 8266. A character that the profile
// does not allow is dropped, so that the rest of the name stays.
func prepared(text string) string {
	if name, err := precis.Nickname.String(text); err == nil {
		return name
	}
	text = strings.Map(func(r rune) rune {
		if _, err := precis.Nickname.String("a" + string(r)); err != nil {
			return -1
		}
		return r
	}, text)
	name, err := precis.Nickname.String(text)
	if err != nil {
		return ""
	}
	return name
}

// bareMarks drops the marks that are too many for one letter, and those that a letter
// bears twice in a row.
func bareMarks(text string) string {
	var marks, strokes int
	var last rune
	return strings.Map(func(r rune) rune {
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			marks, strokes, last = 0, 0, r
			return r
		}
		marks++
		if unicode.Is(accents, r) {
			strokes++
		}
		if r == last || marks > maxMarks || strokes > maxAccents {
			return -1
		}
		last = r
		return r
	}, text)
}

// Alike reports whether people would take one name for the other. Letter case and
// accents make no difference, nor do characters of other scripts that look the same.
func Alike(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	lower, asWritten := skeletons(a)
	otherLower, otherAsWritten := skeletons(b)
	return lower == otherLower || asWritten == otherAsWritten || lower == otherAsWritten || asWritten == otherLower
}

// skeletons returns what a name looks like in small letters, and as it is written:
// Cyrillic "В" looks like a letter of Latin, "в" does not.
func skeletons(name string) (lower, asWritten string) {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(accents, r) || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, norm.NFD.String(name))
	return strings.ToLower(confusable.Skeleton(strings.ToLower(name))), strings.ToLower(confusable.Skeleton(name))
}
