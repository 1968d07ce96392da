package prober

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/discovery/prober/probertest"
)

// runTalkers answers connections to all of 127.0.0.0/8, as the fleet answers datagrams.
func runTalkers() {
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	go func() { io.Copy(io.Discard, os.Stdin); os.Exit(0) }()
	for {
		conn, err := l.Accept()
		if err != nil {
			continue
		}
		go func() {
			defer conn.Close()
			probertest.Talk(conn)
		}()
	}
}

// BenchmarkStreams asks 10,000 servers in one run over TCP, at several rates, with the
// machine idle and busy. Loopback has almost no distance. So the kernel's time of a
// handshake (syn) is its error, and the time of a program that times its own connecting
// (connect) is that one's.
//
//	go -C bench test -run '^$' -bench Streams -benchtime 1x ./prober
func BenchmarkStreams(b *testing.B) {
	const servers = 10_000
	for _, rate := range []float64{250, 1000, 4000} {
		for _, load := range []string{"idle", "busy"} {
			for name, protocol := range map[string]discovery.Stream{"talking": probertest.Lines{}, "connecting": probertest.Connecting{}} {
				b.Run(fmt.Sprintf("%v/%s/%s", rate, load, name), func(b *testing.B) {
					line, err := companion(b, "talkers").ReadString('\n')
					if err != nil {
						b.Fatal(err)
					}
					port, _ := strconv.ParseUint(strings.TrimSpace(line), 10, 16)
					hogs(b, load)
					n := min(servers, int(rate*10)) // ten seconds at the slow rates
					for b.Loop() {
						probeTalkers(b, protocol, uint16(port), n, rate)
					}
				})
			}
		}
	}
}

// routerWeight is how many probes by datagrams one by a connection counts as.
const routerWeight = 4

// openFiles returns how many files this process has open.
func openFiles(b *testing.B) int {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		b.Fatal(err)
	}
	return len(files)
}

func probeTalkers(b *testing.B, protocol discovery.Stream, port uint16, servers int, rate float64) {
	list := make([]discovery.Server, servers)
	for i := range list {
		list[i].Addr = fleetServer(i, port)
	}
	before := openFiles(b)
	p, err := prober.New(prober.Options{Protocol: protocol, Rate: rate * routerWeight})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	var files atomic.Int64
	done := make(chan struct{})
	go func() {
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-tick.C:
				files.Store(max(files.Load(), int64(openFiles(b)-before)))
			case <-done:
				return
			}
		}
	}()
	s := &sample{}
	s.measure(func() {
		err := p.Run(context.Background(), list, discovery.NewConventional(servers), func(r discovery.Result) {
			if r.State != discovery.Answered {
				s.lost++
				return
			}
			s.error = append(s.error, r.RTT)
		})
		if err != nil {
			b.Fatal(err)
		}
	})
	close(done)
	slices.Sort(s.error)
	b.ReportMetric(quantile(s.error, 0.5), "syn-p50-us")
	b.ReportMetric(quantile(s.error, 0.99), "syn-p99-us")
	b.ReportMetric(float64(s.lost), "lost")
	b.ReportMetric(s.cpu.Seconds()*1000/float64(servers)*10000, "cpu-ms/10k")
	b.ReportMetric(s.memory, "MB")
	b.ReportMetric(s.wall.Seconds(), "wall-s")
	b.ReportMetric(float64(servers)/s.wall.Seconds()/rate*100, "rate-%")
	b.ReportMetric(float64(files.Load()), "files-most")
	b.ReportMetric(float64(openFiles(b)-before), "files-left")
	b.ReportMetric(0, "ns/op")
	connects := make([]time.Duration, 0, 1000)
	for i := range cap(connects) {
		start := time.Now()
		conn, err := net.Dial("tcp4", fleetServer(servers+i, port).String())
		if err != nil {
			b.Fatal(err)
		}
		connects = append(connects, time.Since(start))
		conn.Close()
	}
	slices.Sort(connects)
	b.ReportMetric(quantile(connects, 0.5), "connect-p50-us")
	b.ReportMetric(quantile(connects, 0.99), "connect-p99-us")
}
