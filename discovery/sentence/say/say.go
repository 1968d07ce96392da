// Package say says sentences in a reader's language: the words that players read on Muster's page.
package say

import (
	"slices"

	"muster/discovery/sentence"
	"muster/internal/catalogue/languages"
)

// In returns a sentence in the language of a tag, such as "de" or "pt-BR", and in English if Muster
// does not speak it. Texts of strangers in it are cleaned and cut. It may be called from several
// goroutines.
func In(language string, s sentence.Sentence) string {
	return languages.In(languages.Find(language)).Say(s)
}

// Languages returns the tags of the languages that Muster speaks.
func Languages() []string { return slices.Clone(languages.Tags()) }
