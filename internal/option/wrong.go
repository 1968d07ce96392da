package option

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/hint"
	"muster/internal/slip"
)

// Explain explains a mistake in a flag to people who do not know Go's messages.
func Explain(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	dashed := func(name string) string {
		if len(name) == 1 {
			return "-" + name
		}
		return "--" + name
	}
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		err = fmt.Errorf("unknown flag %s", dashed(name))
		if like := flagLike(cmd, name); like != "" {
			return hint.With(hint.Usage(err), fmt.Sprintf("did you mean --%s?", like))
		}
	case errors.As(err, &missing):
		err = fmt.Errorf("%s needs a value", dashed(missing.GetSpecifiedName()))
	case errors.As(err, &invalid):
		err = fmt.Errorf("--%s: %w", invalid.GetFlag().Name, Unsuitable(invalid))
	}
	if reason := syscall.Errno(0); errors.As(err, &reason) {
		return err // the flags are right; a file is wrong
	}
	return hint.With(hint.Usage(err), cmd.CommandPath()+" --help lists the flags")
}

// flagLike returns the flag that somebody may have meant by a word, or an empty text.
func flagLike(cmd *cobra.Command, word string) string {
	var all []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			all = append(all, f.Name)
		}
	})
	for _, name := range all {
		if len(word) > 2 && strings.HasPrefix(name, word) {
			return name
		}
	}
	return slip.Near(word, all)
}

// Unsuitable says why a flag does not take a value.
func Unsuitable(invalid *pflag.InvalidValueError) error {
	switch given := invalid.GetValue(); invalid.GetFlag().Value.Type() {
	case "duration":
		return fmt.Errorf("%q is no duration such as 150ms or 1.5s", given)
	case "int", "uint16", "uint64":
		return fmt.Errorf("%q is no whole number that makes sense here", given)
	case "float64":
		return fmt.Errorf("%q is no number", given)
	case "bool":
		return fmt.Errorf("%q is neither true nor false", given)
	}
	return errors.Unwrap(invalid)
}
