// Package people identifies the people of a room. Every part of a room knows them by [ID] alone.
// What people read has their names, which only the roster knows:
//
//	parts ──▶ documents and sentences with IDs ──▶ Names ──▶ what pages and programs show
//
// So a new name is everywhere at once, in old log lines too.
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

// ID identifies a person in one room. It stays the same under any name, and when the person leaves and
// comes back. Nobody else of the room ever has it. Empty is nobody.
//
// It is a text, because package selection knows players by texts. It begins with a character that
// no name of people or servers has, so that [Names] finds it in sentences.
type ID string

// idPrefix begins each ID.
const idPrefix = "\x01"

// Nth returns the ID of the nth person who came, from 1 on. As texts, too, IDs are in that order,
// because package selection decides ties by it.
func Nth(n int) ID { return ID(fmt.Sprintf("%s%04d", idPrefix, n)) }

// Number returns the place in the order of arrival, or 0 if the ID is none of [Nth].
func (id ID) Number() int {
	n, err := strconv.Atoi(strings.TrimPrefix(string(id), idPrefix))
	if err != nil || n < 1 || Nth(n) != id {
		return 0
	}
	return n
}

// String returns the ID as a sentence takes it.
func (id ID) String() string { return string(id) }

// Texts returns IDs as sentences and package selection take them.
func Texts(ids []ID) []string { return converted[string](ids) }

// IDs returns the IDs that package selection gives back.
func IDs(texts []string) []ID { return converted[ID](texts) }

func converted[To, From ~string](from []From) []To {
	to := make([]To, len(from))
	for i, one := range from {
		to[i] = To(one)
	}
	return to
}

// Filtered returns the people who fulfil a condition.
func Filtered(ids []ID, is func(ID) bool) []ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return !is(id) })
}

// Without returns some people but for others.
func Without(ids []ID, others ...ID) []ID {
	return Filtered(ids, func(id ID) bool { return !slices.Contains(others, id) })
}

// Person is somebody in a room. The zero value is nobody, as a stranger is.
type Person struct {
	ID   ID
	Name string
	// Mark tells the person from others for longer than a room's round. It reveals no credential.
	Mark string
	// Arrival is the person's colour on pages: the first that was free when they came.
	Arrival int
	// IsPlayer says that the person has a place. All others are guests with only a page.
	IsPlayer, IsOrganiser, IsRegular bool
	// IsHere says that the player's program is connected. IsLeftOut says that the round goes on
	// without the player.
	IsHere, IsLeftOut bool
	// IsCounted says that the organiser counts the guest in by an estimate.
	IsCounted bool
	// HidesCountry says that the others do not hear the person's country.
	HidesCountry bool
	// HasPage says that any page of the person is open. IsAsked says that the person's program asks
	// at a terminal.
	HasPage, IsAsked bool
	// From is a guest's address, the zero value if many people share it. Seen is when one of the
	// guest's pages was there last.
	From netip.Addr
	Seen roomtime.Time
}

// IsSomebody reports whether the person is in the room.
func (p Person) IsSomebody() bool { return p.ID != "" }

// IsAway reports whether somebody keeps a place while away. Such people are no onlookers.
func (p Person) IsAway() bool { return !p.IsPlayer && p.IsRegular && !p.IsOrganiser && !p.HasPage }

// Names are what people are called at a time. They never change: another pointer means that
// somebody has another name. Nil knows nobody.
type Names struct{ of map[ID]string }

// NewNames returns the names of some people. It keeps the map.
func NewNames(of map[ID]string) *Names { return &Names{of} }

// Somebody stands for people whom the room has forgotten, and for those whose name another person
// has by now. It is longer than any nickname, so that nobody can take it.
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

// Text is [Names.Of] for the texts of package selection.
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
	const quoted = `"\u0001` // the mark in JSON, behind the quote that opens a text
	rest := string(s.With)
	at := strings.Index(rest, quoted)
	if at < 0 {
		return s
	}
	var worded strings.Builder
	for ; at >= 0; at = strings.Index(rest, quoted) {
		place, after, _ := strings.Cut(rest[at+len(quoted):], `"`)
		id := ID(idPrefix + place)
		if id.Number() == 0 || rest[at-1] == '\\' { // it stands in a text that a program has said
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
