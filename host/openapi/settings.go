package openapi

import (
	"reflect"
	"slices"

	"muster/discovery"
	"muster/host/wire"
)

// settings returns the schema of an object of settings, which has the rows of the host's table that
// may be set.
func (r *reflector) settings(may func(wire.Setting) bool, description string) *schema {
	s := &schema{Type: "object", Description: description}
	for _, row := range wire.Table() {
		if may(row) {
			name := row.Key
			if name == passwordKey {
				name = "password"
			}
			s.Properties = append(s.Properties, property{name, r.setting(row)})
		}
	}
	return s
}

// passwordKey is the key of the server's password in the table of settings.
const passwordKey = "-"

// setting returns the schema of a setting.
func (r *reflector) setting(row wire.Setting) *schema {
	var values wire.Settings
	at := row.Of(&values)
	of := reflect.ValueOf(&values).Elem()
	i := slices.IndexFunc(slices.Collect(fieldsOf(of)), func(f reflect.Value) bool { return f.Addr().Interface() == at })
	if i < 0 {
		r.complain("the setting %s is no field of Settings", row.Key)
		return &schema{}
	}
	declared := of.Type().Field(i)
	s := r.of(declared.Type)
	r.types["Settings"] = of.Type()
	switch at.(type) {
	case *discovery.Millis:
		s.Maximum = new(float64(row.Most.Milliseconds()))
		s.Minimum = new(0.)
	case *string:
		for _, word := range row.Words {
			s.Enum = append(s.Enum, word)
		}
	}
	name := row.Key
	if name == passwordKey {
		name = "password"
	}
	return r.described(s, field{StructField: declared, of: of.Type(), name: name}, "Settings")
}

func fieldsOf(v reflect.Value) func(yield func(reflect.Value) bool) {
	return func(yield func(reflect.Value) bool) {
		for i := range v.NumField() {
			if !yield(v.Field(i)) {
				return
			}
		}
	}
}
