package openapi

import (
	"encoding/json"
	"net/netip"
	"reflect"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/selection"
)

var sentenceType = reflect.TypeFor[sentence.Sentence]()

func init() {
	plainForms = []reflect.Type{reflect.TypeFor[wire.Refusal](), reflect.TypeFor[wire.Notice]()}
}

// addressExample is in a network that is kept free for documentation.
const addressExample = "192.0.2.7:27960"

// own returns the schema of a type whose JSON is not that of its Go form.
func own(t reflect.Type) (s *schema, is bool) {
	switch t {
	case timeType:
		return &schema{Type: "string", Format: "date-time"}, true
	case reflect.TypeFor[netip.AddrPort](), reflect.TypeFor[hostport.AddrPort]():
		return address(), true
	case reflect.TypeFor[discovery.Millis]():
		return &schema{Type: "number"}, true
	case reflect.TypeFor[wire.Decision]():
		return &schema{Type: []string{"boolean", "null"}, Description: "`null` leaves it to Muster."}, true
	case reflect.TypeFor[wire.Limits]():
		limit := &schema{Type: "number", Description: "In milliseconds, more than 0."}
		return &schema{Type: "array", Items: within(limit, 0, float64(wire.MaxRTT.Milliseconds())), MaxItems: wire.MaxLimits}, true
	case reflect.TypeFor[selection.Cause]():
		return causes(), true
	case reflect.TypeFor[sentence.Args]():
		return &schema{Type: "object", AdditionalProperties: argument()}, true
	case reflect.TypeFor[json.RawMessage]():
		return &schema{}, true
	case reflect.TypeFor[wire.SteamIDs]():
		const about = "The players' SteamID64s, by side and by name."
		of := &schema{Type: "object", AdditionalProperties: &schema{Type: "string", Pattern: "^7656119[0-9]{10}$"}}
		return &schema{Type: "object", Description: about, Properties: properties{{"a", of}, {"b", of}}, AdditionalProperties: false}, true
	case reflect.TypeFor[wire.Venues]():
		place := &schema{Type: "object", Required: []string{"name", "addr", "protocol"}, Properties: properties{
			{"name", &schema{Type: "string", Description: "What people call the place, in at most 48 bytes."}},
			{"addr", address()},
			{"protocol", text("How players' programs ask it: `beacon`, `tcp`, or the protocol of a game's servers.")},
		}}
		const lines = "One place a line, as `NAME, ADDRESS[:PORT][, PROTOCOL]`; `none` takes all away."
		return &schema{AnyOf: []*schema{{Type: "array", Items: place, MaxItems: wire.MaxVenues}, text(lines)}}, true
	}
	return nil, false
}

// oneOf returns the schema of a text that is one of some words.
func oneOf[S ~string](words []S) *schema {
	s := &schema{Type: "string"}
	for _, word := range words {
		s.Enum = append(s.Enum, string(word))
	}
	return s
}

// address returns the schema of a server's address.
func address() *schema {
	return &schema{Type: "string", Description: "An IP address and a port.", Examples: []any{addressExample}}
}

// causes returns the schema of a cause for culling a server.
func causes() *schema {
	s := &schema{Type: "string"}
	for c := selection.Hygiene; c <= selection.OverThreshold; c++ {
		s.Enum = append(s.Enum, c.String())
	}
	return s
}

// sentence returns the schema of a sentence, whose arguments may be sentences.
func (r *reflector) sentence() *schema {
	return &schema{
		Type: "object",
		Description: "A message to people, as a key and arguments. The host has the words of every language at " +
			"`/words/TAG.json`; PROTOCOL.md, *Sentences*, says how to put them together.",
		Properties: properties{
			{"key", text("Names the sentence, such as `room.here`. The key `plain` has its words in the argument `text`.")},
			{"with", &schema{Type: "object", Description: "The arguments by name.", AdditionalProperties: argument()}},
		},
		Examples: []any{map[string]any{"key": "room.here", "with": map[string]string{"player": "bob"}}},
	}
}

// argument returns the schema of a sentence's argument.
func argument() *schema {
	words := &schema{Type: "string"}
	return &schema{AnyOf: []*schema{
		words, {Type: "number"}, ref("Sentence"),
		{Type: "array", Items: &schema{AnyOf: []*schema{words, ref("Sentence")}}},
	}}
}
