package host_test

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"muster/discovery"
	"muster/host"
	"muster/host/wire"
	"muster/internal/recipe"
	"muster/selection"
)

// schema is a part of the document of a host's endpoints.
type schema = map[string]any

// asJSON returns the document as JSON.
func asJSON() ([]byte, error) {
	written, _ := host.Description()
	var document schema
	if err := yaml.Unmarshal([]byte(written), &document); err != nil {
		return nil, err
	}
	delete(document, "x-shared") // everything has its own copy
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(document)
	return b.Bytes(), err
}

// readDocument returns the document. Objects that extend others have the fields of both.
func readDocument() (document schema, err error) {
	written, err := asJSON()
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(written, &document); err != nil {
		return nil, err
	}
	for _, of := range schemasOf(document) {
		whole := of.(schema)
		parts, _ := whole["allOf"].([]any)
		for _, part := range parts {
			base := resolve(document, part.(schema))
			maps.Copy(whole["properties"].(schema), base["properties"].(schema))
			required, _ := base["required"].([]any)
			own, _ := whole["required"].([]any)
			if required = append(own, required...); len(required) > 0 {
				whole["required"] = required
			}
		}
		delete(whole, "allOf")
	}
	return document, nil
}

func schemasOf(document schema) schema {
	return document["components"].(schema)["schemas"].(schema)
}

// resolve returns the component that a schema refers to, or the schema itself.
func resolve(document, of schema) schema {
	to, refers := of["$ref"].(string)
	if !refers {
		return of
	}
	component, _ := schemasOf(document)[strings.TrimPrefix(to, "#/components/schemas/")].(schema)
	return component
}

// TestAPIDocument checks that openapi.json is openapi.yaml as JSON. With -update it writes openapi.json.
func TestAPIDocument(t *testing.T) {
	_, saved := host.Description()
	written, err := asJSON()
	switch {
	case err != nil:
		t.Fatal(err)
	case string(written) == saved:
	case !*update:
		t.Error("openapi.json is older than openapi.yaml: go test ./host -run APIDocument -update")
	default:
		if err := os.WriteFile("openapi.json", written, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// undescribed are the routes that are for people.
var undescribed = []string{"GET /"}

// TestAPIRoutes checks that the document has every route and action of a host, and no other.
func TestAPIRoutes(t *testing.T) {
	document, err := readDocument()
	if err != nil {
		t.Fatal(err)
	}
	var described, served []string
	for path, item := range document["paths"].(schema) {
		for method := range item.(schema) {
			if strings.HasPrefix(path, "/get/") {
				path = "/get/" // one route serves all files
			}
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	for _, route := range host.Routes(t) {
		switch {
		case slices.Contains(undescribed, route):
		case route == "POST /api/rooms/{code}/{action}":
			for name := range host.Bodies(t) {
				served = append(served, strings.Replace(route, "{action}", name, 1))
			}
		default:
			served = append(served, route)
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	if described = slices.Compact(described); !slices.Equal(described, served) {
		t.Errorf("the document has\n%q\nand a host\n%q", described, served)
	}
}

// TestAPIFields checks that the document has every field that a host reads and writes, and no other.
func TestAPIFields(t *testing.T) {
	document, err := readDocument()
	if err != nil {
		t.Fatal(err)
	}
	c := &fieldChecker{T: t, document: document}
	for name, of := range map[string]any{
		"Service": wire.Service{}, "Opened": wire.Opened{}, "Room": wire.Document{}, "CulledServers": wire.CulledServers{},
		"Evenings": wire.History{}, "Matches": wire.Matches{}, "Refusal": wire.Refusal{}, "Recipe": recipe.Recipe{},
	} {
		c.check(reflect.TypeOf(of), schemasOf(document)[name].(schema), name)
	}
	var causes []string
	for cause := selection.Hygiene; cause <= selection.OverThreshold; cause++ {
		causes = append(causes, cause.String())
	}
	if described := words(schemasOf(document)["Cause"].(schema)["enum"]); !slices.Equal(causes, described) {
		t.Errorf("a cause may be %q, and the document says %q", causes, described)
	}
	c.checkSettings(schemasOf(document)["Settings"].(schema), wire.OnPage, "Settings")
	c.checkSettings(schemasOf(document)["Opening"].(schema), wire.IsOpen, "Opening", "servers")
	paths := document["paths"].(schema)
	for name, of := range host.Bodies(t) {
		operation := paths["/api/rooms/{code}/"+name].(schema)["post"].(schema)
		body, has := operation["requestBody"].(schema)
		switch {
		case has:
			whole := body["content"].(schema)["application/json"].(schema)["schema"].(schema)
			if name == "whatif" {
				c.checkSettings(whole, wire.Supposed, name)
			} else {
				c.isBody = true
				c.check(of, whole, name)
			}
		case of.Kind() != reflect.Struct || len(jsonFields(of)) > 0:
			t.Errorf("the document has no body for %s, which is read into %s", name, of)
		}
	}
}

// fieldChecker compares types with schemas.
type fieldChecker struct {
	*testing.T
	document schema
	// isBody says that the schema is of a request, which may leave fields out.
	isBody bool
}

func (c *fieldChecker) checkSettings(of schema, may func(wire.Setting) bool, at string, more ...string) {
	c.isBody = true
	names := more
	for _, row := range wire.Table() {
		if !may(row) {
			continue
		}
		name := row.Key
		names = append(names, name)
		property, _ := of["properties"].(schema)[name].(schema)
		var settings wire.Settings
		pointer := row.Of(&settings)
		c.check(reflect.TypeOf(pointer).Elem(), property, at+"."+name)
		if described := words(property["enum"]); len(row.Choices) > 0 && !slices.Equal(row.Choices, described) {
			c.Errorf("%s.%s may be %q, and the document says %q", at, name, row.Choices, described)
		}
		if _, isTime := pointer.(*discovery.Millis); isTime {
			if most := resolve(c.document, property)["maximum"]; most != float64(row.Max.Milliseconds()) {
				c.Errorf("%s.%s may be %v, and the document says %v", at, name, row.Max, most)
			}
		}
	}
	c.compareNames(names, of, at)
}

func (c *fieldChecker) compareNames(names []string, of schema, at string) {
	properties, _ := of["properties"].(schema)
	if described := slices.Collect(maps.Keys(properties)); !isSame(names, described) {
		c.Errorf("%s has the fields\n%q\nand in the document\n%q", at, names, described)
	}
}

func (c *fieldChecker) check(t reflect.Type, of schema, at string) {
	of = resolve(c.document, of)
	if options, is := of["anyOf"].([]any); is {
		of = resolve(c.document, options[0].(schema))
	}
	kind := kindOf(t)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if described := of["type"]; kind != "" && described != kind && !slices.Contains(words(described), kind) &&
		!(of["const"] != nil && kind == "string") {
		c.Errorf("%s is a %s, and in the document %v", at, kind, described)
	}
	isEmpty := func(word string) bool { return word == "" } // it is no constant
	if values := constants(c.T, t); len(values) > 0 && !isSame(values, slices.DeleteFunc(words(of["enum"]), isEmpty)) {
		c.Errorf("%s may be %q, and the document says %q", at, values, of["enum"])
	}
	switch {
	case writesItself(t) && t.Kind() != reflect.Struct:
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		if items, is := of["items"].(schema); is {
			c.check(t.Elem(), items, at+"[]")
		}
	case t.Kind() == reflect.Map:
		if values, is := of["additionalProperties"].(schema); is {
			c.check(t.Elem(), values, at+"{}")
		}
	case t.Kind() == reflect.Struct && kind == "object":
		var names, always []string
		for _, f := range jsonFields(t) {
			names = append(names, f.name)
			if !f.isOptional {
				always = append(always, f.name)
			}
			if property, is := of["properties"].(schema)[f.name].(schema); is {
				c.check(f.of, property, at+"."+f.name)
			}
		}
		c.compareNames(names, of, at)
		if required := words(of["required"]); !c.isBody && !isSame(always, required) {
			c.Errorf("%s always has %q, and the document says %q", at, always, required)
		}
	}
}

// words returns the words of a list, or a single one.
func words(of any) (all []string) {
	list, is := of.([]any)
	if !is {
		list = []any{of}
	}
	for _, word := range list {
		if text, is := word.(string); is {
			all = append(all, text)
		}
	}
	return all
}

// isSame reports whether two lists have the same words.
func isSame(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func writesItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// kindOf returns the JSON type of a Go type, empty if its zero value does not tell.
func kindOf(t reflect.Type) string {
	switch kind := t.Kind(); {
	case kind == reflect.Pointer:
		return kindOf(t.Elem())
	case writesItself(t):
	case kind == reflect.Slice:
		return "array"
	case kind == reflect.Map:
		return "object"
	case kind >= reflect.Int && kind <= reflect.Uint64:
		return "integer"
	}
	zero, err := json.Marshal(reflect.Zero(t).Interface())
	if err != nil {
		return ""
	}
	return map[byte]string{'"': "string", '0': "number", 'f': "boolean", '[': "array", '{': "object"}[zero[0]]
}

// jsonField is a field of a struct in JSON.
type jsonField struct {
	of   reflect.Type
	name string
	// isOptional says that an empty value is left out.
	isOptional bool
}

// jsonFields returns a struct's fields as encoding/json sees them.
func jsonFields(t reflect.Type) (all []jsonField) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() || t == reflect.TypeFor[wire.Seat]() && name == "who": // no answer has it
		case f.Anonymous && name == "":
			all = append(all, jsonFields(f.Type)...)
		default:
			all = append(all, jsonField{f.Type, cmp.Or(name, f.Name), strings.Contains(options, "omit")})
		}
	}
	return all
}

// constants returns the values of a type of texts, as its package declares them.
func constants(t *testing.T, of reflect.Type) (values []string) {
	folder, isOurs := strings.CutPrefix(of.PkgPath(), "muster/")
	if of.Kind() != reflect.String || !isOurs || writesItself(of) {
		return nil
	}
	files, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is {
				return true
			}
			if name, is := spec.Type.(*ast.Ident); is && name.Name == of.Name() && len(spec.Values) == 1 {
				if literal, is := spec.Values[0].(*ast.BasicLit); is {
					value, _ := strconv.Unquote(literal.Value) // Go's parser has read it
					values = append(values, value)
				}
			}
			return true
		})
	}
	return values
}
