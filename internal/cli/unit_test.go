package cli_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestUnitCarriesWhatDocsSay checks that the service may open as many files as docs/scale.md needs
// for the rooms of one host.
func TestUnitCarriesWhatDocsSay(t *testing.T) {
	find := func(file, pattern string) string {
		t.Helper()
		text, err := os.ReadFile("../../docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindSubmatch(text)
		if found == nil {
			t.Fatalf("%s has no %s", file, pattern)
		}
		return strings.ReplaceAll(string(found[1]), ",", "")
	}
	unit, counted := find("serve/muster.service", `(?m)^LimitNOFILE=(\d+)$`), find("scale.md", "`LimitNOFILE=` ([0-9,]+)")
	if unit != counted {
		t.Errorf("muster.service allows %s open files, docs/scale.md wants %s", unit, counted)
	}
}
