// Types checks the types of packages and their tests, as they are for another system:
//
//	go build -C tools -o /tmp/types ./types && GOOS=windows /tmp/types ./...
//
// That takes a tenth of what go vet takes, since nothing is compiled and nothing else is
// looked for.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pkg is what go list tells of a package, or of its form for a test.
type pkg struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string
	Standard        bool
	Module          *struct{ Main bool }
}

// checked holds the packages so far. Go list names each one after those that it imports.
type checked struct {
	files    *token.FileSet
	packages map[string]*types.Package
	wrong    int
}

func main() {
	list := exec.Command("go", append([]string{"list", "-deps", "-test", "-json=Dir,ImportPath,GoFiles,ImportMap,Standard,Module"}, os.Args[1:]...)...)
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err == nil {
		err = list.Start()
	}
	c := checked{token.NewFileSet(), map[string]*types.Package{"unsafe": types.Unsafe}, 0}
	for d := json.NewDecoder(out); err == nil; {
		var p pkg
		if err = d.Decode(&p); err == nil && p.ImportPath != "unsafe" {
			err = c.check(p)
		}
	}
	if errors.Is(err, io.EOF) {
		err = list.Wait()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || c.wrong > 0 {
		os.Exit(1)
	}
}

// check checks a package, and the bodies of its functions if it is Muster's.
func (c *checked) check(p pkg) error {
	ours := p.Module != nil && p.Module.Main
	var files []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) { // a test's main is in the cache
			name = filepath.Join(p.Dir, name)
		}
		file, err := parser.ParseFile(c.files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	config := types.Config{
		IgnoreFuncBodies: !ours,
		FakeImportC:      true,
		Sizes:            types.SizesFor("gc", os.Getenv("GOARCH")),
		Importer: importer(func(path string) (*types.Package, error) {
			if mapped, ok := p.ImportMap[path]; ok {
				path = mapped
			}
			if found := c.packages[path]; found != nil {
				return found, nil
			}
			return nil, fmt.Errorf("%s imports %s, which go list did not tell of", p.ImportPath, path)
		}),
		Error: func(err error) {
			if ours {
				fmt.Fprintln(os.Stderr, err)
				c.wrong++
			}
		},
	}
	path, _, _ := strings.Cut(p.ImportPath, " [")                         // "a [b.test]" is a as b's tests see it
	c.packages[p.ImportPath], _ = config.Check(path, c.files, files, nil) // told by Error
	return nil
}

// importer finds a package that another one imports.
type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
