package cli

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestSections checks the help of long commands. It has each flag once, and only help itself stands in
// no section.
func TestSections(t *testing.T) {
	for _, name := range []string{"host", "serve", "discover"} {
		cmd, _, err := Command().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		cmd.InitDefaultHelpFlag()
		help := cmd.UsageString()
		for _, want := range []string{"Usage:\n  muster " + name, "\nExamples:\n  muster " + name, "\nWhere servers are listed:\n",
			"\nOther:\n  -h, --help   help for " + name + "\n\nGlobal Flags:\n      --language TAG"} {
			if !strings.Contains(help, want) {
				t.Errorf("the help of %s has no %q:\n%s", name, want, help)
			}
		}
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if n := strings.Count(help, "\n      --"+flag.Name+" ") + strings.Count(help, "\n      --"+flag.Name+"["); flag.Name != "help" && !flag.Hidden && n != 1 {
				t.Errorf("the help of %s lists --%s %d times", name, flag.Name, n)
			}
		})
	}
}
