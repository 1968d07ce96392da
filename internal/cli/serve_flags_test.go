package cli

import (
	"testing"

	"muster/internal/publichost"
)

// TestReloadable: what a host takes on while it runs are its flags.
func TestReloadable(t *testing.T) {
	_, cmd := serveCommand(newProgram(Streams{}, func(string) string { return "" }))
	for _, name := range publichost.Reloadable() {
		if cmd.Flags().Lookup(name) == nil {
			t.Errorf("there is no flag --%s", name)
		}
	}
}
