package wire

import (
	"reflect"

	"muster/discovery"
)

// cleanTexts makes every text of a message safe to show, the keys of maps
// included: whatever a stranger's program says ends up on a terminal. It walks
// the message by reflection so that no field can be forgotten.
func cleanTexts(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(clean(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			cleanTexts(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			cleanTexts(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				cleanTexts(v.Field(i))
			}
		}
	case reflect.Map:
		cleanKeys(v)
	}
}

// cleanKeys needs no more than keys: no message has texts as values of a map.
func cleanKeys(m reflect.Value) {
	for _, key := range m.MapKeys() {
		if safe := clean(key.String()); safe != key.String() {
			m.SetMapIndex(reflect.ValueOf(safe).Convert(key.Type()), m.MapIndex(key))
			m.SetMapIndex(key, reflect.Value{})
		}
	}
}

// clean is [discovery.CleanText], faster for texts that are plain.
func clean(s string) string {
	if isPlain(s) {
		return s
	}
	return discovery.CleanText(s)
}

// isPlain tells a short text of printable ASCII without white space.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) <= maxText
}
