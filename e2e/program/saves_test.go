package program_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"muster/host/cluster"
	"slices"
	"testing"
	"time"
)

var measure = flag.Bool("measure", false, "measure the saves of bench/experiments/cluster.md")

// roomOf returns so many bytes like a saved room's. They are JSON with servers, which have names,
// maps and players, and with round trip times, which do not compress.
func roomOf(length int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"Instagib", "CTF", "public", "Berlin", "no lag", "24/7", "q3dm17", "oa_dm1", "aggressor", "clan", "[EU]", "DE"}
	type info struct {
		Addr, Name, Map string
		Players, Max    int
		RTT             []float64
	}
	var infos []info
	for n := 0; ; n++ {
		pick := func() string { return words[random.IntN(len(words))] }
		infos = append(infos, info{fmt.Sprintf("%d.%d.%d.%d:27960", random.IntN(223), random.IntN(256), random.IntN(256), random.IntN(256)),
			pick() + " " + pick() + " " + pick(), pick(), random.IntN(16), 16, []float64{random.Float64() * 200, random.Float64() * 200}})
		if n%16 == 0 {
			if data, err := json.Marshal(infos); err != nil || len(data) >= length {
				return data[:length]
			}
		}
	}
}

// spread returns the median and the 99th percentile.
func spread(times []time.Duration) string {
	slices.Sort(times)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return fmt.Sprintf("%.2f / %.2f ms", ms(times[len(times)/2]), ms(times[len(times)*99/100]))
}

func times(n int, do func(i int)) (took []time.Duration) {
	for i := range n {
		began := time.Now()
		do(i)
		took = append(took, time.Since(began))
	}
	return took
}

// TestSaves measures how long a room's save takes on one real server and on three.
func TestSaves(t *testing.T) {
	if !*measure {
		t.Skip("go -C e2e test ./program -run TestSaves -v -measure -timeout 0")
	}
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, servers := range []int{1, 3} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			a, err := cluster.Open(ctx, cluster.Config{URL: natsServers(t, servers).url(), Node: "a"})
			check(err)
			defer a.Close()
			for _, length := range []int{2 << 10, 30 << 10, 200 << 10, 2 << 20} {
				noise := make([]byte, length)
				rand.NewChaCha8([32]byte{1}).Read(noise)
				for kind, data := range map[string][]byte{"like a room": roomOf(length), "that do not compress": noise} {
					own, err := a.Create(ctx, fmt.Sprintf("ROOM%d-%d", length, len(kind)), "", data)
					check(err)
					took := times(300, func(int) { check(own.Save(ctx, data)) })
					t.Logf("save, %7d bytes %s: %s", length, kind, spread(took))
				}
			}
		})
	}
}
