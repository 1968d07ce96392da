package geo_test

import (
	"math/rand/v2"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/oschwald/geoip2-golang/v2"

	"muster/discovery"
	"muster/discovery/geo"
)

// routable returns 4,096 addresses like those of game servers, nine of ten IPv4.
func routable() []netip.Addr {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]netip.Addr, 4096)
	for i := range all {
		if i%10 == 0 {
			all[i] = netip.AddrFrom16([16]byte{0x2a, byte(r.UintN(16)), byte(r.Uint32()), byte(r.Uint32()), 15: 1})
			continue
		}
		all[i] = netip.AddrFrom4([4]byte{byte(11 + r.UintN(86)), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())})
	}
	return all
}

func BenchmarkLocate(b *testing.B) {
	for name, o := range map[string]geo.Options{
		"carried":   {},
		"overrides": {Overrides: overridesFile(b, "8.8.8.0/24,DE,7\n9.0.0.0/8,DE,7\n2001:4860::/32,,64498\n")},
		"mmdb":      {CountryDB: countryDB, ASDB: asDB},
	} {
		b.Run(name, func(b *testing.B) {
			l, addrs := open(b, o), routable()
			if err := l.Load(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				l.Locate(addrs[i%len(addrs)])
				i++
			}
		})
	}
}

// BenchmarkAgainstGeoIP2 looks up the same addresses in both, for country and AS. The
// test databases know all of them. "ratio" is how many times faster the carried tables
// are, though they hold hundreds of times as many ranges.
func BenchmarkAgainstGeoIP2(b *testing.B) {
	countries, err := geoip2.Open(countryDB)
	if err != nil {
		b.Fatal(err)
	}
	defer countries.Close()
	ases, err := geoip2.Open(asDB)
	if err != nil {
		b.Fatal(err)
	}
	defer ases.Close()
	l := open(b, geo.Options{})
	if err := l.Load(); err != nil {
		b.Fatal(err)
	}
	addrs := []netip.Addr{netip.MustParseAddr("67.43.156.1"), netip.MustParseAddr("89.160.20.112"), netip.MustParseAddr("216.160.83.56")}
	var carried, geoip time.Duration
	for b.Loop() {
		start := time.Now()
		for range 100 {
			for _, a := range addrs {
				l.Locate(a)
			}
		}
		middle := time.Now()
		for range 100 {
			for _, a := range addrs {
				c, err1 := countries.Country(a)
				as, err2 := ases.ASN(a)
				if err1 != nil || err2 != nil || !c.HasData() || !as.HasData() {
					b.Fatal(a, err1, err2)
				}
			}
		}
		carried, geoip = carried+middle.Sub(start), geoip+time.Since(middle)
	}
	b.ReportMetric(float64(geoip)/float64(carried), "ratio")
	b.ReportMetric(float64(carried.Nanoseconds())/float64(300*b.N), "ns/carried")
	b.ReportMetric(float64(geoip.Nanoseconds())/float64(300*b.N), "ns/geoip2")
}

// BenchmarkLoad measures the cost of the first lookup. "MB-kept" is the memory that the
// decoded tables hold afterwards.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	var kept uint64
	for b.Loop() {
		b.StopTimer()
		before := heap()
		b.StartTimer()
		l, err := geo.Open(geo.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Load(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		kept = heap() - before
		runtime.KeepAlive(l)
		b.StartTimer()
	}
	b.ReportMetric(float64(kept)/(1<<20), "MB-kept")
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkAnnotate(b *testing.B) {
	l, addrs := open(b, geo.Options{}), routable()
	if err := l.Load(); err != nil {
		b.Fatal(err)
	}
	list := make([]discovery.Server, 27000)
	for i := range list {
		list[i].Addr = netip.AddrPortFrom(addrs[i%len(addrs)], 27015)
	}
	servers := make([]discovery.Server, len(list))
	for b.Loop() {
		copy(servers, list)
		l.Annotate(servers)
	}
}
