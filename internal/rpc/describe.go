package rpc

import (
	"encoding"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"muster/internal/rpc/jsonrpc"
)

// Describe writes the methods as an OpenRPC 1.3 document. OpenRPC knows no notifications from the
// server, so x-notifications lists them.
func Describe(w io.Writer, release string) error {
	d := &describer{schemas: map[string]any{}}
	document := map[string]any{
		"openrpc": "1.3.2",
		"info": map[string]any{
			"title": "muster rpc", "version": format,
			"description": "Release " + release + ". JSON-RPC 2.0 over standard input and output, one message a line without headers.",
		},
		"methods":         d.methods(methods(), true),
		"x-notifications": d.methods(notifications(), false),
	}
	document["components"] = map[string]any{"schemas": d.schemas, "errors": d.errors()}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

// describer collects the schemas of types by their names.
type describer struct{ schemas map[string]any }

func (d *describer) methods(all map[string]method, answer bool) []any {
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		params := []any{}
		for _, f := range fieldsOf(m.params) {
			params = append(params, map[string]any{
				"name": nameOf(f), "required": !answer && !isOptional(f) || f.Tag.Get("need") != "",
				"schema": d.ofField(f), "description": f.Tag.Get("doc"),
			})
		}
		one := map[string]any{"name": name, "summary": m.summary, "paramStructure": "by-name", "params": params}
		if answer && name != cancelMethod {
			one["result"] = map[string]any{"name": "result", "schema": d.of(m.result)}
		}
		list = append(list, one)
	}
	return list
}

// errors returns the codes that are not JSON-RPC's own.
func (d *describer) errors() map[string]any {
	data := d.of(reflect.TypeFor[Trouble]())
	errors := map[string]any{}
	for name, e := range map[string]struct {
		code    int
		message string
	}{
		"failed": {Failed, "something did not work"}, "refused": {Refused, "the host refuses"},
		"nothing": {Nothing, "nothing suitable was found"}, "not_there": {NotThere, "there is no such room or launch"},
		"too_many":  {TooMany, "so much is under way that no more begins"},
		"cancelled": {jsonrpc.Cancelled, "the launcher has cancelled the call"},
	} {
		errors[name] = map[string]any{"code": e.code, "message": e.message, "data": data}
	}
	return errors
}

// isOptional reports whether a member may be missing.
func isOptional(f reflect.StructField) bool {
	return strings.Contains(f.Tag.Get("json"), ",omitempty") || strings.Contains(f.Tag.Get("json"), ",omitzero")
}

func (d *describer) ofField(f reflect.StructField) any {
	schema := d.of(f.Type)
	if enum := f.Tag.Get("enum"); enum != "" {
		return map[string]any{"type": "string", "enum": strings.Split(enum, ",")}
	}
	return schema
}

// of returns the schema of a type. Types of this package get a name; others that are written by
// their own code may be anything.
func (d *describer) of(t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return map[string]any{}
	}
	if t.Kind() != reflect.Pointer && (t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Kind() == reflect.Interface) {
		return map[string]any{}
	}
	if t.Kind() != reflect.Pointer && t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.of(t.Elem())
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64, reflect.Float32:
		return map[string]any{"type": "number"}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": d.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": d.of(t.Elem())}
	case reflect.Struct:
		return d.object(t)
	}
	return map[string]any{"type": "integer"}
}

// object returns a reference to the schema of a struct.
func (d *describer) object(t reflect.Type) map[string]any {
	name := t.Name()
	if t.PkgPath() == "" || name == "" {
		return map[string]any{"type": "object"}
	}
	if strings.HasSuffix(t.PkgPath(), "/host/wire") || strings.HasSuffix(t.PkgPath(), "/selection") {
		return map[string]any{"type": "object", "description": name + ", as in PROTOCOL.md"}
	}
	if _, known := d.schemas[name]; !known {
		d.schemas[name] = nil // a type that contains itself ends here
		properties, required := map[string]any{}, []string{}
		for _, f := range fieldsOf(t) {
			schema := d.ofField(f)
			if doc := f.Tag.Get("doc"); doc != "" {
				if s, is := schema.(map[string]any); is && s["$ref"] == nil {
					s["description"] = doc
				}
			}
			if properties[nameOf(f)] = schema; !isOptional(f) {
				required = append(required, nameOf(f))
			}
		}
		d.schemas[name] = map[string]any{"type": "object", "properties": properties, "required": required}
	}
	return map[string]any{"$ref": "#/components/schemas/" + name}
}
