package fleet

import (
	"net/netip"
	"os"
	"testing"
	"time"
)

// openFiles returns how many files this process has open.
func openFiles(tb testing.TB) int {
	tb.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		tb.Fatal(err)
	}
	return len(entries)
}

func TestAnswersOnlyForItsServers(t *testing.T) {
	f := startFleet(t, Options{World: handWorld([]time.Duration{0}, server("203.0.113.1:27960"))})
	stray := netip.AddrPortFrom(netip.MustParseAddr("127.9.9.9"), f.Servers()[0].Addr.Port())
	newAsker(t, f.Source(0), stray).say(getinfo)
	newAsker(t, f.Source(0), f.Servers()[0].Addr).mustAsk(getinfo) // once it answers, the socket has handled everything before
	if got := f.counted(); got.strays != 1 || got.queries != 1 {
		t.Errorf("stats %+v", got)
	}
}

func TestOfManyServersTakesFewFiles(t *testing.T) {
	before := openFiles(t)
	f := startFleet(t, Options{World: handWorld([]time.Duration{0}, manyServers(200_000)...)})
	if files := openFiles(t) - before; files > 8 {
		t.Errorf("%d files for %d servers", files, len(f.Servers()))
	}
	for _, i := range []int{0, 99_999, 199_999} {
		newAsker(t, f.Source(0), f.Servers()[i].Addr).mustAsk(getinfo)
	}
}
