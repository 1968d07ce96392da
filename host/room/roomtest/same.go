package roomtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/wire"
)

// Saved returns a room as its host keeps it.
func Saved(t testing.TB, r *room.Room) []byte {
	t.Helper()
	data, err := r.Save()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Read returns the room that was kept.
func Read(t testing.TB, data []byte) *room.Room {
	t.Helper()
	r, err := room.Restore(data, topology.New)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Restored returns the room that a host reads which takes it over.
func Restored(t testing.TB, r *room.Room) *room.Room {
	t.Helper()
	return Read(t, Saved(t, r))
}

// Same requires that two rooms show and save the same, apart from what ends with a connection.
func Same(t testing.TB, a, b *room.Room) {
	t.Helper()
	if is, was := Differ(t, Document(t, Saved(t, a)), Document(t, Saved(t, b))); is != was {
		t.Errorf("the rooms save different things: %s\n%s", is, was)
	}
	if is, was := Differ(t, lasting(a.Snapshot()), lasting(b.Snapshot())); is != was {
		t.Errorf("the rooms show different things: %s\n%s", is, was)
	}
}

// Document returns a saved room without empty values, because nothing and an empty list mean the
// same.
func Document(t testing.TB, data []byte) any {
	t.Helper()
	var document any
	if err := json.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	return pruned(document)
}

// pruned returns a document without empty values.
func pruned(document any) any {
	switch d := document.(type) {
	case map[string]any:
		for key, value := range d {
			if d[key] = pruned(value); d[key] == nil {
				delete(d, key)
			}
		}
		if len(d) == 0 {
			return nil
		}
	case []any:
		for i, value := range d {
			d[i] = pruned(value)
		}
		if len(d) == 0 {
			return nil
		}
	}
	return document
}

// lasting returns the parts of a snapshot that outlive the connections, and do not depend on the
// clock, which a restored room does not know before its first step.
func lasting(s wire.Snapshot) wire.Snapshot {
	s.Reactions = nil // nothing keeps them
	s.Room.Search, s.Room.Forecast, s.Standing = nil, sentence.Sentence{}, nil
	s.Look, s.Room.Candidates, s.Room.Said, s.Meeting = nil, nil, time.Time{}, nil
	if s.Seats != nil {
		seats := *s.Seats
		seats.Need = 0 // who is away for long needs none
		s.Seats = &seats
	}
	for _, choice := range []**wire.Choice{&s.Choice, &s.WhatIf} {
		if *choice != nil {
			of := **choice
			of.Servers = nil // a list may say more than the room keeps
			if s.Voting.Open {
				of.Advice = nil // it asks an organiser who is here
			}
			*choice = &of
		}
	}
	s.People = slices.Clone(s.People)
	for i := range s.People {
		p := &s.People[i]
		p.Connected, p.Page, p.Asked, p.Able, p.Unable, p.TypesPassword, p.Delays = false, false, false, false, sentence.Sentence{}, false, false
	}
	return s
}

// Differ returns the first lines that differ of two values in JSON, or of two texts.
func Differ(t testing.TB, x, y any) (string, string) {
	t.Helper()
	lines := func(of any) []string {
		text, is := of.(string)
		if !is {
			data, err := json.MarshalIndent(of, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			text = string(data)
		}
		return strings.Split(text, "\n")
	}
	xs, ys := lines(x), lines(y)
	for i := range min(len(xs), len(ys)) {
		if xs[i] != ys[i] {
			return xs[i], ys[i]
		}
	}
	return fmt.Sprint(len(xs), " lines"), fmt.Sprint(len(ys), " lines")
}
