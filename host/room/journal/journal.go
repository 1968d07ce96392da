// Package journal keeps a room's notes to its people, one sentence each. The oldest give way, and
// none is about people who want to be forgotten.
package journal

import (
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/wire"
)

// most bounds the notes of a journal: enough for a session.
const most = 200

// Journal has the notes in order. The zero value is empty.
type Journal struct{ state State }

// State is the saved state of a journal.
type State struct {
	Notes []wire.Note `json:"notes"`
}

// State returns the state, to save or restore it.
func (j *Journal) State() *State { return &j.state }

// Add writes a sentence.
func (j *Journal) Add(at time.Time, s sentence.Sentence) {
	j.state.Notes = append(j.state.Notes, wire.Note{At: at, Sentence: s})
	if len(j.state.Notes) > most {
		j.state.Notes = j.state.Notes[len(j.state.Notes)-most:]
	}
}

// Says reports whether the journal has a sentence of this key about somebody. It keeps people from
// filling the journal with one sentence.
func (j *Journal) Says(key string, id people.ID) bool {
	return slices.ContainsFunc(j.state.Notes, func(n wire.Note) bool { return n.Key == key && people.IsAbout(n.Sentence, id) })
}

// Forget removes every note about somebody.
func (j *Journal) Forget(id people.ID) {
	j.state.Notes = slices.DeleteFunc(slices.Clone(j.state.Notes), func(n wire.Note) bool { return people.IsAbout(n.Sentence, id) })
}

// View returns the notes as everybody may read them.
func (j *Journal) View(names *people.Names) []wire.Note {
	notes := slices.Clone(j.state.Notes)
	for i := range notes {
		notes[i].Sentence = names.Word(notes[i].Sentence)
	}
	return notes
}
