package cli

import (
	"testing"

	"muster/internal/publichost"
)

// TestReloadable checks that everything that a running host can reload is one of its flags.
func TestReloadable(t *testing.T) {
	_, cmd := serveCommand(newProgram(Streams{}, func(string) string { return "" }))
	for _, name := range publichost.Reloadable() {
		if cmd.Flags().Lookup(name) == nil {
			t.Errorf("there is no flag --%s", name)
		}
	}
}
