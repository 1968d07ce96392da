package input

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestOpen checks texts in the forms that editors, shells and packers produce.
func TestOpen(t *testing.T) {
	const text = "Mü 192.0.2.1:27960\r\n日本\r\n"
	wide := func(order binary.AppendByteOrder) string {
		var b []byte
		for _, c := range utf16.Encode([]rune("\ufeff" + text)) {
			b = order.AppendUint16(b, c)
		}
		return string(b)
	}
	var packed bytes.Buffer
	pack := gzip.NewWriter(&packed)
	io.WriteString(pack, "\ufeff"+text)
	pack.Close()
	for name, written := range map[string]string{
		"as it is": text, "with a mark": "\ufeff" + text, "gzip": packed.String(),
		"of PowerShell's >": wide(binary.LittleEndian), "the other way round": wide(binary.BigEndian),
	} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		for from, in := range map[string]string{file: "", Standard: written} {
			opened, err := Open(from, strings.NewReader(in))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got, err := io.ReadAll(opened); err != nil || string(got) != text {
				t.Errorf("%s, from %s: %q, %v", name, Name(from), got, err)
			}
			opened.Close()
		}
	}
	for _, short := range []string{"", "1", "\n", "\xef", "\xff"} {
		if got, err := io.ReadAll(Text(strings.NewReader(short))); err != nil || string(got) != short {
			t.Errorf("%q is read as %q, %v", short, got, err)
		}
	}
}
