package tomlerr

import (
	"errors"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// TestExplain checks what people write in place of TOML.
func TestExplain(t *testing.T) {
	for text, want := range map[string]string{
		"name = bob":                    `a text stands in quotation marks: "bob"`,
		"at = https://muster.example":   `a text stands in quotation marks: "https://muster.example"`,
		"rate = 10s":                    `a text stands in quotation marks: "10s"`,
		"rate = 1.2.3":                  `a text stands in quotation marks: "1.2.3"`,
		"rate = 50/s":                   `a text stands in quotation marks: "50/s"`,
		"on = yes":                      "yes is written true here, without quotation marks",
		"on = True # all":               "True is written true here, without quotation marks",
		"name = “bob”":                  `“ is no quotation mark here: write "`,
		"name = \"bob":                  `a quotation mark is missing: nothing ends "bob`,
		"name bob":                      "a = is missing: name = bob",
		"name: \"bob\"":                 `a = is missing: name = "bob"`,
		"name =":                        `a value is missing: name = "…"`,
		"= 3":                           "the key before = is missing",
		"my name = 3":                   `a key is one word, and "my name" is not`,
		"; a comment":                   "a comment begins with #",
		"// a comment":                  "a comment begins with #",
		"[serve":                        "a ] is missing: [serve]",
		"name = 'a'; rate = 3":          "only a comment may follow a value, and not ; rate = 3",
		"name = 'a'\nname = 'b'":        "key name is already defined",
		"{\"name\": \"x\"}":             "invalid character at start of key: '{'",
		"a = 1\nb = [\"x\",\ny\"]":      `a quotation mark is missing before y"`,
		"a = [\"x\"\n":                  "array is incomplete",
		"a = 0xff # fine\nb = 2 fast\n": `a text stands in quotation marks: "fast"`,
	} {
		var wrong *toml.DecodeError
		var into map[string]any
		if !errors.As(toml.Unmarshal([]byte(text), &into), &wrong) {
			t.Errorf("%q is read", text)
			continue
		}
		if line, why := Explain(text, wrong); why != want {
			t.Errorf("%q: line %d: %s; want %s", text, line, why, want)
		}
	}
}

// FuzzInRow checks that rows of any form end the search.
func FuzzInRow(f *testing.F) {
	f.Add(`launch = ["a, "b"]`)
	f.Add(`x = 1 “`)
	f.Fuzz(func(t *testing.T, row string) { inRow(strings.TrimSpace(row)) })
}
