package catalogue

import (
	"fmt"
	"slices"
	"strings"
)

// pattern is a parsed sentence of a catalogue. Its grammar is a subset of ICU's MessageFormat
// (unicode-org.github.io/icu/userguide/format_parse/messages):
//
//	pattern  = { text | "{" NAME "}" | "{" NAME "," format "}" | choice | tag | "#" }
//	format   = "date" | "time" | "list" | "number" "," "::.0"
//	choice   = "{" NAME "," "plural" | "select" "," { CASE "{" pattern "}" } "}"
//	tag      = "<" NAME ">" pattern "</" NAME ">"
//
// In a plural, a case is =NUMBER or one of Unicode's categories (zero, one, two, few, many, other),
// and # is the number. The case "other" must be there. A number with ::.0 has one decimal, even if it
// is 0. A list is a row of figures, without an "and" before the last; only that kind is not ICU's. A
// tag marks a part that the page emphasises or links; the terminal drops it. There is no way to
// quote a brace or a <: no sentence needs one.
//
// web/static/say.js reads the same. A library would have to be there twice, in Go and for a page
// without a build step, and the two would have to agree.
type pattern []part

// part is text, an argument, a choice between patterns, or a part in a tag.
type part struct {
	text string
	// name is that of an argument, # of the number that the plural around it is about.
	name string
	kind kind
	// cases are those of a choice, in their order. A tag has one, its content.
	cases []option
}

type kind int

const (
	asIs kind = iota
	date
	clock
	row
	tenths
	plural
	choose
	tag
)

type option struct {
	name string
	pattern
}

var kinds = map[string]kind{"date": date, "time": clock, "list": row, "number": tenths, "plural": plural, "select": choose}

// style is the only one of ICU's styles of numbers that sentences use.
const style = "::.0"

// deepest bounds how deep choices and tags nest.
const deepest = 4

func parse(text string) (pattern, error) {
	p := parser{rest: text}
	m, err := p.pattern(0, false)
	if err == nil && p.rest != "" {
		err = p.wrong("a } or a tag's end too many")
	}
	if err != nil {
		return nil, fmt.Errorf("catalogue: %q: %w", text, err)
	}
	return m, nil
}

type parser struct{ rest string }

func (p *parser) wrong(what string) error { return fmt.Errorf("%s before %q", what, p.rest) }

// pattern reads up to the end, or the } that ends a case.
func (p *parser) pattern(depth int, inPlural bool) (m pattern, err error) {
	special := "{}<"
	if inPlural {
		special = "{}<#"
	}
	for p.rest != "" && p.rest[0] != '}' && !strings.HasPrefix(p.rest, "</") {
		end := strings.IndexAny(p.rest, special)
		if end < 0 {
			end = len(p.rest)
		}
		if end > 0 {
			m = append(m, part{text: p.rest[:end]})
			p.rest = p.rest[end:]
			continue
		}
		if p.rest[0] == '#' {
			m = append(m, part{name: "#"})
			p.rest = p.rest[1:]
			continue
		}
		read := p.argument
		if p.rest[0] == '<' {
			read = p.tag
		}
		a, err := read(depth, inPlural)
		if err != nil {
			return nil, err
		}
		m = append(m, a)
	}
	return m, nil
}

// tag reads from <NAME> to </NAME>.
func (p *parser) tag(depth int, inPlural bool) (part, error) {
	name, rest, found := strings.Cut(p.rest[1:], ">")
	isName := name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == ""
	if !found || !isName || depth == deepest {
		return part{}, p.wrong("no tag")
	}
	p.rest = rest
	held, err := p.pattern(depth+1, inPlural)
	if err != nil {
		return part{}, err
	}
	if p.rest, found = strings.CutPrefix(p.rest, "</"+name+">"); !found {
		return part{}, p.wrong("</" + name + "> is missing")
	}
	return part{name: name, kind: tag, cases: []option{{other, held}}}, nil
}

// argument reads from a { to its }.
func (p *parser) argument(depth int, inPlural bool) (part, error) {
	p.rest = p.rest[1:]
	name, ended, err := p.word()
	if err != nil || ended {
		return part{name: name}, err
	}
	word, ended, err := p.word()
	a := part{name: name, kind: kinds[word]}
	if err == nil && a.kind == tenths {
		if styled, closed, _ := p.word(); ended || styled != style || !closed {
			return part{}, p.wrong("a number without " + style)
		}
		return a, nil
	}
	isChoice := a.kind == plural || a.kind == choose
	switch {
	case err != nil:
		return part{}, err
	case a.kind == asIs:
		return part{}, p.wrong("no kind of argument is called " + word)
	case ended != !isChoice:
		return part{}, p.wrong(word + " ends too early or too late")
	case ended:
		return a, nil
	case depth == deepest:
		return part{}, p.wrong("too many choices in each other")
	}
	for {
		p.rest = strings.TrimLeft(p.rest, " \n")
		if rest, ok := strings.CutPrefix(p.rest, "}"); ok {
			p.rest = rest
			break
		}
		name, rest, found := strings.Cut(p.rest, "{")
		if !found {
			return part{}, p.wrong("a { is missing")
		}
		p.rest = rest
		m, err := p.pattern(depth+1, inPlural || a.kind == plural)
		if err != nil {
			return part{}, err
		}
		if p.rest, found = strings.CutPrefix(p.rest, "}"); !found {
			return part{}, p.wrong("a } is missing")
		}
		a.cases = append(a.cases, option{strings.TrimSpace(name), m})
	}
	if !slices.ContainsFunc(a.cases, func(o option) bool { return o.name == other }) {
		return part{}, p.wrong(name + " has no case " + other)
	}
	return a, nil
}

// other is the case of a choice for all that no case names.
const other = "other"

// word reads the name of an argument or of its kind, with the comma or } after it.
func (p *parser) word() (word string, ended bool, err error) {
	end := strings.IndexAny(p.rest, ",{}")
	if end < 0 || p.rest[end] == '{' {
		return "", false, p.wrong("a } is missing")
	}
	word = strings.TrimSpace(p.rest[:end])
	if word == "" || strings.ContainsAny(word, " #\n") {
		return "", false, p.wrong("an argument without a name")
	}
	ended = p.rest[end] == '}'
	p.rest = p.rest[end+1:]
	return word, ended, nil
}
