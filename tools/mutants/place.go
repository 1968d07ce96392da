package main

import (
	"bytes"
	"fmt"
	"go/build"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// place is where a fault can be: text from start to end becomes other text.
type place struct {
	file, operator string
	start, end     int
	other          string
}

func (p place) apply(text string) string { return text[:p.start] + p.other + text[p.end:] }

// row returns the fault as a row, and its line. Lines before it tell it from others like it.
func (p place) row(text string) (r row, line int) {
	from, to := strings.LastIndex(text[:p.start], "\n")+1, p.end+strings.Index(text[p.end:]+"\n", "\n")
	for first := from; strings.Count(text, text[from:to]) > 1; {
		if from = strings.LastIndex(text[:max(0, from-1)], "\n") + 1; from == first {
			break
		}
		first = from
	}
	line = 1 + strings.Count(text[:p.start], "\n")
	return row{fmt.Sprintf("%s, %s:%d", p.operator, p.file, line), p.file, text[from:to], text[from:p.start] + p.other + text[p.end:to]}, line
}

// support lists folders of the product's tree that only tests and measurements use.
var support = []string{"internal/leak", "internal/await", "internal/freeport"}

// placesIn returns all places in the folders, in the order of files.
func placesIn(root string, in, except []string) (places []place, err error) {
	for _, folder := range in {
		err := filepath.WalkDir(filepath.Join(root, folder), func(at string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, at)
			file, name := filepath.ToSlash(rel), d.Name()
			switch {
			case err != nil:
				return err
			case d.IsDir():
				if name == "testdata" || name == "vendor" || strings.HasSuffix(name, "test") || slices.Contains(except, file) || slices.Contains(support, file) {
					return fs.SkipDir
				}
				return nil
			case slices.Contains(except, file), path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(at)
			if err != nil || bytes.Contains(text, []byte("\n// Code generated ")) || bytes.HasPrefix(text, []byte("// Code generated ")) {
				return err
			}
			if ours, err := build.Default.MatchFile(filepath.Dir(at), name); err != nil || !ours {
				return err // of another system
			}
			more, err := inGo(file, text)
			places = append(places, more...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return places, nil
}

// draw returns the places in an order that the seed decides, with the operators by turns.
func draw(places []place, seed uint64) (drawn []place) {
	rng := rand.New(rand.NewPCG(seed, 0x6d7574616e7473))
	rng.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	of := map[string][]place{}
	var operators []string
	for _, p := range places {
		if of[p.operator] == nil {
			operators = append(operators, p.operator)
		}
		of[p.operator] = append(of[p.operator], p)
	}
	slices.Sort(operators)
	for turn := 0; len(drawn) < len(places); turn++ {
		for _, operator := range operators {
			if turn < len(of[operator]) {
				drawn = append(drawn, of[operator][turn])
			}
		}
	}
	return drawn
}

// swaps are the operators that become others.
var swaps = map[string]string{
	"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
	"+": "-", "-": "+", "&&": "||", "||": "&&", "true": "false", "false": "true",
}

// named returns an operator's kind, for drawing.
func named(sign string) string {
	switch sign {
	case "+", "-":
		return "swap + and -"
	case "&&", "||":
		return "swap && and ||"
	case "true", "false":
		return "swap true and false"
	case "<", "<=", ">", ">=":
		return "move a bound"
	}
	return "swap equal and other"
}
