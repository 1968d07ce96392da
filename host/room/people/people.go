// Package people identifies the people of a room. Every part of a room knows people by [ID] alone.
// Only the roster knows their names, and [Names] puts these into all that people read:
//
//	parts ──▶ documents and sentences with IDs ──▶ Names ──▶ what pages and programs show
//
// So a new name appears everywhere at once, even in old log lines.
package people

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"muster/discovery/sentence"
	"muster/host/room/roomtime"
)

// ID identifies a person in one room. It stays the same when the person takes another name, or
// leaves and comes back. No other person of the room ever gets it. Empty means nobody.
//
// It is a string, because package selection knows players by strings. It begins with a character
// that no name contains, so that [Names] finds it in sentences.
type ID string

// idPrefix begins each ID.
const idPrefix = "\x01"

// Nth returns the ID of the nth person who came, from 1 on. IDs sort as strings in that order,
// because package selection breaks ties by it.
func Nth(n int) ID { return ID(fmt.Sprintf("%s%04d", idPrefix, n)) }

// Number returns n for the ID that [Nth] made of n, and 0 for any other ID.
func (id ID) Number() int {
	n, err := strconv.Atoi(strings.TrimPrefix(string(id), idPrefix))
	if err != nil || n < 1 || Nth(n) != id {
		return 0
	}
	return n
}

// String returns the ID as an argument of a sentence.
func (id ID) String() string { return string(id) }

// Texts returns IDs as strings, for sentences and package selection.
func Texts(ids []ID) []string { return converted[string](ids) }

// IDs returns the IDs in strings of package selection.
func IDs(texts []string) []ID { return converted[ID](texts) }

func converted[To, From ~string](from []From) []To {
	to := make([]To, len(from))
	for i, one := range from {
		to[i] = To(one)
	}
	return to
}

// Filtered returns the people for whom is returns true.
func Filtered(ids []ID, is func(ID) bool) []ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return !is(id) })
}

// Without returns the people in ids who are not among others.
func Without(ids []ID, others ...ID) []ID {
	return Filtered(ids, func(id ID) bool { return !slices.Contains(others, id) })
}

// Person is somebody in a room. The zero value is nobody.
type Person struct {
	ID   ID
	Name string
	// Mark identifies the person in the calendar, over many sessions. It reveals no credential.
	Mark string
	// Arrival is the number of the person's colour on pages: the lowest that was free when they
	// came.
	Arrival int
	// IsPlayer says that the person has a place. Anybody else is a guest with only a page.
	IsPlayer, IsOrganiser, IsRegular bool
	// IsHere says that the player's program is connected. IsLeftOut says that the round goes on
	// without the player.
	IsHere, IsLeftOut bool
	// IsCounted says that the organiser counts the guest in by an estimate.
	IsCounted bool
	// HidesCountry says that the room does not tell others the person's country.
	HidesCountry bool
	// HasPage says that any page of the person is open. IsAsked says that the person's program asks
	// at a terminal.
	HasPage, IsAsked bool
	// From is a guest's address, the zero value if many people share it. Seen is when one of the
	// guest's pages was last open.
	From netip.Addr
	Seen roomtime.Time
}

// IsSomebody reports whether the person is in the room.
func (p Person) IsSomebody() bool { return p.ID != "" }

// IsAway reports whether a regular is away and keeps the place. Such a person is no onlooker.
func (p Person) IsAway() bool { return !p.IsPlayer && p.IsRegular && !p.IsOrganiser && !p.HasPage }

// Names has people's names at one time. It never changes: if somebody is renamed there is another
// pointer. Nil knows nobody.
type Names struct{ of map[ID]string }

// NewNames returns the names of some people. It keeps the map.
func NewNames(of map[ID]string) *Names { return &Names{of} }

// Somebody stands for a person whom the room has forgotten, or whose name another person has taken.
// It is longer than any nickname, so that nobody can take it.
const Somebody = "somebody who was in this room before"

// Of returns a person's name; empty for nobody.
func (n *Names) Of(id ID) string {
	if n != nil {
		if name, known := n.of[id]; known {
			return name
		}
	}
	if strings.HasPrefix(string(id), idPrefix) {
		return Somebody
	}
	return string(id)
}

// Text is [Names.Of] for the strings of package selection.
func (n *Names) Text(id string) string { return n.Of(ID(id)) }

// All returns people's names.
func (n *Names) All(ids []ID) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = n.Of(id)
	}
	return names
}

// Named returns players' figures by their names, in place of their IDs.
func Named[V any, Text ~string](of map[Text]V, n *Names) map[string]V {
	if of == nil {
		return nil
	}
	named := make(map[string]V, len(of))
	for id, figure := range of {
		named[n.Of(ID(id))] = figure
	}
	return named
}

// Word returns a sentence with names in place of IDs.
func (n *Names) Word(s sentence.Sentence) sentence.Sentence {
	const quoted = `"\u0001` // idPrefix in JSON, behind the quote that opens a text
	rest := string(s.With)
	at := strings.Index(rest, quoted)
	if at < 0 {
		return s
	}
	var worded strings.Builder
	for ; at >= 0; at = strings.Index(rest, quoted) {
		place, after, _ := strings.Cut(rest[at+len(quoted):], `"`)
		id := ID(idPrefix + place)
		if id.Number() == 0 || rest[at-1] == '\\' { // it is part of a text, or a program made it up
			worded.WriteString(rest[:at+len(quoted)])
			rest = rest[at+len(quoted):]
			continue
		}
		name, err := json.Marshal(n.Of(id))
		if err != nil {
			panic("people: " + err.Error()) // every text can be written
		}
		worded.WriteString(rest[:at])
		worded.Write(name)
		rest = after
	}
	worded.WriteString(rest)
	return sentence.Sentence{Key: s.Key, With: sentence.Args(worded.String())}
}

// IsAbout reports whether a sentence is about a person.
func IsAbout(s sentence.Sentence, id ID) bool { return id != "" && s.Names(string(id)) }
