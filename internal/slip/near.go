// Package slip finds what people may have meant by a word with wrong letters.
package slip

import (
	"slices"
	"strings"
)

// Longest is the longest text that is compared, in letters.
const Longest = 64

// Near returns the known word that somebody probably meant by a word, or an empty text if none is close. It ignores
// case, and takes - and _ for the same.
func Near(word string, known []string) (near string) {
	letters := folded(word)
	least := 1 + min(2, len(letters)/3) // of a short word nearly all letters must be right
	for _, candidate := range known {
		if slips, _ := Distance(letters, folded(candidate), least-1); slips < least {
			near, least = candidate, slips
		}
	}
	return near
}

func folded(word string) []rune { return []rune(strings.ReplaceAll(strings.ToLower(word), "_", "-")) }

// Distance counts the letters of a that are missing, extra, wrong, or swapped with their neighbour. whole compares a with
// b, beginning with the nearest beginning of b. It is Damerau's distance, with each letter in one change at most. It stops
// counting after most, and at texts that are too long.
func Distance(a, b []rune, most int) (whole, beginning int) {
	isCut := len(b) > len(a)+most
	if isCut {
		b = b[:len(a)+most]
	}
	if len(a) > Longest || len(a) > len(b)+most {
		return most + 1, most + 1
	}
	var rows [3][2*Longest + 1]int // distances from a prefix of a to each prefix of b: two letters ago, one, now
	before, row, next := rows[0][:len(b)+1], rows[1][:len(b)+1], rows[2][:len(b)+1]
	for j := range row {
		row[j] = j
	}
	for i := range a {
		next[0] = i + 1
		least := next[0]
		for j := range b {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
			least = min(least, next[j+1])
		}
		if least > most {
			return most + 1, most + 1
		}
		before, row, next = row, next, before
	}
	if whole = row[len(b)]; isCut {
		whole = most + 1
	}
	return whole, slices.Min(row)
}
