// Package journal keeps a room's notes to its people, one sentence each. The oldest give way, and
// none is about people who want to be forgotten.
package journal

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"muster/discovery/sentence"
	"muster/host/wire"
)

// most bounds the notes of a journal: enough for a session.
const most = 200

// Journal has the notes in order. The zero value is empty.
type Journal struct{ state State }

// State is what a saved room keeps of a journal.
type State struct {
	Notes []wire.Note `json:"notes"`
}

// State returns the state, for a room that is saved or restored.
func (j *Journal) State() *State { return &j.state }

// Add writes a sentence.
func (j *Journal) Add(at time.Time, s sentence.Sentence) {
	j.state.Notes = append(j.state.Notes, wire.Note{At: at, Sentence: s})
	if len(j.state.Notes) > most {
		j.state.Notes = j.state.Notes[len(j.state.Notes)-most:]
	}
}

// Says reports whether the journal has a sentence of this key about somebody, so that nobody fills
// it by repeating one.
func (j *Journal) Says(key, name string) bool {
	return slices.ContainsFunc(j.state.Notes, func(n wire.Note) bool { return n.Key == key && n.Names(name) })
}

// Forget removes every note that names one of some people.
func (j *Journal) Forget(names ...string) {
	j.state.Notes = slices.DeleteFunc(slices.Clone(j.state.Notes), func(n wire.Note) bool {
		text, _ := n.With.Values()["text"].(string)
		return slices.ContainsFunc(names, func(name string) bool { return n.Names(name) || tellsOf(text, name) })
	})
}

// View returns the notes as everybody may read them.
func (j *Journal) View() []wire.Note { return slices.Clone(j.state.Notes) }

// tellsOf reports whether a name stands as whole words in a text, such as the note of an earlier
// release. So a person called E is not in
// every sentence.
func tellsOf(text, name string) bool {
	isPart := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	for from := 0; name != ""; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(name):])
		if !isPart(before) && !isPart(after) { // nor is the character beyond the end of a text
			return true
		}
		from = at + 1
	}
	return false
}
