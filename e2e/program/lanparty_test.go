//go:build linux

package program_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestLANParty checks a real OpenArena server on the host's network, found by a broadcast query. A
// player on that network is sent to its local address, a player elsewhere to the public one.
// Neither address can be reached from the other side.
func TestLANParty(t *testing.T) {
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "unshare", "-n", "bash", "testdata/lanparty.sh", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	acts := strings.Split(string(out), "== ")
	if len(acts) != 5 {
		t.Fatalf("%d acts\n%s", len(acts)-1, out)
	}
	for i, wants := range [][]string{
		{"warning: only the servers on the local network are listed: no master answers",
			"0 OpenArena servers listed, and 1 on the local network", "0/8  Basement  oa_dm1", "10.9.0.3:27960"},
		{"1 OpenArena server listed\n", "none of 1 servers answered"},
		{"host: 1 OpenArena server listed, and 1 on the local network\n", "ann: openarena +connect 10.9.0.3:27960\n",
			"zoe: openarena +connect 198.51.100.2:27960\n",
			"host: everyone to Basement (198.51.100.2:27960)"},
		{"zoe: Basement (10.9.0.3:27960) is on a local network that zoe can’t reach\n", "choosing without zoe, who has measured 0 of 2 servers"},
	} {
		for _, want := range wants {
			if !strings.Contains(acts[i+1], want) {
				t.Errorf("%q is missing in: %s", want, acts[i+1])
			}
		}
	}
}
