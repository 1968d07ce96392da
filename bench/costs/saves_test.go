package costs

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkStoreSave saves rooms of 2 kB. It compares many at once, which share one sync, with one after
// the other, each with its own sync.
func BenchmarkStoreSave(b *testing.B) {
	for _, savers := range []int{2, 32, 512} {
		for name, alone := range map[string]sync.Locker{"shared": nil, "alone": new(sync.Mutex)} {
			b.Run(fmt.Sprintf("savers=%d/%s", savers, name), func(b *testing.B) {
				file := open(b, filepath.Join(b.TempDir(), "rooms.db"))
				defer file.Close()
				data, rooms := bytes.Repeat([]byte("a room. "), 256), atomic.Int64{}
				b.SetParallelism(max(1, savers/runtime.GOMAXPROCS(0)))
				b.RunParallel(func(pb *testing.PB) {
					own, err := file.Create(b.Context(), fmt.Sprint("ROOM", rooms.Add(1)), "", data)
					for err == nil && pb.Next() {
						if alone != nil {
							alone.Lock()
						}
						err = own.Save(b.Context(), data)
						if alone != nil {
							alone.Unlock()
						}
					}
					if err != nil {
						b.Error(err)
					}
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "saves/s")
			})
		}
	}
}
