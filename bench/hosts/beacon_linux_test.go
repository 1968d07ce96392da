package hosts

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pion/stun/v3"
	"golang.org/x/net/ipv4"

	"muster/discovery/protocol/beacon"
)

// These flags are for measuring what answers to browsers cost a beacon, and what a flood costs the others:
//
//	go -C bench test ./hosts -run TestBeacon -v -beacon-for 10s
var (
	beaconFor      = flag.Duration("beacon-for", 2*time.Second, "how long TestBeacon asks, each time")
	beaconNetworks = flag.Int("beacon-networks", 1000, "networks that flood in TestBeaconFlood")
)

// mostMemory is how much memory a beacon may have of its own, in kB.
const mostMemory = 10_000

// check returns a connectivity check of 100 bytes, as Chromium sends it.
func check(t testing.TB, n uint64, password string) []byte {
	t.Helper()
	id := [stun.TransactionIDSize]byte{}
	binary.BigEndian.PutUint64(id[:], n)
	m, err := stun.Build(stun.NewTransactionIDSetter(id), stun.BindingRequest, stun.NewUsername(beacon.Ufrag+":aB3d"),
		stun.RawAttribute{Type: 0xC057, Value: make([]byte, 4)}, stun.RawAttribute{Type: stun.AttrICEControlling, Value: make([]byte, 8)},
		stun.RawAttribute{Type: stun.AttrPriority, Value: make([]byte, 4)}, stun.NewShortTermIntegrity(password), stun.Fingerprint)
	if err != nil {
		t.Fatal(err)
	}
	return m.Raw
}

// process is a beacon in a process of its own.
type process struct {
	at  netip.AddrPort
	pid int
}

// cost returns the processor time that the beacon has taken, and the memory of its own, in kB; the pages of the program's
// file come on top.
func (p *process) cost(t testing.TB) (took time.Duration, kb int) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	var user, system time.Duration
	fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if _, rest, found := strings.Cut(string(status), "RssAnon:"); found {
		fmt.Sscan(rest, &kb)
	}
	return (user + system) * 10 * time.Millisecond, kb // Linux counts in hundredths
}

// shine starts a beacon.
func shine(t *testing.T, args ...string) *process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "muster")
	build := exec.Command("go", "build", "-o", file, ".")
	build.Dir = "../.."
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	run := exec.Command(file, append([]string{"beacon", "--listen", "127.0.0.1:0", "--name", "bench"}, args...)...)
	run.Env = append(os.Environ(), "GOMAXPROCS=1", "HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	out, err := run.StdoutPipe()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.Process.Signal(syscall.SIGINT)
		run.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	_, at, _ := strings.Cut(strings.TrimSpace(line), ", ")
	addr, wrong := netip.ParseAddrPort(at)
	if err != nil || wrong != nil {
		t.Fatalf("%q, %v, %v", line, err, wrong)
	}
	return &process{at: addr, pid: run.Process.Pid}
}

// socketAt returns a socket at a loopback address.
func socketAt(t *testing.T, addr netip.Addr) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestBeacon measures how many checks a beacon of one processor answers in a second of its time.
func TestBeacon(t *testing.T) {
	const window = 256
	p := shine(t, "--each", "10000000", "--all", "10000000")
	conn := socketAt(t, netip.MustParseAddr("127.0.0.2"))
	calls, questions, answers := ipv4.NewPacketConn(conn), make([]ipv4.Message, window), make([]ipv4.Message, window)
	for i := range questions {
		questions[i] = ipv4.Message{Buffers: [][]byte{check(t, uint64(i), beacon.Password)}, Addr: net.UDPAddrFromAddrPort(p.at)}
		answers[i].Buffers = [][]byte{make([]byte, 256)}
	}
	before, _ := p.cost(t)
	began, all := time.Now(), 0
	for time.Since(began) < *beaconFor {
		asked, err := calls.WriteBatch(questions, 0)
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		for heard := 0; heard < asked && err == nil; {
			var n int
			n, err = calls.ReadBatch(answers, 0)
			for _, a := range answers[:n] {
				if a.N != 64 {
					t.Fatalf("an answer has %d bytes", a.N)
				}
			}
			heard += n
			all += n
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	took, kb := p.cost(t)
	rate := float64(all) / (took - before).Seconds()
	t.Logf("%d answers, %.0f a second of its processor, %.0f a second; %d kB", all, rate, float64(all)/time.Since(began).Seconds(), kb)
	if kb > mostMemory || rate < 50_000 { // half of the goal, as there are slower machines
		t.Error("that is too much")
	}
}

// TestBeaconFlood measures how many questions of a quiet network a beacon with the usual limits answers while others
// flood it.
func TestBeaconFlood(t *testing.T) {
	wrong := check(t, 1, "wrong")
	broken := append([]byte(nil), wrong...)
	broken[len(broken)-6] = 200 // the length of the last attribute
	for name, question := range map[string][]byte{"checks": check(t, 1, beacon.Password), "forged": wrong, "malformed": broken,
		"questions": beacon.Protocol{}.AppendQuery(nil, 1, nil), "noise": make([]byte, 100)} {
		t.Run(name, func(t *testing.T) {
			p := shine(t)
			var flooders []*net.UDPConn
			for i := range *beaconNetworks {
				flooders = append(flooders, socketAt(t, netip.AddrFrom4([4]byte{127, 1, byte(i >> 8), byte(i)})))
			}
			var sent atomic.Int64
			stop, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
						flooders[i%len(flooders)].WriteToUDPAddrPort(question, p.at)
						sent.Add(1)
					}
				}
			}()
			conn, asked, answered, b := socketAt(t, netip.MustParseAddr("127.2.0.1")), 0, 0, make([]byte, 256)
			before, _ := p.cost(t)
			began := time.Now()
			for time.Since(began) < *beaconFor {
				conn.WriteToUDPAddrPort(check(t, uint64(asked), beacon.Password), p.at)
				asked++
				conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
				if _, _, err := conn.ReadFromUDPAddrPort(b); err == nil {
					answered++
				}
				time.Sleep(60 * time.Millisecond)
			}
			took, kb := p.cost(t)
			close(stop)
			<-ended
			if answered*10 < asked*7 || kb > mostMemory { // the goal is nine of ten, on a machine with nothing else to do
				t.Error("that is too little, or too much")
			}
			t.Logf("%d networks, %.0f a second: %d of %d answered; %.2f processors, %d kB", *beaconNetworks,
				float64(sent.Load())/time.Since(began).Seconds(), answered, asked, (took-before).Seconds()/time.Since(began).Seconds(), kb)
		})
	}
}
