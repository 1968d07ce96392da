package catalogue

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/sentence"
)

// TestCases checks results that web/static/say.js must have, too.
func TestCases(t *testing.T) {
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Pattern, Language, Want string
		With                    sentence.Args
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, tt := range cases {
		p, err := parse(tt.Pattern)
		if err != nil {
			t.Error(err)
			continue
		}
		l := InEnglish()
		if tt.Language != "" {
			l = speaking(tt.Language)
		}
		var b strings.Builder
		if l.say(&b, p, tt.With.Values(), ""); b.String() != tt.Want {
			t.Errorf("%q with %v is %q, want %q", tt.Pattern, tt.With, b.String(), tt.Want)
		}
	}
}

func TestMalformed(t *testing.T) {
	for _, text := range []string{
		"{", "}", "{}", "{a", "{a}}", "{a b}", "{a, ping}", "{a, plural}", "{a, plural, one {x}}", "{a, plural, other {x}",
		"{a, date, short}", "{a, number}", "{a, number, ::.00}", "{a, number, ::.0", "{a, list, b}", "{#}", "{a, select, other x}", "a < b", "<b>", "</b>", "<b>a</i>", "<B>a</B>", "{a, select, other {<b>}}</b>", strings.Repeat("{a, select, other {", 9) + strings.Repeat("}}", 9),
	} {
		if p, err := parse(text); err == nil {
			t.Errorf("%q is read as %v", text, p)
		}
	}
}

// TestKeys checks the catalogue against the code: some code uses each key, and each key that code
// uses exists. A literal that ends with a dot uses all keys that begin with it.
func TestKeys(t *testing.T) {
	english := Sentences()
	used, prefixes, areas := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for key := range english {
		area, _, _ := strings.Cut(key, ".")
		areas[area] = true
	}
	literal := regexp.MustCompile("[\"'`]([a-z][a-z0-9_-]*(?:\\.[a-z0-9_-]+)*\\.?)[\"'`$]")
	saying := regexp.MustCompile(`(?:\b(?:say|said)\(|\bhint\.Say\(|\bWords\(|sentence\.Of\(|\bRefuse\([A-Za-z.]+, |\bAdvising\(|` +
		`data-(?:words|label)=)"([a-z][a-z0-9_.-]*)"`)
	for _, root := range []string{"../../discovery", "../../selection", "../../host", "../../peer", "../../internal", "../../web/static"} {
		err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
			isCode := slices.Contains([]string{".go", ".js", ".html"}, filepath.Ext(name)) && !strings.HasSuffix(name, "_test.go")
			if err != nil || entry.IsDir() || !isCode || strings.Contains(name, "/vendor/") || strings.Contains(name, "/testdata/") {
				return err
			}
			data, err := os.ReadFile(name)
			for _, found := range literal.FindAllSubmatch(data, -1) {
				text := string(found[1])
				area, _, _ := strings.Cut(text, ".")
				switch {
				case strings.HasSuffix(text, "."):
					prefixes[text] = true
				case english[text] != "":
					used[text] = true
				case filepath.Ext(name) == ".js" && areas[area] && area != text && !strings.HasSuffix(text, ".js"):
					t.Errorf("%s says %s, which is not in the catalogue", name, text)
				}
			}
			for _, found := range saying.FindAllSubmatch(data, -1) {
				if key := string(found[1]); english[key] == "" && !strings.HasSuffix(key, ".") {
					t.Errorf("%s says %s, which is not in the catalogue", name, key)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for key := range english {
		isPrefixed := false
		for prefix := range prefixes {
			isPrefixed = isPrefixed || strings.HasPrefix(key, prefix)
		}
		if !used[key] && !isPrefixed {
			t.Errorf("nothing says %s", key)
		}
	}
}

// TestPseudo checks that the languages for tests are longer than English, and keep arguments.
func TestPseudo(t *testing.T) {
	for text, want := range map[string]string{
		"<b>Nobody</b> is here": "[<b>Ñóbódý</b> íš héré······]",
		"Nobody is here":        "[Ñóbódý íš héré······]",
		"{n, plural, one {# seat of {name}} other {# seats}}, {at, time}": "[{n, plural, one {# šéát óf {name}} other {# šéátš}}, {at, time}·····]",
	} {
		if got := Accent(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	for key, text := range Sentences() {
		if _, err := parse(Accent(text)); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// TestTimes checks how times are said.
func TestTimes(t *testing.T) {
	at := time.Date(2026, 11, 27, 20, 15, 0, 0, time.Local)
	p, err := parse("{at, date} at {at, time}")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		at.Format(time.RFC3339): "Friday, 27 November at 20:15", "soon": "soon at soon",
	} {
		var b strings.Builder
		if InEnglish().say(&b, p, map[string]any{"at": text}, ""); b.String() != want {
			t.Errorf("%s is %q, want %q", text, b.String(), want)
		}
	}
}

// FuzzParse parses any text. A pattern can be said, and parses again once it is accented.
func FuzzParse(f *testing.F) {
	f.Add("{n, plural, one {# server of {who}} other {#}} and {a, select, x {{b}} other {}}")
	f.Add("<b>{a}<i>b</i></b>")
	l := InEnglish()
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parse(text)
		if err != nil {
			return
		}
		var b strings.Builder
		l.say(&b, p, map[string]any{"n": 3.0, "who": "ann"}, "")
		if _, err := parse(Accent(text)); err != nil {
			t.Fatalf("%q cannot be read once it is accented: %v", text, err)
		}
	})
}
