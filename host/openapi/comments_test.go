package openapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/host/wire"
)

var write = flag.Bool("write", false, "write comments.json")

// TestComments checks that comments.json has what the source says about the types of the document.
// With -write it updates the file.
func TestComments(t *testing.T) {
	r, err := newReflector()
	if err != nil {
		t.Fatal(err)
	}
	r.operations()
	for _, a := range actions {
		r.ofAction(a)
	}
	r.of(reflect.TypeFor[wire.Refusal]())
	found := readSource(t, r.types)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(found); err != nil {
		t.Fatal(err)
	}
	switch {
	case bytes.Equal(b.Bytes(), embedded):
	case !*write:
		t.Error("comments.json is older than the comments: go test ./host/openapi -run TestComments -write && " +
			"go test ./host -run TestAPIDocument -write")
	default:
		if err := os.WriteFile("comments.json", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// source is a package's declarations.
type source struct {
	types  map[string]*ast.TypeSpec
	about  map[string]string // comments on types
	values []constant
}

type constant struct{ name, of, value, comment string }

// readSource returns the descriptions of the components' types and of the words that they use.
func readSource(t *testing.T, types map[string]reflect.Type) comments {
	c := comments{About: map[string]string{}, Values: map[string][]value{}}
	read := map[string]*source{}
	of := func(path string) *source {
		if read[path] == nil {
			read[path] = parse(t, filepath.Join("..", "..", strings.TrimPrefix(path, "muster/")))
		}
		return read[path]
	}
	visit := func(component string, owner reflect.Type) {
		s := of(owner.PkgPath())
		if !strings.Contains(component, " ") {
			c.About[component] = translated(strings.Replace(s.about[owner.Name()], owner.Name(), component, 1), owner, component)
		}
		for _, f := range fields(owner) {
			declares := of(f.of.PkgPath())
			said := translated(sentencesAbout(declares, f), f.of, "")
			if strings.HasSuffix(f.name, "_ms") && said != "" && !regexp.MustCompile(`\bms\b|millisecond`).MatchString(said) {
				said += " In milliseconds."
			}
			if said != "" {
				c.About[component+"."+f.name] = said
			}
			kind := f.Type
			for kind.Kind() == reflect.Slice || kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Array {
				kind = kind.Elem()
			}
			if kind.Kind() == reflect.String && strings.HasPrefix(kind.PkgPath(), "muster/") {
				c.addValues(goName(kind), of(kind.PkgPath()), kind.Name())
			}
		}
	}
	for _, component := range slices.Sorted(maps.Keys(types)) {
		visit(component, types[component])
	}
	for _, v := range of("muster/host/wire").values {
		if strings.HasPrefix(v.name, "Reason") {
			c.Values["Refusal.reason"] = append(c.Values["Refusal.reason"], value{v.value, v.comment})
		}
	}
	return c
}

// addValues adds the constants of a type.
func (c *comments) addValues(name string, s *source, of string) {
	if c.Values[name] != nil {
		return
	}
	for _, v := range s.values {
		if v.of == of {
			c.Values[name] = append(c.Values[name], value{v.value, v.comment})
		}
	}
}

// parse reads a package's source.
func parse(t *testing.T, dir string) *source {
	s := &source{types: map[string]*ast.TypeSpec{}, about: map[string]string{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no source in %s: %v", dir, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if d, is := d.(*ast.GenDecl); is {
				s.add(d)
			}
		}
	}
	return s
}

func (s *source) add(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.types[spec.Name.Name] = spec
			s.about[spec.Name.Name] = line(spec.Doc)
			if len(d.Specs) == 1 {
				s.about[spec.Name.Name] = line(d.Doc)
			}
		case *ast.ValueSpec:
			if d.Tok != token.CONST || len(spec.Values) != 1 {
				continue
			}
			literal, is := spec.Values[0].(*ast.BasicLit)
			if !is || literal.Kind != token.STRING {
				continue
			}
			text, _ := strconv.Unquote(literal.Value)
			c := constant{name: spec.Names[0].Name, value: text, comment: line(spec.Comment)}
			if c.comment == "" {
				c.comment = meaning(c.name, line(spec.Doc))
			}
			if of, is := spec.Type.(*ast.Ident); is {
				c.of = of.Name
			}
			s.values = append(s.values, c)
		}
	}
}

// meaning returns the words of a constant's comment without its name.
func meaning(name, comment string) string {
	comment = strings.TrimSuffix(comment, ".")
	for _, verb := range []string{" means that ", " means ", " says that ", " is "} {
		if rest, is := strings.CutPrefix(comment, name+verb); is {
			return rest
		}
	}
	return comment
}

// line returns a comment on one line. Indented lines are drawings and examples.
func line(group *ast.CommentGroup) string {
	var said []string
	for l := range strings.Lines(group.Text()) {
		if strings.HasPrefix(l, "\t") {
			break
		}
		said = append(said, strings.TrimSpace(l))
	}
	return strings.TrimSpace(strings.Join(said, " "))
}

// ownComment returns the comment that stands at a field.
func (s *source) ownComment(of reflect.Type, field string) string {
	spec := s.types[of.Name()]
	if spec == nil {
		return ""
	}
	declared, is := spec.Type.(*ast.StructType)
	if !is {
		return ""
	}
	for _, f := range declared.Fields.List {
		for _, name := range f.Names {
			if name.Name == field {
				if said := line(f.Doc); said != "" {
					return said
				}
				return line(f.Comment)
			}
		}
	}
	return ""
}

// sentencesAbout returns what the comments on a field's struct say about the field. A comment often
// covers the fields that follow it, a sentence each.
func sentencesAbout(s *source, f field) string {
	if own := s.ownComment(f.of, f.Name); own != "" {
		return keep(own, f, true)
	}
	found := ""
	for i := range f.of.NumField() {
		name := f.of.Field(i).Name
		if name == f.Name {
			break
		}
		if said := keep(s.ownComment(f.of, name), f, false); said != "" {
			found = said
		}
	}
	if found == "" {
		found = keep(s.about[f.of.Name()], f, false)
	}
	return found
}

// keep returns those sentences of a comment that are about a field. isOwn says that the comment
// stands at the field, so that sentences without a subject are about it.
func keep(comment string, f field, isOwn bool) string {
	var kept []string
	isKept := isOwn
	for _, sentence := range sentences(comment) {
		first, _, _ := strings.Cut(sentence, " ")
		first = strings.TrimSuffix(first, ",")
		_, isField := f.of.FieldByName(first)
		switch names := names(sentence, f.Name); {
		case isField:
			isKept = first == f.Name || names
		case !isOwn && names:
			isKept = true
		case !isOwn && !isKept:
			continue
		}
		if isKept {
			kept = append(kept, sentence)
		}
	}
	return strings.Join(kept, " ")
}

// names reports whether a sentence has a word.
func names(sentence, word string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).MatchString(sentence)
}

var sentenceEnd = regexp.MustCompile(`\. ([A-Z])`)

// sentences splits a comment.
func sentences(comment string) []string {
	if comment == "" {
		return nil
	}
	return strings.Split(sentenceEnd.ReplaceAllString(comment, ".\n$1"), "\n")
}

var (
	link = regexp.MustCompile(`\[(?:[A-Za-z]+\.)?([A-Za-z]+)(?:\.[A-Za-z]+)?\]`)
	see  = regexp.MustCompile(`(;|,)? ?(see|See) \[[A-Za-z.]+\]`)
	null = regexp.MustCompile(`\b(is )?nil\b`)
)

// translated turns a comment into a description. Fields get their names in JSON, and JSON's words
// replace Go's. component is what the document calls the type, for the comment on a type.
func translated(comment string, t reflect.Type, component string) string {
	comment = strings.ReplaceAll(see.ReplaceAllString(comment, ""), "..", ".")
	for _, f := range fields(t) {
		if f.of == t && f.Name != component {
			comment = regexp.MustCompile(`\[?\b`+f.Name+`\b\]?`).ReplaceAllString(comment, "`"+f.name+"`")
		}
	}
	comment = link.ReplaceAllString(comment, "$1")
	comment = null.ReplaceAllString(comment, "${1}missing")
	return withoutSubject(strings.TrimSpace(comment))
}

var subject = regexp.MustCompile("^(?:`[a-z_0-9]+`|[A-Za-z0-9]+) (says that|is|are|says|names|has|have|holds|counts|maps|lists|" +
	"tells|describes|gives|keeps|makes|leaves|identifies|compares|explains|goes|takes|opens|unlists) ")

// withoutSubject drops a description's first words if they only repeat the name.
func withoutSubject(comment string) string {
	at := subject.FindStringSubmatchIndex(comment)
	if at == nil {
		return comment
	}
	verb, rest := comment[at[2]:at[3]], comment[at[1]:]
	if verb != "is" && verb != "are" && verb != "says that" {
		rest = verb + " " + rest
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}
