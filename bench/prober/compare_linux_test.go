package prober

import (
	"context"
	"encoding/xml"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/discovery"
)

// BenchmarkAgainstNaive measures the method of most browsers, a goroutine and a socket
// for each server, as a multiple of the prober's cost at the same rate.
func BenchmarkAgainstNaive(b *testing.B) {
	for _, rate := range []float64{1000, 10000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			port := startFleet(b, 0, 0)
			for b.Loop() {
				servers := int(2 * rate)
				naive := probeNaively(b, port, servers, rate)
				naive.ratio(b, probeFleet(b, port, servers, rate))
			}
		})
	}
}

// ratio reports the figures of s as multiples of ours.
func (s *sample) ratio(b *testing.B, ours *sample) {
	slices.Sort(s.error)
	slices.Sort(ours.error)
	for name, figures := range map[string][2]float64{
		"wall":       {s.wall.Seconds(), ours.wall.Seconds()},
		"cpu":        {s.cpu.Seconds(), ours.cpu.Seconds()},
		"error-p50":  {quantile(s.error, 0.5), quantile(ours.error, 0.5)},
		"error-p99":  {quantile(s.error, 0.99), quantile(ours.error, 0.99)},
		"found-less": {float64(len(ours.error)), float64(len(s.error))},
	} {
		b.ReportMetric(figures[0]/figures[1], "x-"+name)
	}
	b.ReportMetric(s.wall.Seconds(), "their-wall-s")
	b.ReportMetric(ours.wall.Seconds(), "our-wall-s")
	b.ReportMetric(quantile(s.error, 0.99), "their-error-p99-us")
	b.ReportMetric(quantile(ours.error, 0.99), "our-error-p99-us")
	b.ReportMetric(0, "ns/op")
}

func probeNaively(b *testing.B, port uint16, servers int, rate float64) *sample {
	s := &sample{}
	var group sync.WaitGroup
	var mu sync.Mutex // guards s
	s.measure(func() {
		start := time.Now()
		for i := range servers {
			time.Sleep(time.Until(start.Add(time.Duration(float64(i) / rate * float64(time.Second)))))
			group.Go(func() {
				rtt, info, err := askNaively(fleetServer(i, port))
				if err != nil {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				s.record(i, rtt, info.MaxPing, info.MinPing, port)
			})
		}
		group.Wait()
	})
	return s
}

func askNaively(addr netip.AddrPort) (time.Duration, *discovery.Info, error) {
	conn, err := net.Dial("udp", addr.String())
	if err != nil {
		return 0, nil, err
	}
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(3 * time.Second))
	var protocol timed
	start := time.Now()
	if _, err := conn.Write(protocol.AppendQuery(nil, 1, nil)); err != nil {
		return 0, nil, err
	}
	buf := make([]byte, 2048)
	n, err := conn.Read(buf)
	rtt := time.Since(start)
	if err != nil {
		return 0, nil, err
	}
	reply, err := protocol.Parse([][]byte{buf[:n]})
	return rtt, reply.Info, err
}

// BenchmarkAgainstQStat measures Debian's QStat on the same list and fleet, with its
// best switches and with its defaults, as a multiple of the prober's cost.
func BenchmarkAgainstQStat(b *testing.B) {
	program, err := exec.LookPath("quakestat")
	if err != nil {
		b.Skip("QStat is not installed")
	}
	best := "-P -sendinterval 0 -maxsim 1000"
	for _, c := range []struct {
		name, switches string
		servers, loss  int
	}{
		{"best", best, 30000, 0},
		{"best-loss=2%", best, 30000, 2},
		{"defaults", "", 1000, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			port := startFleet(b, 0, c.loss)
			for b.Loop() {
				theirs := probeWithQStat(b, program, c.switches, port, c.servers)
				theirs.ratio(b, probeFleet(b, port, c.servers, math.Inf(1)))
			}
		})
	}
}

// qstatDocument is the part of QStat's XML that matters here.
type qstatDocument struct {
	Servers []struct {
		Address string `xml:"address,attr"`
		Status  string `xml:"status,attr"`
		Ping    int    `xml:"ping"`
	} `xml:"server"`
}

func probeWithQStat(b *testing.B, program, switches string, port uint16, servers int) *sample {
	var list strings.Builder
	for i := range servers {
		fmt.Fprintln(&list, fleetServer(i, port))
	}
	file := filepath.Join(b.TempDir(), "servers")
	if err := os.WriteFile(file, []byte(list.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	args := append(strings.Fields("-xml -utf8 -default q3s -f "+file), strings.Fields(switches)...)
	cmd := exec.CommandContext(context.Background(), program, args...)
	start := time.Now()
	out, err := cmd.Output()
	s := &sample{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if err != nil {
		b.Fatal(err)
	}
	var document qstatDocument
	if err := xml.Unmarshal(out, &document); err != nil {
		b.Fatal(err)
	}
	for _, server := range document.Servers {
		addr, err := netip.ParseAddrPort(server.Address)
		if err != nil || server.Status != "UP" {
			continue
		}
		rtt, _ := truth(addr.Addr().As4())
		s.error = append(s.error, (time.Duration(server.Ping)*time.Millisecond - rtt).Abs())
	}
	return s
}
