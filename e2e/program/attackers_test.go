//go:build linux

package program_test

import (
	"bytes"
	"cmp"
	bigendian "encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/discovery/protocol/a2s"
	"muster/discovery/protocol/quake3"
	"muster/e2e/netfab"
	"muster/host/wire"
)

// resident returns how much memory the program occupies, in bytes.
func (a *actor) resident() int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.cmd.Process.Pid))
	found := regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		return 0 // it has ended
	}
	kilobytes, _ := strconv.Atoi(string(found[1]))
	return kilobytes << 10
}

// villainHost serves peers on the host's machine. It calls script for each connection after its
// hello, and closes the connection when script returns.
func (st *stage) villainHost(script func(ws *websocket.Conn, hello wire.Hello)) {
	st.t.Helper()
	var listener net.Listener
	err := st.host.Inside(func() (err error) {
		listener, err = net.Listen("tcp", fmt.Sprintf("%v:%d", hostAddrs[0].Addr(), roomPort))
		return err
	})
	if err != nil {
		st.t.Fatal(err)
	}
	var work sync.WaitGroup
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		work.Add(1)
		defer work.Done()
		ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		kind, text, err := ws.ReadMessage()
		if err != nil {
			return
		}
		m, err := wire.Unmarshal(wire.Frame{Binary: kind == websocket.BinaryMessage, Data: text})
		hello, is := m.(wire.Hello)
		if err != nil || !is {
			st.t.Errorf("a peer begins with %T, %v", m, err)
			return
		}
		go func() { // peers' messages must be read, or the peers would block
			for {
				if _, _, err := ws.ReadMessage(); err != nil {
					return
				}
			}
		}()
		script(ws, hello)
	})}
	work.Go(func() { server.Serve(listener) })
	st.t.Cleanup(func() { server.Close(); work.Wait() })
}

// tell sends messages, and reports whether the peer is still there.
func tell(ws *websocket.Conn, messages ...wire.Message) bool {
	for _, m := range messages {
		f, err := wire.Marshal(m)
		if err != nil {
			panic(err) // the attack itself is wrong
		}
		kind := websocket.TextMessage
		if f.Binary {
			kind = websocket.BinaryMessage
		}
		if ws.WriteMessage(kind, f.Data) != nil {
			return false
		}
	}
	return true
}

// welcome returns the message that lets a peer in.
func welcome(hello wire.Hello) wire.Message {
	return wire.Welcome{Version: wire.Version, Name: hello.Name, Token: "Q3KXOJ2VBBKZ6BPCEGZ6ZK5LCE"}
}

// joinVillain makes all players join the villain's room.
func (st *stage) joinVillain() {
	for i, name := range householders {
		args := append([]string{"join", fmt.Sprintf("%v:%d", hostAddrs[0].Addr(), roomPort), "--code", "BAKODI",
			"--name", name}, st.launches(name)...)
		st.peers[i] = st.act(name, st.rooms[i], args...)
	}
}

// victim adds a site of its own, somewhere on the internet. packets returns how many packets
// reached it.
func (st *stage) victim(addr netip.Addr) (packets func() int) {
	var site int
	st.net.Change(func(f *netfab.Fabric, _ time.Duration) {
		site = f.AddSite(netfab.Site{Name: "victim"})
	})
	if _, err := st.net.Add(site, fmt.Sprintf("muster-%d-victim-%d", os.Getpid(), stages.Add(1)),
		netip.PrefixFrom(addr, addr.BitLen())); err != nil {
		st.t.Fatal(err)
	}
	return func() (n int) {
		st.net.Change(func(f *netfab.Fabric, _ time.Duration) { n = f.Counts(site).Down.Entered })
		return n
	}
}

// TestHostAimsAtVictim checks that a malicious host cannot flood an address. It lists thousands of
// ports of one machine that runs no game server, makes every player ask them, and starts over again
// and again.
func TestHostAimsAtVictim(t *testing.T) {
	t.Parallel()
	const ports, lasts = 2000, 12 * time.Second
	st := newStage(t, setting{seed: 1, line: goodLine, hostLine: goodLine})
	at := netip.MustParseAddr("192.0.2.80")
	packets := st.victim(at)
	st.villainHost(func(ws *websocket.Conn, hello wire.Hello) {
		if !tell(ws, welcome(hello)) {
			return
		}
		for round := 1; ; round++ {
			list := wire.List{Round: round}
			for port := range ports {
				list.Servers = append(list.Servers, discovery.Server{Addr: netip.AddrPortFrom(at, uint16(1000+port))})
			}
			if !tell(ws, list, wire.Measure{Round: round, Game: "openarena", Strategy: "conventional"}) {
				return
			}
			time.Sleep(2 * time.Second)
		}
	})
	began := time.Now()
	st.joinVillain()
	time.Sleep(lasts)
	rate := float64(packets()) / time.Since(began).Seconds() / float64(len(householders))
	t.Logf("each of %d players sent %.1f packets a second to the victim", len(householders), rate)
	if rate > maxAtVictim {
		t.Errorf("each player sent %.1f packets a second to one address, want %d at most", rate, maxAtVictim)
	}
	st.inspect()
}

// maxAtVictim limits what a host can make one player send to an address, in packets a second. It
// is less than a visitor of a web page sends.
const maxAtVictim = 20

// TestHostLaunchesForEver checks a host that sends every player to a game hundreds of times, and to
// ports that belong to no game.
func TestHostLaunchesForEver(t *testing.T) {
	t.Parallel()
	const launches, maxGames = 60, 6
	st := newStage(t, setting{seed: 1, servers: 10, line: goodLine, hostLine: goodLine})
	at := serverAddr(3, false)
	sent := make(chan struct{}, len(householders))
	st.villainHost(func(ws *websocket.Conn, hello wire.Hello) {
		list := wire.List{Round: 1, Servers: []discovery.Server{{Addr: at}}}
		if !tell(ws, welcome(hello), list, wire.Measure{Round: 1, Game: "openarena", Strategy: "conventional"}) {
			return
		}
		time.Sleep(time.Second) // it has answered
		for i := range launches {
			to := at
			if i%2 == 1 {
				to = netip.AddrPortFrom(at.Addr(), uint16(22+i))
			}
			list.Round = i + 2
			if !tell(ws, list, wire.Measure{Round: i + 2, Game: "openarena", Strategy: "conventional"}) {
				break
			}
			time.Sleep(200 * time.Millisecond)
			if !tell(ws, wire.Launch{Round: i + 2, Game: "openarena", Address: to.String(), Name: "arena"}) {
				break
			}
		}
		time.Sleep(time.Second)
		sent <- struct{}{}
	})
	st.joinVillain()
	for range householders {
		<-sent
	}
	for _, name := range householders {
		games := st.launched(name)
		t.Logf("%s's game was started %d times", name, len(games))
		if len(games) > maxGames {
			t.Errorf("%s's game was started %d times, want %d at most", name, len(games), maxGames)
		}
		if slices.ContainsFunc(games, func(address string) bool { return address != at.String() }) {
			t.Errorf("%s's game was started with an address nobody measured: %q", name, games)
		}
	}
}

// TestHostSendsRubbish checks that a peer survives any frames in any number: it stays small, and
// ends or tries again without a crash.
func TestHostSendsRubbish(t *testing.T) {
	t.Parallel()
	const lasts, maxMemory = 10 * time.Second, 200 << 20
	st := newStage(t, setting{seed: 1, servers: 10, line: goodLine, hostLine: goodLine})
	rng := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex // guards rng
	rubbish := func(size int) []byte {
		mu.Lock()
		defer mu.Unlock()
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	huge := wire.List{Round: 1}
	for i := range discovery.MaxServers {
		huge.Servers = append(huge.Servers,
			discovery.Server{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{1, byte(i >> 16), byte(i >> 8), byte(i)}), gamePort)})
	}
	st.villainHost(func(ws *websocket.Conn, hello wire.Hello) {
		switch hello.Name {
		case "ann": // small frames of every kind
			tell(ws, welcome(hello))
			for i := 0; ; i++ {
				if ws.WriteMessage(websocket.BinaryMessage, append([]byte{byte(4 + i%250)}, rubbish(i%300)...)) != nil {
					return
				}
			}
		case "bob": // the longest list, again and again
			tell(ws, welcome(hello))
			for round := 1; tell(ws, huge); round++ {
				huge := huge
				huge.Round = round
			}
		case "cat": // the longest frames
			tell(ws, welcome(hello))
			ws.WriteMessage(websocket.BinaryMessage, rubbish(8<<20))
		case "dan": // text without an end
			tell(ws, welcome(hello))
			for ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"room","log":[`+strings.Repeat(`{"text":"x"},`, 100_000)+`{}]}`)) == nil {
			}
		}
	})
	st.joinVillain()
	worst := map[string]int{}
	for deadline := time.Now().Add(lasts); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		for i, name := range householders {
			worst[name] = max(worst[name], st.peers[i].resident())
		}
	}
	for i, name := range householders {
		t.Logf("%s's program took %d MB at most", name, worst[name]>>20)
		if worst[name] > maxMemory {
			t.Errorf("%s's program took %d MB, want %d at most", name, worst[name]>>20, maxMemory>>20)
		}
		if out := st.peers[i].out.String(); strings.Contains(out, "panic:") || strings.Contains(out, "fatal error:") {
			t.Errorf("%s panicked", name)
		}
	}
}

// TestServersLie checks that the session ends on an honest server when every other server lies,
// each third of the liars in its own way.
func TestServersLie(t *testing.T) {
	t.Parallel()
	isLiar := func(i int) bool { return i%2 == 1 }
	liars := map[netip.Addr]int{}
	for i := range someServers {
		if isLiar(i) {
			liars[serverAddr(i, false).Addr()] = i
		}
	}
	var asked sync.Map
	st := newStage(t, setting{seed: 1, line: goodLine, hostLine: goodLine,
		lies: func(q question, r quake3.Request, info discovery.Info, honest reply) []reply {
			i, lies := liars[q.to]
			if !lies {
				return []reply{honest}
			}
			asked.Store(q.to, true)
			info.Name = "a liar"
			switch i / 2 % 4 {
			case 0: // without the nonce
				return []reply{{data: quake3.AppendInfoResponse(nil, info, "", gameVerb)},
					{data: quake3.AppendInfoResponse(nil, info, "1234567890", gameVerb)}}
			case 1: // in the name of an honest neighbor, full
				info.Players = info.MaxPlayers
				return []reply{{data: quake3.AppendInfoResponse(nil, info, r.Challenge(), gameVerb), from: serverAddr(i-1, false).Addr()}}
			case 2: // a thousand datagrams for one
				var flood []reply
				for range 1000 {
					flood = append(flood, reply{data: append([]byte("\xff\xff\xff\xffinfoResponse\n"), bytes.Repeat([]byte("\\a\\b"), 300)...)})
				}
				return flood
			}
			return []reply{{data: []byte{}}, {data: []byte("\xff\xff\xff\xff")}, {data: bytes.Repeat([]byte{0xff}, 1400)}}
		}})
	st.open(false)
	st.join()
	v := st.awaitTogether()
	if v.room.Selection == nil || v.room.Selection.Chosen == nil {
		t.Fatalf("no choice:\n%s", v.log)
	}
	for _, ranked := range v.room.Selection.Ranking {
		if _, lies := liars[ranked.Addr.Addr()]; lies {
			t.Errorf("%v is ranked, which never answered as one has to", ranked.Addr)
		}
	}
	n := 0
	asked.Range(func(_, _ any) bool { n++; return true })
	if n == 0 {
		t.Error("no liar was asked")
	}
	st.inspect()
}

// TestServersAnswerUnasked checks three servers that send their info right behind their challenge,
// before anybody can have asked with it. They appear no nearer than they are, and the session ends
// on the same server as without them.
func TestServersAnswerUnasked(t *testing.T) {
	t.Parallel()
	const early = 2 * time.Millisecond
	liars := map[netip.Addr]bool{}
	st := newStage(t, setting{seed: 1, game: "cs2", servers: 40, line: goodLine, hostLine: goodLine})
	for _, i := range farthest(3, st.servers) {
		liars[serverAddr(i, false).Addr()] = true
	}
	infos := st.listGames(false)
	demand := [4]byte{1, 2, 3, 4}
	st.serve(gamePort, false, func(q question) []reply {
		r, err := a2s.ParseRequest(q.payload)
		info, known := infos[q.to]
		if err != nil || !known || r.Kind != a2s.Info {
			return nil
		}
		told := reply{data: a2s.AppendInfo(nil, info)}
		if bytes.Equal(r.Challenge, demand[:]) {
			return []reply{told}
		}
		challenge := reply{data: a2s.AppendChallenge(nil, demand)}
		if liars[q.to] {
			told.after = early
			return []reply{challenge, told}
		}
		return []reply{challenge}
	})
	st.open(false)
	st.join()
	v := st.awaitTogether()
	at, err := netip.ParseAddrPort(v.room.Connect)
	if err != nil || liars[at.Addr()] {
		t.Errorf("everyone is at %s, %v: a server that answers unasked\n%s", v.room.Connect, err, v.log)
	}
	for _, ranked := range v.room.Selection.Ranking {
		for i, name := range householders {
			seen := netip.AddrFrom4([4]byte{203, 0, 113, byte(10 + i)})
			truth := 2 * (distance(seen, ranked.Addr.Addr()) + goodLine.Delay)
			if got := time.Duration(ranked.RTT[name] * float64(time.Millisecond)); got > 0 && got < truth-early {
				t.Errorf("%s's ping of %v is %v, which is %v away", name, ranked.Addr, got, truth)
			}
		}
	}
	if len(v.leftOut) > 0 {
		t.Errorf("left out: %v\n%s", v.leftOut, v.log)
	}
	st.inspect()
}

// farthest returns the servers that are farthest from the players on average.
func farthest(n, of int) []int {
	away := func(i int) (sum time.Duration) {
		for p := range householders {
			sum += distance(netip.AddrFrom4([4]byte{203, 0, 113, byte(10 + p)}), serverAddr(i, false).Addr())
		}
		return sum
	}
	all := make([]int, of)
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, func(a, b int) int { return cmp.Compare(away(b), away(a)) })
	return all[:n]
}

// TestMasterLies checks a master that lists hundreds of thousands of servers at a few addresses,
// and keeps sending. It lists the true servers, too, and the session ends on one of them.
func TestMasterLies(t *testing.T) {
	t.Parallel()
	const maxMemory = 300 << 20
	masterPort := 27950
	st := newStage(t, setting{seed: 1, line: goodLine, hostLine: goodLine})
	record := func(b []byte, addr netip.Addr, port uint16) []byte {
		a := addr.As4()
		return bigendian.BigEndian.AppendUint16(append(append(b, '\\'), a[:]...), port)
	}
	st.serve(masterPort, false, func(q question) []reply {
		head := []byte("\xff\xff\xff\xffgetserversResponse")
		var replies []reply
		// As many as a client can take in: 6,000 datagrams with 200 records, of 203 addresses.
		for i := range 6000 {
			b := slices.Clone(head)
			for j := range 200 {
				n := i*200 + j
				b = record(b, netip.AddrFrom4([4]byte{12, 19, 200, byte(n % 203)}), uint16(1024+n/203))
			}
			replies = append(replies, reply{data: b, after: time.Duration(i) * 100 * time.Microsecond})
		}
		b := slices.Clone(head)
		for i := range someServers {
			b = record(b, serverAddr(i, false).Addr(), gamePort)
		}
		// The true list comes somewhere in the middle.
		replies = append(replies, reply{data: b, after: 300 * time.Millisecond}, reply{
			data:  append(slices.Clone(head), "\\EOT\x00\x00\x00"...),
			after: 700 * time.Millisecond,
		})
		return replies
	})
	st.list = ""
	st.open(false, "--master", fmt.Sprintf("12.18.9.9:%d", masterPort))
	st.join()
	v := st.awaitTogether()
	chosen := v.room.Connect
	if !strings.HasSuffix(chosen, fmt.Sprint(":", gamePort)) {
		t.Errorf("everyone is at %s, which is no true server's", chosen)
	}
	t.Logf("listed %d, the host takes %d MB", v.room.Listed, st.hosting.resident()>>20)
	if memory := st.hosting.resident(); memory > maxMemory {
		t.Errorf("the host takes %d MB, want %d at most", memory>>20, maxMemory>>20)
	}
	st.inspect()
}

// TestStrangersSockets checks that nobody in the room notices strangers who hold sockets open from
// a thousand addresses. A fifth of them have sent half of a frame of a megabyte.
func TestStrangersSockets(t *testing.T) {
	t.Parallel()
	const sockets, maxMemory = 2000, 60 << 20
	st := newStage(t, setting{seed: 1, line: goodLine, hostLine: goodLine})
	st.open(false)
	before := st.hosting.resident()
	var mu sync.Mutex // guards held
	var held []net.Conn
	worst := 0
	var dialing, writing sync.WaitGroup
	const dialers = 50
	target := netip.AddrPortFrom(hostAddrs[0].Addr(), roomPort)
	for d := range dialers {
		dialing.Go(func() {
			st.far.Inside(func() error {
				for i := d; i < sockets; i += dialers {
					from := netip.AddrFrom4([4]byte{12, 19, byte(i % 1000 / 250), byte(1 + i%250)})
					dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from.AsSlice()}, Timeout: 5 * time.Second}
					conn, err := dialer.Dial("tcp", target.String())
					if err != nil {
						continue // turned away
					}
					mu.Lock()
					held = append(held, conn)
					mu.Unlock()
					conn.SetDeadline(time.Now().Add(time.Minute))
					fmt.Fprintf(conn, "GET /peer HTTP/1.1\r\nHost: %v\r\nUpgrade: websocket\r\nConnection: "+
						"Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", target)
					if i%5 == 0 {
						frame := append([]byte{0x82, 0xff, 0, 0, 0, 0, 0, 16, 0, 0, 1, 2, 3, 4}, make([]byte, 512<<10)...)
						writing.Go(func() { conn.Write(frame) }) // as much as the host accepts
					}
				}
				return nil
			})
		})
	}
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		for range 200 {
			worst = max(worst, st.hosting.resident())
			time.Sleep(50 * time.Millisecond)
		}
	}()
	eventually(t, "strangers have come in", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(held) >= dialers
	})
	began := time.Now()
	st.join()
	st.awaitTogether()
	took := time.Since(began)
	dialing.Wait()
	<-watching
	for _, conn := range held {
		conn.Close()
	}
	writing.Wait()
	t.Logf("%d strangers got in; the host grew from %d to %d MB at most; the evening took %v", len(held), before>>20,
		worst>>20, took.Round(time.Second))
	if worst-before > maxMemory {
		t.Errorf("the host grew by %d MB, want %d at most", (worst-before)>>20, maxMemory>>20)
	}
	for _, a := range st.programs() {
		if strings.Contains(a.out.String(), "lost the connection") {
			t.Errorf("%s noticed:\n%s", a.name, a.out)
		}
	}
}
