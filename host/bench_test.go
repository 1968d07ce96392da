package host

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host/store"
	"muster/host/wire"
)

const benchServers = 30_000

// benchRoom is a room whose members have measured 30,000 servers.
func benchRoom(b *testing.B, members int) *Room {
	r := NewRoom("BAKODI", "secret", settings(members), eight)
	for i := range members {
		if _, _, refusal := r.Join(wire.Hello{Name: fmt.Sprint("player ", i)}, Origin{}, "token", eight); refusal != nil {
			b.Fatal(refusal)
		}
	}
	list := make([]discovery.Server, benchServers)
	infos := wire.Infos{Round: 1}
	for i := range list {
		list[i].Addr = addr(i)
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: i, Info: discovery.Info{Map: "oa_dm1", Mode: "4", Players: i % 12, MaxPlayers: 80}})
	}
	r.Listed(list, nil, eight)
	for _, m := range r.Members {
		if _, err := r.Receive(m.Name, benchReport(), eight); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := r.Receive(r.Members[0].Name, infos, eight); err != nil {
		b.Fatal(err)
	}
	return r
}

func benchReport() wire.Report {
	report := wire.Report{Round: 1, Results: make([]discovery.Result, benchServers)}
	for i := range report.Results {
		report.Results[i] = discovery.Result{Server: i, State: discovery.Answered, RTT: wire.RoundRTT(time.Duration(10+i%200) * time.Millisecond)}
		if i%8 == 0 {
			report.Results[i] = discovery.Result{Server: i, State: discovery.Lost}
		}
	}
	return report
}

// BenchmarkFold takes one member's report of all servers into the room; "times"
// is how much longer a map by address takes.
func BenchmarkFold(b *testing.B) {
	r := benchRoom(b, 4)
	report := benchReport()
	start := time.Now()
	byAddress := map[string]discovery.Result{}
	for _, result := range report.Results {
		byAddress[r.Servers[result.Server].Addr.String()] = result
	}
	slow := time.Since(start)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Receive("player 0", report, eight); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(slow.Seconds()/(b.Elapsed().Seconds()/float64(b.N)), "times")
}

// BenchmarkPublish is what five times a second costs in a room of 64: the view,
// whether it is new, and its frame.
func BenchmarkPublish(b *testing.B) {
	for _, stage := range []wire.Stage{wire.Measuring, wire.Chosen} {
		b.Run(string(stage), func(b *testing.B) {
			r := benchRoom(b, 64)
			if stage == wire.Chosen {
				r.choose(eight)
			}
			shown := newBoard(r.View())
			var frame wire.Frame
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r.Members[i%64].Probed++
				view := r.View()
				if !shown.lacks(view) {
					b.Fatal("the view is not new")
				}
				shown.show(view)
				frame, _ = wire.Marshal(view)
			}
			b.ReportMetric(float64(len(frame.Data)), "bytes")
		})
	}
}

// BenchmarkIdleTick is what a room costs in which nothing happens.
func BenchmarkIdleTick(b *testing.B) {
	r := benchRoom(b, 8)
	shown := newBoard(r.View())
	b.ReportAllocs()
	for b.Loop() {
		r.Tick(eight)
		shown.lacks(r.View())
	}
}

func BenchmarkChoose(b *testing.B) {
	for _, members := range []int{8, 64} {
		b.Run(strconv.Itoa(members), func(b *testing.B) {
			r := benchRoom(b, members)
			for b.Loop() {
				r.choose(eight)
			}
		})
	}
}

func BenchmarkSave(b *testing.B) {
	for _, members := range []int{8, 64} {
		b.Run(strconv.Itoa(members), func(b *testing.B) {
			r := benchRoom(b, members)
			var data []byte
			b.ReportAllocs()
			for b.Loop() {
				data, _ = r.Save()
			}
			b.ReportMetric(float64(len(data)), "bytes")
		})
		b.Run(strconv.Itoa(members)+"-stored", func(b *testing.B) {
			r := benchRoom(b, members)
			store, err := store.Open(filepath.Join(b.TempDir(), "rooms.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			for b.Loop() {
				data, _ := r.Save()
				if err := store.Save(r.Code, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPeers holds idle peers in rooms of 50 and sends 200 bytes to all of
// them; an operation ends when the last has got it. "B/peer" is heap and stacks
// in use, the peers' ends, bare sockets in this process, included.
func BenchmarkPeers(b *testing.B) {
	for _, peers := range []int{1000, 4000} {
		b.Run(strconv.Itoa(peers), func(b *testing.B) { benchPeers(b, peers) })
	}
}

func benchPeers(b *testing.B, peers int) {
	const inRoom = 50
	h, err := New(Config{List: noServers})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(h.Handler())
	defer server.Close()
	defer h.Close()
	before := inUse()
	var rooms []*actor
	sockets := make([]*websocket.Conn, peers)
	for i := range sockets {
		if i%inRoom == 0 {
			code, _ := h.Open(settings(inRoom + 1))
			rooms = append(rooms, h.actor(code))
		}
		sockets[i] = benchSocket(b, server.URL, rooms[len(rooms)-1].code, i)
		defer sockets[i].Close()
	}
	time.Sleep(2 * time.Second) // the last views are on their way
	memory := inUse() - before
	frame := wire.Frame{Data: []byte(strings.Repeat("x", 200))}
	for b.Loop() {
		for _, a := range rooms {
			a.post(func() {
				for _, l := range a.links {
					l.conn.SendFrame(frame)
				}
			})
		}
		readAll(sockets, len(frame.Data))
	}
	b.ReportMetric(float64(memory)/float64(peers), "B/peer")
}

func benchSocket(b *testing.B, url, code string, i int) *websocket.Conn {
	dialer := websocket.Dialer{ReadBufferSize: 256, WriteBufferSize: 256}
	ws, _, err := dialer.Dial("ws"+strings.TrimPrefix(url, "http")+"/peer", nil)
	if err != nil {
		b.Fatal(err)
	}
	hello, _ := wire.Marshal(wire.Hello{Version: wire.Version, Code: code, Name: fmt.Sprint("player ", i)})
	if err := ws.WriteMessage(websocket.TextMessage, hello.Data); err != nil {
		b.Fatal(err)
	}
	return ws
}

// readAll reads from each socket until a message of the size comes, past the
// views that came before.
func readAll(sockets []*websocket.Conn, size int) {
	for _, ws := range sockets {
		for {
			if _, data, err := ws.ReadMessage(); err != nil || len(data) == size {
				break
			}
		}
	}
}

// inUse is the memory in use: heap and stacks after a collection.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapInuse + stats.StackInuse
}
