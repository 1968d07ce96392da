package catalogue

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLanguages checks every language against English: it has the same keys with the same
// arguments, its patterns parse, and they have all plural forms of the language.
func TestLanguages(t *testing.T) {
	files, err := filepath.Glob("languages/*.json")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d languages, %v", len(files), err)
	}
	for _, name := range append(files, "en.json") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sentences, err := Read(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, fault := range faults(strings.TrimSuffix(filepath.Base(name), ".json"), sentences) {
			t.Error(fault)
		}
	}
}

// faults returns what is wrong with the patterns of a language, measured by English: keys that lack or
// that English has not, arguments that differ, and plurals without a case for a number that people
// count to.
func faults(tag string, sentences map[string]string) (faults []string) {
	l, known := speaking(tag), Sentences()
	for key, text := range known {
		if sentences[key] == "" {
			faults = append(faults, fmt.Sprintf("%s lacks %s: %q", tag, key, text))
			continue
		}
		p, err := parse(sentences[key])
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s, %s: %v", tag, key, err))
			continue
		}
		original, _ := parse(text)
		if got, want := p.arguments(), original.arguments(); !slices.Equal(got, want) {
			faults = append(faults, fmt.Sprintf("%s, %s has the arguments %q, want %q: %q", tag, key, got, want, sentences[key]))
		}
		for _, lacks := range l.missingCases(p) {
			faults = append(faults, fmt.Sprintf("%s, %s has no case %s", tag, key, lacks))
		}
	}
	for key := range sentences {
		if known[key] == "" {
			faults = append(faults, fmt.Sprintf("%s has %s, which English has not", tag, key))
		}
	}
	return faults
}

// missingCases returns the plural categories that a pattern has no case for, with a number of each.
func (l *Language) missingCases(p pattern) (missing []string) {
	for _, part := range p {
		for _, c := range part.cases {
			missing = append(missing, l.missingCases(c.pattern)...)
		}
		for n := 0; part.kind == plural && n < 130; n++ {
			category := l.category(part, float64(n))
			if !slices.ContainsFunc(part.cases, func(o option) bool { return o.name == category }) {
				missing = append(missing, fmt.Sprintf("%s, as for %d", category, n))
				break
			}
		}
	}
	return missing
}

// arguments returns the names of the arguments and of the tags that a pattern uses, sorted.
func (m pattern) arguments() []string {
	var names []string
	for _, p := range m {
		switch {
		case p.kind == tag:
			names = append(names, "<"+p.name+">")
		case p.name != "" && p.name != "#":
			names = append(names, p.name)
		}
		for _, c := range p.cases {
			names = append(names, c.arguments()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
