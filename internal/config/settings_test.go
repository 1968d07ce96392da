package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/internal/config"
	"muster/internal/hint"
)

// TestGiven checks which of file and environment counts, and that errors say where the value stands.
func TestGiven(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	known := config.Known{"": {"name", "rate"}, "serve": {"proxy"}}
	env := func(name string) string {
		return map[string]string{"MUSTER_RATE": "9,5", "MUSTER_SERVE_PROXY": "10.0.0.1,10.0.0.2"}[name]
	}
	if none, err := config.Load(file, env, known); err != nil || len(none.Values) > 0 {
		t.Errorf("without a file: %v, %v", none.Values, err)
	}
	if err := os.WriteFile(file, []byte("name = 'ann'\nrate = 3\n[serve]\nproxy = ['10.0.0.9']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := config.Load(file, env, known)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key    string
		isList bool
		texts  []string
		where  string
		wrong  string
	}{
		{"name", false, []string{"ann"}, file + ":1", file + ":1: name: bad"},
		{"rate", false, []string{"9,5"}, "MUSTER_RATE in the environment", "MUSTER_RATE in the environment: bad"},
		{"serve.proxy", true, []string{"10.0.0.1", "10.0.0.2"}, "MUSTER_SERVE_PROXY in the environment",
			"MUSTER_SERVE_PROXY in the environment: bad"},
	} {
		got, is := s.Given(c.key, c.isList)
		if wrong := got.Wrong(errors.New("bad")); !is || !slices.Equal(got.Texts, c.texts) || got.Where() != c.where ||
			wrong.Error() != c.wrong || !hint.IsUsage(wrong) {
			t.Errorf("%s: %v, %q, at %s; %v", c.key, is, got.Texts, got.Where(), wrong)
		}
	}
	if got, is := s.Given("lan", false); is {
		t.Errorf("nobody set lan, and it is %q", got.Texts)
	}
}

// TestCheckVariables checks that a mistyped variable of a command is refused, and no other command's.
func TestCheckVariables(t *testing.T) {
	for entry, isWrong := range map[string]bool{
		"MUSTER_SERVE_MAX_ROOMS=7": false, "MUSTER_SERVE_MAX_ROOM=7": true, "MUSTER_SERVE_MAX_ROOM=": false,
		"MUSTER_AT=x": false, "MUSTER_SERVED=x": false,
	} {
		if err := config.CheckVariables([]string{"HOME=/", entry}, "serve", []string{"serve.max_rooms"}); (err != nil) != isWrong ||
			isWrong && !hint.IsUsage(err) {
			t.Errorf("%s: %v", entry, err)
		}
	}
}

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
