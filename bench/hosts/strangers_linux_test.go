package hosts

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/host"
	"muster/host/access"
	"muster/host/wire"
)

// This flag is for measuring what hostile strangers cost a host, and whether its players notice.
// The strangers run in another process, so that the figures are the host's alone:
//
//	go -C bench test ./hosts -run TestStrangers -v -strangers 10000
var strangers = flag.Int("strangers", fewStrangers, "hostile sockets of TestStrangers")

// fewStrangers is enough to catch a regression: with 1 MiB each they once held 1.7 GB.
const fewStrangers = 1000

// strangersOf is the environment variable that makes the test binary attack a host, and strangersBy
// names the attack.
const (
	strangersOf = "MUSTER_TEST_STRANGERS_OF"
	strangersBy = "MUSTER_TEST_STRANGERS_BY"
)

// maxForStrangers is how much memory they may cost, in bytes. That is the promise for 10,000 of
// them.
const maxForStrangers = 200e6

// attack is what a stranger sends once connected. None of it ever ends.
type attack struct {
	path string // of a WebSocket, or empty
	says func() []byte
}

var attacks = map[string]attack{
	"silence":           {"", func() []byte { return nil }},
	"an endless header": {"", func() []byte { return append([]byte("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: "), filler()...) }},
	"a frame to /peer":  {"/peer", hugeFrame},
	"a frame to /live":  {"/live", hugeFrame},
	"pieces to /peer":   {"/peer", pieces},
	"a slow hello":      {"/peer", func() []byte { return []byte{0x81, 0xfe, 4000 >> 8, 4000 & 0xff, 0, 0, 0, 0, '{'} }},
}

// storms sends all of it, as long as the host reads.
func (a attack) storms(conn net.Conn, says []byte) {
	conn.SetDeadline(time.Now().Add(time.Second))
	if a.path != "" {
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OTAxMjM0NQ==\r\n\r\n", a.path)
		conn.Read(make([]byte, 512))
	}
	conn.Write(says)
	conn.SetDeadline(time.Time{})
}

func filler() []byte { return bytes.Repeat([]byte("x"), 1<<20) }

// hugeFrame returns a message of 1 MiB without its last byte.
func hugeFrame() []byte {
	frame := binary.BigEndian.AppendUint64([]byte{0x82, 0xff}, 1<<20)
	return append(append(frame, 0, 0, 0, 0), filler()[1:]...)
}

// pieces returns the frames of a message that never ends.
func pieces() []byte {
	first, next := []byte{0x02, 0xfe, 1000 >> 8, 1000 & 0xff, 0, 0, 0, 0}, []byte{0x00, 0xfe, 1000 >> 8, 1000 & 0xff, 0, 0, 0, 0}
	all := append(first, filler()[:1000]...)
	for range 1000 {
		all = append(append(all, next...), filler()[:1000]...)
	}
	return all
}

// TestStrangers checks that thousands of hostile sockets cost little memory, and that the host
// serves players, newcomers and pages as before.
func TestStrangers(t *testing.T) {
	for name := range attacks {
		if *strangers <= fewStrangers && (name == "an endless header" || name == "pieces to /peer") {
			continue // this one takes long
		}
		t.Run(name, func(t *testing.T) { besieged(t, name, nil) })
	}
	t.Run("silence before TLS", func(t *testing.T) {
		certificate, err := access.OwnCertificate(t.TempDir()+"/certificate.pem", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		besieged(t, "silence", &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}})
	})
}

func besieged(t *testing.T, attack string, encryption *tls.Config) {
	h, err := host.New(host.Config{
		List: listOf(1),
		Page: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the page") }),
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := h.Serve(listener, encryption, func(err error) { t.Error(err) })
	defer func() { stop(); h.Close() }()
	code, _, _ := h.Open(friday(9))
	v := visitor{t: t, at: listener.Addr().String(), code: code, encrypted: encryption != nil}
	ann := v.joins("ann")
	pongs := listens(ann)
	defer func() { ann.Close(); <-pongs }()
	done := make(chan struct{})
	close(done)
	quiet := v.pings(ann, pongs, done)
	runtime.GC()
	before := memoryNow()
	peak := watch(t, memoryNow)
	done = make(chan struct{})
	during := make(chan []time.Duration)
	go func() { during <- v.pings(ann, pongs, done) }()
	defer attackers(t, v.at, attack)()
	v.joins("bob").Close()
	v.looks()
	close(done)
	busy := <-during
	most := peak() - before
	t.Logf("%d strangers with %s: %.0f MB at most; ann's ping %v, slowest %v; before %v, %v", *strangers, attack, most/1e6,
		median(busy), slices.Max(busy), median(quiet), slices.Max(quiet))
	if most > maxForStrangers {
		t.Errorf("they cost %.0f MB", most/1e6)
	}
}

// visitor is an honest client.
type visitor struct {
	t         *testing.T
	at, code  string
	encrypted bool
}

func (v visitor) dials(path string) *websocket.Conn {
	v.t.Helper()
	scheme := "ws"
	if v.encrypted {
		scheme = "wss"
	}
	dialer := websocket.Dialer{HandshakeTimeout: 20 * time.Second, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	ws, _, err := dialer.Dial(scheme+"://"+v.at+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	ws.SetReadDeadline(time.Now().Add(time.Minute))
	return ws
}

// joins returns the connection of an admitted player.
func (v visitor) joins(name string) *websocket.Conn {
	v.t.Helper()
	ws := v.dials("/peer")
	hello, err := wire.Marshal(wire.Hello{Version: wire.Version, Code: v.code, Name: name})
	if err != nil {
		v.t.Fatal(err)
	}
	ws.WriteMessage(websocket.TextMessage, hello.Data)
	if _, data, err := ws.ReadMessage(); err != nil || !strings.Contains(string(data), "welcome") {
		v.t.Fatalf("%s is told %s, %v", name, data, err)
	}
	return ws
}

// looks opens the page and its stream.
func (v visitor) looks() {
	v.t.Helper()
	ws := v.dials("/live")
	defer ws.Close()
	ws.WriteJSON(map[string]string{"code": v.code})
	if _, data, err := ws.ReadMessage(); err != nil || !strings.Contains(string(data), v.code) {
		v.t.Errorf("the page is told %s, %v", data, err)
	}
}

// pings returns round trip times on a player's connection until enough is closed. Another goroutine
// reads the pongs.
func (v visitor) pings(ws *websocket.Conn, pongs, enough <-chan struct{}) (rtts []time.Duration) {
	v.t.Helper()
	const least, pause = 50, 2 * time.Millisecond
	for {
		select {
		case <-enough:
			if len(rtts) >= least {
				return rtts
			}
		default:
		}
		sent := time.Now()
		ws.WriteControl(websocket.PingMessage, nil, sent.Add(time.Minute))
		if _, open := <-pongs; !open {
			v.t.Error("the player has lost the connection")
			return append(rtts, time.Since(sent))
		}
		rtts = append(rtts, time.Since(sent))
		time.Sleep(pause)
	}
}

// listens reads a connection until it ends.
func listens(ws *websocket.Conn) (pongs <-chan struct{}) {
	heard := make(chan struct{}, 1)
	ws.SetPongHandler(func(string) error { heard <- struct{}{}; return nil })
	go func() {
		defer close(heard)
		for {
			if _, _, err := ws.NextReader(); err != nil {
				return
			}
		}
	}()
	return heard
}

func median(of []time.Duration) time.Duration { return slices.Sorted(slices.Values(of))[len(of)/2] }

// attackers starts attackers, who reconnect whenever they are cut off, until cut is called.
func attackers(t *testing.T, at, attack string) (cut func()) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestStrangersOf$", "-test.timeout=0", fmt.Sprint("-strangers=", *strangers))
	c.Env = append(os.Environ(), strangersOf+"="+at, strangersBy+"="+attack)
	return beside(t, c)
}

// TestStrangersOf is no test: it is the strangers of TestStrangers.
func TestStrangersOf(t *testing.T) {
	at := os.Getenv(strangersOf)
	if at == "" {
		t.Skip("for TestStrangers")
	}
	by := attacks[os.Getenv(strangersBy)]
	says := by.says()
	var once atomic.Int64
	all := make(chan struct{})
	var atATime sync.Mutex
	for i := range *strangers {
		go func() {
			from := net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%50))}
			for first := true; ; first = false {
				atATime.Lock()
				conn, err := (&net.Dialer{LocalAddr: &from}).Dial("tcp4", at)
				atATime.Unlock()
				if err == nil {
					by.storms(conn, says)
				}
				if first && once.Add(1) == int64(*strangers) {
					close(all)
				}
				if err == nil {
					io.Copy(io.Discard, conn)
					conn.Close()
				}
				time.Sleep(time.Second)
			}
		}()
	}
	<-all
	fmt.Print("\n")
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// memoryNow returns the heap and the stacks in use, in bytes.
func memoryNow() float64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapInuse + stats.StackInuse)
}
