package selection_test

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"muster/selection"
	"muster/selection/law"
)

// fill sets everything in a value that has an exported name. Texts without a meaning of their own
// become a prefix and a number.
func fill(v reflect.Value, prefix string, n *int) {
	*n++
	switch {
	case !v.CanSet(), v.Type() == reflect.TypeFor[selection.Judgement](), v.Type() == reflect.TypeFor[law.Break](): // they name nobody
	case v.Type() == reflect.TypeFor[string]():
		v.SetString(prefix + strconv.Itoa(*n))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), prefix, n)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), prefix, n)
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), prefix, n)
		}
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, prefix, n)
			fill(value, prefix, n)
			v.SetMapIndex(key, value)
		}
	case v.CanInt():
		v.SetInt(int64(*n))
	case v.CanUint():
		v.SetUint(1)
	case v.CanFloat():
		v.SetFloat(float64(*n))
	}
}

// filled returns a selection with every field set. The players' names begin with a prefix.
func filled(prefix string) (s selection.Selection) {
	fill(reflect.ValueOf(&s).Elem(), prefix, new(int))
	s.Format = selection.Format
	return s
}

// TestNamed checks that other names stand wherever the players' stood, and that the selection itself
// keeps its own.
func TestNamed(t *testing.T) {
	name := func(id string) string { return strings.Replace(id, "id ", "name ", 1) }
	s := filled("id ")
	if named := s.Named(name); !reflect.DeepEqual(named, filled("name ")) {
		t.Errorf("with names it is %+v", named)
	}
	if !reflect.DeepEqual(s, filled("id ")) {
		t.Errorf("it has become %+v", s)
	}
	if none := (selection.Selection{}).Named(name); !reflect.DeepEqual(none, selection.Selection{}) {
		t.Errorf("nothing with names is %+v", none)
	}
}
