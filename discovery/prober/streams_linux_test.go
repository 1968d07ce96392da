package prober

import (
	"os"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/prober/probertest"
	"muster/internal/await"
)

func openFiles(t testing.TB) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// TestStreamsCloseFiles checks that a prober that asked hundreds of servers leaves no
// file open, while it is open and after.
func TestStreamsCloseFiles(t *testing.T) {
	var servers []discovery.Server
	for i := range 200 {
		handle := answers(0, 0)
		if i%4 == 0 {
			handle = says("noise\n")
		}
		servers = append(servers, talking(t, handle))
	}
	before := openFiles(t)
	p := streamProber(t, Options{Protocol: probertest.Lines{}, Rate: 10000, Timeout: 300 * ms, Retries: -1})
	for range 3 {
		scan(t, p, servers)
	}
	// the servers' side ends by itself
	await.Until(t, func() bool { return openFiles(t) <= before+2 }, "more files stay open than the %d before", before)
}

// TestHandshakeTime checks that the kernel tells its time, and that it is no longer
// than connecting took.
func TestHandshakeTime(t *testing.T) {
	server := talking(t, answers(0, 0))
	p := streamProber(t, Options{Protocol: probertest.Connecting{}})
	began := time.Now()
	results := scan(t, p, []discovery.Server{server})
	took := time.Since(began)
	if rtt := results[0].RTT; results[0].State != discovery.Answered || rtt <= 0 || rtt > took || rtt%time.Microsecond != 0 {
		t.Errorf("%+v, want the kernel's microseconds; all took %v", results, took)
	}
}
