package discovery_test

import (
	"strings"
	"testing"
	"unicode"

	"muster/discovery"
)

func TestCleanText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "Friday Night", "Friday Night"},
		{"other scripts stay", "Привет 你好 é", "Привет 你好 é"},
		{"white space folds", " a \t\r\n b\u00a0c ", "a b c"},
		{"terminal escapes", "\x1b[31mred\x07", "[31mred"},
		{"right-to-left override", "abc\u202egnp.exe", "abcgnp.exe"},
		{"invisible", "a\u200bb\ufeffc", "abc"},
		{"invalid UTF-8", "caf\xe9!", "caf!"},
		{"markup stays text", "<script>", "<script>"},
		{"nothing left", "\x00\x01", ""},
		{"too long", strings.Repeat("x", 300), strings.Repeat("x", 255)},
		{"too long, after a blank", strings.Repeat("x", 254) + " yy", strings.Repeat("x", 254) + " y"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := discovery.CleanText(tt.in); got != tt.want {
				t.Errorf("CleanText(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzCleanText(f *testing.F) {
	f.Add("a\u202eb\x1b c")
	f.Fuzz(func(t *testing.T, in string) {
		out := discovery.CleanText(in)
		if len(out) > 256 || out != discovery.CleanText(out) {
			t.Fatalf("%q became %q", in, out)
		}
		for _, r := range out {
			if r != ' ' && !unicode.IsPrint(r) {
				t.Fatalf("%q is left in %q", r, out)
			}
		}
	})
}
