package room_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/host/room"
	"muster/host/room/roomtest"
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

// transitions are the phases that a room went to from each phase, by their names in the saved form.
type transitions map[string]map[string]bool

// inOrder are the phases in the order of a session.
var inOrder = []string{
	"gathering", "listing", "measuring", "coordinating", "surveying", "verifying", "voting", "countdown", "banning", "waiting", "launching", "placed", "failed",
}

// pass notes the room's phase if it has changed. The end of a session leads back to the first phase
// from any other.
func (seen transitions) pass(before *string, r *room.Room, t testing.TB) {
	t.Helper()
	data := roomtest.Saved(t, r)
	var saved struct {
		Phase struct {
			Name string `json:"name"`
		} `json:"phase"`
	}
	if err := json.Unmarshal(data, &saved); err != nil {
		t.Fatal(err)
	}
	if from, to := *before, saved.Phase.Name; from != "" && from != to && to != inOrder[0] {
		if seen[from] == nil {
			seen[from] = map[string]bool{}
		}
		seen[from][to] = true
	}
	*before = saved.Phase.Name
}

// drawn returns the table for the package's documentation.
func (seen transitions) drawn() string {
	var text strings.Builder
	for _, from := range inOrder {
		to := slices.SortedFunc(maps.Keys(seen[from]), func(a, b string) int { return slices.Index(inOrder, a) - slices.Index(inOrder, b) })
		fmt.Fprintf(&text, "//\t%-12s ─▶ %s\n", from, strings.Join(to, ", "))
	}
	return text.String()
}

// check compares the transitions of the scenarios with the table in doc.go, and rewrites the table
// along with the scenarios.
func (seen transitions) check(t *testing.T) {
	const file = "doc.go"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	isRow := func(line string) bool { return strings.Contains(line, " ─▶ ") }
	first := slices.IndexFunc(lines, isRow)
	if first < 0 {
		t.Fatalf("%s has no table of transitions", file)
	}
	end := first
	for isRow(lines[end]) {
		end++
	}
	switch old := strings.Join(lines[first:end], ""); {
	case old == seen.drawn():
	case flag.Lookup("rewrite").Value.String() == "true":
		text := strings.Join(lines[:first], "") + seen.drawn() + strings.Join(lines[end:], "")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the scenarios show these transitions; go test ./host/room -run Scenarios -rewrite writes them into %s:\n%s", file, seen.drawn())
	}
}
