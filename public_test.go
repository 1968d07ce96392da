package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// public returns the folders of the packages that other modules may rely on: those whose exported
// surface .ci/api compares.
func public(t *testing.T) (folders []string) {
	t.Helper()
	files, err := filepath.Glob(".ci/exported/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no package is public: %v", err)
	}
	for _, file := range files {
		folders = append(folders, strings.ReplaceAll(filepath.Base(file), "+", "/"))
	}
	return folders
}

// TestPublicPackagesAreDocumented checks that docs/go.md lists every public package and no other, that
// its lines are those of an example that runs, and that every exported name has a comment.
func TestPublicPackagesAreDocumented(t *testing.T) {
	folders := public(t)
	var listed []string
	for line := range strings.Lines(read(t, "docs/go.md")) {
		if name, is := strings.CutPrefix(line, "| `"); is {
			name, _, _ = strings.Cut(name, "`")
			listed = append(listed, name)
		}
	}
	slices.Sort(listed)
	slices.Sort(folders)
	if !slices.Equal(listed, folders) {
		t.Errorf("docs/go.md lists %q, and .ci/exported has %q", listed, folders)
	}
	_, snippet, _ := strings.Cut(read(t, "docs/go.md"), "```go\n")
	snippet, _, _ = strings.Cut(snippet, "```")
	example := strings.ReplaceAll(read(t, "selection/example_test.go"), "\n\t", "\n")
	if lines := strings.Count(snippet, "\n"); lines > 15 || lines == 0 || !strings.Contains(example, "\n"+snippet) {
		t.Errorf("the %d lines of docs/go.md are not those of the example", lines)
	}
	for _, folder := range folders {
		set := token.NewFileSet()
		var files []*ast.File
		names, _ := filepath.Glob(filepath.Join(folder, "*.go"))
		for _, name := range names {
			file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		described, err := doc.NewFromFiles(set, files, folder)
		if err != nil {
			t.Fatal(err)
		}
		for name, comment := range comments(described) {
			if comment == "" {
				t.Errorf("%s: %s has no comment", folder, name)
			}
		}
	}
}

// comments returns the comments of a package's exported names. Methods that only satisfy a standard
// interface need none.
func comments(p *doc.Package) map[string]string {
	all := map[string]string{"package": p.Doc}
	funcs := func(of string, list []*doc.Func) {
		for _, f := range list {
			if !slices.Contains([]string{"String", "Error", "Unwrap"}, f.Name) {
				all[of+f.Name] = f.Doc
			}
		}
	}
	values := func(list []*doc.Value) {
		for _, v := range list {
			for _, spec := range v.Decl.Specs {
				spec := spec.(*ast.ValueSpec)
				all[spec.Names[0].Name] = v.Doc + spec.Doc.Text() + spec.Comment.Text()
			}
		}
	}
	funcs("", p.Funcs)
	values(p.Consts)
	values(p.Vars)
	for _, typ := range p.Types {
		all[typ.Name] = typ.Doc
		funcs("", typ.Funcs)
		funcs(typ.Name+".", typ.Methods)
		values(typ.Consts)
		values(typ.Vars)
	}
	return all
}

// TestImportersCanNameEveryType checks that the exported names of public packages mention no type that
// an importer cannot name, and none of a package that is not public itself. It also checks that the
// packages bring few modules with them.
func TestImportersCanNameEveryType(t *testing.T) {
	folders := public(t)
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, folder := range folders {
		args = append(args, "./"+folder)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") && !strings.HasPrefix(path, module+"/") &&
			!strings.HasPrefix(path, "golang.org/x/sys/") && !strings.HasPrefix(path, "golang.org/x/text/") && path != "golang.org/x/net/idna" {
			t.Errorf("public packages bring %s, which docs/go.md does not say", path)
		}
	}
	importer := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, folder := range folders {
		p, err := importer.Import(module + "/" + folder)
		if err != nil {
			t.Fatal(err)
		}
		seen := surface{map[types.Type]bool{}, func(where string, name *types.TypeName) {
			path, ours := strings.CutPrefix(name.Pkg().Path(), module+"/")
			switch {
			case !ours:
			case !name.Exported():
				t.Errorf("%s: %s mentions %s, which nobody else can name", folder, where, name.Name())
			case !slices.Contains(folders, path):
				t.Errorf("%s: %s mentions %s.%s, whose package is not public", folder, where, path, name.Name())
			}
		}}
		for _, name := range p.Scope().Names() {
			if object := p.Scope().Lookup(name); object.Exported() {
				seen.object(name, object)
			}
		}
	}
}

// surface walks over all types that exported names mention.
type surface struct {
	seen  map[types.Type]bool
	found func(where string, name *types.TypeName)
}

// object walks over the type of an exported name, and over a type's own methods and fields.
func (s *surface) object(where string, object types.Object) {
	named, isNamed := object.Type().(*types.Named)
	if _, isType := object.(*types.TypeName); !isType || !isNamed {
		s.mentioned(where, object.Type())
		return
	}
	s.mentioned(where, named.Underlying())
	for method := range named.Methods() {
		if method.Exported() {
			s.mentioned(fmt.Sprintf("%s.%s", where, method.Name()), method.Type())
		}
	}
}

// mentioned walks over a type.
func (s *surface) mentioned(where string, typ types.Type) {
	if s.seen[typ] {
		return
	}
	s.seen[typ] = true
	switch typ := typ.(type) {
	case *types.Named:
		if typ.Obj().Pkg() != nil {
			s.found(where, typ.Obj())
		}
		for arg := range typ.TypeArgs().Types() {
			s.mentioned(where, arg)
		}
	case *types.Alias:
		s.mentioned(where, types.Unalias(typ))
	case *types.Signature:
		for v := range typ.Params().Variables() {
			s.mentioned(where, v.Type())
		}
		for v := range typ.Results().Variables() {
			s.mentioned(where, v.Type())
		}
	case *types.Struct:
		for field := range typ.Fields() {
			if field.Exported() {
				s.mentioned(where+"."+field.Name(), field.Type())
			}
		}
	case *types.Interface:
		for method := range typ.Methods() {
			if method.Exported() {
				s.mentioned(where+"."+method.Name(), method.Type())
			}
		}
	case *types.Map:
		s.mentioned(where, typ.Key())
		s.mentioned(where, typ.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		s.mentioned(where, typ.Elem())
	}
}
