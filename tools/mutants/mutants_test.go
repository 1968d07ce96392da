package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const golang = `package a

import "fmt"

func f(n int) (bool, error) {
	if n < 3 && n != 0 {
		fmt.Println("a < b", n+1)
		return true, nil
	}
	switch n {
	case 5:
		n = 2
	}
	return n > 7, nil
}
`

// faults returns the lines that the places in a text change it to.
func faults(places []place, text string) (changed []string) {
	for _, p := range places {
		for line := range strings.Lines(p.apply(text)) {
			if !strings.Contains(text, line) {
				changed = append(changed, p.operator+": "+strings.TrimSpace(line))
			}
		}
	}
	return changed
}

func TestPlaces(t *testing.T) {
	inAll, err := inGo("a.go", []byte(golang))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		places     []place
		text       string
		count      int
		some, none []string
	}{
		{inAll, golang, 16, []string{
			"negate a condition: if !(n < 3 && n != 0) {", "move a bound: if n <= 3 && n != 0 {", "swap && and ||: if n < 3 || n != 0 {",
			"swap equal and other: if n < 3 && n == 0 {", "change a number: case (5 + 1):", "swap true and false: return false, nil",
			`swap + and -: fmt.Println("a < b", n-1)`, "return at once: if true { return *new(bool), *new(error) }", "move a bound: return n >= 7, nil",
		}, []string{"<= b", "import"}},
	} {
		got := faults(tt.places, tt.text)
		for _, want := range tt.some {
			if !slices.Contains(got, want) {
				t.Errorf("no fault %q in %q", want, got)
			}
		}
		for _, bad := range tt.none {
			if i := slices.IndexFunc(got, func(fault string) bool { return strings.Contains(fault, bad) }); i >= 0 {
				t.Errorf("a fault %q", got[i])
			}
		}
		if len(tt.places) != tt.count {
			t.Errorf("%d places, want %d: %q", len(tt.places), tt.count, got)
		}
	}
}

// TestRows checks that rows are read as they are written, and that each makes the fault of its place. A row
// whose old text is not there once is stale.
func TestRows(t *testing.T) {
	places, err := inGo("a.go", []byte(golang))
	if err != nil {
		t.Fatal(err)
	}
	file := "# what the world should find\n\n"
	for _, p := range places {
		r, _ := p.row(golang)
		file += r.String()
	}
	rows, err := parseRows(file)
	if err != nil || len(rows) != len(places) {
		t.Fatalf("%d rows of %d, %v", len(rows), len(places), err)
	}
	for i, r := range rows {
		if got, err := r.apply(golang); err != nil || got != places[i].apply(golang) {
			t.Errorf("%s: %v\n%s", r.name, err, got)
		}
	}
	for _, stale := range []row{{before: "n > 8"}, {before: "n"}} {
		if _, err := stale.apply(golang); err == nil {
			t.Errorf("%q is no stale row", stale.before)
		}
	}
	for _, bad := range []string{"a name\na.go\n+new\n", "a name\na.go\n-old\nnew\n"} {
		if rows, err := parseRows(bad); err == nil {
			t.Errorf("%q is read as %v", bad, rows)
		}
	}
}

// TestWorld checks that no row of the world's is stale.
func TestWorld(t *testing.T) {
	text, err := os.ReadFile("world.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parseRows(string(text))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, r := range rows {
		text, err := os.ReadFile(filepath.Join("..", "..", r.file))
		if err == nil {
			_, err = r.apply(string(text))
		}
		if err != nil || names[r.name] {
			t.Errorf("%s: %v", r.name, err)
		}
		names[r.name] = true
	}
}

// TestDraw checks that the seed decides, and that all operators have their turn.
func TestDraw(t *testing.T) {
	draws := func(seed uint64) []place {
		places, err := inGo("a.go", []byte(golang))
		if err != nil {
			t.Fatal(err)
		}
		return draw(places, seed)
	}
	one := draws(24)
	if !slices.Equal(one, draws(24)) || slices.Equal(one, draws(25)) {
		t.Error("the seed does not decide")
	}
	operators := map[string]bool{}
	for _, p := range one[:8] {
		operators[p.operator] = true
	}
	if len(operators) != 8 {
		t.Errorf("the first eight are of %d operators", len(operators))
	}
}
