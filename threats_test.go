package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreats: each promise of docs/threats.md names tests that there are.
func TestThreats(t *testing.T) {
	page, err := os.ReadFile("docs/threats.md")
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for line := range strings.Lines(string(page)) {
		for _, group := range regexp.MustCompile(
			"`([a-z0-9/]+)`((?:,? (?:Test|Fuzz)[A-Za-z0-9]+(?:/[a-z-]+)?)+)").FindAllStringSubmatch(line, -1) {
			files, err := filepath.Glob(filepath.Join(group[1], "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			var source strings.Builder
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				source.Write(text)
			}
			for _, test := range regexp.MustCompile("(?:Test|Fuzz)[A-Za-z0-9]+(?:/[a-z-]+)?").FindAllString(group[2], -1) {
				held++
				name, scenario, isScenario := strings.Cut(test, "/")
				if isScenario {
					if _, err := os.Stat(filepath.Join(group[1], "testdata/scenarios", scenario+".txt")); err != nil {
						t.Errorf("%s: %v", test, err)
					}
				}
				if !strings.Contains(source.String(), "\nfunc "+name+"(") {
					t.Errorf("%s has no %s", group[1], name)
				}
			}
		}
	}
	if held < 90 {
		t.Errorf("the page names %d tests", held)
	}
}
