package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestServeLogIsJSON checks that with --log-format json each line is a JSON object. The first one
// names the program and its settings, and none contains a secret.
func TestServeLogIsJSON(t *testing.T) {
	read := func(t *testing.T, text string) (lines []map[string]any) {
		t.Helper()
		for line := range strings.Lines(text) {
			var one map[string]any
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatalf("a line is no JSON: %q", line)
			}
			lines = append(lines, one)
		}
		if len(lines) == 0 {
			t.Fatal("there is no line")
		}
		return lines
	}
	t.Run("a host that serves", func(t *testing.T) {
		p := begin(t, "serve", "--listen", "127.0.0.1:0", "--store", filepath.Join(t.TempDir(), "rooms.db"), "--node",
			"host7", "--public-url", "https://muster.example",
			"--max-rooms", "77", "--master", "https://ann:secret1@lists.example/list?key=secret2", "--log-format", "json")
		p.says(t, `"page":"https://muster.example/"`)
		lines := read(t, p.out.String()+p.err.String())
		first, _ := json.Marshal(lines[0])
		for _, want := range []string{`"version":`, `"node":"host7"`, `"max-rooms":"77"`, `"master":"https://…@lists.example/list?…"`} {
			if !strings.Contains(string(first), want) {
				t.Errorf("the first line has no %s: %s", want, first)
			}
		}
		if text := p.err.String(); strings.Contains(text, "secret1") || strings.Contains(text, "secret2") ||
			!strings.Contains(text, "so a proxy encrypts") {
			t.Errorf("the log is %s", text)
		}
		for i, line := range lines {
			if line["node"] != "host7" || line["version"] == nil {
				t.Errorf("line %d is of no node or version: %v", i, line)
			}
		}
	})
	for name, args := range map[string][]string{
		"a mistake":            {"--max-rooms", "0"},
		"no NATS":              {"--nats", "nats://user:secret1@127.0.0.1:1", "--listen", "127.0.0.1:0", "--cluster-listen", "127.0.0.1:0"},
		"no folder for a file": {"--store", "/nowhere/rooms.db", "--listen", "127.0.0.1:0"},
	} {
		t.Run(name, func(t *testing.T) {
			o := muster(t, append([]string{"serve", "--log-format", "json"}, args...)...)
			lines := read(t, o.out+o.err)
			if last := lines[len(lines)-1]; o.code == 0 || strings.Contains(o.err, "secret1") || !strings.Contains(o.err, `"level":"ERROR"`) {
				t.Errorf("it ends with %d and says %v", o.code, last)
			}
		})
	}
}
