package openapi

import (
	"fmt"
	"reflect"
	"slices"

	"muster/host/matchfile"
	"muster/host/wire"
)

// operation is what one path and method of the document takes and answers.
type operation struct {
	// route is the row of the host's table that serves it.
	route string
	// path is the path in the document, if it is not the route's pattern.
	path        string
	id, tag     string
	summary     string
	description string
	by          string // who may call, if the route does not say it
	stability   Stability
	params      []string // of the components' parameters
	query       []parameter
	body        *body
	answers     []answer
	security    string // the credential that it needs, "optional " before it if it does without
}

// parameter is a parameter that one operation has.
type parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Description string  `json:"description,omitempty"`
	Required    bool    `json:"required,omitempty"`
	Schema      *schema `json:"schema"`
}

// body is the body of a request.
type body struct {
	schema   *schema
	kind     string
	example  string
	required bool
}

// answer is one status of an operation, and its body.
type answer struct {
	status  int
	about   string
	headers []string
	content []content
	// reasons are the reasons of a refusal, if the answer is one.
	reasons []string
}

// content is a body by its kind. A nil schema is a text.
type content struct {
	kind   string
	schema *schema
}

// jsonKind is the kind of most bodies.
const jsonKind = "application/json"

const binaryKind = "application/octet-stream"

const metricsKind = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

const textKind, csvKind = "text/plain; charset=utf-8", "text/csv; charset=utf-8"

// The tags group the operations.
const (
	opening  = "Opening"
	watching = "A room"
	steering = "Actions"
	getting  = "Programs"
	running  = "Operating"
)

// refused returns an answer that is a refusal.
func refused(status int, about string, reasons ...string) answer {
	a := answer{status: status, about: about, reasons: reasons}
	if status == 429 || status == 503 {
		a.headers = []string{"Retry-After"}
	}
	return a
}

// sometimes returns a refusal that does not always say when to try again.
func sometimes(a answer) answer {
	a.headers = []string{"?Retry-After"}
	return a
}

// notPublic is the answer of a host that opens no rooms for everybody.
var notPublic = answer{status: 404, about: "This host is not public.", content: []content{{textKind, nil}}}

// ofRoom are the refusals of every request about a room.
func ofRoom(more ...answer) []answer {
	return append(more,
		refused(404, "No room has this code, or the code alone does not open it any more.", wire.ReasonCode),
		refused(410, "The room is over.", wire.ReasonClosed),
		refused(429, "Too many requests or too many wrong codes from this address, its network, or, for codes, all "+
			"addresses together.", wire.ReasonBusy, wire.ReasonLimited),
		refused(502, "The host that has the room ended before it answered. Whether the request had its effect is unknown.",
			wire.ReasonBusy),
		refused(503, "The room has no owner at the moment, or its host cannot save what happens. Nothing has happened.",
			wire.ReasonBusy, wire.ReasonMoved, wire.ReasonClosed),
	)
}

// everywhere is the refusal of every request, foreign that of those that change something.
var (
	everywhere = refused(421, "The name in `Host` is not this host's.", wire.ReasonOrigin)
	foreign    = refused(403, "Another site's page asks, by `Origin` or `Sec-Fetch-Site`.", wire.ReasonOrigin)
)

// leftOut are routes that are no part of the document, and why.
var leftOut = map[string]string{
	"GET /peer":          "is the WebSocket of players' programs; PROTOCOL.md describes it",
	"GET /live":          "is the WebSocket of the page; PROTOCOL.md, *The page*, describes it. It is the page's own and may change with it",
	"GET /":              "is the page for people",
	"POST /discord":      "is for Discord, which signs its requests; docs/discord.md describes it",
	"GET /open/{number}": "takes the organiser's own browser to the room, once",
}

// operations returns all operations but the actions.
func (r *reflector) operations() []operation {
	of := func(v any) *schema { return r.of(reflect.TypeOf(v)) }
	document := func(v any) []content { return []content{{jsonKind, of(v)}} }
	room := []string{"Code", "MusterCode", "MusterKey"}
	forms := []*schema{of(wire.Matches{})}
	for _, kind := range matchfile.Kinds() {
		forms = append(forms, of(matchfile.Forms()[matchfile.Kind(kind)]))
	}
	formats := &schema{Type: "string"}
	for _, kind := range append([]string{"csv"}, matchfile.Kinds()...) {
		formats.Enum = append(formats.Enum, kind)
	}
	return []operation{
		{
			route: "GET /api/service", id: "getService", tag: opening, summary: "What rooms can be opened here", stability: Stable,
			answers: []answer{
				{status: 200, about: "The host's version, its games and its limits.", content: document(wire.Service{})}, notPublic,
			},
		},
		{
			route: "POST /api/rooms", id: "openRoom", tag: opening, summary: "Open a room", stability: Stable,
			description: "The answer has the links; the caller itself is not in the room. `organiser_link` ends with " +
				"the organiser's secret. The body needs `Content-Type: application/json`. It may be compressed with " +
				"`Content-Encoding: gzip`, and has at most 8 KiB and 64 bytes for each of `max_servers`, before and after that. " +
				"A league shows its key as `Authorization: Bearer KEY`: then its own limit counts, and not the address's.",
			security: "optional league", params: []string{"Origin"},
			query: []parameter{{"Content-Encoding", "header", "How the body is compressed, if it is.", false,
				&schema{Type: "string", Enum: []any{"gzip", "identity"}}}},
			body: &body{r.opening(), jsonKind, `{"game":"openarena","players":4}`, true},
			answers: []answer{
				{status: 201, about: "The room is open, and saved.", headers: []string{"Location"}, content: document(wire.Opened{})},
				refused(400, "The body makes no sense, or the host cannot open such a room.", wire.ReasonMalformed, wire.ReasonAction),
				refused(401, "No league has this key.", wire.ReasonSecret),
				foreign, notPublic,
				sometimes(refused(429, "Too many requests, or the address or the league has its rooms. Without `Retry-After` a room must end "+
					"first.", wire.ReasonBusy, wire.ReasonFull)),
				sometimes(refused(503, "The host has all its rooms, keeps no standing rooms, or cannot save a room at the moment. Without "+
					"`Retry-After` it is no use to wait.", wire.ReasonFull, wire.ReasonBusy, wire.ReasonAction)),
			},
		},
		{
			route: "GET /go/{id}", id: "goToServer", tag: opening, summary: "The page that takes a browser to the room's game server",
			stability: Stable, description: "The address is `go` of an opened room. It is for people, and admits nobody to the room.",
			query: []parameter{{"id", "path", "The room's public id.", true, &schema{Type: "string"}}},
			answers: []answer{
				{status: 200, about: "Where the room plays, or how things stand.", content: []content{{"text/html; charset=utf-8", nil}}},
				{status: 404, about: "The room is over, or the link is cut off. A text: this host is not public.",
					content: []content{{"text/html; charset=utf-8", nil}, {textKind, nil}}},
				refused(429, "Too many requests from this address.", wire.ReasonBusy),
				refused(502, "The host that has the room ended before it answered.", wire.ReasonBusy),
				refused(503, "The room has no owner at the moment.", wire.ReasonBusy),
			},
		},
		{
			route: "GET /api/rooms/{code}", id: "getRoom", tag: watching, summary: "The room", stability: Stable, params: room,
			description: "Poll it no more than once a second or so. The page's WebSocket tells changes at once, but is no part of this document.",
			security:    "optional person",
			answers:     ofRoom(answer{status: 200, about: "The room as it is now.", content: document(wire.Document{})}),
		},
		{
			route: "GET /api/rooms/{code}/culled/{cause}", id: "listCulled", tag: watching, summary: "The servers culled for a cause",
			stability: Stable, params: room, security: "optional person",
			query: []parameter{{"cause", "path", "One of the causes that `culled` of the selection counts.", true, causes()}},
			answers: withText(404, "Or there is no such cause: then the answer is a text.", ofRoom(
				answer{status: 200, about: "The first few of them, and how many there are.", content: document(wire.CulledServers{})})),
		},
		{
			route: "GET /api/rooms/{code}/evenings", id: "getHistory", tag: watching, summary: "A standing room's history",
			stability: Stable, params: room, security: "person",
			query: []parameter{{"format", "query", "`csv` is a table with a line for each player on each server.", false,
				&schema{Type: "string", Enum: []any{"csv"}}}},
			answers: ofRoom(
				answer{status: 200, about: "The history. The table comes with `Content-Disposition`.", headers: []string{"?Content-Disposition"},
					content: append(document(wire.History{}), content{csvKind, nil})},
				refused(403, "Only the organiser and people who have played there may read it.", wire.ReasonSecret)),
		},
		{
			route: "GET /api/rooms/{code}/matches", id: "listMatches", tag: watching, summary: "The matches that the room has played",
			stability: Stable, params: room, security: "optional person",
			description: "Only players and the organiser get the server's password and SteamID64s. The formats of plugins are those of " +
				"their projects, and change with them.",
			query: []parameter{
				{"format", "query", "`csv` is a table of all matches with a line for each player. The others are the newest match, for " +
					"that plugin or manager of game servers.", false, formats},
				{"round", "query", "The match of this round in place of the newest, for a plugin.", false, &schema{Type: "integer"}},
			},
			answers: replaced(404, refused(404, "No room has this code, or the room has played no such match (`action`).", wire.ReasonCode,
				wire.ReasonAction), ofRoom(
				answer{status: 200, about: "The matches, the oldest first; or one match in a plugin's form.", headers: []string{"?Content-Disposition"},
					content: []content{{jsonKind, &schema{AnyOf: forms}}, {csvKind, nil}}},
				refused(400, "There is no such format.", wire.ReasonMalformed),
				refused(409, "The match lacks maps or SteamID64s that the format needs.", wire.ReasonAction))),
		},
		{
			route: "GET /api/rooms/{code}/qr.svg", id: "drawQR", tag: watching, summary: "The room's link as a QR code for phones",
			stability: Stable, params: room, security: "optional person",
			answers: ofRoom(answer{status: 200, about: "A picture, dark on light.", content: []content{{"image/svg+xml", nil}}}),
		},
		{
			route: "GET /get/", path: "/get/programs.json", id: "listPrograms", tag: getting, summary: "The programs that the host gives",
			stability: Provisional,
			answers:   []answer{{status: 200, about: "The programs, and the one for the visitor.", content: []content{{jsonKind, r.programs()}}}},
		},
		{
			route: "GET /get/", path: "/get/{file}", id: "getProgram", tag: getting, summary: "A program, or its signature",
			stability: Provisional, query: []parameter{programFile()},
			answers: []answer{
				{status: 200, about: "The file.", headers: []string{"?Content-Disposition"}, content: []content{{binaryKind, nil}}},
				{status: 404, about: "The host has no such program.", content: []content{{textKind, nil}}},
				{status: 429, about: "It gives too many at once.", content: []content{{textKind, nil}}},
				{status: 502, about: "It could not get the program from the project's release.", content: []content{{textKind, nil}}},
			},
		},
		{
			route: "POST /get/", path: "/get/{file}", id: "getProgramForRoom", tag: getting, stability: Provisional,
			summary: "A program whose name leads into a room", params: []string{"Origin"}, query: []parameter{programFile()},
			body: &body{text("The room's link, at most 2 KiB."), "text/plain", "", true},
			answers: []answer{
				{status: 200, about: "The file.", headers: []string{"?Content-Disposition"}, content: []content{{binaryKind, nil}}},
				{status: 400, about: "The body is no link into a room.", content: []content{{textKind, nil}}},
				{status: 404, about: "The host has no such program.", content: []content{{textKind, nil}}},
				{status: 429, about: "It gives too many at once.", content: []content{{textKind, nil}}},
				{status: 502, about: "It could not get the program from the project's release.", content: []content{{textKind, nil}}},
			},
		},
		{
			route: "GET /healthz", id: "isAlive", tag: running, summary: "Whether the host is alive", stability: Stable,
			answers: []answer{{status: 200, about: "`ok`", content: []content{{textKind, nil}}}},
		},
		{
			route: "GET /readyz", id: "isReady", tag: running, summary: "Whether the host takes people", stability: Stable,
			answers: []answer{
				{status: 200, about: "`ready`", content: []content{{textKind, nil}}},
				{status: 503, about: "The host drains, or its store is out of reach. The text says which.", content: []content{{textKind, nil}}},
			},
		},
		{
			route: "GET /metrics", id: "getMetrics", tag: running, summary: "Figures for Prometheus", stability: Provisional,
			answers: []answer{
				{status: 200, about: "The metrics in Prometheus' text format.", content: []content{{metricsKind, nil}}},
				{status: 403, about: "The figures are for other callers.", content: []content{{textKind, nil}}},
			},
		},
		{
			route: "GET /api/openapi.json", id: "getDocument", tag: running, summary: "This document", stability: Stable,
			query: []parameter{{"If-None-Match", "header", "The `ETag` of an earlier answer.", false, &schema{Type: "string"}}},
			answers: []answer{
				{status: 200, about: "The document.", headers: []string{"ETag"}, content: []content{{jsonKind, &schema{Type: "object"}}}},
				{status: 304, about: "It is the one that the caller has.", headers: []string{"ETag"}},
			},
		},
	}
}

// withText adds a text to the bodies of a status.
func withText(status int, about string, answers []answer) []answer {
	i := slices.IndexFunc(answers, func(a answer) bool { return a.status == status })
	answers[i].about += " " + about
	answers[i].content = []content{{textKind, nil}}
	return answers
}

// replaced replaces the answer of a status.
func replaced(status int, by answer, answers []answer) []answer {
	answers[slices.IndexFunc(answers, func(a answer) bool { return a.status == status })] = by
	return answers
}

// opening returns the schema of the body that opens a room.
func (r *reflector) opening() *schema {
	s := r.settings(wire.IsOpen,
		"The settings of the room. The host refuses any other field.")
	for i, p := range s.Properties {
		if p.name == "limits_ms" {
			s.Properties[i].name = "max_rtt_ms"
		}
	}
	servers := &schema{Type: "array", Items: address(), Description: "The organiser's own list, in place of the game's: at most " +
		"`max_servers` of `GET /api/service`."}
	s.Properties = append(s.Properties, property{"servers", servers})
	s.Required, s.AdditionalProperties = []string{"game"}, false
	return s
}

// ofAction returns the operation of an action.
func (r *reflector) ofAction(a action) operation {
	done := answer{status: 204, about: "Done, and saved."}
	if a.answer != nil {
		done = answer{status: 200, about: "Done, and saved.", content: []content{{jsonKind, r.of(reflect.TypeOf(a.answer))}}}
	}
	answers := ofRoom(done,
		refused(400, "The body makes no sense, or is too long.", wire.ReasonMalformed),
		refused(403, "The credential does not allow it, or another site's page asks.", wire.ReasonSecret, wire.ReasonOrigin),
		refused(409, "The room cannot do this now; the sentence says why.", wire.ReasonAction, wire.ReasonMalformed, wire.ReasonName,
			wire.ReasonNameTaken, wire.ReasonFull, wire.ReasonLocked, wire.ReasonRemoved, wire.ReasonCode, wire.ReasonClosed))
	if a.name == "servers" {
		answers = withText(404, "Or the host is not public: then the answer is a text.", answers)
	}
	o := operation{
		route: "POST /api/rooms/{code}/{action}", path: "/api/rooms/{code}/" + a.name, id: a.name, tag: steering, summary: a.summary,
		description: a.more, by: a.by, stability: a.stability, params: []string{"Code", "MusterCode", "MusterKey", "Origin"},
		answers: answers, security: "person",
	}
	if a.by == anyone {
		o.security = "optional person"
	}
	if t := reflect.TypeOf(a.body); a.name == "whatif" || len(fields(t)) > 0 {
		o.body = &body{r.bodyOf(a), jsonKind, a.example, a.required != nil}
	}
	return o
}

// programFile names a program.
func programFile() parameter {
	const about = "A system, such as `windows-amd64`, or that with `.minisig` for its signature."
	return parameter{"file", "path", about, true, &schema{Type: "string"}}
}

// programs returns the schema of the list of programs, whose types are in the program that gives them.
func (r *reflector) programs() *schema {
	r.of(sentenceType)
	said := func(about string) *schema { return &schema{Ref: ref("Sentence").Ref, Description: about} }
	whole, yes := &schema{Type: "integer"}, &schema{Type: "boolean"}
	about := func(s *schema, description string) *schema { c := *s; c.Description = description; return &c }
	program := &schema{Type: "object", Required: []string{"system", "name", "file", "size", "origin", "advice"}, Properties: properties{
		{"system", text("Such as `windows-amd64`; `GET /get/SYSTEM` gives the program.")},
		{"name", said("What people call the system.")},
		{"file", text("The name of the file that people get.")},
		{"size", about(whole, "In bytes.")},
		{"origin", &schema{Type: "string", Enum: []any{"project", "friend"}, Description: "`project` if the project has signed the program."}},
		{"version", text("The program's release, if the host knows it.")},
		{"signature", text("The path of its signature, if that is not packed with it.")},
		{"advice", said("What the system asks before it starts the program, and how to answer.")},
		{"away", about(yes, "The host must get it from the project's release first.")},
		{"got", about(whole, "How many bytes of it have come.")},
		{"trouble", said("Why it did not come, and what to do.")},
		{"wrong", about(yes, "The file that came is not the project's.")},
	}}
	refusal := &schema{Type: "object", Required: []string{"system", "name", "why"}, Properties: properties{
		{"system", text("The system.")}, {"name", said("What people call it.")}, {"why", said("Why nobody gets the program.")},
	}}
	r.components = append(r.components, property{"Program", program}, property{"RefusedProgram", refusal})
	program.Description, refusal.Description = "A program that the host gives.", "A program that the host has, and gives to nobody."
	return &schema{Type: "object", Required: []string{"format", "version", "programs"}, Properties: properties{
		{"format", &schema{Type: "string", Const: "muster.programs/1", Description: "The form of the document."}},
		{"version", text("The host's version of Muster.")},
		{"release", text("The address of the project's releases, if the host knows it.")},
		{"yours", said("The visitor's system, by the browser.")},
		{"system", text("The same as one of `programs`; missing if there is none.")},
		{"phone", about(yes, "The visitor's machine is a phone, which cannot play.")},
		{"direct", text("The address of the visitor's file on the release page itself.")},
		{"programs", &schema{Type: "array", Items: ref("Program"), Description: "The programs."}},
		{"refused", &schema{Type: "array", Items: ref("RefusedProgram"), Description: "Programs that nobody gets."}},
	}}
}

// String names an operation in messages about the document.
func (o operation) String() string { return fmt.Sprintf("%s (%s)", o.id, o.route) }
