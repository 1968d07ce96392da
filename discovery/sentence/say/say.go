// Package say says sentences in a reader's language: the words that players read on Muster's page.
package say

import (
	"slices"
	"sync"

	"muster/discovery/sentence"
	"muster/internal/catalogue"
)

// spoken are the languages that were asked for, by tag. Reading one takes some milliseconds.
var spoken sync.Map

// In returns a sentence in the language of a tag, such as "de" or "pt-BR", and in English if Muster
// does not speak it. Texts of strangers in it are cleaned and cut. It may be called from several
// goroutines.
func In(language string, s sentence.Sentence) string {
	tag := catalogue.Find(language)
	known, ok := spoken.Load(tag)
	if !ok {
		known, _ = spoken.LoadOrStore(tag, catalogue.In(tag))
	}
	return known.(*catalogue.Language).Say(s)
}

// Languages returns the tags of the languages that Muster speaks.
func Languages() []string { return slices.Clone(catalogue.Tags()) }
