package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestConfigDocument checks that docs/config.md lists the keys of config.toml, and the commands that take each.
func TestConfigDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed, want []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]+) \\|").FindAllStringSubmatch(string(text), -1) {
		names := strings.Split(row[2], ", ")
		slices.Sort(names)
		listed = append(listed, row[1]+": "+strings.Join(names, ", "))
	}
	root := Command()
	all := append([]*cobra.Command{root}, root.Commands()...)
	for _, g := range grantable() {
		var names []string
		for _, cmd := range all {
			if g.isFor(cmd) {
				names = append(names, strings.Replace(cmd.Name(), root.Name(), "Home", 1))
			}
		}
		if len(g.commands) == 0 {
			names = []string{"all"}
		}
		slices.Sort(names)
		want = append(want, g.key+": "+strings.Join(names, ", "))
	}
	slices.Sort(listed)
	slices.Sort(want)
	if !slices.Equal(listed, want) {
		t.Errorf("docs/config.md lists\n%s\nand the program takes\n%s", strings.Join(listed, "\n"), strings.Join(want, "\n"))
	}
}
