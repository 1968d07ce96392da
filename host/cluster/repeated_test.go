package cluster

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"muster/host/cluster/clustertest"
)

// TestRepeated checks that hosts on the model say and hear the same at the same times whenever they
// meet the same faults, however many goroutines run at a time.
func TestRepeated(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []string
	for n := range 4 {
		runtime.GOMAXPROCS(1 + n%2)
		var trace bytes.Buffer
		synctest.Test(t, func(t *testing.T) { meetFaults(t, &trace) })
		lines := strings.Split(trace.String(), "\n")
		if n == 0 {
			first = lines
			t.Log(len(lines), "lines")
		}
		for i := range max(len(first), len(lines)) {
			if i >= len(first) || i >= len(lines) || first[i] != lines[i] {
				t.Fatalf("run %d differs in line %d:\n%s\nnot\n%s", n, i, strings.Join(lines[max(0, i-3):min(i+3, len(lines))], "\n"), strings.Join(first[max(0, i-3):min(i+3, len(first))], "\n"))
			}
		}
	}
}

func meetFaults(t *testing.T, trace *bytes.Buffer) {
	cryptotest.SetGlobalRandom(t, 1)
	began := time.Now() // a round time, at which the model makes no step
	m := startThree(t)
	m.Trace(trace)
	var hosts []*Cluster
	var lines []*clustertest.Line
	for _, name := range []string{"a", "b", "c"} {
		line := m.Line()
		lines = append(lines, line)
		hosts = append(hosts, join(t, over(m, line), name))
	}
	for i, h := range hosts {
		for room := range 4 {
			own, err := h.Create(t.Context(), fmt.Sprintf("ROOM%d-%d", i, room), "", nil)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				for n := range 40 {
					own.Save(t.Context(), fmt.Append(nil, n))
					pause(t.Context(), 500*time.Millisecond)
				}
			}()
		}
		go func() {
			for code := range h.Adopt(t.Context()) {
				h.Claim(t.Context(), code)
			}
		}()
	}
	leader := m.Leader("muster-rooms")
	for n, fault := range []func(){
		func() { m.Stop(leader) }, func() { lines[0].Set(clustertest.Frozen) }, func() { m.Start(leader) },
		func() { lines[0].Set(clustertest.Whole) }, func() { m.Cut(0, 1, true) }, func() { lines[1].Cut() }, func() { m.Cut(0, 1, false) },
		func() { m.LoseAcks("muster-rooms", 3) }, func() { lines[2].Set(clustertest.Deaf) }, func() { lines[2].Set(clustertest.Whole) },
	} {
		time.Sleep(time.Until(began.Add(time.Duration(1+n) * 4 * time.Second)))
		fault()
	}
	time.Sleep(10 * time.Second)
	m.Trace(nil) // they end one after the other, and not between two steps
}
