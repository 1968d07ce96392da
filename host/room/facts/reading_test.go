package facts_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadOnly checks that those who decide read the facts: none of them names the parts, or
// assigns to what a method of the facts returns.
func TestReadOnly(t *testing.T) {
	reads := 0
	for _, dir := range []string{"probing", "decision", "captains", "waiting"} {
		files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
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
				case *ast.SelectorExpr:
					of, is := n.X.(*ast.Ident)
					isFacts := is && of.Name == "facts"
					if isFacts && n.Sel.Name == "Facts" {
						reads++
					}
					if isFacts && n.Sel.Name != "Facts" && n.Sel.Name != "Evidence" {
						t.Errorf("%s knows facts.%s", set.Position(n.Pos()), n.Sel.Name)
					}
				case *ast.AssignStmt:
					for _, to := range n.Lhs {
						if isOfFacts(to) {
							t.Errorf("%s writes to the facts", set.Position(to.Pos()))
						}
					}
				case *ast.IncDecStmt:
					if isOfFacts(n.X) {
						t.Errorf("%s writes to the facts", set.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
	if reads < 50 {
		t.Errorf("only %d functions read the facts", reads)
	}
}

// isOfFacts reports whether something is a part of what a method of g, the facts, returns.
func isOfFacts(e ast.Expr) bool {
	for {
		switch of := e.(type) {
		case *ast.SelectorExpr:
			e = of.X
		case *ast.IndexExpr:
			e = of.X
		case *ast.StarExpr:
			e = of.X
		case *ast.ParenExpr:
			e = of.X
		case *ast.CallExpr:
			method, is := of.Fun.(*ast.SelectorExpr)
			if !is {
				return false
			}
			g, is := method.X.(*ast.Ident)
			return is && g.Name == "g"
		default:
			return false
		}
	}
}
