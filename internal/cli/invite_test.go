package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestQRCode: it is drawn whole or not at all.
func TestQRCode(t *testing.T) {
	const link = "https://192.168.100.100:7777/#TABOMI~TWXEYPFNYHCKBZXKYSZ2GFVYHY"
	var out bytes.Buffer
	needed := writeQR(&out, link, style{}, 30)
	if needed <= 30 || out.Len() > 0 {
		t.Fatalf("in 30 columns it needs %d, and writes %q", needed, &out)
	}
	if again := writeQR(&out, link, style{}, needed-1); again != needed {
		t.Errorf("in %d columns it needs %d", needed-1, again)
	}
	if again := writeQR(&out, link, style{}, needed); again != 0 {
		t.Errorf("in %d columns it needs %d", needed, again)
	}
	for line := range strings.Lines(out.String()) {
		if got := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); got != needed {
			t.Errorf("%d columns, want %d: %s", got, needed, line)
		}
	}
}
