package cli_test

import (
	"strings"
	"testing"
)

// TestTuning checks that the thresholds in the help are the ones in use, and that each has an
// effect.
func TestTuning(t *testing.T) {
	simulate := func(more ...string) string {
		return succeeds(t, append([]string{"simulate", "--world", "et2007", "--place", "AU", "--runs", "1", "--json"}, more...)...)
	}
	_, list, _ := strings.Cut(succeeds(t, "simulate", "--help"), "unless --tune says other:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	standard := make(map[string]string)
	for line := range strings.Lines(list) {
		name, value, _ := strings.Cut(strings.Fields(line)[0], "=")
		standard[name] = value
	}
	tests := []struct{ strategy, name, value string }{
		{"as", "percentile", "0.5"},
		{"adaptive", "missing", "0.2"},
		{"country", "refine", "true"},
		{"country-prefix", "members", "2"},
		{"country-prefix", "share", "0.5"},
		{"as", "samples", "0.2"},
		{"as", "spread", "5ms"},
		{"as", "spread", "off"},
		{"country-prefix", "cluster", "4/20"},
		{"as", "split", "24/48"},
		{"as", "silent", "0"},
	}
	for _, tt := range tests {
		value, known := standard[tt.name]
		if !known {
			t.Errorf("the help does not tell of %s", tt.name)
			continue
		}
		plain := simulate("--strategy", tt.strategy)
		if same := simulate("--strategy", tt.strategy, "--tune", tt.name+"="+value); same != plain {
			t.Errorf("%s=%s is not what %s has:\n%s%s", tt.name, value, tt.strategy, plain, same)
		}
		if other := simulate("--strategy", tt.strategy, "--tune", tt.name+"="+tt.value); other == plain {
			t.Errorf("%s=%s changes nothing", tt.name, tt.value)
		}
	}
	if len(standard) != 10 {
		t.Errorf("the help has %d thresholds: %v", len(standard), standard)
	}
	checkAll(t, []wrong{
		{"unknown", []string{"simulate", "--world", "et2007", "--tune", "spread=20ms,hope=1"}, 2, []string{`"hope" is none of percentile`}},
		{"a share of all", []string{"simulate", "--world", "et2007", "--tune", "share=1"}, 2,
			[]string{"share=1 is not a share", "the standard is share=0.1"}},
		{"no number", []string{"discover", "--game", "openarena", "--tune", "samples=many"}, 2, []string{"samples=many is not a number"}},
		{"nothing", []string{"discover", "--game", "openarena", "--tune", "members"}, 2, []string{"members= is not a whole number"}},
		{"no unit", []string{"discover", "--game", "openarena", "--tune", "spread=20"}, 2, []string{"spread=20 is not a duration such as 40ms"}},
		{"one prefix", []string{"discover", "--game", "openarena", "--tune", "cluster=8"}, 2,
			[]string{"cluster=8 is not two lengths of prefixes such as 8/20"}},
		{"too long a prefix", []string{"discover", "--game", "openarena", "--tune", "split=33/48"}, 2, []string{"split=33/48"}},
		{"maybe", []string{"discover", "--game", "openarena", "--tune", "refine=maybe"}, 2, []string{"refine=maybe is not true or false"}},
		{"fewer than none", []string{"discover", "--game", "openarena", "--tune", "silent=-1"}, 2, []string{"silent=-1"}},
	})
}
