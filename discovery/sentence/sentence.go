// Package sentence holds what happened as a key and named arguments. The program that shows it says
// it in its reader's language, from the catalogue that both know:
//
//	{"key": "room.here", "with": {"player": "ann"}}  ─▶  "ann is here", "ann ist da", …
package sentence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery/hostport"
)

// Sentence is a message to people. Sentences can be compared with ==. The zero value is an empty
// message.
type Sentence struct {
	// Key names the sentence in the catalogue, as "room.here".
	Key string `json:"key,omitempty"`
	// With are its arguments by name.
	With Args `json:"with,omitempty"`
}

// Args are the arguments of a sentence by name, as a JSON object with sorted names; empty is none.
// See [Args.Values].
type Args string

// Of returns the sentence of a key with its arguments, a name and a value in turn. A value is a
// string, an int, a float64, a [time.Duration], a server's [netip.AddrPort], another [fmt.Stringer], a Sentence, a []string or a
// []Sentence. Times are strings as RFC 3339 has them. A duration becomes the sentence of [Lasting]. A
// Sentence that says nothing is an empty text. A list reads "ann, ben and eve". Of panics if a value
// is of another kind: that is an error in the program, which any test that runs the line finds.
func Of(key string, pairs ...any) Sentence {
	if len(pairs) == 0 {
		return Sentence{Key: key}
	}
	values := make(map[string]any, len(pairs)/2)
	for pair := range slices.Chunk(pairs, 2) {
		name, value := pair[0].(string), pair[1]
		switch v := value.(type) {
		case string, int:
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				value = "–" // JSON has no such number
			}
		case []string:
			value = append([]string{}, v...) // nil would be malformed
		case []Sentence:
			value = append([]Sentence{}, v...)
		case Sentence:
			if v.IsZero() {
				value = "" // one without a key would be malformed
			}
		case time.Duration:
			value = Lasting(v)
		case netip.AddrPort:
			value = hostport.Text(v)
		case fmt.Stringer:
			value = v.String()
		default:
			panic(fmt.Sprintf("sentence: %s: %s is a %T", key, name, value))
		}
		values[name] = value
	}
	return Sentence{key, argsOf(values)}
}

// Lasting returns a duration as people say it, as "30 seconds" or "1 minute 30 seconds". From a
// minute on it is in whole seconds, and from an hour on in whole minutes. Below a second it is in
// milliseconds.
func Lasting(d time.Duration) Sentence {
	switch {
	case d == 0:
		return Of("unit.seconds", "n", 0)
	case d.Abs() < time.Second:
		return Of("unit.ms", "n", float64(d.Round(time.Millisecond).Milliseconds()))
	case d < time.Minute:
		return Of("unit.seconds", "n", d.Round(100*time.Millisecond).Seconds())
	case d < time.Hour:
		d = d.Round(time.Second)
		return both("unit.minutes", int(d/time.Minute), "unit.seconds", int(d%time.Minute/time.Second))
	}
	d = d.Round(time.Minute)
	return both("unit.hours", int(d/time.Hour), "unit.minutes", int(d%time.Hour/time.Minute))
}

// both returns a number of a long unit and of a short one, or one of them if the other is 0.
func both(long string, n int, short string, rest int) Sentence {
	if rest == 0 {
		return Of(long, "n", n)
	}
	return Of("unit.both", "first", Of(long, "n", n), "next", Of(short, "n", rest))
}

func argsOf(values map[string]any) Args {
	if len(values) == 0 {
		return ""
	}
	data, err := json.Marshal(values)
	if err != nil {
		panic("sentence: " + err.Error()) // the values are checked above
	}
	return Args(data)
}

// Plain returns a sentence outside the catalogue, such as one that an older release has saved or
// another program sends. All languages show it unchanged.
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
	for _, value := range s.With.Values() {
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

// Replace returns the sentence with other values for some texts among its arguments: that of with,
// which gets an argument's name and text. It looks into sentences, and not into lists of texts.
func (s Sentence) Replace(with func(name, text string) any) Sentence {
	values, replaced := s.With.Values(), false
	for name, value := range values {
		switch v := value.(type) {
		case string:
			values[name] = with(name, v)
			text, isText := values[name].(string)
			replaced = replaced || !isText || text != v
		case Sentence:
			other := v.Replace(with)
			values[name], replaced = other, replaced || other != v
		case []Sentence:
			for i := range v {
				other := v[i].Replace(with)
				v[i], replaced = other, replaced || other != v[i]
			}
		}
	}
	if !replaced {
		return s
	}
	return Sentence{s.Key, argsOf(values)}
}

// Bounds of a sentence from the network.
const (
	maxArgs  = 32
	maxItems = 256
	// deepest is how deep sentences stand in each other.
	deepest = 6
)

var errMalformed = errors.New("sentence: malformed")

// UnmarshalJSON also reads a text, which is how earlier releases wrote a sentence, as [Plain] has it.
func (s *Sentence) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte{'"'}) {
		var text string
		err := json.Unmarshal(data, &text)
		*s = Plain(text)
		return err
	}
	type plain Sentence // without this method
	return json.Unmarshal(data, (*plain)(s))
}

// Values returns the arguments. Each is a string, a float64, a Sentence, a []string or a []Sentence.
func (a Args) Values() map[string]any {
	if a == "" {
		return nil
	}
	values, err := read([]byte(a))
	if err != nil {
		return nil // they were read before
	}
	return values
}

// MarshalJSON returns the arguments as they are.
func (a Args) MarshalJSON() ([]byte, error) { return []byte(a), nil }

// UnmarshalJSON reads arguments from an untrusted program: their number and depth are bounded.
func (a *Args) UnmarshalJSON(data []byte) error {
	values, err := read(data)
	if err == nil {
		*a = argsOf(values)
	}
	return err
}

func read(data []byte) (map[string]any, error) {
	var raw map[string]any
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, err
	}
	return valuesOf(raw, deepest)
}

func valuesOf(raw map[string]any, depth int) (map[string]any, error) {
	if len(raw) > maxArgs || depth == 0 {
		return nil, errMalformed
	}
	values := make(map[string]any, len(raw))
	for name, value := range raw {
		switch v := value.(type) {
		case string, float64:
			values[name] = v
		case map[string]any:
			s, err := sentenceOf(v, depth)
			if err != nil {
				return nil, err
			}
			values[name] = s
		case []any:
			list, err := listOf(v, depth)
			if err != nil {
				return nil, err
			}
			values[name] = list
		default:
			return nil, errMalformed
		}
	}
	return values, nil
}

func sentenceOf(raw map[string]any, depth int) (Sentence, error) {
	key, ok := raw["key"].(string)
	if !ok {
		return Sentence{}, errMalformed
	}
	with, _ := raw["with"].(map[string]any)
	values, err := valuesOf(with, depth-1)
	if err != nil {
		return Sentence{}, err
	}
	return Sentence{key, argsOf(values)}, nil
}

// listOf returns a []string, or a []Sentence if the first item is one.
func listOf(raw []any, depth int) (any, error) {
	if len(raw) > maxItems {
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
