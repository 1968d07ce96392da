package master_test

import (
	"context"
	"net"
	"testing"
	"time"

	"muster/discovery/protocol/quake3"
)

// BenchmarkFetch compares how much of a list of 30,000 servers arrives when a master
// sends it in one burst: with Client, and with a reader like most tools. That reader
// asks once, keeps the system's receive buffer and takes 0.2 ms for each datagram.
func BenchmarkFetch(b *testing.B) {
	list := some(30_000)
	burst := datagrams(list)
	answer := func(_ int, _ quake3.MasterQuery, reply func(...[]byte)) { reply(burst...) }
	b.Run("muster", func(b *testing.B) {
		at := startMaster(b, "127.0.0.1:0", answer)
		got := 0
		for b.Loop() {
			l, err := impatient.Fetch(context.Background(), ask(at, "a"))
			if err != nil {
				b.Fatal(err)
			}
			got += len(l.Servers)
		}
		b.ReportMetric(100*float64(got)/float64(b.N*len(list)), "%found")
	})
	b.Run("naive", func(b *testing.B) {
		at := startMaster(b, "127.0.0.1:0", answer)
		got := 0
		for b.Loop() {
			got += naiveFetch(b, at.String())
		}
		b.ReportMetric(100*float64(got)/float64(b.N*len(list)), "%found")
	})
}

func naiveFetch(b *testing.B, master string) (found int) {
	conn, err := net.Dial("udp", master)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	_, _ = conn.Write(quake3.AppendMasterQuery(nil, quake3.MasterQuery{Game: "a", Protocol: 71, Extended: true}))
	buf := make([]byte, 1500)
	for {
		_ = conn.SetReadDeadline(time.Now().Add(wait))
		n, err := conn.Read(buf)
		if err != nil {
			return found
		}
		addrs, _, _ := quake3.ParseMasterReply(buf[:n], nil)
		found += len(addrs)
		time.Sleep(200 * time.Microsecond)
	}
}
