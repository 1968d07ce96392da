package openapi

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"muster/selection"
	"muster/selection/rules"
)

// schema is a JSON Schema of the 2020-12 draft, with the keywords that the document needs.
type schema struct {
	Ref                  string     `json:"$ref,omitempty"`
	Description          string     `json:"description,omitempty"`
	Type                 any        `json:"type,omitempty"` // a string, or several
	Format               string     `json:"format,omitempty"`
	Const                any        `json:"const,omitempty"`
	Enum                 []any      `json:"enum,omitempty"`
	Minimum              *float64   `json:"minimum,omitempty"`
	Maximum              *float64   `json:"maximum,omitempty"`
	Pattern              string     `json:"pattern,omitempty"`
	Items                *schema    `json:"items,omitempty"`
	MinItems             int        `json:"minItems,omitempty"`
	MaxItems             int        `json:"maxItems,omitempty"`
	Properties           properties `json:"properties,omitempty"`
	Required             []string   `json:"required,omitempty"`
	AdditionalProperties any        `json:"additionalProperties,omitempty"` // false, or a schema
	AnyOf                []*schema  `json:"anyOf,omitempty"`
	Examples             []any      `json:"examples,omitempty"`
	Stability            Stability  `json:"x-stability,omitempty"`
}

// properties are the fields of an object, in the order of the Go type.
type properties []property

type property struct {
	name   string
	schema *schema
}

// MarshalJSON writes an object whose fields keep their order.
func (ps properties) MarshalJSON() ([]byte, error) {
	var o object
	for _, p := range ps {
		o = append(o, member{p.name, p.schema})
	}
	return o.MarshalJSON()
}

func (ps properties) find(name string) *schema {
	for _, p := range ps {
		if p.name == name {
			return p.schema
		}
	}
	return nil
}

func text(description string) *schema { return &schema{Type: "string", Description: description} }

func ref(component string) *schema { return &schema{Ref: "#/components/schemas/" + component} }

// componentOf returns the name of the component that the schema refers to, or an empty string.
func (s *schema) componentOf() string { return strings.TrimPrefix(s.Ref, "#/components/schemas/") }

// orNull returns the schema of a value that may also be null.
func orNull(s *schema) *schema { return &schema{AnyOf: []*schema{s, {Type: "null"}}} }

// within bounds a number.
func within(s *schema, least, most float64) *schema {
	s.Minimum, s.Maximum = &least, &most
	return s
}

// reflector turns Go types into schemas. Named structs become components.
type reflector struct {
	comments   comments
	components properties
	// types are the Go types of the components, whose comments describe them, by name.
	types map[string]reflect.Type
	// used are the hand-written descriptions that the document has.
	used     map[string]bool
	problems []error
}

func (r *reflector) complain(format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf(format, args...))
}

// of returns the schema of a type, as encoding/json writes its values.
func (r *reflector) of(t reflect.Type) *schema {
	if own, is := own(t); is {
		return own
	}
	if t == sentenceType {
		r.addOnce("Sentence", func() *schema { return r.sentence() })
		return ref("Sentence")
	}
	if writesItself(t) && !slices.Contains(plainForms, t) {
		r.complain("%s writes its own JSON, and this package does not know which", t)
		return &schema{}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.String:
		return r.word(t)
	case reflect.Int, reflect.Int64:
		return &schema{Type: "integer"}
	case reflect.Uint16, reflect.Uint32, reflect.Uint8:
		return within(&schema{Type: "integer"}, 0, float64(uint64(1)<<t.Bits()-1))
	case reflect.Float64:
		return &schema{Type: "number"}
	case reflect.Pointer:
		return r.of(t.Elem())
	case reflect.Slice:
		return &schema{Type: "array", Items: r.of(t.Elem())}
	case reflect.Array:
		return &schema{Type: "array", Items: r.of(t.Elem()), MinItems: t.Len(), MaxItems: t.Len()}
	case reflect.Map:
		return &schema{Type: "object", AdditionalProperties: r.of(t.Elem())}
	case reflect.Struct:
		name := componentName(t)
		if other, is := r.types[name]; is && other != t {
			r.complain("%s and %s are both called %s", other, t, name)
		}
		r.addOnce(name, func() *schema {
			r.types[name] = t
			return r.object(t, name)
		})
		return ref(name)
	}
	r.complain("%s has no schema", t)
	return &schema{}
}

// addOnce adds a component. Its schema may refer to itself.
func (r *reflector) addOnce(name string, of func() *schema) {
	if r.components.find(name) != nil {
		return
	}
	s := &schema{}
	r.components = append(r.components, property{name, s})
	*s = *of()
}

// word returns the schema of a text. A type with constants becomes a component.
func (r *reflector) word(t reflect.Type) *schema {
	values := r.comments.Values[goName(t)]
	if values == nil {
		return &schema{Type: "string"}
	}
	name := componentName(t)
	r.addOnce(name, func() *schema {
		s := r.enumeration(values)
		if t == ruleType {
			s = oneOf(rules.Names())
		}
		s.Description = strings.TrimSpace(r.about(name, "") + " " + s.Description)
		return s
	})
	return ref(name)
}

func (r *reflector) enumeration(values []value) *schema {
	s := &schema{Type: "string", Description: listed(values)}
	for _, v := range values {
		s.Enum = append(s.Enum, v.Value)
	}
	return s
}

// listed describes the values of an enumeration that have a comment.
func listed(values []value) string {
	var said []string
	for _, v := range values {
		if v.Comment != "" {
			said = append(said, fmt.Sprintf("`%s`: %s", v.Value, v.Comment))
		}
	}
	return strings.Join(said, "; ")
}

// object returns the schema of a struct.
func (r *reflector) object(t reflect.Type, name string) *schema {
	s := &schema{Type: "object", Description: r.about(name, "")}
	for _, f := range fields(t) {
		p := r.of(f.Type)
		if f.Type.Kind() == reflect.Pointer && !f.isOptional {
			p = orNull(p)
		}
		if values := r.comments.Values[name+"."+f.name]; values != nil {
			p = r.enumeration(values)
		}
		p = r.described(p, f, name)
		s.Properties = append(s.Properties, property{f.name, p})
		if !f.isOptional {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

// described adds a field's description.
func (r *reflector) described(s *schema, f field, component string) *schema {
	about, stability := r.about(component, f.name), Stability("")
	if slices.Contains(provisional, component+"."+f.name) {
		stability = Provisional
	}
	if s.Description != "" {
		about = strings.TrimSpace(about + " " + s.Description)
	}
	if s.Ref == "" {
		s.Description, s.Stability = about, stability
		return s
	}
	return &schema{Ref: s.Ref, Description: about, Stability: stability}
}

// field is a field of a struct in JSON.
type field struct {
	reflect.StructField
	of   reflect.Type // the struct that declares it
	name string
	// isOptional says that an empty value is left out.
	isOptional bool
}

// fields returns a struct's fields as encoding/json sees them.
func fields(t reflect.Type) (all []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "":
			all = append(all, fields(f.Type)...)
		default:
			isOptional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
			if name == "" {
				name = f.Name
			}
			all = append(all, field{f, t, name, isOptional})
		}
	}
	return all
}

// plainForms are types that write themselves, but only to add values to their own fields.
var plainForms []reflect.Type

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	ruleType      = reflect.TypeFor[selection.Rule]()
	timeType      = reflect.TypeFor[time.Time]()
)

func writesItself(t reflect.Type) bool {
	return t.Kind() != reflect.Pointer && (t.Implements(marshaler) || t.Implements(textMarshaler))
}
