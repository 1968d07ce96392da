package plan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/discovery"
)

// knob is a threshold of the strategies: its name, default, help and reader.
type knob struct {
	name, standard, help string
	reader
}

// reader reads a value; want describes a valid one.
type reader struct {
	want string
	read func(text string) bool
}

// knobs returns the knobs of some options. The defaults are the papers' values; those
// of confident and silent are our own.
func knobs(o *discovery.PlanOptions) []knob {
	return []knob{
		{"percentile", "0.02", "percentile stops when this share of the window reaches the limit", share(&o.Percentile)},
		{"missing", "0.02", "confident stops when so many near servers may yet be found, at most", share(&o.Missing)},
		{"refine", "false", "country: one probe for each country and prefix", reader{"true or false", func(text string) (ok bool) {
			yes, err := strconv.ParseBool(text)
			o.Refine = yes
			return err == nil
		}}},
		{"members", "10", "country-prefix: a cluster has more servers than that", count(&o.ClusterMembers)},
		{"share", "0.1", "country-prefix: a cluster has more of its country than that", share(&o.ClusterShare)},
		{"samples", "1", "country-prefix, as: so many times the root of a cluster's servers",
			reader{"a number above 0", above0(&o.SampleScale, 1e6)}},
		{"spread", "40ms", "country-prefix, as: a cluster whose samples differ by more is split; off: none is",
			reader{"a duration such as 40ms, or off", func(text string) bool {
				if o.Spread = -1; text == "off" {
					return true
				}
				d, err := time.ParseDuration(text)
				o.Spread = d
				return err == nil && d > 0
			}}},
		{"cluster", "8/20", "prefix of a cluster, IPv4/IPv6", lengths(&o.Cluster)},
		{"split", "16/32", "prefix that clusters are sampled by and split into, IPv4/IPv6", lengths(&o.Split)},
		{"silent", "2", "so many servers more are asked if all samples of a cluster are silent", reader{wholeNumber, func(text string) bool {
			if o.SilentRetry = -1; text == "0" {
				return true // the plan's zero is its default
			}
			return count(&o.SilentRetry).read(text)
		}}},
	}
}

const wholeNumber = "a whole number above 0"

func share(to *float64) reader { return reader{"a share between 0 and 1", above0(to, 1)} }

func above0(to *float64, below float64) func(string) bool {
	return func(text string) bool {
		x, err := strconv.ParseFloat(text, 64)
		*to = x
		return err == nil && 0 < x && x < below
	}
}

func count(to *int) reader {
	return reader{wholeNumber, func(text string) bool {
		n, err := strconv.ParseUint(text, 10, 31)
		*to = int(n)
		return err == nil && n > 0
	}}
}

// lengths reads two lengths of prefixes, for IPv4 and IPv6.
func lengths(to *discovery.Bits) reader {
	return reader{"two lengths of prefixes such as 8/20", func(text string) bool {
		v4, v6, both := strings.Cut(text, "/")
		a, err1 := strconv.Atoi(v4)
		b, err2 := strconv.Atoi(v6)
		*to = discovery.Bits{V4: a, V6: b}
		return err1 == nil && err2 == nil && both && a >= 1 && a <= 32 && b >= 1 && b <= 128
	}}
}

// Knobs lists the thresholds with their defaults, a line each, for people.
func Knobs() string {
	var text strings.Builder
	for _, k := range knobs(&discovery.PlanOptions{}) {
		fmt.Fprintf(&text, "\n  %-16s %s", k.name+"="+k.standard, k.help)
	}
	return text.String()
}

// Tune sets one threshold of the strategies, such as spread=60ms. Its error names an unknown threshold,
// or a value that is none.
func Tune(o *discovery.PlanOptions, setting string) error {
	name, given, _ := strings.Cut(setting, "=")
	var names []string
	for _, k := range knobs(o) {
		if names = append(names, k.name); k.name != name {
			continue
		}
		if !k.read(given) {
			return fmt.Errorf("%s=%s is not %s; the standard is %s=%s", name, given, k.want, name, k.standard)
		}
		return nil
	}
	return fmt.Errorf("%q is none of %s", name, strings.Join(names, ", "))
}
