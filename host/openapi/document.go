package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"muster/host/wire"
)

// Document is the description of a host's endpoints.
type Document struct {
	routes     []Route
	operations []operation
	components properties
}

// New makes the document of a host's table of routes and actions. Its error names all that is missing.
func New(routes []Route, names []string) (*Document, error) {
	r, err := newReflector()
	if err != nil {
		return nil, err
	}
	d := &Document{routes: routes, operations: r.operations()}
	for _, name := range names {
		i := slices.IndexFunc(actions, func(a action) bool { return a.name == name })
		if i < 0 {
			r.complain("nothing describes the action %s", name)
		}
	}
	for _, a := range actions {
		if !slices.Contains(names, a.name) {
			r.complain("no room has the action %s", a.name)
		}
		d.operations = append(d.operations, r.ofAction(a))
	}
	r.of(reflect.TypeFor[wire.Refusal]())
	d.components = r.components
	r.check(d)
	return d, errors.Join(r.problems...)
}

func newReflector() (*reflector, error) {
	c, err := readComments()
	return &reflector{comments: c, types: map[string]reflect.Type{}, used: map[string]bool{}}, err
}

// check compares the contracts with the host's table.
func (r *reflector) check(d *Document) {
	has := func(route string) bool {
		return slices.ContainsFunc(d.routes, func(of Route) bool { return of.String() == route })
	}
	described := func(route string) bool {
		return slices.ContainsFunc(d.operations, func(o operation) bool { return o.route == route })
	}
	for _, route := range d.routes {
		if _, is := leftOut[route.String()]; is == described(route.String()) {
			r.complain("nothing describes the route %s", route)
		}
	}
	for _, o := range d.operations {
		if !has(o.route) {
			r.complain("no host has the route of %s", o)
		}
	}
	for route := range leftOut {
		if !has(route) {
			r.complain("no host has the route %s", route)
		}
	}
	for key := range words {
		if !r.used[key] {
			r.complain("nothing has the description of %s", key)
		}
	}
}

// route returns the host's row for an operation.
func (d *Document) route(o operation) Route {
	for _, r := range d.routes {
		if r.String() == o.route {
			return r
		}
	}
	return Route{}
}

func (o operation) method() string {
	method, _, _ := strings.Cut(o.route, " ")
	return method
}

func (o operation) where() string {
	if o.path != "" {
		return o.path
	}
	_, pattern, _ := strings.Cut(o.route, " ")
	return pattern
}

// caller names the permitted callers.
func (d *Document) caller(o operation) string {
	if o.by != "" {
		return o.by
	}
	return d.route(o).For
}

// all returns the answers of an operation, with those that every operation has.
func (d *Document) all(o operation) []answer {
	all := slices.Clone(o.answers)
	if o.method() != "GET" && !slices.ContainsFunc(all, func(a answer) bool { return a.status == 403 }) {
		all = append(all, foreign)
	}
	all = append(all, everywhere)
	slices.SortStableFunc(all, func(a, b answer) int { return a.status - b.status })
	return all
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON leaves out members that are empty.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, m := range o {
		if v := reflect.ValueOf(m.value); !v.IsValid() || v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(m.name) // a string always has a form
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// JSON returns the document as OpenAPI has it.
func (d *Document) JSON() ([]byte, error) {
	shared := &responses{of: map[string]string{}}
	var paths object
	for _, o := range d.operations {
		at := slices.IndexFunc(paths, func(m member) bool { return m.name == o.where() })
		if at < 0 {
			at = len(paths)
			paths = append(paths, member{o.where(), object{}})
		}
		paths[at].value = append(paths[at].value.(object), member{strings.ToLower(o.method()), d.operation(o, shared)})
	}
	return json.Marshal(object{
		{"openapi", "3.1.1"},
		{"info", object{
			{"title", "Muster: a host's HTTP interface"},
			{"version", Version},
			{"summary", "Open rooms, watch them, and act in them."},
			{"description", strings.Join(about, "\n\n")},
			{"license", object{{"name", "MIT"}, {"identifier", "MIT"}}},
		}},
		{"jsonSchemaDialect", "https://json-schema.org/draft/2020-12/schema"},
		{"servers", []object{{{"url", "/"}, {"description", "The host that serves this document."}}}},
		{"tags", tags},
		{"paths", paths},
		{"components", object{
			{"schemas", d.components},
			{"responses", shared.all},
			{"parameters", parameters()},
			{"headers", headers},
			{"securitySchemes", object{
				{"person", bearer("A person's token, the text behind the last dot of a personal link, or the organiser's secret.")},
				{"league", bearer("A league's key, which the host's operator gives away.")},
			}},
		}},
	})
}

func bearer(description string) object {
	return object{{"type", "http"}, {"scheme", "bearer"}, {"description", description}}
}

// operation returns an operation's object.
func (d *Document) operation(o operation, shared *responses) object {
	route := d.route(o)
	var takes []any
	for _, name := range o.params {
		takes = append(takes, object{{"$ref", "#/components/parameters/" + name}})
	}
	for _, p := range o.query {
		takes = append(takes, p)
	}
	var answers object
	for _, a := range d.all(o) {
		answers = append(answers, member{strconv.Itoa(a.status), shared.refer(a)})
	}
	var takesBody object
	if o.body != nil {
		media := object{{"schema", o.body.schema}}
		if o.body.example != "" {
			media = append(media, member{"example", json.RawMessage(o.body.example)})
		}
		takesBody = object{{"required", o.body.required}, {"content", object{{o.body.kind, media}}}}
	}
	var needs any
	if name, isOptional := strings.CutPrefix(o.security, "optional "); isOptional {
		needs = []map[string][]string{{}, {name: {}}}
	} else if o.security != "" {
		needs = []map[string][]string{{o.security: {}}}
	}
	return object{
		{"operationId", o.id},
		{"tags", []string{o.tag}},
		{"summary", o.summary},
		{"description", strings.TrimSpace(fmt.Sprintf("For %s. Limits: %s.\n\n%s", d.caller(o), route.Limits, o.description))},
		{"parameters", takes},
		{"requestBody", takesBody},
		{"responses", answers},
		{"security", needs},
		{"x-stability", o.stability},
	}
}

// responses are the answers that several operations have.
type responses struct {
	all object
	of  map[string]string // names by content
}

// statusNames are what the components of refusals are called.
var statusNames = map[int]string{
	400: "Malformed", 401: "UnknownKey", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 410: "Over", 421: "Misdirected",
	429: "TooMany", 502: "Unanswered", 503: "Unavailable",
}

// refer returns an answer, or a reference to it if it is a refusal.
func (r *responses) refer(a answer) any {
	written := a.object()
	if a.reasons == nil {
		return written
	}
	key, _ := json.Marshal(written) // it consists of texts
	name, is := r.of[string(key)]
	if !is {
		name = statusNames[a.status]
		for n, base := 2, name; slices.ContainsFunc(r.all, func(m member) bool { return m.name == name }); n++ {
			name = fmt.Sprint(base, n)
		}
		r.of[string(key)] = name
		r.all = append(r.all, member{name, written})
	}
	return object{{"$ref", "#/components/responses/" + name}}
}

// object returns an answer's object. Refusals name their reasons.
func (a answer) object() object {
	var sent, content object
	for _, name := range a.headers {
		name, isSometimes := strings.CutPrefix(name, "?")
		component := name
		if isSometimes {
			component = "Some-" + name
		}
		sent = append(sent, member{name, object{{"$ref", "#/components/headers/" + component}}})
	}
	if a.reasons != nil {
		content = append(content, member{jsonKind, object{{"schema", &schema{
			Ref: ref("Refusal").Ref, Properties: properties{{"reason", oneOf(a.reasons)}},
		}}}})
	}
	for _, c := range a.content {
		s := c.schema
		if s == nil {
			s = &schema{Type: "string"}
		}
		content = append(content, member{c.kind, object{{"schema", s}}})
	}
	return object{{"description", a.about}, {"headers", sent}, {"content", content}}
}

// headers are those that not every answer has.
var headers = object{
	{"Retry-After", header("After how many seconds to try again.", &schema{Type: "integer", Minimum: new(1.)})},
	{"Location", header("The room's address. `-` stands for the code, because proxies log addresses: send `Muster-Code`.",
		&schema{Type: "string"})},
	{"ETag", header("Names the version of the answer; `If-None-Match` takes it.", &schema{Type: "string"})},
	{"Some-Retry-After", maybe("After how many seconds to try again, if that can help.", &schema{Type: "integer", Minimum: new(1.)})},
	{"Some-Content-Disposition", maybe("`attachment`, with the name of a file, if the answer is a table or a plugin's file.",
		&schema{Type: "string"})},
}

func header(description string, s *schema) object {
	return append(maybe(description, s), member{"required", true})
}

// maybe is a header that an answer need not have.
func maybe(description string, s *schema) object {
	return object{{"description", description}, {"schema", s}}
}

// parameters are those that several operations have.
func parameters() object {
	return object{
		{"Code", parameter{"code", "path", "The room's code. Letter case, blanks and hyphens do not matter. `-` if `Muster-Code` has it.",
			true, &schema{Type: "string", Examples: []any{"BAKODI"}}}},
		{"MusterCode", parameter{"Muster-Code", "header", "The room's code, if the path has `-`. Proxies log paths, and headers rarely.",
			false, &schema{Type: "string"}}},
		{"MusterKey", parameter{"Muster-Key", "header", "The room's link key: in a link it stands between the code and the dot. A room " +
			"on a public host needs it, or a credential, once its group is complete, locked or launched.", false, &schema{Type: "string"}}},
		{"Origin", parameter{"Origin", "header", "Browsers send it. It must be the host's own; programs leave it out.", false,
			&schema{Type: "string"}}},
	}
}

var tags = []object{
	{{"name", opening}, {"description", "On a public host (`muster serve`), which opens rooms for everybody. Other hosts answer 404."}},
	{{"name", watching}, {"description", "What a room is and was."}},
	{{"name", steering}, {"description", "What people do in a room: `POST /api/rooms/{code}/ACTION`."}},
	{{"name", getting}, {"description", "The program itself, for people who have none yet. Not every host gives it."}},
	{{"name", running}, {"description", "For operators and their programs."}},
}

// about says what holds for all operations, a paragraph each.
var about = []string{
	"A host keeps rooms. A room looks for the game server that suits a whole group. This document describes what programs of others " +
		"can ask of a host by HTTP. Two WebSockets are no part of it: `/peer` is how players' programs measure, and PROTOCOL.md describes " +
		"it; `/live` is the page's own, and may change with the page.",
	"**Stability.** The version has two numbers. The first rises when something stable changes or goes away, the second with every " +
		"addition. `x-stability` of an operation is `stable` or `provisional`; a field has the one of its operation unless it says " +
		"`provisional` itself. What is provisional may change with any release, and " +
		"CHANGELOG.md says so. Additions are fields of answers, optional fields of bodies, values of enumerations, reasons, actions and " +
		"routes. **Ignore fields that you do not know**, and treat a value that you do not know as “something else”. The English of " +
		"`message` and `hint`, descriptions and the names of this document's components are for people, and may change.",
	"**Getting in.** A room opens to its code, to its link key (`Muster-Key`), and to a person's credential (`Authorization: Bearer`). " +
		"A link is `https://HOST/#CODE_KEY`, a personal one has a dot and a credential behind it. Prefer the key: guesses of codes are " +
		"limited for everybody together. Put `-` in place of the code in paths, and the code into `Muster-Code`, because proxies log paths. " +
		"A credential says who acts; whoever has the organiser's secret is the organiser.",
	"**Requests that change something** need `Content-Type: application/json` unless their body is empty. The body has at most 4 KiB, " +
		"unless the operation says otherwise. Browsers' requests must come from the host's own page: the host compares `Origin` with its " +
		"name, and refuses `Sec-Fetch-Site: cross-site` and `same-site`. There is no CORS. Programs send neither header.",
	"**Refusals** have one form, `Refusal`. Its `reason` is for programs, and stable; `message` and `hint` are English for people, `says` " +
		"and `advises` the same for a catalogue. Other errors are texts: a path or a method that nobody serves (404, 405 with `Allow`). " +
		"After 429 and 503 wait for `Retry-After` seconds; 200 requests at once and 20 a second are allowed for each address, and this limit " +
		"does not delay the organiser of a room. After 502 ask for the room before you repeat an action.",
	"**Values.** A field whose value is empty, 0 or false is often left out; the schema says which ones are always there. Times are " +
		"RFC 3339. Names that end in `_ms` are milliseconds. Countries are ISO 3166-1 alpha-2. Texts are what strangers typed: bounded and " +
		"without control characters, but escape them. `HEAD` works wherever `GET` does.",
	"**Headers of every answer:** `X-Content-Type-Options: nosniff`, `Referrer-Policy: no-referrer`, a `Content-Security-Policy`, " +
		"`Cross-Origin-Opener-Policy` and `Cross-Origin-Resource-Policy: same-origin`. Answers in JSON are not to be stored " +
		"(`Cache-Control: no-store`), except this document.",
}
