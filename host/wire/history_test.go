package wire

import (
	"strings"
	"testing"
)

// TestPlain checks that no name of a player or server is a formula in a spreadsheet.
func TestPlain(t *testing.T) {
	for name, want := range map[string]string{
		"ann":                          "ann",
		"":                             "",
		"100 % fun":                    "100 % fun",
		"a=b":                          "a=b",
		"=HYPERLINK(\"https://evil\")": "'=HYPERLINK(\"https://evil\")",
		"+1":                           "'+1",
		"-clan-":                       "'-clan-",
		"@ann":                         "'@ann",
		" =1+1":                        "' =1+1",
		"\t=1+1":                       "'\t=1+1",
		"\r\n=1+1":                     "'\r\n=1+1",
		"\u00a0=1+1":                   "'\u00a0=1+1",
		"＝1+1":                         "'＝1+1",
		"|cmd":                         "'|cmd",
	} {
		if got := escapeFormula(name); got != want {
			t.Errorf("%q is written %q, want %q", name, got, want)
		}
	}
	var table strings.Builder
	e := History{Sessions: []Session{{Stays: []Stay{{Server: "a,\"b\"\n=c", Players: []Seat{{Name: "=x\";y"}}}}}}}
	if err := e.CSV(&table); err != nil {
		t.Fatal(err)
	}
	if want := "\n,,,,\"a,\"\"b\"\"\n=c\",,,,\"'=x\"\";y\",,\n"; !strings.HasSuffix(table.String(), want) {
		t.Errorf("the table ends %q, want %q", table.String(), want)
	}
}
