//go:build linux

package program_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"

	"muster/discovery"
	"muster/discovery/protocol/quake3"
	"muster/e2e/netfab"
	"muster/host/wire"
)

// The simulated internet: game servers, the host, and players behind routers of their own. The
// players have the names of a household, but each lives in another town.
var (
	serversPrefix4 = netip.MustParsePrefix("11.0.0.0/8") // wide, as the internet is; no packet leaves the namespaces
	serversPrefix6 = netip.MustParsePrefix("2001:db8:ff::/48")
	farPrefix      = netip.MustParsePrefix("12.18.0.0/15") // no game servers
	hostAddrs      = []netip.Prefix{netip.MustParsePrefix("198.51.100.1/32"), netip.MustParsePrefix("2001:db8:51::1/128")}
)

const (
	gamePort = 27960
	roomPort = 7777
	gameVerb = 71   // OpenArena's protocol
	mapSize  = 40e6 // nanoseconds from one side of the map to the other
	shortest = 2 * time.Millisecond
	// someServers is a number of servers that are measured in two seconds.
	someServers = 120
)

// distance returns how far apart two addresses are; each has a place on a map.
func distance(a, b netip.Addr) time.Duration {
	place := func(addr netip.Addr) (x, y float64) {
		h := fnv.New64a()
		h.Write(addr.AsSlice())
		sum := h.Sum64() * 0x9e3779b97f4a7c15 // FNV's high bits differ too little
		return float64(sum>>48) / 65536, float64(sum>>32&0xffff) / 65536
	}
	ax, ay := place(a)
	bx, by := place(b)
	return shortest + time.Duration(math.Hypot(ax-bx, ay-by)*mapSize)
}

// stage is where a session takes place: the machines, and the programs on them.
type stage struct {
	setting
	t   *testing.T
	net *netfab.Net
	// hostSite and sites are the lines of the host and of each player.
	hostSite int
	sites    [len(householders)]int
	host     *netfab.Machine
	rooms    [len(householders)]*netfab.Machine
	far      *netfab.Machine
	list     string // the servers file

	homes   string
	link    string
	code    string
	hosting *actor
	peers   [len(householders)]*actor
}

// setting is what is special about a stage.
type setting struct {
	seed    uint64
	servers int
	// line is every player's line, hostLine the host's.
	line, hostLine netfab.Line
	nat            netfab.NAT
	// oneNAT gives only the first player that router; the others have good ones.
	oneNAT bool
	only6  bool
	game   string // openarena if it is empty
	// lies, if not nil, replaces servers' honest answers.
	lies func(q question, r quake3.Request, info discovery.Info, honest reply) []reply
}

var stages atomic.Int64

// newStage builds the machines and starts the game servers.
func newStage(t *testing.T, s setting) *stage {
	t.Helper()
	s.servers, s.game = cmp.Or(s.servers, someServers), cmp.Or(s.game, "openarena")
	f := netfab.New(s.seed, distance)
	st := &stage{t: t, net: netfab.Start(f), setting: s, homes: t.TempDir()}
	t.Cleanup(func() {
		if err := st.net.Close(); err != nil {
			t.Error(err)
		}
	})
	farSite := f.AddSite(netfab.Site{Name: "far"})
	st.hostSite = f.AddSite(netfab.Site{Name: "host", Up: s.hostLine, Down: s.hostLine})
	for i, name := range householders {
		nat := s.nat
		if s.oneNAT && i > 0 {
			nat = netfab.NAT{}
		}
		nat.Public = netip.AddrFrom4([4]byte{203, 0, 113, byte(10 + i)})
		nat.Mapping = netfab.PerFlow
		st.sites[i] = f.AddSite(netfab.Site{Name: name, Up: s.line, Down: s.line, NAT: &nat})
	}
	stage := stages.Add(1)
	add := func(site int, name string, prefixes ...netip.Prefix) *netfab.Machine {
		if s.only6 {
			prefixes = slices.DeleteFunc(slices.Clone(prefixes), func(p netip.Prefix) bool { return p.Addr().Is4() })
		}
		m, err := st.net.Add(site, fmt.Sprintf("muster-%d-%d-%s", os.Getpid(), stage, name), prefixes...)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	st.far = add(farSite, "far", serversPrefix4, serversPrefix6, farPrefix)
	st.host = add(st.hostSite, "host", hostAddrs...)
	for i, name := range householders {
		st.rooms[i] = add(st.sites[i], name,
			netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i), 2}), 32),
			netip.PrefixFrom(netip.MustParseAddr(fmt.Sprintf("2001:db8:%d::2", i+1)), 128))
	}
	if st.game == "openarena" {
		st.serveGames(s.only6)
	}
	return st
}

// serverAddr spreads servers over networks, as on the internet.
func serverAddr(i int, is6 bool) netip.AddrPort {
	addr := netip.AddrFrom4([4]byte{11, byte(i % 97), byte(i), byte(1 + i>>8)})
	if is6 {
		addr = netip.MustParseAddr(fmt.Sprintf("2001:db8:ff:%x::%x", i, i+1))
	}
	return netip.AddrPortFrom(addr, gamePort)
}

// serveGames starts every server, and writes the file that lists them.
func (st *stage) serveGames(is6 bool) {
	st.t.Helper()
	infos := st.listGames(is6)
	st.serve(gamePort, is6, func(q question) []reply {
		info, known := infos[q.to]
		r, err := quake3.ParseRequest(q.payload)
		if !known || err != nil || r.Command != "getinfo" {
			return nil
		}
		honest := reply{data: quake3.AppendInfoResponse(nil, info, r.Challenge(), gameVerb)}
		if st.lies != nil {
			return st.lies(q, r, info, honest)
		}
		return []reply{honest}
	})
}

// listGames writes the file that lists the servers, and returns what each says about itself.
func (st *stage) listGames(is6 bool) map[netip.Addr]discovery.Info {
	st.t.Helper()
	var list strings.Builder
	infos := map[netip.Addr]discovery.Info{}
	for i := range st.servers {
		at := serverAddr(i, is6)
		fmt.Fprintln(&list, at)
		infos[at.Addr()] = discovery.Info{Name: fmt.Sprintf("arena %d", i), Map: "oa_dm1", Mode: "0", Players: 2, MaxPlayers: 16}
	}
	st.list = filepath.Join(st.t.TempDir(), "servers.txt")
	if err := os.WriteFile(st.list, []byte(list.String()), 0o600); err != nil {
		st.t.Fatal(err)
	}
	return infos
}

// question is a datagram to one of the far addresses.
type question struct {
	from    netip.AddrPort
	to      netip.Addr
	payload []byte
}

// reply is a datagram of an answer.
type reply struct {
	data  []byte
	from  netip.Addr // zero: the address that was asked
	after time.Duration
}

// longestQuery is longer than any query that a game server understands.
const longestQuery = 2048

// serve answers at a port of all far addresses until the test ends.
func (st *stage) serve(port int, is6 bool, answer func(question) []reply) {
	st.t.Helper()
	var conn *net.UDPConn
	network, any := "udp4", "0.0.0.0"
	if is6 {
		network, any = "udp6", "::"
	}
	err := st.far.Inside(func() (err error) {
		if is6 { // otherwise it must not send from addresses that only a route makes its own
			if err = os.WriteFile("/proc/sys/net/ipv6/ip_nonlocal_bind", []byte("1"), 0); err != nil {
				return err
			}
		}
		conn, err = net.ListenUDP(network, &net.UDPAddr{IP: net.ParseIP(any), Port: port})
		return err
	})
	if err != nil {
		st.t.Fatal(err)
	}
	var work sync.WaitGroup
	st.t.Cleanup(func() { conn.Close(); work.Wait() })
	read, write := addressed(conn, is6)
	send := func(q question, r reply) {
		if !r.from.IsValid() {
			r.from = q.to
		}
		write(r.data, r.from, net.UDPAddrFromAddrPort(q.from))
	}
	work.Go(func() {
		buf := make([]byte, longestQuery)
		for {
			q, ok := read(buf)
			if !ok {
				return
			}
			for _, r := range answer(q) {
				if r.after == 0 {
					send(q, r)
				} else {
					time.AfterFunc(r.after, func() { send(q, r) })
				}
			}
		}
	})
}

// addressed returns functions for a socket: read also returns the address that was asked, and write
// sends from any of the machine's addresses.
func addressed(conn *net.UDPConn, is6 bool) (read func([]byte) (question, bool), write func(b []byte, from netip.Addr, to net.Addr)) {
	asked := func(b []byte, to net.IP, from net.Addr) (question, bool) {
		addr, _ := netip.AddrFromSlice(to)
		asker := from.(*net.UDPAddr).AddrPort()
		return question{netip.AddrPortFrom(asker.Addr().Unmap(), asker.Port()), addr.Unmap(), b}, true
	}
	if is6 {
		p := ipv6.NewPacketConn(conn)
		p.SetControlMessage(ipv6.FlagDst, true)
		read = func(buf []byte) (question, bool) {
			n, control, from, err := p.ReadFrom(buf)
			if err != nil {
				return question{}, false
			}
			return asked(buf[:n], control.Dst, from)
		}
		return read, func(b []byte, from netip.Addr, to net.Addr) {
			p.WriteTo(b, &ipv6.ControlMessage{Src: from.AsSlice()}, to)
		}
	}
	p := ipv4.NewPacketConn(conn)
	p.SetControlMessage(ipv4.FlagDst, true)
	read = func(buf []byte) (question, bool) {
		n, control, from, err := p.ReadFrom(buf)
		if err != nil {
			return question{}, false
		}
		return asked(buf[:n], control.Dst, from)
	}
	return read, func(b []byte, from netip.Addr, to net.Addr) {
		p.WriteTo(b, &ipv4.ControlMessage{Src: from.AsSlice()}, to)
	}
}

// actor is a program on a machine, which may be killed and started again.
type actor struct {
	st      *stage
	name    string
	machine *netfab.Machine
	args    []string
	again   int // times that it could not reach the host and was started again
	cmd     *exec.Cmd
	out     *buffer
	done    chan struct{}
}

func (st *stage) act(name string, m *netfab.Machine, args ...string) *actor {
	st.t.Helper()
	a := &actor{st: st, name: name, machine: m, args: args, out: &buffer{}}
	a.start()
	st.t.Cleanup(func() {
		a.stop(syscall.SIGTERM)
		if st.t.Failed() {
			st.t.Logf("%s printed:\n%s", name, a.out)
		}
	})
	return a
}

// start starts the program in its own folders, where it finds what it left.
func (a *actor) start() {
	a.st.t.Helper()
	muster := command(a.st.t, filepath.Join(a.st.homes, a.name), a.args...)
	a.cmd = a.machine.Command(cmp.Or(*sessionBinary, muster.Path), muster.Args[1:]...)
	a.cmd.Env, a.cmd.Stdout, a.cmd.Stderr = muster.Env, a.out, a.out
	a.done = make(chan struct{})
	if err := a.cmd.Start(); err != nil {
		a.st.t.Fatalf("%s: %v", a.name, err)
	}
	go func(cmd *exec.Cmd, done chan struct{}) {
		cmd.Wait()
		close(done)
	}(a.cmd, a.done)
}

func (a *actor) signal(s os.Signal) { a.cmd.Process.Signal(s) }

// stop ends the program, even a frozen one, and waits for it.
func (a *actor) stop(s os.Signal) {
	a.signal(syscall.SIGCONT)
	a.signal(s)
	select {
	case <-a.done:
	case <-time.After(10 * time.Second):
		a.st.t.Logf("%s had to be killed after 10s", a.name)
		a.cmd.Process.Kill()
		<-a.done
	}
}

// hasEnded reports whether the program has ended by itself.
func (a *actor) hasEnded() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// openFiles returns how many files and sockets the program has open.
func (a *actor) openFiles() int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", a.cmd.Process.Pid))
	return len(list)
}

// open opens the room on the host. If the organiser plays, the first player sits at the host's
// machine.
func (st *stage) open(plays bool, more ...string) {
	st.t.Helper()
	args := append([]string{"host", "--game", st.game, "--listen", fmt.Sprintf(":%d", roomPort),
		"--no-mdns", "--no-browser", "--players", fmt.Sprint(len(householders))}, more...)
	if st.list != "" {
		args = append(args, "--servers", st.list)
	}
	if plays {
		args = append(append(args, "--name", householders[0]), st.launches(householders[0])...)
	} else {
		args = append(args, "--no-play")
	}
	st.hosting = st.act("host", st.host, args...)
	printed := func(pattern string) string {
		p := process{t: st.t, name: "host", out: st.hosting.out}
		return p.awaits(pattern)[1]
	}
	st.link, st.code = printed(`(?m)^link +(\S+)$`), printed(`(?m)^code +(\w+)$`)
}

// join starts the program of every player who is not at the host's machine.
func (st *stage) join(more ...string) {
	for i, name := range householders {
		if strings.Contains(strings.Join(st.hosting.args, " "), "--name "+name) {
			continue
		}
		st.peers[i] = st.act(name, st.rooms[i], append(append([]string{"join", st.link, "--name", name}, st.launches(name)...), more...)...)
	}
}

// launches returns flags by which a player's game records where it was sent, and ends.
func (st *stage) launches(name string) []string {
	script := filepath.Join(st.homes, "launch.sh")
	if _, err := os.Stat(script); err != nil {
		if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$2\" >>\"$1\"\n"), 0o700); err != nil {
			st.t.Fatal(err)
		}
	}
	return []string{"--launch", "auto", "--launch-command", fmt.Sprintf("%s %s {address}", script, filepath.Join(st.homes, name+".launched"))}
}

// launched returns where a player's game was started, once for each time.
func (st *stage) launched(name string) []string {
	return strings.Fields(readFile(filepath.Join(st.homes, name+".launched")))
}

// onHost returns a client on the host's own machine.
func (st *stage) onHost() *http.Client {
	return client(st.host.Namespace)
}

// room returns the room as the host shows it, if it answers.
func (st *stage) room(client *http.Client) (wire.Document, bool) {
	var room wire.Document
	reply, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/api/rooms/%s", roomPort, st.code))
	if err != nil {
		return room, false
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return room, false
	}
	text, err := io.ReadAll(reply.Body)
	return room, err == nil && json.Unmarshal(text, &room) == nil
}

// verdict is the state of a session.
type verdict struct {
	over    bool // everyone is in the game, on the same server
	missing []string
	leftOut []string
	// unreachable is how many servers were culled because they did not answer somebody.
	unreachable int
	stage       wire.Stage
	log         string
	room        wire.Document
}

// look returns how far the session is.
func (st *stage) look(client *http.Client) (v verdict) {
	where := map[string]bool{}
	for _, name := range householders {
		at := st.launched(name)
		if len(at) == 0 {
			v.missing = append(v.missing, name)
			continue
		}
		where[at[len(at)-1]] = true
	}
	v.over = len(v.missing) == 0 && len(where) == 1
	room, ok := st.room(client)
	if !ok {
		return v
	}
	v.room, v.stage, v.log = room, room.Stage, logOf(room)
	for _, m := range room.Members {
		if m.LeftOut {
			v.leftOut = append(v.leftOut, m.Name)
		}
	}
	if room.Selection != nil {
		v.unreachable = room.Selection.Culled.Unreachable
	}
	return v
}

// awaitTogether waits until everyone is in the game on the same server.
func (st *stage) awaitTogether() (v verdict) {
	st.t.Helper()
	client := st.onHost()
	for deadline := time.Now().Add(patience); !v.over; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			st.t.Fatalf("%s without %v:\n%s", v.stage, v.missing, v.log)
		}
		v = st.look(client)
	}
	return v
}

// programs returns all programs that were started.
func (st *stage) programs() (all []*actor) {
	for _, a := range append(st.peers[:], st.hosting) {
		if a != nil {
			all = append(all, a)
		}
	}
	return all
}

// maxFiles is more than a program opens in such a session, unless it forgets to close them.
const maxFiles = 60

// inspect checks that a session leaves nothing behind in a program.
func (st *stage) inspect() {
	st.t.Helper()
	for _, a := range st.programs() {
		if strings.Contains(a.out.String(), "panic:") || strings.Contains(a.out.String(), "fatal error:") {
			st.t.Errorf("%s panicked", a.name)
		}
		if a.hasEnded() {
			st.t.Errorf("%s has ended", a.name)
			continue
		}
		if files := a.openFiles(); files > maxFiles {
			st.t.Errorf("%s has %d files open", a.name, files)
		}
	}
}
