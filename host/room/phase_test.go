package room_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNoPhaseSwitch checks that everything that a phase does is the phase's own: no other code asks
// which phase it is.
func TestNoPhaseSwitch(t *testing.T) {
	isPhase := func(of ast.Expr) bool {
		star, is := of.(*ast.StarExpr)
		if !is {
			return false
		}
		name, is := star.X.(*ast.Ident)
		return is && slices.Contains(inOrder, strings.ToLower(name.Name))
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeAssertExpr:
				if n.Type != nil && isPhase(n.Type) {
					t.Errorf("%s asks whether the phase is another", set.Position(n.Pos()))
				}
			case *ast.CaseClause:
				for _, one := range n.List {
					if isPhase(one) {
						t.Errorf("%s has a case of a phase", set.Position(one.Pos()))
					}
				}
			}
			return true
		})
	}
}
