// Package sentence describes an event as a key and named arguments. The program that
// shows it looks up the sentence in its reader's language, in the catalogue that all
// programs share:
//
//	{"key": "room.here", "with": {"player": "ann"}}  ─▶  "ann is here", "ann ist da", …
package sentence

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Sentence is a message to people. The zero value says nothing.
type Sentence struct {
	// Key names the sentence in the catalogue, as "room.here".
	Key string `json:"key,omitempty"`
	// With are its arguments by name.
	With Args `json:"with,omitempty"`
}

// Args are the arguments of a sentence. Each is a string, a float64, a Sentence, a
// []string or a []Sentence. Times are RFC 3339 strings. A list reads "ann, ben and
// eve".
type Args map[string]any

// Of returns the sentence of a key with its arguments, a name and a value in turn.
// Numbers of any kind become float64. It panics if [Args] does not allow a value: that
// is an error in the program, which any test that runs the line finds.
func Of(key string, pairs ...any) Sentence {
	s := Sentence{Key: key}
	if len(pairs) == 0 {
		return s
	}
	s.With = make(Args, len(pairs)/2)
	for pair := range slices.Chunk(pairs, 2) {
		name, value := pair[0].(string), pair[1]
		switch v := value.(type) {
		case string, float64, Sentence, []string, []Sentence:
		case int:
			value = float64(v)
		case fmt.Stringer:
			value = v.String()
		default:
			panic(fmt.Sprintf("sentence: %s: %s is a %T", key, name, value))
		}
		s.With[name] = value
	}
	return s
}

// Plain returns a sentence outside the catalogue, such as one that an older release has
// saved or another program sends. All languages show it unchanged.
func Plain(text string) Sentence {
	if text == "" {
		return Sentence{}
	}
	return Of("plain", "text", text)
}

// IsZero reports whether the sentence says nothing.
func (s Sentence) IsZero() bool { return s.Key == "" }

// Names reports whether some name is an argument of the sentence, alone or in a list.
func (s Sentence) Names(name string) bool {
	for _, value := range s.With {
		switch v := value.(type) {
		case string:
			if v == name {
				return true
			}
		case []string:
			if slices.Contains(v, name) {
				return true
			}
		case Sentence:
			if v.Names(name) {
				return true
			}
		case []Sentence:
			if slices.ContainsFunc(v, func(s Sentence) bool { return s.Names(name) }) {
				return true
			}
		}
	}
	return false
}

// Equal reports whether two sentences say the same.
func (s Sentence) Equal(other Sentence) bool {
	one, _ := json.Marshal(s) // JSON sorts the keys of maps
	two, _ := json.Marshal(other)
	return string(one) == string(two)
}

// Bounds of a sentence from the network.
const (
	mostArgs  = 32
	mostItems = 256
	// deepest is how deep sentences may be nested.
	deepest = 4
)

var errMalformed = errors.New("sentence: malformed")

// UnmarshalJSON reads arguments from an untrusted program: their number and depth are
// bounded.
func (a *Args) UnmarshalJSON(data []byte) error {
	var raw map[string]any
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	args, err := argsOf(raw, deepest)
	*a = args
	return err
}

func argsOf(raw map[string]any, depth int) (Args, error) {
	if len(raw) > mostArgs || depth == 0 {
		return nil, errMalformed
	}
	args := make(Args, len(raw))
	for name, value := range raw {
		switch v := value.(type) {
		case string, float64:
			args[name] = v
		case map[string]any:
			s, err := sentenceOf(v, depth)
			if err != nil {
				return nil, err
			}
			args[name] = s
		case []any:
			list, err := listOf(v, depth)
			if err != nil {
				return nil, err
			}
			args[name] = list
		default:
			return nil, errMalformed
		}
	}
	return args, nil
}

func sentenceOf(raw map[string]any, depth int) (Sentence, error) {
	key, ok := raw["key"].(string)
	if !ok {
		return Sentence{}, errMalformed
	}
	with, _ := raw["with"].(map[string]any)
	if len(with) == 0 {
		return Sentence{Key: key}, nil
	}
	args, err := argsOf(with, depth-1)
	return Sentence{key, args}, err
}

// listOf returns a []string, or a []Sentence if the first item is one.
func listOf(raw []any, depth int) (any, error) {
	if len(raw) > mostItems {
		return nil, errMalformed
	}
	texts, sentences := []string{}, []Sentence{}
	for _, item := range raw {
		switch v := item.(type) {
		case string:
			texts = append(texts, v)
		case map[string]any:
			s, err := sentenceOf(v, depth)
			if err != nil {
				return nil, err
			}
			sentences = append(sentences, s)
		default:
			return nil, errMalformed
		}
	}
	switch {
	case len(sentences) == 0:
		return texts, nil
	case len(texts) == 0:
		return sentences, nil
	}
	return nil, errMalformed
}
