package nickname

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, tt := range []struct{ what, text, want string }{
		{"a plain name", "ann", "ann"},
		{"letter case stays", "Ann McX", "Ann McX"},
		{"blanks at the ends and between", "  ann \t  b ", "ann b"},
		{"fullwidth", "ａｎｎ", "ann"},
		{"an accent apart from its letter", "Zoe\u0308", "Zoë"},
		{"digits", "007", "007"},
		{"a symbol beside letters", "★ ann ★", "★ ann ★"},
		{"an emoji beside letters", "ann 🎉", "ann 🎉"},
		{"an emoji of several characters", "ann 👩\u200d🚀", "ann 👩🚀"},
		{"a keycap", "ann 1\ufe0f\u20e3", "ann 1\u20e3"},
		{"an emoji alone", "🎉", ""},
		{"punctuation alone", "-._.-", ""},
		{"nothing", "", ""},
		{"blanks alone", " \u3000\u00a0", ""},
		{"Hangul fillers", "\u3164\u115f\u1160\uffa0", ""},
		{"a Hangul filler behind a name", "ann\u3164", "ann"},
		{"an empty Braille cell", "ann\u2800", "ann"},
		{"zero width", "a\u200bn\u2060n\ufeff", "ann"},
		{"a turned direction", "\u202enna\u202c", "nna"},
		{"a line of the log", "ann\nthe organiser has removed bob", "ann the organiser has removed bo"},
		{"marks without an end", "a" + strings.Repeat("\u0335\u0336", 40) + "nn", "a\u0335\u0336nn"},
		{"one mark again and again", "a" + strings.Repeat("\u0e49", 40) + "nn", "a\u0e49nn"},
		{"a mark without a letter", "\u0301", ""},
		{"invalid UTF-8", "an\xffn", "ann"},
		{"too long", strings.Repeat("ä", 40), strings.Repeat("ä", 16)},
		{"cut inside a letter", strings.Repeat("x", 31) + "ä", strings.Repeat("x", 31)},
		{"Vietnamese", "Nguyễn Thị Ánh", "Nguyễn Thị Ánh"},
		{"Yoruba", "Ọlọ́run", "Ọlọ́run"},
		{"Cyrillic", "Андрей", "Андрей"},
		{"Greek", "Γιώργος", "Γιώργος"},
		{"Arabic with vowels", "مُحَمَّد", "مُحَمَّد"},
		{"Hebrew with points", "שָׁלוֹם", "שָׁלוֹם"},
		{"Hindi", "श्रीकृष्ण", "श्रीकृष्ण"},
		{"Tamil", "கிருஷ்ணன்", "கிருஷ்ணன்"},
		{"Thai", "น้ำผึ้ง", "น\u0e49\u0e4d\u0e32ผึ้ง"}, // NFKC takes SARA AM apart
		{"Japanese", "さくら・ハルト", "さくら・ハルト"},
		{"Japanese, a voiced mark apart", "か\u3099く", "がく"},
		{"Korean", "김민준", "김민준"},
		{"Korean, letters apart", "\u1100\u1175\u11b7", "김"},
		{"Chinese", "王小明", "王小明"},
	} {
		got := Clean(tt.text)
		if got != tt.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", tt.what, tt.text, got, tt.want)
		}
		if again := Clean(got); again != got {
			t.Errorf("%s: Clean(%q) = %q: a clean name changes", tt.what, got, again)
		}
	}
}

func TestAlike(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"ann", "ann", true},
		{"ann", "Ann", true},
		{"ann", "аnn", true}, // the first letter is Cyrillic
		{"АNN", "ann", true}, // the same in capitals
		{"BOB", "ВОВ", true}, // all Cyrillic
		{"bob", "ВОВ", true},
		{"bob", "b0b", true},
		{"Al", "AI", true},
		{"ann", "a n n", true},
		{"ann", "a\u0335nn", true},
		{"Zoe", "Zoë", true},
		{"maria", "rnaria", true},
		{"ann", "𝖆𝖓𝖓", true},
		{"ann", "anne", false},
		{"ann", "nan", false},
		{"player 1", "player 2", false},
		{"player 1", "player 11", false},
		{"Андрей", "Андрюша", false},
		{"さくら", "さくや", false},
		{"かい", "がい", false},
		{"김민준", "김민서", false},
	} {
		if Alike(tt.a, tt.b) != tt.want || Alike(tt.b, tt.a) != tt.want {
			t.Errorf("Alike(%q, %q) = %v, want %v", tt.a, tt.b, !tt.want, tt.want)
		}
	}
}

// FuzzClean holds what everybody relies on: a clean name is short, valid, on one
// line, stays as it is, and looks like itself.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{"ann", "аnn", "ａｎｎ", "\u3164", "a\u0335\u0336nn", "김민준", "مُحَمَّد", "👩\u200d🚀 x",
		"\xff", "l·l・", "مُ\xe6\xadَُ\xe6\x8eّد"} {
		f.Add(seed, "ann")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		name := Clean(text)
		if len(name) > MaxBytes || !utf8.ValidString(name) || strings.ContainsAny(name, "\r\n\x1b\u202e\u200b") {
			t.Fatalf("Clean(%q) = %q", text, name)
		}
		if again := Clean(name); again != name {
			t.Fatalf("Clean(%q) = %q, and then %q", text, name, again)
		}
		if !Alike(name, name) || Alike(name, Clean(other)) != Alike(Clean(other), name) {
			t.Fatalf("Alike is not even for %q and %q", name, Clean(other))
		}
	})
}
