package quake3_test

import (
	"testing"

	. "muster/discovery/protocol/quake3"
)

func TestCleanName(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                  "plain",
		"^1red^7 white":          "red white",
		"^xF80orange^7":          "orange",
		"^xFZ8orange":            "FZ8orange", // no colour of DarkPlaces: ^x alone is one
		"^x0f":                   "0f",
		"^Nnew ^;line":           "new line",
		"^^1caret":               "^caret",
		"end^":                   "end^",
		"^":                      "^",
		"a ^ b":                  "a ^ b",
		"^1^2^3":                 "",
		"a^\x0101\x04flag b":     "a b", // a picture
		"a^\x0101\x13flag b":     "a^01flag b",
		"^ü":                     "^ü",
		"^1 a\x07\n\tb\u202e c ": "a b c",
	} {
		if got := CleanName(in); got != want {
			t.Errorf("CleanName(%q) = %q, want %q", in, got, want)
		}
	}
}
