//go:build e2e && linux

package portmap

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// wayVariable names the protocol for the copy of this program behind the router. It means TCP unless "/UDP" follows;
// "any" takes the first that works.
const wayVariable = "MUSTER_PORTMAP_TEST_WAY"

func TestMain(m *testing.M) {
	if name := os.Getenv(wayVariable); name != "" {
		if err := open(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// open keeps a port open until standard input ends.
func open(name string) error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	log := slog.New(slog.DiscardHandler)
	name, isUDP := strings.CutSuffix(name, "/UDP")
	transport := TCP
	if isUDP {
		transport = UDP
	}
	list := slices.DeleteFunc(ways(log), func(w protocol) bool { return name != "any" && w.name() != name })
	return keep(ctx, list, transport, 7777, log, func(m Mapping) { fmt.Printf("%v from port %d", m.External, m.Port) })
}

// TestRealRouter asks miniupnpd by each protocol. UPnP's gateways exist in two versions, whose services have different
// names.
func TestRealRouter(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, lab := range []struct {
		first string
		ways  []string
	}{
		{"no", []string{"PCP", "NAT-PMP", "UPnP 2", "any", "PCP/UDP", "NAT-PMP/UDP", "UPnP 2/UDP"}},
		{"yes", []string{"UPnP", "UPnP/UDP"}},
	} {
		cmd := exec.CommandContext(t.Context(), "unshare", append([]string{"-n", "bash", "testdata/lab.sh", program}, lab.ways...)...)
		cmd.Env = append(os.Environ(), "IGD1="+lab.first)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, way := range lab.ways {
			for _, want := range []string{
				way + ": 5.6.7.8:7777 from port 7777, forwards: 1\n",
				way + " ended, forwards: 0\n",
			} {
				if !strings.Contains(string(out), want) {
					t.Errorf("%q is missing in\n%s", want, out)
				}
			}
		}
	}
}
