package hosts

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host"
	"muster/host/hosttest"
	"muster/host/wire"
	"muster/host/wire/conn"
)

// BenchmarkPages measures what open pages cost a host, over real sockets. An op is 250 probes of a
// player, which all pages show at the room's next tick. cpu-ms is its processor time, including the
// reading pages'.
func BenchmarkPages(b *testing.B) {
	for _, pages := range []int{1, 100} {
		b.Run(fmt.Sprint(pages), func(b *testing.B) { benchPages(b, pages) })
	}
}

func benchPages(b *testing.B, pages int) {
	h, err := host.New(host.Config{List: listOf(1000)})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(h.Handler())
	defer func() { server.Close(); h.Close() }()
	code, _, _ := h.Open(friday(1))
	player := hosttest.Dial(b, server.URL, nil, func(*conn.Conn, wire.Message) {}, nil)
	player.Send(wire.Hello{Version: wire.Version, Code: code, Name: "ann"})
	shown := watchers(b, server, code, pages)
	report := wire.Report{Round: 1, Results: slices.Repeat([]discovery.Result{{State: discovery.Lost}}, 250)}
	for range h.Watch(b.Context(), code) {
		if room, _ := h.Room(code); room.Room.Stage == wire.Measuring {
			break
		}
	}
	bytes, busy := 0, cpuTime(b)
	for b.Loop() {
		player.Send(report)
		report.First += len(report.Results)
		if report.First >= 200_000 {
			b.Fatal("too many probes for one round")
		}
		for range pages {
			bytes += <-shown
		}
	}
	b.ReportMetric(float64(cpuTime(b)-busy)/float64(b.N)/1e6, "cpu-ms/op")
	b.ReportMetric(float64(bytes)/float64(b.N)/float64(pages), "B/page")
}

// cpuTime returns the processor time that this process has used.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// watchers open pages; each says the length of every trace frame that it gets.
func watchers(b *testing.B, server *httptest.Server, code string, pages int) <-chan int {
	b.Helper()
	shown := make(chan int, pages)
	var work sync.WaitGroup
	for range pages {
		ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http")+"/live", nil)
		if err != nil {
			b.Fatal(err)
		}
		ws.WriteJSON(map[string]string{"code": code})
		work.Go(func() {
			defer ws.Close()
			for {
				ws.SetReadDeadline(time.Now().Add(time.Minute))
				kind, data, err := ws.ReadMessage()
				if err != nil {
					return
				}
				if kind == websocket.BinaryMessage {
					shown <- len(data)
				}
			}
		})
	}
	b.Cleanup(work.Wait)
	return shown
}
