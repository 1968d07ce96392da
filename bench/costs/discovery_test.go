package costs

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oschwald/geoip2-golang/v2"

	"muster/discovery"
	"muster/discovery/geo"
	"muster/discovery/lists/master"
	"muster/discovery/protocol/a2s"
	"muster/discovery/protocol/quake3"
)

// BenchmarkParseInfo reads the reply that a browser gets from every server of a list.
func BenchmarkParseInfo(b *testing.B) {
	info := discovery.Info{Name: "OA test 2", Map: "oa_dm3", Mode: "0", Players: 4, MaxPlayers: 8, Bots: 4, Password: true}
	datagrams := [][]byte{quake3.AppendInfoResponse(nil, info, "0123456789abcdef", 71)}
	b.Run("muster", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := (quake3.Protocol{}).Parse(datagrams); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("split and map", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if info := naiveInfo(datagrams[0]); info.MaxPlayers != 8 {
				b.Fatal(info)
			}
		}
	})
}

// naiveInfo reads an infoResponse in the obvious way.
func naiveInfo(b []byte) discovery.Info {
	words := strings.Split(strings.TrimPrefix(string(b), "\xff\xff\xff\xffinfoResponse\n"), `\`)
	m := make(map[string]string)
	for i := 1; i+1 < len(words); i += 2 {
		m[words[i]] = words[i+1]
	}
	if _, err := strconv.ParseUint(m["challenge"], 16, 64); err != nil {
		return discovery.Info{}
	}
	number := func(key string) int {
		n, _ := strconv.Atoi(m[key])
		return n
	}
	return discovery.Info{
		Name: quake3.CleanName(m["hostname"]), Map: discovery.CleanText(m["mapname"]), Mode: discovery.CleanText(m["gametype"]),
		Players: number("clients"), MaxPlayers: number("sv_maxclients"), Bots: number("clients") - number("g_humanplayers"),
		Password: m["g_needpass"] == "1",
	}
}

// BenchmarkBomb reads a small packed reply that unpacks to more than it says.
func BenchmarkBomb(b *testing.B) {
	text, err := os.ReadFile("../../discovery/protocol/a2s/testdata/bomb_bzip2.hex")
	if err != nil {
		b.Fatal(err)
	}
	_, digits, _ := strings.Cut(string(text), "\n< ")
	packed, err := hex.DecodeString(strings.TrimSpace(digits))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		a2s.Protocol{}.Parse([][]byte{packed})
	}
}

// BenchmarkFetch compares how much of a list of 30,000 servers arrives when a master sends it in one
// burst: with Client, and with a reader like most tools. That reader asks once, keeps the system's
// receive buffer and takes 0.2 ms for each datagram.
func BenchmarkFetch(b *testing.B) {
	const silence = 200 * time.Millisecond
	list := make([]netip.AddrPort, benchServers)
	for i := range list {
		list[i] = netip.AddrPortFrom(netip.AddrFrom4([4]byte{100, byte(i >> 16), byte(i >> 8), byte(i)}), 27960)
	}
	ask := quake3.MasterQuery{Game: "a", Protocol: 71, Extended: true, Empty: true, Full: true}
	for name, fetch := range map[string]func(at string) int{
		"muster": func(at string) int {
			l, err := master.Client{Silence: silence}.Fetch(context.Background(), master.Query{Master: at, Asks: []discovery.Lister{ask}})
			if err != nil {
				b.Fatal(err)
			}
			return len(l.Servers)
		},
		"naive": func(at string) (found int) {
			conn, err := net.Dial("udp", at)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			_, _ = conn.Write(quake3.AppendMasterQuery(nil, ask))
			for buf := make([]byte, 1500); ; time.Sleep(200 * time.Microsecond) {
				_ = conn.SetReadDeadline(time.Now().Add(silence))
				n, err := conn.Read(buf)
				if err != nil {
					return found
				}
				addrs, _, _ := quake3.ParseMasterReply(buf[:n], nil)
				found += len(addrs)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			at, found := burstMaster(b, slices.Collect(quake3.MasterReplies(list, true))), 0
			for b.Loop() {
				found += fetch(at)
			}
			b.ReportMetric(100*float64(found)/float64(b.N*len(list)), "%found")
		})
	}
}

// burstMaster answers every question with all datagrams at once.
func burstMaster(b *testing.B, datagrams [][]byte) (at string) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	go func() {
		for buf := make([]byte, 1500); ; {
			_, client, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			for _, d := range datagrams {
				_, _ = conn.WriteToUDPAddrPort(d, client)
			}
		}
	}()
	return conn.LocalAddr().String()
}

func openTables(b *testing.B) *geo.Locator {
	b.Helper()
	l, err := geo.Open(geo.Options{})
	if err != nil {
		b.Fatal(err)
	}
	l.Locate(netip.MustParseAddr("8.8.8.8")) // the first look-up decodes the tables
	return l
}

// BenchmarkLocate looks up addresses like those of game servers, nine of ten IPv4.
func BenchmarkLocate(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	addrs := make([]netip.Addr, 4096)
	for i := range addrs {
		addrs[i] = netip.AddrFrom4([4]byte{byte(11 + r.UintN(86)), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())})
		if i%10 == 0 {
			addrs[i] = netip.AddrFrom16([16]byte{0x2a, byte(r.UintN(16)), byte(r.Uint32()), byte(r.Uint32()), 15: 1})
		}
	}
	l, i := openTables(b), 0
	b.ReportAllocs()
	for b.Loop() {
		l.Locate(addrs[i%len(addrs)])
		i++
	}
}

// BenchmarkAgainstGeoIP2 looks up the same addresses in both, for country and AS. The test databases
// know all of them. "ratio" is how many times faster the carried tables are, though they hold
// hundreds of times as many ranges.
func BenchmarkAgainstGeoIP2(b *testing.B) {
	databases := make([]*geoip2.Reader, 2)
	for i, name := range []string{"Country", "ASN"} {
		var err error
		if databases[i], err = geoip2.Open("../../discovery/geo/testdata/GeoLite2-" + name + "-Test.mmdb"); err != nil {
			b.Fatal(err)
		}
		defer databases[i].Close()
	}
	l := openTables(b)
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
				c, err1 := databases[0].Country(a)
				as, err2 := databases[1].ASN(a)
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

// BenchmarkLoad measures the cost of the first look-up. "MB-kept" is the memory that the decoded
// tables hold afterwards.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	var kept int64
	for b.Loop() {
		b.StopTimer()
		before := heap()
		b.StartTimer()
		l := openTables(b)
		b.StopTimer()
		kept = heap() - before
		runtime.KeepAlive(l)
		b.StartTimer()
	}
	b.ReportMetric(float64(kept)/(1<<20), "MB-kept")
}

// heap returns how many bytes are allocated and still used.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
