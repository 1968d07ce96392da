package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"muster/internal/publichost"
)

func testProgram(out *bytes.Buffer) *program {
	return newProgram(Streams{In: strings.NewReader(""), Out: io.Discard, Err: out}, func(string) string { return "" })
}

// TestReloadable checks that everything that a running host can reload is one of its flags.
func TestReloadable(t *testing.T) {
	_, cmd := serveCommand(newProgram(Streams{}, func(string) string { return "" }))
	for _, name := range publichost.Reloadable() {
		if cmd.Flags().Lookup(name) == nil {
			t.Errorf("there is no flag --%s", name)
		}
	}
}

// Configured gives the test a config.toml, and returns a program that reads it.
func Configured(t *testing.T, text string) *program {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "muster"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "muster", "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(xdg.Reload) // after the variable has been restored
	t.Setenv("XDG_CONFIG_HOME", folder)
	xdg.Reload()
	return testProgram(&bytes.Buffer{})
}
