package option

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// recorded is a flag that remembers its values. A host writes its settings to its log, and compares them after a
// reload.
type recorded struct {
	pflag.Value
	texts []string
}

func (r *recorded) Set(text string) error {
	err := r.Value.Set(text)
	if err == nil {
		r.texts = append(r.texts, text)
	}
	return err
}

// Record makes all flags of a command remember their values.
func Record(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) { f.Value = &recorded{Value: f.Value} })
}

// TextsOf returns each flag's value by name, without the flags that nobody set.
func TextsOf(flags *pflag.FlagSet) map[string]string {
	all := map[string]string{}
	flags.VisitAll(func(f *pflag.Flag) {
		r, is := f.Value.(*recorded)
		switch {
		case !is || len(r.texts) == 0:
		case IsRepeatable(f):
			all[f.Name] = strings.Join(r.texts, ",")
		default:
			all[f.Name] = r.texts[len(r.texts)-1]
		}
	})
	return all
}

// Given returns a recorded flag's values in order.
func Given(f *pflag.Flag) []string {
	if r, is := f.Value.(*recorded); is {
		return r.texts
	}
	return nil
}

// IsRepeatable reports whether a flag takes several values, according to its help.
func IsRepeatable(f *pflag.Flag) bool { return strings.Contains(f.Usage, "(repeatable") }

// Default gives a flag values that count as not given.
func Default(cmd *cobra.Command, flag string, texts []string) error {
	f := cmd.Flags().Lookup(flag)
	if len(texts) != 1 && !IsRepeatable(f) {
		return errors.New("one value is wanted, and not a list")
	}
	for _, text := range texts {
		err := cmd.Flags().Set(flag, strings.TrimSpace(text))
		f.Changed = false
		if invalid, is := errors.AsType[*pflag.InvalidValueError](err); is {
			return Unsuitable(invalid)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
