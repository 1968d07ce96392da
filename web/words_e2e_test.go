//go:build e2e

package web_test

import (
	"encoding/json"
	"os"
	"testing"

	"muster/internal/catalogue"
)

// TestSay checks that the page says sentences as the terminal does: package catalogue reads the same
// cases.
func TestSay(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../internal/catalogue/testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Pattern, Language, Want string }
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, tag := range catalogue.Tags() {
		var got []string
		inNodeAs(t, tag, &got, `const { filled } = await import("./static/say.js");
			console.log(JSON.stringify(JSON.parse(process.argv[1]).map((one) => filled(one.pattern, one.with ?? {}))))`, string(data))
		for i, tt := range cases {
			if language := tt.Language; language == tag || language == "" && tag == catalogue.English {
				if got[i] != tt.Want {
					t.Errorf("in %s, %q is %q, want %q", tag, tt.Pattern, got[i], tt.Want)
				}
			}
		}
	}
}
