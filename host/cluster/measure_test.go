package cluster

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var measure = flag.Bool("measure", false, "measure what bench/experiments/cluster.md has")

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

func TestMeasure(t *testing.T) {
	if !*measure {
		t.Skip("go test ./host/cluster -run TestMeasure -v -measure -timeout 0")
	}
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	one := startNATS(t)
	_, three := startThree(t)
	for name, config := range map[string]Config{"one server": {URL: one.ClientURL()}, "three servers": {URL: three}} {
		t.Run(name, func(t *testing.T) {
			a := join(t, config, "a")
			for _, length := range []int{2 << 10, 30 << 10, 200 << 10, 2 << 20} {
				for kind, data := range map[string][]byte{"like a room": roomOf(length), "that do not compress": noise(1, length)} {
					own, err := a.Create(ctx, fmt.Sprintf("ROOM%d-%d", length, len(kind)), "", data)
					check(err)
					took := times(300, func(int) { check(own.Save(ctx, data)) })
					t.Logf("save, %7d bytes %s: %s", length, kind, spread(took))
				}
			}
		})
	}
}
