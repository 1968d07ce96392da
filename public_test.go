package main

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPublicPackagesAreDocumented checks that each package that docs/go.md lists exists, has an example that runs, and
// a comment for every exported name. The page's own lines are those of an example.
func TestPublicPackagesAreDocumented(t *testing.T) {
	var folders []string
	for line := range strings.Lines(read(t, "docs/go.md")) {
		if name, is := strings.CutPrefix(line, "| `"); is {
			name, _, _ = strings.Cut(name, "`")
			folders = append(folders, name)
		}
	}
	if len(folders) < 4 {
		t.Errorf("docs/go.md lists only %q", folders)
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
		if !slices.ContainsFunc(doc.Examples(files...), runs) {
			t.Errorf("%s has no example that runs", folder)
		}
		for name, comment := range comments(described) {
			if comment == "" {
				t.Errorf("%s: %s has no comment", folder, name)
			}
		}
	}
}

// runs reports whether a test runs an example of a package, rather than compiles it.
func runs(e *doc.Example) bool { return e.Output != "" || e.EmptyOutput }

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
