package costs

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/host/store"
)

var (
	manyRooms = flag.Int("rooms", 0, "how many rooms of 30 kB TestSaveMany keeps")
	savers    = flag.Int("savers", 32, "how many save at once in TestSaveMany")
	lasts     = flag.Duration("lasts", 30*time.Second, "how long TestSaveMany saves")
)

// TestSaveMany measures how long saves take while the file is rewritten, and what opening it costs.
// bench/sqlite measures the same for SQLite.
func TestSaveMany(t *testing.T) {
	if *manyRooms == 0 {
		t.Skip("-rooms says how many")
	}
	name := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, name)
	claims := make([]store.Claim, *manyRooms)
	random := rand.NewChaCha8(sha256.Sum256(nil))
	data := make([]byte, 30_000)
	random.Read(data)
	each := func(do func(saver int)) {
		var saving sync.WaitGroup
		for saver := range *savers {
			saving.Go(func() { do(saver) })
		}
		saving.Wait()
	}
	save := func(room int) {
		if err := claims[room].Save(t.Context(), data); err != nil {
			t.Error(err)
		}
	}
	each(func(saver int) {
		for room := saver; room < *manyRooms; room += *savers {
			var err error
			if claims[room], err = s.Create(t.Context(), fmt.Sprint("ROOM", room), "", data); err != nil {
				t.Error(err)
			}
			save(room)
		}
	})
	took := make([][]time.Duration, *savers)
	began := time.Now()
	each(func(saver int) {
		random := rand.New(rand.NewPCG(1, uint64(saver)))
		for time.Since(began) < *lasts {
			start := time.Now()
			save(saver + *savers*random.IntN(*manyRooms / *savers))
			took[saver] = append(took[saver], time.Since(start))
		}
	})
	all := slices.Concat(took...)
	slices.Sort(all)
	t.Logf("%d rooms, %d savers: %.0f saves a second, p50 %v, p99 %v, longest %v", *manyRooms, *savers,
		float64(len(all))/lasts.Seconds(), all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
	s.Close()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	claims = nil
	runtime.GC()
	before, start := resident(), time.Now()
	s = open(t, name)
	defer s.Close()
	t.Logf("%d MB open in %v, with %d kB more memory than before, %v", info.Size()>>20, time.Since(start), resident()-before, s.Damage())
}

// open opens a store.
func open(t testing.TB, name string) *store.File {
	t.Helper()
	s, err := store.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// resident returns the most memory that the process has used, in kB.
func resident() (kb int) {
	status, _ := os.ReadFile("/proc/self/status")
	if _, rest, found := strings.Cut(string(status), "VmHWM:"); found {
		fmt.Sscan(rest, &kb)
	}
	return kb
}
