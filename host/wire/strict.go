package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"muster/discovery"
	"muster/internal/slip"
)

// Read reads a JSON object that people wrote into a struct. It refuses keys that the struct has not, and
// names the right one: a slip would otherwise do nothing, and look as if it had.
func Read(body []byte, into any) error {
	var keys []string
	t := reflect.TypeOf(into).Elem()
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			keys = append(keys, name)
		}
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	var given map[string]json.RawMessage
	if err := json.Unmarshal(body, &given); err != nil {
		return err
	}
	if why := strange(given, keys); why != nil {
		return why
	}
	return json.Unmarshal(body, into)
}

// strange refuses the first key that is not known, nil if all are.
func strange(given map[string]json.RawMessage, known []string) *Refusal {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(known, key) {
			continue
		}
		names := slices.Sorted(slices.Values(known))
		why := Refuse(ReasonMalformed, "refused.no-key", "key", discovery.CleanText(key[:min(len(key), maxKey)]))
		if name := likeliest(key, names); name != "" {
			return why.Advising("refused.no-key-like", "name", name)
		}
		if len(names) == 0 {
			return why
		}
		return why.Advising("refused.no-key-hint", "names", names)
	}
	return nil
}

// maxKey is how much of a strange key is shown, in bytes.
const maxKey = 64

// otherNames are the names that flags, documents and other programs use for settings.
var otherNames = map[string]string{
	"rule": "by", "maxrtt": "limits_ms", "maxping": "limits_ms", "rtt": "limits_ms", "ping": "limits_ms", "size": "players",
	"address": "addr", "server": "addr", "player": "name", "nickname": "name",
}

// likeliest returns the known key that somebody meant, or nothing: it has the same letters, another name,
// a part in common, or few letters wrong.
func likeliest(key string, known []string) string {
	meant := letters(key)
	if other := otherNames[meant]; slices.Contains(known, other) {
		return other
	}
	best, fewest := "", max(1, len(meant)/3)+1
	for _, name := range known {
		is := letters(name)
		wrong, _ := slip.Distance([]rune(meant), []rune(is), fewest)
		if min(len(is), len(meant)) > 3 && (strings.Contains(meant, is) || strings.Contains(is, meant)) {
			wrong = min(wrong, 1)
		}
		if wrong < fewest {
			best, fewest = name, wrong
		}
	}
	return best
}

// letters returns a key as it sounds: without case, separators and unit.
func letters(key string) string {
	key = strings.ToLower(key[:min(len(key), maxKey)])
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.TrimSuffix(strings.TrimSuffix(key, "_ms"), "-ms"))
}
