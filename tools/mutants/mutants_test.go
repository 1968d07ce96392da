package main

import (
	"os"
	"os/exec"
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

const script = `// if (a < b) true
const re = /[/"] < 1/;
export function f(a, b) {
  if (a < b && g(a)) {
    h(` + "`x < ${a < `${b}` ? 1 : 2}`" + `, "true", 4);
  }
  return a / b + 2 === 3 || true; /* 1 */
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
		{inScript("a.js", script), script, 11, []string{
			"negate a condition: if (!(a < b && g(a))) {", "move a bound: if (a <= b && g(a)) {", "swap && and ||: if (a < b || g(a)) {",
			"swap + and -: return a / b - 2 === 3 || true; /* 1 */", "swap true and false: return a / b + 2 === 3 || false; /* 1 */",
		}, []string{"const re", "`x <= ", "/* (", "//"}},
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

// TestPatches checks that git applies each patch, and that it says what the place says.
func TestPatches(t *testing.T) {
	places, err := inGo("a.go", []byte(golang))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, p := range append(places, inScript("a.js", script)...) {
		text := map[string]string{"a.go": golang, "a.js": script}[p.file]
		patch, _ := p.patch(text)
		file := filepath.Join(folder, p.file)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		apply := exec.Command("git", "apply", "-")
		apply.Dir, apply.Stdin = folder, strings.NewReader(p.operator+"\n\n"+patch)
		if out, err := apply.CombinedOutput(); err != nil {
			t.Errorf("%s: %v, %s\n%s", p.operator, err, out, patch)
			continue
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(strings.Fields(string(got)), " ") != strings.Join(strings.Fields(p.apply(text)), " ") {
			t.Errorf("%s: the patch makes\n%s", p.operator, got)
		}
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
