package option

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// recorded is a flag that remembers what it was set to: the settings of a host stand in its
// log, and are compared with those that a reload finds.
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

// Record lets all flags of a command remember what they are set to.
func Record(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) { f.Value = &recorded{Value: f.Value} })
}

// TextsOf returns what each flag was set to, by its name; flags that nobody set are left out.
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

// Given returns what a recorded flag was set to, in order.
func Given(f *pflag.Flag) []string {
	if r, is := f.Value.(*recorded); is {
		return r.texts
	}
	return nil
}

// IsRepeatable reports whether a flag takes several values, as its help says.
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
		var invalid *pflag.InvalidValueError
		if errors.As(err, &invalid) {
			return Unsuitable(invalid)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
