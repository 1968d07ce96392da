package config

import (
	"maps"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	got, err := Read(strings.NewReader("# c\nat = 'https://muster.example'\n\n\"rate\" = 12.5\nno_browser=true\n"), "config.toml", []string{"at", "rate", "no_browser", "name"})
	want := map[string]Value{"at": {"https://muster.example", 2}, "rate": {"12.5", 4}, "no_browser": {"true", 5}}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Read(strings.NewReader("name = \""+strings.Repeat("x", maxFile)+"\""), "f", []string{"name"}); err == nil {
		t.Error("a file without an end is read")
	}
}

// FuzzRead: any bytes are a configuration or an error.
func FuzzRead(f *testing.F) {
	f.Add("at = 1\n[x]\ny=2\n")
	f.Add("a.b = 3\n\"\x00\" = \"\"\"\n\"\"\"")
	f.Fuzz(func(t *testing.T, text string) {
		values, err := Read(strings.NewReader(text), "config.toml", []string{"at", "a"})
		if (err == nil) == (values == nil) {
			t.Fatalf("%v, %v", values, err)
		}
	})
}
