package openapi

import (
	"reflect"

	"muster/discovery"
	"muster/host/wire"
)

// settings returns the schema of an object of settings, which has the rows of the host's table that
// may be set.
func (r *reflector) settings(may func(wire.Setting) bool, description string) *schema {
	s := &schema{Type: "object", Description: description}
	for _, row := range wire.Table() {
		if may(row) {
			s.Properties = append(s.Properties, property{nameOf(row), r.setting(row)})
		}
	}
	return s
}

// nameOf returns the name of a setting in a request. The table of settings hides that of the server's
// password.
func nameOf(row wire.Setting) string {
	if row.Key == "-" {
		return "password"
	}
	return row.Key
}

// setting returns the schema of a setting.
func (r *reflector) setting(row wire.Setting) *schema {
	var values wire.Settings
	at := row.Of(&values)
	of := reflect.ValueOf(&values).Elem()
	var declared reflect.StructField
	for f, value := range of.Fields() {
		if value.Addr().Interface() == at {
			declared = f
		}
	}
	if declared.Name == "" {
		r.complain("the setting %s is no field of Settings", row.Key)
		return &schema{}
	}
	s := r.of(declared.Type)
	if declared.Type.Kind() == reflect.Pointer {
		s = orNull(s)
	}
	r.types["Settings"] = of.Type()
	switch at.(type) {
	case *discovery.Millis:
		within(s, 0, float64(row.Max.Milliseconds()))
	case *string:
		s = oneOf(row.Words)
	}
	return r.described(s, field{StructField: declared, of: of.Type(), name: nameOf(row)}, "Settings")
}
