package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/discovery"
)

// tuning is a flag of the strategies' thresholds, such as spread=60ms,members=20.
type tuning struct{ options *discovery.PlanOptions }

// knob is a threshold: its name, what it is unless it is set, and how that is done.
type knob struct {
	name, standard, help string
	set                  func(text string) error
}

// knobs are those of some options. The standards are the papers' values, those of
// confident and silent our own.
func knobs(o *discovery.PlanOptions) []knob {
	return []knob{
		{"percentile", "0.02", "percentile stops when this share of the window reaches the limit", share(&o.Percentile)},
		{"missing", "0.01", "confident stops when so many near servers may yet be found, at most", share(&o.Missing)},
		{"refine", "false", "country: one probe for each country and prefix", yesOrNo(&o.Refine)},
		{"members", "10", "country-prefix: a cluster has more servers than that", count(&o.ClusterMembers)},
		{"share", "0.1", "country-prefix: a cluster has more of its country than that", share(&o.ClusterShare)},
		{"samples", "1", "country-prefix, as: so many times the root of a cluster's servers", factor(&o.SampleScale)},
		{"spread", "40ms", "country-prefix, as: a cluster whose samples differ by more is split; off: none is", spread(&o.Spread)},
		{"cluster", "8/20", "prefix of a cluster, IPv4/IPv6", lengths(&o.Cluster)},
		{"split", "16/32", "prefix that clusters are sampled by and split into, IPv4/IPv6", lengths(&o.Split)},
		{"silent", "2", "so many servers more are asked if all samples of a cluster are silent", orNone(&o.SilentRetry)},
	}
}

// tuningHelp lists the knobs.
func tuningHelp() string {
	var text strings.Builder
	for _, k := range knobs(&discovery.PlanOptions{}) {
		fmt.Fprintf(&text, "\n  %-16s %s", k.name+"="+k.standard, k.help)
	}
	return text.String()
}

func (f tuning) String() string { return "" }

func (f tuning) Type() string { return "NAME=VALUE,..." }

func (f tuning) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if err := f.turn(name, value); err != nil {
			return err
		}
	}
	return nil
}

func (f tuning) turn(name, value string) error {
	var names []string
	for _, k := range knobs(f.options) {
		if k.name == name {
			if err := k.set(value); err != nil {
				return fmt.Errorf("%s=%s is not %w; the standard is %s=%s", name, value, err, name, k.standard)
			}
			return nil
		}
		names = append(names, k.name)
	}
	return fmt.Errorf("%q is none of %s", name, strings.Join(names, ", "))
}

// The kinds of values. An error says what was wanted.

func share(to *float64) func(string) error {
	return func(text string) error { return number(to, text, 1, "a share between 0 and 1") }
}

func factor(to *float64) func(string) error {
	return func(text string) error { return number(to, text, 1e6, "a number above 0") }
}

// number is above 0 and below a limit.
func number(to *float64, text string, below float64, want string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(0 < x && x < below) {
		return errors.New(want)
	}
	*to = x
	return nil
}

func yesOrNo(to *bool) func(string) error {
	return func(text string) error {
		yes, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("true or false")
		}
		*to = yes
		return nil
	}
}

func count(to *int) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil || n == 0 {
			return errors.New("a whole number above 0")
		}
		*to = int(n)
		return nil
	}
}

// orNone is a count of which 0 is none.
func orNone(to *int) func(string) error {
	return func(text string) error {
		if text == "0" {
			*to = -1 // the plan's zero is its default
			return nil
		}
		return count(to)(text)
	}
}

func spread(to *time.Duration) func(string) error {
	return func(text string) error {
		if text == "off" {
			*to = -1
			return nil
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return errors.New("a duration such as 40ms, or off")
		}
		*to = d
		return nil
	}
}

// lengths are those of prefixes for IPv4 and IPv6.
func lengths(to *discovery.Bits) func(string) error {
	return func(text string) error {
		v4, v6, both := strings.Cut(text, "/")
		a, err1 := strconv.Atoi(v4)
		b, err2 := strconv.Atoi(v6)
		if err1 != nil || err2 != nil || !both || a < 1 || a > 32 || b < 1 || b > 128 {
			return errors.New("two lengths of prefixes such as 8/20")
		}
		*to = discovery.Bits{V4: a, V6: b}
		return nil
	}
}
