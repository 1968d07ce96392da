package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// page collects Markdown.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) {
	if len(args) == 0 {
		p.WriteString(format)
	} else {
		fmt.Fprintf(p, format, args...)
	}
	p.WriteByte('\n')
}

// paragraph writes a paragraph, unless it is empty.
func (p *page) paragraph(text string) {
	if text = strings.TrimSpace(text); text != "" {
		p.line("%s\n", text)
	}
}

// row writes a row of a table.
func (p *page) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(cell, "|", `\|`), "\n", " ")
	}
	p.line("| %s |", strings.Join(cells, " | "))
}

func (p *page) head(cells ...string) {
	p.row(cells...)
	p.line("|%s", strings.Repeat("---|", len(cells)))
}

// introduction shows the way from nothing to a room.
const introduction = `A room in three requests, with [curl](https://curl.se/). HOST is a public host, which runs muster serve. The first
answer has CODE as code. Its organiser_link ends with #CODE_KEY.SECRET.

    curl -H 'Content-Type: application/json' -d '{"game":"openarena","players":4}' https://HOST/api/rooms
    curl -H 'Muster-Code: CODE' -H 'Muster-Key: KEY' https://HOST/api/rooms/-
    curl -H 'Muster-Code: CODE' -H 'Authorization: Bearer SECRET' -X POST https://HOST/api/rooms/-/go
`

// Markdown returns the document for people.
func (d *Document) Markdown() []byte {
	var p page
	p.line("# HTTP API\n")
	p.line("<!-- go test ./host -run TestAPIDocument -write writes this file. -->\n")
	p.paragraph("Version " + Version + ". Every host serves the same as OpenAPI 3.1 at `GET /api/openapi.json`. " +
		"[PROTOCOL.md](../PROTOCOL.md) has the WebSocket of players' programs.")
	p.paragraph(introduction)
	for _, text := range about {
		p.paragraph(text)
	}
	p.line("## All requests\n")
	p.head("request", "what it does", "for", "stability")
	for _, o := range d.operations {
		p.row(fmt.Sprintf("[`%s`](#%s)", d.title(o), anchor(d.title(o))), o.summary, d.caller(o), string(o.stability))
	}
	p.line("\nNot in this document:\n")
	for _, route := range slices.Sorted(maps.Keys(leftOut)) {
		p.line("- `%s` %s.", route, leftOut[route])
	}
	p.line("")
	for _, tag := range tags {
		name, described := tag[0].value.(string), tag[1].value.(string)
		p.line("## %s\n", name)
		p.paragraph(described)
		if name == steering {
			p.paragraph("All actions have these answers, and their own refusals in words:")
			for _, o := range d.operations {
				if o.tag == name {
					p.answers(withoutDone(d.all(o)))
					break
				}
			}
		}
		for _, o := range d.operations {
			if o.tag == name {
				p.operation(d, o)
			}
		}
	}
	p.line("## Objects\n")
	for _, c := range slices.SortedFunc(slices.Values(d.components), func(a, b property) int { return strings.Compare(a.name, b.name) }) {
		p.line("### %s\n", c.name)
		p.paragraph(c.schema.Description)
		p.fields(c.schema)
	}
	return []byte(strings.TrimRight(p.String(), "\n") + "\n")
}

func (d *Document) title(o operation) string { return o.method() + " " + o.where() }

// anchor returns the anchor that a heading gets.
func anchor(heading string) string {
	kept := strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		}
		return -1
	}, strings.ToLower(heading))
	return kept
}

// operation writes a section on an operation.
func (p *page) operation(d *Document, o operation) {
	p.line("### `%s`\n", d.title(o))
	p.paragraph(fmt.Sprintf("%s. For %s. Limits: %s. *%s*.", o.summary, d.caller(o), d.route(o).Limits, o.stability))
	if name, isOptional := strings.CutPrefix(o.security, "optional "); name != "" {
		needs := "Needs"
		if isOptional {
			needs = "Takes"
		}
		what := "`Authorization: Bearer CREDENTIAL`"
		if name == "league" {
			what = "`Authorization: Bearer KEY` of a league"
		}
		p.paragraph(needs + " " + what + ".")
	}
	p.paragraph(o.description)
	if len(o.params)+len(o.query) > 0 && o.tag != steering {
		p.head("parameter", "in", "")
		for _, m := range parameters() {
			if slices.Contains(o.params, m.name) {
				p.parameter(m.value.(parameter))
			}
		}
		for _, q := range o.query {
			p.parameter(q)
		}
		p.line("")
	}
	if o.body != nil {
		if o.body.example != "" {
			p.line("    %s\n", o.body.example)
		}
		p.fields(o.body.schema)
	}
	if o.tag != steering {
		p.answers(d.all(o))
		return
	}
	if done := o.answers[0]; done.status != 204 {
		p.paragraph("Answers " + contents(done) + ".")
	}
}

func (p *page) parameter(of parameter) {
	said := of.Description
	if values := valuesOf(of.Schema); values != "" {
		said = strings.TrimSpace(said + " One of " + values + ".")
	}
	name := "`" + of.Name + "`"
	if of.Required {
		name += " (needed)"
	}
	p.row(name, of.In, said)
}

func withoutDone(answers []answer) []answer {
	return slices.DeleteFunc(slices.Clone(answers), func(a answer) bool { return a.status < 300 })
}

func (p *page) answers(answers []answer) {
	p.head("answer", "with", "meaning")
	for _, a := range answers {
		about := a.about
		if len(a.reasons) > 0 {
			about += " Reasons: `" + strings.Join(a.reasons, "`, `") + "`."
		}
		var sent []string
		for _, h := range a.headers {
			sent = append(sent, "`"+strings.TrimPrefix(h, "?")+"`")
		}
		if len(sent) > 0 {
			about += " Headers: " + strings.Join(sent, ", ") + "."
		}
		p.row(fmt.Sprint(a.status), contents(a), about)
	}
	p.line("")
}

// contents says what an answer has in its body.
func contents(a answer) string {
	var all []string
	if len(a.reasons) > 0 {
		all = append(all, linkTo("Refusal"))
	}
	for _, c := range a.content {
		kind, _, _ := strings.Cut(c.kind, ";")
		if c.schema != nil && c.kind == jsonKind {
			kind = typeName(c.schema)
		}
		all = append(all, kind)
	}
	return strings.Join(all, ", or ")
}

// fields writes a table of an object's fields.
func (p *page) fields(s *schema) {
	if len(s.Properties) == 0 {
		return
	}
	p.head("field", "type", "")
	p.rows("", s)
	p.line("")
}

func (p *page) rows(before string, s *schema) {
	for _, f := range s.Properties {
		name := "`" + before + f.name + "`"
		if slices.Contains(s.Required, f.name) {
			name += " \\*"
		}
		said := f.schema.Description
		if f.schema.Stability == Provisional {
			said += " *Provisional.*"
		}
		p.row(name, typeName(f.schema), said)
		if f.schema.Ref == "" {
			p.rows(before+f.name+".", f.schema)
		}
	}
}

func linkTo(component string) string { return fmt.Sprintf("[%s](#%s)", component, anchor(component)) }

// valuesOf lists the values of an enumeration.
func valuesOf(s *schema) string {
	var all []string
	for _, v := range s.Enum {
		all = append(all, fmt.Sprintf("`%q`", v))
	}
	return strings.Join(all, ", ")
}

// typeName says what kind of value a schema is for.
func typeName(s *schema) string {
	switch {
	case s.Ref != "":
		return linkTo(s.componentOf())
	case s.Const != nil:
		return fmt.Sprintf("`%q`", s.Const)
	case len(s.Enum) > 0:
		return valuesOf(s)
	case len(s.AnyOf) > 0:
		var all []string
		for _, one := range s.AnyOf {
			all = append(all, typeName(one))
		}
		return strings.Join(all, " or ")
	}
	switch kind := s.Type.(type) {
	case string:
		return plainName(s, kind)
	case []string:
		var all []string
		for _, one := range kind {
			all = append(all, plainName(s, one))
		}
		return strings.Join(all, " or ")
	}
	return "any value"
}

func plainName(s *schema, kind string) string {
	switch kind {
	case "array":
		return "list of " + typeName(s.Items)
	case "string":
		if s.Format == "date-time" {
			return "time"
		}
		return "text"
	case "object":
		if values, is := s.AdditionalProperties.(*schema); is {
			return "map of " + typeName(values)
		}
		return "object"
	case "integer":
		return "whole number"
	case "boolean":
		return "yes or no"
	}
	return kind
}
