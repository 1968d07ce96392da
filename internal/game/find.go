package game

import (
	"fmt"
	"strings"

	"muster/discovery"
)

// UnknownError says that the table has no game of an id.
type UnknownError struct {
	ID string
	// Similar is the id that was probably meant, or empty.
	Similar string
}

func (e *UnknownError) Error() string {
	if e.Similar == "" {
		return fmt.Sprintf("game: unknown game %q", discovery.CleanText(e.ID))
	}
	return fmt.Sprintf("game: unknown game %q, did you mean %s?", discovery.CleanText(e.ID), e.Similar)
}

// Hint is what a user can do about it.
func (e *UnknownError) Hint() string {
	return "muster games lists the known ones; others are added in games.toml"
}

// Find is the game of an id, upper and lower case alike. If there is none, the
// error is an [*UnknownError].
func (t Table) Find(id string) (Game, error) {
	for _, g := range t.games {
		if strings.EqualFold(g.ID, id) {
			return g, nil
		}
	}
	return Game{}, &UnknownError{ID: id, Similar: t.similar(strings.ToLower(id))}
}

// similar is the id, or the id of the name, that takes the fewest slips to
// write; more than a third of it wrong is another word.
func (t Table) similar(word string) (best string) {
	if len(word) > 64 {
		return ""
	}
	fewest := max(len(word)/3, 1) + 1
	for _, g := range t.games {
		for _, known := range []string{g.ID, strings.ToLower(g.Name), strings.ToLower(strings.ReplaceAll(g.Name, " ", ""))} {
			if n := slips(word, known); n < fewest {
				best, fewest = g.ID, n
			}
		}
	}
	return best
}

// slips is Levenshtein's distance of two words in bytes: how many of them are
// missing, too many, or wrong.
func slips(a, b string) int {
	row := make([]int, len(b)+1) // distances of a's start to each start of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
