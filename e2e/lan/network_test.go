//go:build linux

package lan_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/discovery/lists/lan"
	"muster/discovery/protocol/minecraft"
	"muster/discovery/protocol/quake3"
)

// The tests build a network of their own: machines are network namespaces, cables veth
// pairs, and a switch a bridge in a namespace. Nothing is sent from the namespace of
// the test. To act on a machine, this test program is started there again in a role.

// roleVariable names the role in the environment.
const roleVariable = "MUSTER_LAN_TEST_ROLE"

func TestMain(m *testing.M) {
	roles := map[string]func() error{"announce": announce, "browse": browse, "interfaces": interfaces,
		"servers": servers, "worlds": worlds, "world": world}
	if name := os.Getenv(roleVariable); name != "" {
		log.SetOutput(printer{}) // nobody may write there
		if err := roles[name](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// printer shows what was logged globally.
type printer struct{}

func (printer) Write(b []byte) (int, error) { return fmt.Fprintf(os.Stderr, "global logger: %s", b) }

// announce announces the rooms from standard input, one after another, until it ends.
// It then prints how many goroutines are left.
func announce() error {
	before := runtime.NumGoroutine()
	rooms := make(chan lan.Room)
	go func() {
		defer close(rooms)
		for in := json.NewDecoder(os.Stdin); ; {
			var r lan.Room
			if in.Decode(&r) != nil {
				return
			}
			rooms <- r
		}
	}()
	if err := lan.Announce(context.Background(), rooms, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	return quietDown(before)
}

// quietDown waits for the goroutines of the DNS library, which cannot wait for them
// itself.
func quietDown(before int) error {
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("%d goroutines are left over", runtime.NumGoroutine()-before)
}

// look is browse's output for each list.
type look struct {
	After time.Duration
	Rooms []lan.Found
	Err   string
}

// browse prints the rooms that it finds until standard input ends.
func browse() error {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	})
	start, out := time.Now(), json.NewEncoder(os.Stdout)
	for rooms, err := range lan.Browse(ctx, slog.New(slog.DiscardHandler)) {
		l := look{After: time.Since(start), Rooms: rooms}
		if err != nil {
			l.Err = err.Error()
		}
		out.Encode(l)
	}
	watching.Wait()
	return quietDown(before)
}

func interfaces() error {
	list, err := lan.Interfaces()
	json.NewEncoder(os.Stdout).Encode(list)
	return err
}

func servers() error {
	list, err := lan.Servers(context.Background(), quake3.Protocol{}, []uint16{27960, 27961, 27962, 27963}, slog.Default())
	json.NewEncoder(os.Stdout).Encode(list)
	return err
}

// worlds prints the worlds of Minecraft that are open to the network.
func worlds() error {
	list, err := lan.Servers(context.Background(), minecraft.Protocol{}, nil, slog.Default())
	json.NewEncoder(os.Stdout).Encode(list)
	return err
}

// world announces such a world, as the game does, until standard input ends: a datagram
// every 1.5 s from any port, by the card that the system chooses.
func world() error {
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(minecraft.Protocol{}.Group()))
	if err != nil {
		return err
	}
	defer conn.Close()
	go func() {
		for ; ; time.Sleep(1500 * time.Millisecond) {
			fmt.Fprint(conn, "[MOTD]§aann§r - Home[/MOTD][AD]54321[/AD]")
		}
	}()
	fmt.Println("it is open")
	io.Copy(io.Discard, os.Stdin)
	return nil
}

// network is a network with a switch.
type network struct {
	t     *testing.T
	name  string
	ports int
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// newNamespace makes a namespace where IPv6 addresses are ready at once.
func newNamespace(t *testing.T, kind string) string {
	t.Helper()
	name := fmt.Sprintf("muster-%s-%d-%d", kind, os.Getpid(), time.Now().UnixNano()%1e9)
	run(t, "ip", "netns", "add", name)
	t.Cleanup(func() { run(t, "ip", "netns", "del", name) })
	run(t, "ip", "-n", name, "link", "set", "lo", "up")
	run(t, "ip", "netns", "exec", name, "sh", "-c", "cd /proc/sys/net/ipv6/conf && echo 0 > all/accept_dad && echo 0 > default/accept_dad")
	return name
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{t: t, name: newNamespace(t, "switch")}
	run(t, "ip", "-n", n.name, "link", "add", "br0", "type", "bridge")
	run(t, "ip", "-n", n.name, "link", "set", "br0", "up")
	return n
}

// machine is a computer.
type machine struct {
	t    *testing.T
	name string
}

func newMachine(t *testing.T) *machine {
	return &machine{t: t, name: newNamespace(t, "machine")}
}

func (m *machine) ip(args ...string) {
	m.t.Helper()
	run(m.t, "ip", append([]string{"-n", m.name}, args...)...)
}

// plug connects a card of the machine, with an address if there is one.
func (m *machine) plug(n *network, card, addr string) *machine {
	m.t.Helper()
	port := fmt.Sprintf("port%d", n.ports)
	n.ports++
	run(m.t, "ip", "-n", n.name, "link", "add", port, "type", "veth", "peer", "name", card, "netns", m.name)
	run(m.t, "ip", "-n", n.name, "link", "set", port, "master", "br0", "up")
	if addr != "" {
		m.ip("addr", "add", addr, "dev", card)
	}
	m.ip("link", "set", card, "up")
	return m
}

// gateway gives the machine a default route, as most have one.
func (m *machine) gateway(addr string) *machine {
	m.ip("route", "add", "default", "via", addr)
	return m
}

// process is a program on a machine.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan string // of standard output
	errors *strings.Builder
	ended  bool
}

// start runs a program on the machine until the test ends.
func (m *machine) start(env []string, name string, args ...string) *process {
	m.t.Helper()
	cmd := exec.Command("ip", append([]string{"netns", "exec", m.name, name}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p := &process{t: m.t, cmd: cmd, lines: make(chan string, 1000), errors: &strings.Builder{}}
	cmd.Stderr = p.errors
	in, err := cmd.StdinPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	p.in = in
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	m.t.Cleanup(p.kill)
	return p
}

// startMerged is start with standard error among the lines.
func (m *machine) startMerged(env []string, name string, args ...string) *process {
	m.t.Helper()
	return m.start(env, "sh", append([]string{"-c", `exec "$@" 2>&1`, "sh", name}, args...)...)
}

// role starts this program on the machine.
func (m *machine) role(name string) *process {
	m.t.Helper()
	self, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	return m.start([]string{roleVariable + "=" + name}, self)
}

func (p *process) kill() {
	if p.ended {
		return
	}
	p.ended = true
	p.cmd.Process.Kill()
	for range p.lines {
	}
	p.cmd.Wait()
}

// end closes standard input, and checks that the program ends silently and without
// error.
func (p *process) end() {
	p.t.Helper()
	p.ended = true
	p.in.Close()
	for range p.lines {
	}
	if err := p.cmd.Wait(); err != nil || p.errors.Len() > 0 {
		p.t.Errorf("%v: %v\n%s", p.cmd.Args, err, p.errors)
	}
}

// line returns the next line that satisfies the condition.
func (p *process) line(what string, ok func(string) bool) string {
	p.t.Helper()
	timeout := time.After(time.Minute)
	var seen []string
	for {
		select {
		case l, open := <-p.lines:
			if ok(l) && open {
				return l
			}
			seen = append(seen, l)
			if open {
				continue
			}
		case <-timeout:
		}
		p.t.Fatalf("%v never showed %s, but\n%s", p.cmd.Args, what, strings.Join(seen, "\n"))
	}
}

// room announces a room, or a change of it.
func (p *process) room(r lan.Room) {
	p.t.Helper()
	if err := json.NewEncoder(p.in).Encode(r); err != nil {
		p.t.Fatal(err)
	}
}

// sees waits for a list that satisfies the condition.
func (p *process) sees(what string, ok func(look) bool) look {
	p.t.Helper()
	var l look
	p.line(what, func(s string) bool {
		l = look{}
		return json.Unmarshal([]byte(s), &l) == nil && ok(l)
	})
	return l
}

// avahi starts another mDNS daemon on the machine, and returns the environment for its
// clients.
func (m *machine) avahi() []string {
	m.t.Helper()
	dir := m.t.TempDir()
	env := []string{"DBUS_SYSTEM_BUS_ADDRESS=unix:path=" + filepath.Join(dir, "bus")}
	config := filepath.Join(dir, "avahi.conf")
	if err := os.WriteFile(config, []byte("[server]\nenable-dbus=yes\n[publish]\npublish-workstation=no\n"), 0o644); err != nil {
		m.t.Fatal(err)
	}
	m.start(nil, "dbus-daemon", "--config-file=/usr/share/dbus-1/system.conf",
		"--address=unix:path="+filepath.Join(dir, "bus"), "--nofork", "--nopidfile", "--print-address").
		line("its address", func(string) bool { return true })
	// The daemon keeps its process id in a system-wide place.
	m.start(env, "unshare", "-m", "sh", "-c",
		"mkdir -p /run/avahi-daemon && mount -t tmpfs none /run/avahi-daemon && exec avahi-daemon "+
			"--no-drop-root --no-chroot --no-rlimits -f "+config+" 2>&1").
		line("that it is up", func(s string) bool { return strings.Contains(s, "Server startup complete") })
	return env
}
