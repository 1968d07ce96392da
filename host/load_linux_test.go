package host_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host"
	"muster/host/store"
	"muster/host/wire"
	"muster/selection"
)

// These flags are for measuring many rooms in one process. The players are scripted and run in
// another process, so that the figures are the host's alone:
//
//	go test ./host -run TestRoomLoad -v -timeout 0 -rooms 1000
var (
	manyRooms    = flag.Int("rooms", 0, "rooms of TestRoomLoad; 0 skips it")
	manyPlayers  = flag.Int("rooms-players", 4, "players in each of the rooms")
	manyServers  = flag.Int("rooms-servers", 30_000, "servers in the one list of all rooms")
	manyTogether = flag.Int("rooms-together", 8, "rooms that measure at the same time; the others wait, or are done and stay open")
	manyStored   = flag.Bool("rooms-stored", false, "keep the rooms in a file, as muster host does")
)

// playersOf is the environment variable that makes the test binary play a host's players.
const playersOf = "MUSTER_TEST_PLAYERS_OF"

// TestRoomLoad runs rooms in one process with a common list, each from its first player to its
// launch, and reports the cost.
func TestRoomLoad(t *testing.T) {
	if *manyRooms == 0 {
		t.Skip("no -rooms")
	}
	list := sphereList(*manyServers)
	config := host.Config{List: func(context.Context, string) ([]discovery.Server, error) { return slices.Clone(list), nil }}
	if *manyStored {
		rooms, err := store.Open(filepath.Join(t.TempDir(), "rooms.db"))
		if err != nil {
			t.Fatal(err)
		}
		config.Store = rooms
	}
	h, err := host.New(config)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h.Handler())
	defer func() { server.Close(); h.Close() }()
	var codes []string
	for range *manyRooms {
		code, _, _ := h.Open(wire.Settings{
			Name: "Friday", Game: "openarena", By: selection.Mean, Players: *manyPlayers, Strategy: wire.Coordinated,
		})
		codes = append(codes, code)
	}
	before := liveHeap()
	peak := watch(t, heapNow)
	start, busy := time.Now(), cpuTime(t)
	said, leave := playersProcess(t, server.URL, codes)
	wall, cpu := time.Since(start), cpuTime(t)-busy
	most := peak()
	var launched int
	for _, code := range codes {
		room, _ := h.Room(code)
		if room.Room.Stage == wire.Launching {
			launched++
		} else if len(room.Log) > 0 {
			t.Logf("%s: %s", room.Room.Stage, room.Log[len(room.Log)-1].String())
		}
	}
	after := liveHeap()
	rooms := float64(*manyRooms)
	t.Logf("%d rooms of %d over %d servers, %d at a time: %d launched; %s", *manyRooms, *manyPlayers, *manyServers,
		*manyTogether, launched, said)
	t.Logf("wall %.1f s; processor %.1f s, %.0f ms a room", wall.Seconds(), cpu.Seconds(), cpu.Seconds()/rooms*1000)
	t.Logf("heap at most %.0f MB, live with all rooms open %.0f MB, %.2f MB a room; resident at most %.0f MB",
		most/1e6, after/1e6, (after-before)/rooms/1e6, maxResident(t)/1e6)
	leave()
}

// sphereList returns a list whose places and networks are as uneven as real ones, in the order of a
// room's list.
func sphereList(servers int) []discovery.Server {
	list := make([]discovery.Server, servers)
	for i := range list {
		country := skewed(i, 1, 71)
		as := skewed(i, 2, 40)*71 + country
		network := as*4 + skewed(i, 3, 4) // a /16
		list[i] = discovery.Server{
			Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{
				byte(1 + network>>8), byte(network), byte(skewed(i, 4, 64)), byte(i)}), uint16(27000+i>>8)),
			Country: string([]byte{'A' + byte(country/26), 'A' + byte(country%26)}),
			ASN:     uint32(1000 + as),
		}
	}
	slices.SortFunc(list, func(a, b discovery.Server) int {
		return cmp.Or(cmp.Compare(a.Country, b.Country), cmp.Compare(a.ASN, b.ASN), discovery.CompareAddr(a, b))
	})
	return list
}

// chance returns a number from 0 up to 1 that depends only on the arguments.
func chance(of ...any) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, of...)
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// skewed returns one of n numbers, the first ones much more often than the last.
func skewed(i, salt, n int) int { return int(math.Pow(chance(i, salt), 2.5) * float64(n)) }

// sphereRTT returns a player's RTT to a server: a path over the globe that is more or less
// straight, by AS and /16, and 0 for a silent server.
func sphereRTT(player string, s discovery.Server) time.Duration {
	ip := s.Addr.Addr().As4()
	if chance("silent", s.Addr) < .15 {
		return 0
	}
	angle := math.Acos(dot(place(player), place(s.Country)))
	ms := 8 + angle*6371*2/200*(1.3+.9*chance(player, s.ASN)) + 12*chance(s.ASN) + 4*chance(player, ip[0], ip[1]) + chance(player, s.Addr)
	return time.Duration(ms * float64(time.Millisecond))
}

func place(name string) [3]float64 {
	z, turn := 2*chance("z", name)-1, 2*math.Pi*chance("turn", name)
	r := math.Sqrt(1 - z*z)
	return [3]float64{r * math.Cos(turn), r * math.Sin(turn), z}
}

func dot(a, b [3]float64) float64 { return max(-1, min(1, a[0]*b[0]+a[1]*b[1]+a[2]*b[2])) }

// playersProcess plays all rooms to their launch and returns its last output. Its players stay
// connected until leave is called.
func playersProcess(t *testing.T, url string, codes []string) (said string, leave func()) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestPlayersOf$", "-test.timeout=0",
		fmt.Sprint("-rooms-players=", *manyPlayers), fmt.Sprint("-rooms-servers=", *manyServers), fmt.Sprint("-rooms-together=", *manyTogether))
	c.Env = append(os.Environ(), playersOf+"="+url)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, strings.Join(codes, " "))
	said, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("the players: ", err)
	}
	return strings.TrimSpace(said), func() { in.Close(); io.Copy(io.Discard, out); c.Wait() }
}

// TestPlayersOf is no test: it plays the players of TestRoomLoad.
func TestPlayersOf(t *testing.T) {
	url := os.Getenv(playersOf)
	if url == "" {
		t.Skip("for TestRoomLoad")
	}
	in := bufio.NewReader(os.Stdin)
	codes, err := in.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	list := sphereList(*manyServers)
	var work sync.WaitGroup
	var asked, asks atomic.Int64
	under := make(chan struct{}, *manyTogether)
	for n, code := range strings.Fields(codes) {
		under <- struct{}{}
		var launching sync.WaitGroup
		for i := range *manyPlayers {
			launching.Add(1)
			p := scripted{
				name:     fmt.Sprintf("player %d of %d", i, n),
				list:     list,
				asked:    &asked,
				asks:     &asks,
				launched: sync.OnceFunc(launching.Done),
			}
			work.Go(func() { p.plays(url, code) })
		}
		go func() { launching.Wait(); <-under }()
	}
	for range *manyTogether {
		under <- struct{}{}
	}
	players := float64(len(strings.Fields(codes)) * *manyPlayers)
	fmt.Printf("each player was asked for %.0f servers in %.1f rounds\n", float64(asked.Load())/players, float64(asks.Load())/players)
	io.Copy(io.Discard, in)
	os.Exit(0) // its players are still connected
}

// scripted is a player who answers at once.
type scripted struct {
	name        string
	list        []discovery.Server
	asked, asks *atomic.Int64
	launched    func()
	ws          *websocket.Conn
	told        int // results so far
	began       time.Time
}

func (p *scripted) plays(url, code string) {
	defer p.launched()
	dialer := websocket.Dialer{ReadBufferSize: 512, WriteBufferSize: 512}
	ws, _, err := dialer.Dial("ws"+strings.TrimPrefix(url, "http")+"/peer", nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer ws.Close()
	p.ws, p.began = ws, time.Now()
	p.says(wire.Hello{Version: wire.Version, Code: code, Name: p.name})
	for {
		kind, data, err := ws.ReadMessage()
		if err != nil {
			return
		}
		if kind != websocket.TextMessage || bytes.HasPrefix(data, []byte(`{"type":"room"`)) {
			if bytes.Contains(data, []byte(`"stage":"failed"`)) {
				p.launched() // no goroutine waits for it
			}
			continue
		}
		message, err := wire.Unmarshal(wire.Frame{Data: data})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		p.hears(message)
	}
}

// asked returns a scripted player's report on the servers that the host asks for, after told
// earlier results.
func asked(name string, list []discovery.Server, ask wire.Ask, told int, now time.Duration) (wire.Infos, wire.Report) {
	report, infos := wire.Report{Round: ask.Round, First: told, Now: now}, wire.Infos{Round: ask.Round}
	for _, server := range ask.Servers {
		result := discovery.Result{Server: server, State: discovery.Lost, Phase: discovery.Refining, At: now}
		if rtt := sphereRTT(name, list[server]); rtt > 0 {
			result.State, result.RTT = discovery.Answered, rtt
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{Map: "oa_dm1", MaxPlayers: 16}})
		}
		report.Results = append(report.Results, result)
	}
	return infos, report
}

// looksAt returns a scripted player's second look at the finalists.
func looksAt(name string, list []discovery.Server, m wire.Finalists) wire.Verified {
	v := wire.Verified{Round: m.Round, Attempt: m.Attempt}
	for _, server := range m.Servers {
		seen := wire.Finalist{Server: server, State: discovery.Lost, Sent: 3}
		if rtt := sphereRTT(name, list[server]); rtt > 0 {
			ms := rtt.Seconds() * 1000
			seen.State, seen.RTTs, seen.Info = discovery.Answered, []float64{ms + .1, ms, ms + .2},
				&discovery.Info{Name: "a server", Map: "oa_dm1", MaxPlayers: 16}
		}
		v.Servers = append(v.Servers, seen)
	}
	return v
}

func (p *scripted) hears(message wire.Message) {
	switch m := message.(type) {
	case wire.Ask:
		p.answers(m)
	case wire.Finalists:
		p.says(looksAt(p.name, p.list, m))
	case wire.Launch:
		p.says(wire.Launched{Round: m.Round, State: wire.LaunchStarted})
		p.launched()
	case wire.Refusal:
		fmt.Fprintln(os.Stderr, p.name, m)
	}
}

func (p *scripted) answers(ask wire.Ask) {
	p.asks.Add(1)
	p.asked.Add(int64(len(ask.Servers)))
	infos, report := asked(p.name, p.list, ask, p.told, time.Since(p.began))
	p.told += len(report.Results)
	p.says(infos)
	p.says(report)
}

func (p *scripted) says(m wire.Message) {
	frame, err := wire.Marshal(m)
	if err == nil {
		kind := websocket.TextMessage
		if frame.Binary {
			kind = websocket.BinaryMessage
		}
		err = p.ws.WriteMessage(kind, frame.Data)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, p.name, err)
	}
}

// liveHeap returns the heap in use after a collection, in bytes.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC()
	return heapNow()
}

func heapNow() float64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64())
}

// watch watches the memory in use. The returned function stops it, and returns the most that it
// saw, in bytes.
func watch(t *testing.T, now func() float64) (most func() float64) {
	ctx, stop := context.WithCancel(t.Context())
	peak := make(chan float64)
	go func() {
		most := 0.0
		for ctx.Err() == nil {
			most = max(most, now())
			time.Sleep(20 * time.Millisecond)
		}
		peak <- most
	}()
	return func() float64 { stop(); return <-peak }
}

// maxResident returns the most memory that this process has used, in bytes.
func maxResident(t *testing.T) float64 {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return float64(usage.Maxrss) * 1024 // Linux counts in KiB
}
