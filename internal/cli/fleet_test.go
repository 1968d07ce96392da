package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/internal/cli"
)

// TestFleetSaysHowToAsk checks that the commands which the fleet suggests find servers, with and
// without a master.
func TestFleetSaysHowToAsk(t *testing.T) {
	t.Parallel()
	for game, source := range map[string]string{"openarena": "--master", "cs2": "--servers"} {
		file := filepath.Join(t.TempDir(), "servers.csv")
		said := startFleet(t, "--game", game, "--servers", "20", "--master-port", "0", "--write", file)
		_, try, _ := strings.Cut(said, "\ntry   muster ")
		try, _, _ = strings.Cut(try, "\n")
		if !strings.Contains(try, source) {
			t.Errorf("%s: %q does not ask with %s", game, try, source)
		}
		if strings.Contains(said, "master") != (source == "--master") {
			t.Errorf("%s: the fleet says\n%s", game, said)
		}
		report := succeeds(t, append(strings.Fields(try), "--auto-stop", "off", "--retries", "0", "--json")...)
		if n := strings.Count(report, `"state":"answered"`); n < 10 {
			t.Errorf("%s: %d servers answered", game, n)
		}
	}
	if said := startFleet(t, "--game", "cs2", "--servers", "2", "--master-port", "0"); !strings.Contains(said,
		"no master lists Counter-Strike 2: start the fleet with --write FILE") {
		t.Errorf("without a list the fleet says\n%s", said)
	}
}

// startFleet runs a fleet until the test ends, and returns its output.
func startFleet(t *testing.T, args ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, err, ended := &buffer{}, &buffer{}, make(chan int, 1)
	go func() {
		ended <- cli.Run(ctx, append([]string{"fleet"}, args...), cli.Streams{In: os.Stdin, Out: out, Err: err})
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("exit status %d\n%s", code, err)
		}
	})
	for !strings.Contains(err.String(), "Ctrl-C") {
		select {
		case code := <-ended:
			ended <- code
			t.Fatalf("the fleet ended with %d\n%s", code, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return out.String()
}
