package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// inGo returns the places in a file of Go.
func inGo(file string, text []byte) (places []place, err error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	at := func(p token.Pos) int { return set.Position(p).Offset }
	source := func(n ast.Node) string { return string(text[at(n.Pos()):at(n.End())]) }
	add := func(operator string, from, to token.Pos, other string) {
		places = append(places, place{file, operator, at(from), at(to), other})
	}
	negate := func(cond ast.Expr) {
		if cond != nil {
			add("negate a condition", cond.Pos(), cond.End(), "!("+source(cond)+")")
		}
	}
	drop := func(body []ast.Stmt) {
		for _, s := range body {
			if isDroppable(s) {
				add("drop a statement", s.Pos(), s.End(), "")
			}
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.IfStmt:
			negate(n.Cond)
		case *ast.ForStmt:
			negate(n.Cond)
		case *ast.BinaryExpr:
			if other, ok := swaps[n.Op.String()]; ok {
				sign := n.Op.String()
				add(named(sign), n.OpPos, n.OpPos+token.Pos(len(sign)), other)
			}
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				add(named(n.Name), n.Pos(), n.End(), swaps[n.Name])
			}
		case *ast.BasicLit:
			if n.Kind == token.INT || n.Kind == token.FLOAT {
				add("change a number", n.Pos(), n.End(), "("+n.Value+" + 1)")
			}
		case *ast.BlockStmt:
			drop(n.List)
		case *ast.CaseClause:
			drop(n.Body)
		case *ast.CommClause:
			drop(n.Body)
		case *ast.FuncDecl:
			if n.Body != nil && len(n.Body.List) > 0 {
				add("return at once", n.Body.List[0].Pos(), n.Body.List[0].Pos(), zeroReturn(n.Type.Results, source)+"\n\t")
			}
		}
		return true
	})
	return places, nil
}

// isDroppable reports whether a statement is a call or an assignment to what there is.
func isDroppable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	}
	return false
}

// zeroReturn returns the statement that returns nothing, or zeros of each type.
func zeroReturn(results *ast.FieldList, source func(ast.Node) string) string {
	if results == nil || len(results.List) == 0 {
		return "if true { return }" // so that vet sees no code that is never reached
	}
	var zeros []string
	for _, field := range results.List {
		for range max(1, len(field.Names)) {
			zeros = append(zeros, "*new("+source(field.Type)+")")
		}
	}
	return "if true { return " + strings.Join(zeros, ", ") + " }"
}
