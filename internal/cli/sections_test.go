package cli

import (
	"strings"
	"testing"

	"muster/internal/option"

	"github.com/spf13/pflag"
)

// TestSections checks the help of long commands. Each flag is in one section, only help itself is
// in none, and no section names a missing flag.
func TestSections(t *testing.T) {
	for name, sections := range map[string][]option.Section{"host": ofHost(), "serve": ofServe(), "discover": ofDiscover()} {
		cmd, _, err := Command().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		cmd.InitDefaultHelpFlag()
		said := map[string]int{}
		for _, s := range sections {
			for _, flag := range strings.Fields(s.Flags) {
				said[flag]++
				if cmd.Flags().Lookup(flag) == nil && !isShared(flag) {
					t.Errorf("%s has no --%s, which %q names", name, flag, s.Title)
				}
			}
		}
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if flag.Name != "help" && !flag.Hidden && said[flag.Name] != 1 {
				t.Errorf("--%s of %s stands in %d sections", flag.Name, name, said[flag.Name])
			}
		})
		help := cmd.UsageString()
		for _, want := range []string{"Usage:\n  muster " + name, "\nExamples:\n  muster " + name, "\nWhere servers are listed:\n", "\nOther:\n  -h, --help", "\nGlobal Flags:\n      --language TAG"} {
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

// isShared reports whether a flag is in a list that several commands share.
func isShared(flag string) bool {
	return strings.Contains(" "+serverFlags+" "+askingFlags+" "+launchFlags+" ", " "+flag+" ")
}
