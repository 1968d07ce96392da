// Package costs measures what single steps of the product take: a message, a judgement.
package costs

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

const benchServers = 30_000

// benchList returns a list of 30,000 servers in a host's order, and one player's report on it. The
// servers are in some 1,200 origin ASes, each at one distance; large ones have hundreds. The player
// sends 140 probes a second in any order, and 12 % stay unanswered.
func benchList() (wire.List, wire.Report) {
	random := rand.New(rand.NewPCG(1, 2))
	countries := []string{"AU", "BR", "CN", "DE", "FR", "GB", "NL", "PL", "RU", "US"}
	list, report := wire.List{Round: 1}, wire.Report{Round: 1}
	distance := map[netip.Addr]float64{}
	for as := uint32(0); len(list.Servers) < benchServers; as++ {
		country := countries[random.IntN(len(countries))]
		far := 10 + 280*random.Float64()
		network := uint32(random.Uint32N(200)+11)<<24 | random.Uint32N(1<<16)<<8
		for range min(1+int(4/(random.Float64()+0.004)), benchServers-len(list.Servers)) {
			network += random.Uint32N(40)
			addr := netip.AddrFrom4([4]byte{byte(network >> 24), byte(network >> 16), byte(network >> 8), byte(network)})
			list.Servers = append(list.Servers, discovery.Server{
				Addr:    netip.AddrPortFrom(addr, benchPort(random)),
				Country: country,
				ASN:     1000 + 7*as,
			})
			distance[addr] = far
		}
	}
	slices.SortFunc(list.Servers, func(a, b discovery.Server) int {
		return cmp.Or(cmp.Compare(a.Country, b.Country), cmp.Compare(a.ASN, b.ASN), discovery.CompareAddr(a, b))
	})
	for i, server := range random.Perm(len(list.Servers)) {
		result := benchResult(random, server, distance[list.Servers[server].Addr.Addr()])
		result.At = time.Duration(i) * time.Second / 140 / time.Millisecond * time.Millisecond
		report.Results = append(report.Results, result)
	}
	return list, report
}

func benchPort(random *rand.Rand) uint16 {
	if random.IntN(3) > 0 {
		return 27960
	}
	return 27000 + uint16(random.IntN(1000))
}

func benchResult(random *rand.Rand, server int, far float64) discovery.Result {
	if random.Float64() < 0.12 {
		return discovery.Result{Server: server, State: discovery.Lost}
	}
	ms := far + random.ExpFloat64()
	return discovery.Result{Server: server, State: discovery.Answered, RTT: wire.RoundRTT(time.Duration(ms * float64(time.Millisecond)))}
}

// jsonReport returns the same report in plain JSON.
func jsonReport(list wire.List, report wire.Report) []byte {
	type row struct {
		Addr  netip.AddrPort `json:"addr"`
		RTT   float64        `json:"rtt_ms,omitempty"`
		State string         `json:"state"`
		At    int64          `json:"at_ms"`
		Phase string         `json:"phase"`
	}
	rows := make([]row, len(report.Results))
	for i, r := range report.Results {
		rows[i] = row{list.Servers[r.Server].Addr, float64(r.RTT) / 1e6, r.State.String(), r.At.Milliseconds(), r.Phase.String()}
	}
	data, _ := json.Marshal(rows)
	return data
}

// per returns how long one call takes, the best of three measurements.
func per(do func()) time.Duration {
	best := time.Hour
	for range 3 {
		start := time.Now()
		do()
		best = min(best, time.Since(start))
	}
	return best
}

// BenchmarkReport measures a full list's report. "times" is how much longer JSON takes, and
// "larger" how much larger it is.
func BenchmarkReport(b *testing.B) {
	list, report := benchList()
	text := jsonReport(list, report)
	frame := wire.AppendReport(nil, report)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		slow := per(func() { jsonReport(list, report) })
		buffer := make([]byte, 0, 2*len(frame))
		for b.Loop() {
			buffer = wire.AppendReport(buffer[:0], report)
		}
		b.ReportMetric(float64(len(frame))/benchServers, "bytes/probe")
		b.ReportMetric(float64(len(text))/float64(len(frame)), "larger")
		b.ReportMetric(slow.Seconds()/(b.Elapsed().Seconds()/float64(b.N)), "times")
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		slow := per(func() {
			var rows []map[string]any
			json.Unmarshal(text, &rows)
		})
		for b.Loop() {
			if _, err := wire.Unmarshal(wire.BinaryFrame(frame)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(slow.Seconds()/(b.Elapsed().Seconds()/float64(b.N)), "times")
	})
}

// BenchmarkList measures the list that every peer gets once a round.
func BenchmarkList(b *testing.B) {
	list, _ := benchList()
	frame := wire.AppendList(nil, list)
	plain := len(discovery.AppendList(nil, list.Servers))
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			wire.AppendList(nil, list)
		}
		b.ReportMetric(float64(len(frame)), "bytes")
		b.ReportMetric(float64(plain), "inflated")
		b.ReportMetric(float64(countASes(list)), "ASes")
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := wire.Unmarshal(wire.BinaryFrame(frame)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func countASes(list wire.List) int {
	seen := map[uint32]bool{}
	for _, s := range list.Servers {
		seen[s.ASN] = true
	}
	return len(seen)
}
