package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	top := []string{"at", "rate", "no_browser", "name"}
	const text = "# c\nat = 'https://muster.example'\n\n\"rate\" = 12.5\nno_browser=true\n[serve]\nname = 'x'\n at = ['a', 2]\n"
	got, err := Read(strings.NewReader(text), "config.toml", Known{"": top, "serve": {"at", "name"}})
	want := map[string]Value{
		"at": {[]string{"https://muster.example"}, 2}, "rate": {[]string{"12.5"}, 4}, "no_browser": {[]string{"true"}, 5},
		"serve.name": {[]string{"x"}, 7}, "serve.at": {[]string{"a", "2"}, 8},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Read(strings.NewReader("\ufeff"+text), "config.toml",
		Known{"": top, "serve": {"at", "name"}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("with the mark of Windows' editor: %v, %v", got, err)
	}
	if _, err := Read(strings.NewReader("name = \""+strings.Repeat("x", maxFile)+"\""), "f", Known{"": top}); err == nil {
		t.Error("a file without an end is read")
	}
	for text, want := range map[string]string{
		"[serve]\nbad = 1":                     "", // a table of another command
		"at = [[1]]":                           "f:1: at: one value",
		"at = [{x = 1}]":                       "f:1: at: one value",
		"[serve.deeper]\nat = 1":               "",
		"[other]\nat = 1":                      `f:1: unknown key "other"`,
		"name = 'x'\n[[serve]]\nlisten = ':1'": `f:2: unknown key "serve"`,
	} {
		if _, err := Read(strings.NewReader(text), "f", Known{"": top, "serve": nil}); (err == nil) != (want == "") ||
			err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"name = 'x'\n[serve]\nbad = 1":          `f:3: unknown key "bad"`,
		"nmae = 'x'":                            `f:1: unknown key "nmae": did you mean name?`,
		"[serve]\nListn = 'x'":                  `f:2: unknown key "Listn": did you mean listen?`,
		"listen = 'x'":                          `f:1: unknown key "listen": it belongs below [serve]`,
		"name = bob":                            `f:1: a text stands in quotation marks: "bob"`,
		"name = 'x'\n[serve]\nname = {x = 'y'}": "f:3: name: one value",
	} {
		if _, err := Read(strings.NewReader(text), "f", Known{"": {"at", "name"}, "serve": {"listen", "name"}}); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// FuzzRead checks that any bytes are a configuration or an error.
func FuzzRead(f *testing.F) {
	f.Add("at = 1\n[x]\ny=2\n")
	f.Add("a.b = 3\n\"\x00\" = \"\"\"\n\"\"\"")
	f.Add("at = [1, [2]]\n[serve]\na = []\n")
	f.Fuzz(func(t *testing.T, text string) {
		values, err := Read(strings.NewReader(text), "config.toml", Known{"": {"at", "a"}, "serve": {"a"}})
		if err == nil && values == nil {
			t.Fatalf("%v, %v", values, err)
		}
	})
}
