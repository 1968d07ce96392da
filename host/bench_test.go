package host

import (
	"fmt"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/wire"
)

const benchServers = 30_000

// benchRoom returns a room whose members have measured 30,000 servers.
func benchRoom(b testing.TB, members int) *room.Room {
	now := time.Unix(1_800_000_000, 0)
	n := roomtest.Play(b, room.New(roomtest.Keys, friday(members), now), now)
	for i := range members {
		n.Join(fmt.Sprint("player ", i))
	}
	infos := wire.Infos{Round: 1}
	for i := range benchServers {
		infos.Servers = append(infos.Servers, wire.ServerInfo{
			Server: i,
			Info:   discovery.Info{Map: "oa_dm1", Mode: "4", Players: i % 12, MaxPlayers: 80},
		})
	}
	n.Gets(someServers(benchServers))
	for i := range members {
		n.Says(fmt.Sprint("player ", i), benchReport())
	}
	n.Says("player 0", infos)
	return n.Room
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

// BenchmarkPeers holds idle peers in rooms of 50 and sends 200 bytes to all of them. An operation
// ends when the last peer has its message. "B/peer" is heap and stacks, including the peers' ends,
// which are bare sockets in this process.
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
			code, _, _ := h.Open(friday(inRoom + 1))
			rooms = append(rooms, h.actor(code))
		}
		sockets[i] = benchSocket(b, server.URL, rooms[len(rooms)-1].code, i)
		defer sockets[i].Close()
	}
	time.Sleep(2 * time.Second) // the last views are still arriving
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

// readAll reads from each socket until a message of the given size comes, and skips the views
// before it.
func readAll(sockets []*websocket.Conn, size int) {
	for _, ws := range sockets {
		for {
			if _, data, err := ws.ReadMessage(); err != nil || len(data) == size {
				break
			}
		}
	}
}

// inUse returns the memory in use: heap and stacks after a collection.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapInuse + stats.StackInuse
}
