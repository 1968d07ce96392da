package identify

import (
	"testing"

	"muster/internal/hint"
)

// TestLookUp checks that one address with a port is asked, and that anything else is a mistake in the command line.
func TestLookUp(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1:27015":                    "192.0.2.1:27015",
		"[2001:db8::1]:7":                    "[2001:db8::1]:7",
		"[::ffff:192.0.2.1]:65535":           "192.0.2.1:65535",
		"192.0.2.1 port 27015":               "192.0.2.1:27015",
		"steam://connect/192.0.2.1:27015/pw": "192.0.2.1:27015",
		"":                                   "",
		"192.0.2.1":                          "",
		"192.0.2.1:":                         "",
		"192.0.2.1:0":                        "",
		"192.0.2.1:65536":                    "",
		"192.0.2.1:http":                     "",
		":27015":                             "",
		"2001:db8::1:7":                      "",
	} {
		at, err := lookUp(t.Context(), text)
		if want != "" && (err != nil || at.String() != want) || want == "" && !hint.IsUsage(err) {
			t.Errorf("%q is %v, %v; want %q", text, at, err, want)
		}
	}
}
