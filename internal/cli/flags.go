package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// word is a flag whose value is one of a few words.
type word[W ~string] struct {
	value *W
	known []W
}

func (f word[W]) String() string {
	if f.value == nil {
		return ""
	}
	return string(*f.value)
}

func (f word[W]) Set(text string) error {
	w, err := oneOf(f.known, text)
	if err == nil {
		*f.value = w
	}
	return err
}

func (f word[W]) Type() string { return "WORD" }

// wordList is a flag whose value is some of a few words, separated by commas.
type wordList[W ~string] struct {
	value *[]W
	known []W
	given bool // the default is replaced, further values are added
}

func (f *wordList[W]) String() string {
	if f.value == nil {
		return ""
	}
	return strings.Join(texts(*f.value), ",")
}

func (f *wordList[W]) Set(text string) error {
	if !f.given {
		f.given, *f.value = true, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		w, err := oneOf(f.known, strings.TrimSpace(part))
		if err != nil {
			return err
		}
		*f.value = append(*f.value, w)
	}
	return nil
}

func (f *wordList[W]) Type() string { return "WORD,..." }

func oneOf[W ~string](known []W, text string) (W, error) {
	if !slices.Contains(known, W(text)) {
		return "", fmt.Errorf("%q is none of %s", text, words(known))
	}
	return W(text), nil
}

// bindWord adds a flag for one of some words, with completion. The words stand
// in its help.
func bindWord[W ~string](cmd *cobra.Command, value *W, name string, standard W, known []W, help string) {
	*value = standard
	cmd.Flags().Var(word[W]{value, known}, name, help+": "+words(known))
	completeWords(cmd, name, known)
}

// bindWords adds a flag for several of some words, with completion.
func bindWords[W ~string](cmd *cobra.Command, value *[]W, name string, standard []W, known []W, help string) {
	*value = standard
	cmd.Flags().Var(&wordList[W]{value: value, known: known}, name, help+": "+words(known))
	completeWords(cmd, name, known)
}

func texts[W ~string](list []W) []string {
	text := make([]string, len(list))
	for i, w := range list {
		text[i] = string(w)
	}
	return text
}

// words lists the values of a flag.
func words[W ~string](list []W) string { return strings.Join(texts(list), ", ") }

func completeWords[W ~string](cmd *cobra.Command, flag string, list []W) {
	complete := cobra.FixedCompletions(texts(list), cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(fmt.Sprintf("cli: completion of --%s: %v", flag, err)) // the flag was added just before
	}
}

// durations is a flag of one or more durations, separated by commas.
type durations struct{ value *[]time.Duration }

func (f durations) String() string {
	var list []string
	if f.value != nil {
		for _, d := range *f.value {
			list = append(list, d.String())
		}
	}
	return strings.Join(list, ",")
}

func (f durations) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil {
			return fmt.Errorf("%q is no duration such as 150ms or 1.5s", part)
		}
		*f.value = append(*f.value, d)
	}
	return nil
}

func (f durations) Type() string { return "DURATION,..." }

// flagError says what is wrong with a flag in words for people who do not know
// Go's.
func flagError(cmd *cobra.Command, err error) error {
	see := cmd.CommandPath() + " --help lists the flags"
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		return hinted(usagef("unknown flag %s", dashed(unknown.GetSpecifiedName())), see)
	case errors.As(err, &missing):
		return hinted(usagef("%s needs a value", dashed(missing.GetSpecifiedName())), see)
	case errors.As(err, &invalid):
		return hinted(usagef("--%s: %s", invalid.GetFlag().Name, complaint(invalid)), see)
	}
	return hinted(usageError(err), see)
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// complaint is what is wrong with a flag's value.
func complaint(e *pflag.InvalidValueError) string {
	switch e.GetFlag().Value.Type() {
	case "duration":
		return fmt.Sprintf("%q is no duration such as 150ms or 1.5s", e.GetValue())
	case "int", "uint16", "uint64":
		return fmt.Sprintf("%q is no whole number that makes sense here", e.GetValue())
	case "float64":
		return fmt.Sprintf("%q is no number", e.GetValue())
	case "bool":
		return fmt.Sprintf("%q is neither true nor false", e.GetValue())
	}
	return errors.Unwrap(e).Error()
}
