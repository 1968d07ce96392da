package prober

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"muster/discovery"
	"muster/discovery/prober"
)

// The targets of these benchmarks:
//
//   - hold error (RTT less the time the fleet held the query) p99 at most 0.1 ms
//     idle and 0.3 ms with all processors busy, 140 to 30,000 probes/s
//   - none lost at 20,000/s; at most 350 ms CPU per 10,000; no mallocs per probe;
//     at most 20 MB
//   - mean rate within 1 % up to 20,000/s; any 10 ms at most 1.2 times due and 2
//   - 30,000 servers in at most 1.5 s, and dead ones add packets, not time
//
//	go -C bench test -run '^$' -bench . ./prober

// timed is the fleet's protocol. It stores the fleet's times for a query where the
// benchmark finds them: came in MinPing, held in MaxPing.
type timed struct{ infos []discovery.Info }

var getinfo = "\xff\xff\xff\xffgetinfo "

func (*timed) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return strconv.AppendUint(append(b, getinfo...), uint64(nonce), 16)
}

func (t *timed) Parse(datagrams [][]byte) (discovery.Reply, error) {
	nonce, ok := number(datagrams[0], `\challenge\`, 16)
	if !ok {
		return discovery.Reply{}, discovery.ErrMalformed
	}
	if len(t.infos) == 0 {
		t.infos = make([]discovery.Info, 1024)
	}
	info := &t.infos[0]
	t.infos = t.infos[1:]
	came, _ := number(datagrams[0], `\came\`, 10)
	held, _ := number(datagrams[0], `\held\`, 10)
	info.MinPing, info.MaxPing = time.Duration(came), time.Duration(held)
	return discovery.Reply{Nonce: discovery.Nonce(nonce), Echoed: true, Info: info}, nil
}

// number reads a value without allocating.
func number(b []byte, key string, base uint64) (n uint64, ok bool) {
	at := bytes.Index(b, []byte(key))
	if at < 0 {
		return 0, false
	}
	for _, c := range b[at+len(key):] {
		digit := uint64(strings.IndexByte("0123456789abcdef", c))
		if digit >= base {
			return n, ok
		}
		n, ok = n*base+digit, true
	}
	return n, ok
}

// sample holds the measurements of one scan of the fleet.
type sample struct {
	hold, error []time.Duration // difference from the time held, difference from the true RTT
	came        []time.Duration
	lost        int
	wall, cpu   time.Duration
	mallocs     float64
	memory      float64 // largest growth in MB
}

// record files one answer.
func (s *sample) record(server int, rtt, held, came time.Duration, port uint16) {
	want, _ := truth(fleetServer(server, port).Addr().As4())
	s.hold = append(s.hold, (rtt - held).Abs())
	s.error = append(s.error, (rtt - want).Abs())
	s.came = append(s.came, came)
}

// measure records the cost of a scan.
func (s *sample) measure(scan func()) {
	runtime.GC()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // forgets the peak
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	memory, cpu, start := status("VmRSS:"), processorTime(), time.Now()
	scan()
	s.wall, s.cpu = time.Since(start), processorTime()-cpu
	runtime.ReadMemStats(&after)
	s.mallocs = float64(after.Mallocs - before.Mallocs)
	s.memory = status("VmHWM:") - memory
}

func processorTime() time.Duration {
	var usage unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// status returns a size in MB out of /proc/self/status.
func status(key string) float64 {
	b, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(b), key)
	var kb float64
	fmt.Sscan(rest, &kb)
	return kb / 1024
}

// report gives the figures of the targets.
func (s *sample) report(b *testing.B, servers int, rate float64) {
	slices.Sort(s.hold)
	b.ReportMetric(quantile(s.hold, 0.5), "hold-p50-us")
	b.ReportMetric(quantile(s.hold, 0.99), "hold-p99-us")
	b.ReportMetric(quantile(s.hold, 0.999), "hold-p99.9-us")
	slices.Sort(s.error)
	b.ReportMetric(quantile(s.error, 0.5), "truth-p50-us")
	b.ReportMetric(quantile(s.error, 0.99), "truth-p99-us")
	b.ReportMetric(float64(s.lost), "lost")
	b.ReportMetric(s.cpu.Seconds()*1000/float64(servers)*10000, "cpu-ms/10k")
	b.ReportMetric(s.mallocs/float64(servers), "mallocs/probe")
	b.ReportMetric(s.memory, "MB")
	b.ReportMetric(s.wall.Seconds(), "wall-s")
	b.ReportMetric(0, "ns/op")
	if slices.Sort(s.came); rate > 0 && len(s.came) > 1 {
		span := (s.came[len(s.came)-1] - s.came[0]).Seconds()
		b.ReportMetric(float64(len(s.came)-1)/span/rate*100, "rate-%")
		b.ReportMetric(float64(fullest(s.came, 10*time.Millisecond))/(1.2*rate/100+2)*100, "fullest-10ms-%")
	}
}

func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return float64(sorted[int(q*float64(len(sorted)-1))]) / 1000
}

// probeFleet scans the fleet once with the prober.
func probeFleet(b *testing.B, port uint16, servers int, rate float64) *sample {
	s := &sample{hold: make([]time.Duration, 0, servers), error: make([]time.Duration, 0, servers), came: make([]time.Duration, 0, servers)}
	list := make([]discovery.Server, servers)
	for i := range list {
		list[i].Addr = fleetServer(i, port)
	}
	p, err := prober.New(prober.Options{Protocol: &timed{infos: make([]discovery.Info, servers)}, Rate: rate})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	s.measure(func() {
		err = p.Run(context.Background(), list, discovery.NewConventional(servers), func(r discovery.Result) {
			if r.State != discovery.Answered {
				s.lost++
				return
			}
			s.record(r.Server, r.RTT, r.Info.MaxPing, r.Info.MinPing, port)
		})
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(p.Stats().Retries), "repeats")
	b.ReportMetric(drops(p.LocalAddrs()[0].Port()), "own-drops")
	b.ReportMetric(drops(port), "fleet-drops")
	return s
}

// drops returns how many datagrams did not fit into the receive buffer of a port's
// socket.
func drops(port uint16) (n float64) {
	table, _ := os.ReadFile("/proc/net/udp")
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", port)) {
			fmt.Sscan(fields[len(fields)-1], &n)
		}
	}
	return n
}

// BenchmarkProber probes for four seconds at each rate, with the machine idle and with
// as many busy processes as it has processors.
func BenchmarkProber(b *testing.B) {
	for _, rate := range []float64{140, 1000, 5000, 10000, 20000, 30000} {
		for _, load := range []string{"idle", "busy"} {
			b.Run(fmt.Sprintf("%v/%s", rate, load), func(b *testing.B) {
				port := startFleet(b, 0, 0)
				hogs(b, load)
				servers := int(4 * rate)
				for b.Loop() {
					probeFleet(b, port, servers, rate).report(b, servers, rate)
				}
			})
		}
	}
}

func hogs(b *testing.B, load string) {
	if load == "busy" {
		for range runtime.NumCPU() {
			companion(b, "hog")
		}
	}
}

// BenchmarkScan scans 30,000 servers as fast as the prober goes and at lower rates: on
// a good line, with dead servers, and on a bad line.
func BenchmarkScan(b *testing.B) {
	for _, c := range []struct {
		name       string
		rate       float64
		dead, loss int
	}{
		{"uncapped", math.Inf(1), 0, 0},
		{"uncapped-dead=100%", math.Inf(1), 100, 0},
		{"30k", 30000, 0, 0},
		{"10k", 10000, 0, 0},
		{"10k-dead=20%", 10000, 20, 0},
		{"10k-loss=2%", 10000, 0, 2},
	} {
		b.Run(c.name, func(b *testing.B) {
			port := startFleet(b, c.dead, c.loss)
			for b.Loop() {
				probeFleet(b, port, 30000, c.rate).report(b, 30000, 0)
			}
		})
	}
}

// fullest returns the most events within any window. The times must be sorted.
func fullest(times []time.Duration, window time.Duration) (most int) {
	from := 0
	for to := range times {
		for times[to]-times[from] >= window {
			from++
		}
		most = max(most, to-from+1)
	}
	return most
}
