package program_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"muster/internal/freeport"
)

// TestRoomsEvenOut checks that rooms spread again after a rolling upgrade, which leaves the host
// that restarted last without rooms. Gathering rooms move there from the others until all three
// hosts have the same number.
func TestRoomsEvenOut(t *testing.T) {
	t.Parallel()
	nats, _ := startNATS(t)
	hosts := []string{freeport.TCP(t), freeport.TCP(t), freeport.TCP(t)}
	serve := func(i int) *process {
		return run(t, t.TempDir(), fmt.Sprint("host", i), "serve", "--listen", hosts[i], "--nats", "nats://"+nats,
			"--node", fmt.Sprint("host", i), "--cluster-listen", "127.0.0.1:0", "--rooms-per-address", "10000")
	}
	rooms := func(i int) (n int) {
		answer, err := http.Get("http://" + hosts[i] + "/metrics")
		if err != nil {
			return 0
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		if found := regexp.MustCompile(`(?m)^muster_rooms (\d+)$`).FindSubmatch(text); found != nil {
			fmt.Sscan(string(found[1]), &n)
		}
		return n
	}
	for i, n := range []int{154, 90} {
		serve(i).awaits(`(?m)^page `)
		for range n {
			opensRoom(t, hosts[i])
		}
	}
	// By now the first two are even, or nearly so if this machine was slow.
	before := []int{rooms(0), rooms(1), 0}
	third := serve(2)
	third.awaits(`(?m)^page `)
	began := time.Now()
	var now []int
	every(t, 100*time.Millisecond, "all have as many", func() bool {
		now = []int{rooms(0), rooms(1), rooms(2)}
		return now[0]+now[1]+now[2] == 244 && max(now[0], now[1], now[2])-min(now[0], now[1], now[2]) <= 2
	})
	t.Logf("%v rooms become %v, %v after the third host began", before, now, time.Since(began).Round(time.Second))
	if taken := strings.Count(third.out.String(), "room taken over"); taken < 80 {
		t.Errorf("the third host says of %d rooms that it has taken them", taken)
	}
}

// awaitPort waits until something listens.
func awaitPort(t *testing.T, at string) {
	t.Helper()
	eventually(t, at+" is open", func() bool {
		conn, err := net.Dial("tcp", at)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}
