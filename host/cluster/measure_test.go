package cluster

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"muster/host/store"
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
	t.Run("packing", func(t *testing.T) {
		fastest, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(packWindow))
		normal, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault))
		for _, length := range []int{2 << 10, 30 << 10, 200 << 10, 2 << 20} {
			data := roomOf(length)
			for name, pack := range map[string]func() int{
				"zstd fastest": func() int { return len(fastest.EncodeAll(data, nil)) },
				"zstd default": func() int { return len(normal.EncodeAll(data, nil)) },
				"s2":           func() int { return len(s2.Encode(nil, data)) },
				"flate 1": func() int {
					var b bytes.Buffer
					w, _ := flate.NewWriter(&b, 1)
					w.Write(data)
					w.Close()
					return b.Len()
				},
			} {
				packed := 0
				took := times(100, func(int) { packed = pack() })
				t.Logf("%7d bytes, %s: %.0f %%, %s", length, name, 100*float64(packed)/float64(length), spread(took))
			}
		}
	})
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
			kv, err := a.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
				Bucket:   "compared",
				Storage:  jetstream.FileStorage,
				Replicas: a.rooms.CachedInfo().Config.Replicas,
			})
			check(err)
			rev, err := kv.Create(ctx, "ROOM", nil)
			check(err)
			data := a.large.pack.EncodeAll(roomOf(30<<10), nil)
			took := times(1000, func(int) { rev, err = kv.Update(ctx, "ROOM", data, rev); check(err) })
			t.Logf("KV's Update of the 30 KB room, %d bytes: %s", len(data), spread(took))
			seq := uint64(0)
			took = times(1000, func(int) {
				seq, err = a.publish(ctx, &nats.Msg{Subject: a.subject("room", "RAW"), Data: data}, seq, 0)
				check(err)
			})
			t.Logf("the same, published: %s", spread(took))
			seq = 0
			for _, size := range []int{64, 128, 256, 512, 900} {
				data := noise(1, size<<10)
				took = times(200, func(int) {
					seq, err = a.publish(ctx, &nats.Msg{Subject: a.subject("room", "SIZE"), Data: data}, seq, 0)
					check(err)
				})
				t.Logf("one message of %d KB: %s", size, spread(took))
			}
		})
	}
	t.Run("adoption", func(t *testing.T) {
		for name, config := range map[string]Config{"one server": {URL: one.ClientURL(), Prefix: "adopt"},
			"three servers": {URL: three, Prefix: "adopt"}} {
			const rooms, atOnce = 3000, 32
			a := join(t, config, "a")
			data := roomOf(30 << 10)
			check(each(rooms, atOnce, func(n int) error { _, err := a.Create(ctx, fmt.Sprint("ROOM", n), "", data); return err }))
			var others []*Cluster
			done := make(chan struct{}, rooms)
			ctx, cancel := context.WithCancel(ctx)
			var adopting sync.WaitGroup
			for _, node := range []string{"b", "c"} {
				h := join(t, config, node)
				others = append(others, h)
				adopting.Go(func() {
					free := make(chan struct{}, atOnce)
					for code := range h.Adopt(ctx) {
						free <- struct{}{}
						adopting.Go(func() {
							if _, _, err := h.Claim(ctx, code); err == nil {
								done <- struct{}{}
							}
							<-free
						})
					}
				})
			}
			pause(ctx, 2*time.Second)
			killed := time.Now()
			a.cancel()
			a.conn.Close()
			<-done
			first := time.Since(killed)
			for range rooms - 1 {
				<-done
			}
			t.Logf("%s: %d rooms of 30 KB on two hosts, the first %v after the kill, the last %v", name, rooms, first, time.Since(killed))
			began := time.Now()
			codes := 0
			check(each(rooms, atOnce, func(n int) error {
				h := others[0]
				h.directory.mu.Lock()
				own := h.directory.claims[fmt.Sprint("ROOM", n)]
				h.directory.mu.Unlock()
				if own == nil {
					return nil
				}
				codes++
				return own.Release(context.Background())
			}))
			t.Logf("%s: one of them released its own within %v", name, time.Since(began))
			cancel()
			adopting.Wait()
		}
	})
	t.Run("idle", func(t *testing.T) {
		const rooms = 10_000
		s := startNATS(t)
		config := Config{URL: s.ClientURL()}
		hosts := []*Cluster{join(t, config, "a"), join(t, config, "b"), join(t, config, "c")}
		owners := make([]store.Claim, rooms)
		began := time.Now()
		check(each(rooms, 32, func(n int) (err error) {
			owners[n], err = hosts[n%3].Create(ctx, fmt.Sprint("ROOM", n), fmt.Sprint(n), roomOf(2<<10))
			return err
		}))
		t.Logf("%d rooms created within %v", rooms, time.Since(began))
		began = time.Now()
		join(t, config, "d").Close()
		t.Logf("a host that joins knows them after %v", time.Since(began))
		rate := func(what string, for_ time.Duration) {
			before, err := s.Varz(&server.VarzOptions{})
			check(err)
			in, out, bytesOut := before.InMsgs, before.OutMsgs, before.OutBytes
			pause(ctx, for_)
			after, err := s.Varz(&server.VarzOptions{})
			check(err)
			t.Logf("%s: %.1f messages a second in, %.1f out, %.0f bytes a second out", what,
				float64(after.InMsgs-in)/for_.Seconds(), float64(after.OutMsgs-out)/for_.Seconds(), float64(after.OutBytes-bytesOut)/for_.Seconds())
		}
		rate(fmt.Sprintf("%d idle rooms on %d hosts", rooms, len(hosts)), 20*time.Second)
		data := roomOf(30 << 10)
		stop := make(chan struct{})
		var saving sync.WaitGroup
		saving.Go(func() {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				case <-tick.C:
					check(owners[n%rooms].Save(ctx, data))
				}
			}
		})
		rate("and 100 saves of 30 KB a second", 5*time.Second)
		close(stop)
		saving.Wait()
	})
}
