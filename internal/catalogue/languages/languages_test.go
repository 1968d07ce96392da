package languages

import (
	"os"
	"slices"
	"strings"
	"testing"

	"muster/internal/catalogue"
)

// TestFind checks which language readers get, by the tags of systems and browsers.
func TestFind(t *testing.T) {
	for wanted, want := range map[string]string{
		"": catalogue.English, "C": catalogue.English, "POSIX": catalogue.English, "C.UTF-8": catalogue.English, "en_GB.UTF-8": catalogue.English, "xx": catalogue.English, "tlh": catalogue.English,
		"en-XA": catalogue.Accented, "ar-XB": catalogue.Mirrored, "\x00": catalogue.English, strings.Repeat("de-", 9999): catalogue.English,
	} {
		if got := Find(wanted); got != want {
			t.Errorf("who wants %.20q gets %s, want %s", wanted, got, want)
		}
	}
	for _, tag := range Tags() {
		posix := strings.ReplaceAll(tag, "-", "_") + ".UTF-8"
		if Find(tag) != tag || Find(posix) != tag || Find("xx", tag) != tag {
			t.Errorf("who wants %s gets %s, %s, %s", tag, Find(tag), Find(posix), Find("xx", tag))
		}
	}
}

// TestSorted checks that each file has its keys in order, one a line, so that two people's additions
// merge.
func TestSorted(t *testing.T) {
	for _, tag := range Tags() {
		name := tag + ".json"
		if tag == catalogue.English {
			name = "../" + name
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for line := range strings.Lines(string(data)) {
			if key, _, found := strings.Cut(strings.TrimPrefix(line, "  \""), "\": \""); found {
				keys = append(keys, key)
			}
		}
		if n := len(Sentences(tag)); !slices.IsSorted(keys) || len(keys) != n {
			t.Errorf("%s.json has %d keys on lines of their own, of %d; sorted: %v", tag, len(keys), n, slices.IsSorted(keys))
		}
	}
}

// TestCapital checks that a text begins with the capital of its language, and ends as a sentence.
func TestCapital(t *testing.T) {
	for _, tt := range []struct{ tag, text, want string }{
		{"en", "it is full", "It is full."},
		{"tr", "ipucu", "İpucu."},
		{"de", "über 50 ms!", "Über 50 ms!"},
		{"ru", "комната закрыта", "Комната закрыта."},
		{"ja", "満員です", "満員です。"},
		{"en", "", ""},
	} {
		if got := In(tt.tag).Capital(tt.text); got != tt.want {
			t.Errorf("in %s, %q begins and ends as %q, want %q", tt.tag, tt.text, got, tt.want)
		}
	}
}
