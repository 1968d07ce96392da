// Package option provides the kinds of flags that commands take, the layout of their help, and plain words for mistakes
// in command lines.
package option

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/selection"
)

// Value is a flag of one of our own kinds.
type Value struct {
	kind, standard string
	set            func(text string) error
}

func (v Value) String() string        { return v.standard }
func (v Value) Type() string          { return v.kind }
func (v Value) Set(text string) error { return v.set(text) }

// New returns a flag of a kind, with the default that its help shows.
func New(kind, standard string, set func(text string) error) Value { return Value{kind, standard, set} }

// Each sets every comma-separated part of a text.
func Each(set func(part string) error) func(string) error {
	return func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			if err := set(strings.TrimSpace(part)); err != nil {
				return err
			}
		}
		return nil
	}
}

// YesNo adds a flag that says yes when given and no with =false. Without it, neither is said.
func YesNo[W ~string](flags *pflag.FlagSet, to *W, name, help string) {
	flags.Var(Value{"bool", "", func(text string) error {
		yes, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		*to = W(strconv.FormatBool(yes))
		return nil
	}}, name, help)
	flags.Lookup(name).NoOptDefVal = "true"
}

// Word adds a flag for one of some words, with completion. Its help lists the words.
func Word[W ~string](cmd *cobra.Command, to *W, name string, standard W, known []W, help string) {
	*to = standard
	Known(cmd, Value{"WORD", string(standard), func(text string) error {
		w, err := OneOf(known, text)
		if err == nil {
			*to = w
		}
		return err
	}}, name, texts(known), help)
}

// Words adds a flag for several of some words, with completion. Given words replace the default.
func Words[W ~string](cmd *cobra.Command, to *[]W, name string, standard []W, known []W, help string) {
	*to = standard
	isGiven := false
	Known(cmd, Value{"WORD,...", strings.Join(texts(standard), ","), Each(func(part string) error {
		if !isGiven {
			isGiven, *to = true, nil
		}
		w, err := OneOf(known, part)
		*to = append(*to, w)
		return err
	})}, name, texts(known), help)
}

// Known adds a flag whose value is a list of known words, with completion.
func Known(cmd *cobra.Command, v Value, name string, known []string, help string) {
	cmd.Flags().Var(v, name, help+": "+strings.Join(known, ", "))
	Complete(cmd, name, known)
}

// Complete makes the shell complete a flag with the words of a list.
func Complete(cmd *cobra.Command, flag string, list []string) {
	complete := cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(fmt.Sprintf("option: completion of --%s: %v", flag, err)) // impossible: the flag was added just before
	}
}

// OneOf returns the word of a list that equals a text.
func OneOf[W ~string](known []W, text string) (W, error) {
	if !slices.Contains(known, W(text)) {
		return "", fmt.Errorf("%q is none of %s", text, strings.Join(texts(known), ", "))
	}
	return W(text), nil
}

func texts[W ~string](list []W) []string {
	text := make([]string, len(list))
	for i, w := range list {
		text[i] = string(w)
	}
	return text
}

// Pings returns a flag of one or more pings, separated by commas.
func Pings(to *[]time.Duration) Value {
	return Value{"PING,...", "", Each(func(part string) error {
		d, err := ParsePing(part)
		if err != nil {
			return err
		}
		*to = append(*to, d)
		return nil
	})}
}

// Ping returns a flag of one ping.
func Ping(to *time.Duration, standard time.Duration) Value {
	*to = standard
	return Value{"PING", standard.String(), func(text string) (err error) {
		*to, err = ParsePing(text)
		return err
	}}
}

// InMillis is what the help of such flags says.
const InMillis = "; a plain number is in milliseconds"

// ParsePing reads a ping as players write it: a plain number is in milliseconds.
func ParsePing(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "0123456789.") == "" {
		text += "ms"
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no ping such as 150, 150ms or 1.5s", strings.TrimSuffix(text, "ms"))
	}
	return d, nil
}

// ParseTime reads a duration other than a ping, such as how long to wait.
func ParseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration such as 30s or 15m", text)
	}
	return d, nil
}

// Weights returns a flag of players and their weights, such as ann=2,bob=0.5.
func Weights(to *map[string]float64) Value {
	return Value{"NAME=2,...", "", Each(func(part string) error {
		at := strings.LastIndex(part, "=")
		if at < 1 {
			return fmt.Errorf("%q is not NAME=WEIGHT", part)
		}
		weight, err := strconv.ParseFloat(part[at+1:], 64)
		if err != nil || !selection.ValidWeight(weight) {
			return fmt.Errorf("the weight in %q is neither 0 nor a number from %v to %d", part, selection.MinWeight, selection.MaxWeight)
		}
		if *to == nil {
			*to = make(map[string]float64)
		}
		(*to)[strings.TrimSpace(part[:at])] = weight
		return nil
	})}
}

// Sides returns a flag of players and their sides, a or b.
func Sides(to *map[string]selection.Side) Value {
	return Value{"NAME=a,...", "", Each(func(part string) error {
		at := max(0, strings.LastIndex(part, "="))
		side := map[string]selection.Side{"=a": selection.SideA, "=b": selection.SideB}[strings.ToLower(part[at:])]
		name := strings.TrimSpace(part[:at])
		if name == "" || side == selection.Neither {
			return fmt.Errorf("%q is neither NAME=a nor NAME=b", part)
		}
		if *to == nil {
			*to = make(map[string]selection.Side)
		}
		(*to)[name] = side
		return nil
	})}
}

// Networks returns a flag of networks. A single address counts as a network.
func Networks(to *[]netip.Prefix) Value {
	return Value{"ADDRESS,…", "", Each(func(part string) error {
		network, err := netip.ParsePrefix(part)
		if addr, isAddr := netip.ParseAddr(part); isAddr == nil {
			network, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
		}
		if err != nil {
			return fmt.Errorf("%q is neither an address nor a network such as 192.0.2.0/24", part)
		}
		*to = append(*to, network)
		return nil
	})}
}

// Number returns a flag of a number from 0 on, which may be absent.
func Number(to **int) Value {
	return Value{"N", "", func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is no number from 0 on", text)
		}
		*to = &n
		return nil
	}}
}
