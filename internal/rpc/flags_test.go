package rpc_test

import (
	"testing"

	"muster/internal/cli"
	"muster/internal/rpc"
)

// TestFlags checks that the commands have all flags that calls set.
func TestFlags(t *testing.T) {
	for name, flags := range rpc.Flags() {
		cmd, _, err := cli.Command().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		for _, flag := range flags {
			if cmd.Flags().Lookup(flag) == nil {
				t.Errorf("muster %s has no --%s", name, flag)
			}
		}
	}
}
