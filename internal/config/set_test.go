package config_test

import (
	"strings"
	"testing"

	"muster/internal/config"
)

// TestSet checks that people's text stays, and that Read finds the values that were set.
func TestSet(t *testing.T) {
	const old, tables = "# mine\nname = \"ann\"   # not Anne\nlaunch = \"auto\"\n", "\n[serve]\nrate = 3\n"
	for _, tt := range []struct {
		name    string
		changes map[string]string
		want    string
	}{
		{"a new one", map[string]string{"rate": "200"}, old + "rate = 200\n"},
		{"another", map[string]string{"name": `b"o\b`}, "# mine\nname = \"b\\\"o\\\\b\"\nlaunch = \"auto\"\n"},
		{"one less", map[string]string{"launch": "", "at": ""}, "# mine\nname = \"ann\"   # not Anne\n"},
		{"what is no number", map[string]string{"name": "007"}, "# mine\nname = \"007\"\nlaunch = \"auto\"\n"},
	} {
		got, err := config.Set(old+tables, tt.changes)
		if err != nil || strings.ReplaceAll(got, "\n\n", "\n") != tt.want+tables[1:] {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
		values, err := config.Read(strings.NewReader(got), "config.toml", config.Known{"": {"name", "launch", "rate", "at"}, "serve": {"rate"}})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		for key, text := range tt.changes {
			if strings.Join(values[key].Texts, "") != text {
				t.Errorf("%s: %s is read as %q", tt.name, key, values[key].Texts)
			}
		}
	}
	if _, err := config.Set(old, map[string]string{"name": "a\nat = 'http://evil'"}); err == nil {
		t.Error("a value brings a line of its own")
	}
}
