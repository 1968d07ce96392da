package option

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// section is a group of flags in the help of a long command.
type section struct {
	title string
	flags []string
}

// Sections makes the help of a command group its flags by purpose. The flags that are added after begin
// was called stand in that section, until the next begins. The last one is for flags that cobra adds.
func Sections(cmd *cobra.Command) (begin func(title string)) {
	var sections []section
	isPlaced := map[string]bool{}
	cmd.Flags().SortFlags = false
	begin = func(title string) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !isPlaced[f.Name] {
				last := &sections[len(sections)-1]
				isPlaced[f.Name], last.flags = true, append(last.flags, f.Name)
			}
		})
		sections = append(sections, section{title: title})
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		var text strings.Builder
		fmt.Fprintf(&text, "Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
		for _, part := range parted(cmd.LocalFlags(), sections) {
			fmt.Fprintf(&text, "\n%s:\n%s", part.title, part.flags.FlagUsages())
		}
		fmt.Fprintf(&text, "\nGlobal Flags:\n%s", cmd.InheritedFlags().FlagUsages())
		_, err := fmt.Fprint(cmd.OutOrStderr(), text.String())
		return err
	})
	return begin
}

// partOf is a section with the flags in it that the command has.
type partOf struct {
	title string
	flags *pflag.FlagSet
}

// parted groups flags by section. Flags without a section come last.
func parted(all *pflag.FlagSet, sections []section) []partOf {
	var parts []partOf
	add := func(title string, flags []*pflag.Flag) {
		part := partOf{title, pflag.NewFlagSet(title, pflag.ContinueOnError)}
		part.flags.SortFlags = false
		for _, flag := range flags {
			part.flags.AddFlag(flag)
		}
		if part.flags.HasAvailableFlags() {
			parts = append(parts, part)
		}
	}
	named := map[string]bool{}
	for _, s := range sections {
		var flags []*pflag.Flag
		for _, name := range s.flags {
			if flag := all.Lookup(name); flag != nil {
				named[name], flags = true, append(flags, flag)
			}
		}
		add(s.title, flags)
	}
	var others []*pflag.Flag
	all.VisitAll(func(flag *pflag.Flag) {
		if !named[flag.Name] {
			others = append(others, flag)
		}
	})
	add("Other", others)
	return parts
}
