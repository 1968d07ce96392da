package cli

import (
	"strings"

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

// record has all flags of a command remember what they are set to.
func record(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) { f.Value = &recorded{Value: f.Value} })
}

// textsOf returns what each flag was set to, by its name; flags that nobody set are left out.
func textsOf(flags *pflag.FlagSet) map[string]string {
	all := map[string]string{}
	flags.VisitAll(func(f *pflag.Flag) {
		r, is := f.Value.(*recorded)
		switch {
		case !is || len(r.texts) == 0:
		case isRepeatable(f):
			all[f.Name] = strings.Join(r.texts, ",")
		default:
			all[f.Name] = r.texts[len(r.texts)-1]
		}
	})
	return all
}
