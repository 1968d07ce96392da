package program_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/host/wire"
	"muster/internal/freeport"
)

// binary builds the command once for all tests of the package.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "muster-e2e")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "muster")
	build := exec.Command("go", "build", "-o", file, ".")
	build.Dir = "../.." // the program's own module, with the libraries that a release has
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %v\n%s", err, out)
	}
	return file, nil
})

// buffer may be read while a program still writes to it.
type buffer struct {
	mu   sync.Mutex // guards what follows
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// process is a running program whose output is kept.
type process struct {
	t    *testing.T
	name string
	cmd  *exec.Cmd
	out  *buffer
	done chan struct{}
}

// start runs a program until the test ends.
func start(t *testing.T, name string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, name: name, cmd: cmd, out: &buffer{}, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.out
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	go func() {
		cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.stop(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("%s printed:\n%s", name, p.out)
		}
	})
	return p
}

// stop ends the program and waits for it.
func (p *process) stop(signal os.Signal) {
	p.cmd.Process.Signal(signal)
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		p.cmd.Process.Kill()
		<-p.done
	}
}

// ends asks the program to end, waits until it has, and returns its exit status.
func (p *process) ends(signal os.Signal) int {
	p.t.Helper()
	p.cmd.Process.Signal(signal)
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("%s goes on", p.name)
	}
	return p.cmd.ProcessState.ExitCode()
}

// awaits waits until the program's output matches pattern, and returns the submatches.
func (p *process) awaits(pattern string) []string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	var found []string
	eventually(p.t, fmt.Sprintf("%s prints %q", p.name, pattern), func() bool {
		found = re.FindStringSubmatch(p.out.String())
		return found != nil
	})
	return found
}

// patience is how long to wait for anything. It is more than a slow machine needs, because only a
// failure takes that long.
const patience = 2 * time.Minute

// eventually polls until is returns true. It cannot wait on anything, because the programs under
// test are other processes.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	every(t, 20*time.Millisecond, what, is)
}

// every is eventually with a given pause, because game servers limit how often they answer.
func every(t *testing.T, pause time.Duration, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// run starts the command in the background, with folders of its own.
func run(t *testing.T, home, name string, args ...string) *process {
	t.Helper()
	return start(t, name, command(t, home, args...))
}

// command returns the muster command with folders of its own.
func command(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(home, "state"),
		"XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "HOME="+home)
	return cmd
}

// goBin returns a program that .ci/install builds.
func goBin(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.Command("go", "env", "GOPATH").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(path)), "bin", name)
}

// startNATS starts a NATS server that keeps rooms, and returns its address.
func startNATS(t *testing.T) (at string, server *process) {
	t.Helper()
	at = freeport.TCP(t)
	name, port, _ := strings.Cut(at, ":")
	server = start(t, "nats", exec.Command(goBin(t, "nats-server"), "-a", name, "-p", port, "-js", "-sd", t.TempDir()))
	awaitPort(t, at)
	return at, server
}

// room asks the host for the room.
func room(t *testing.T, host, code string) (wire.Document, bool) {
	t.Helper()
	return roomBy(t, http.DefaultClient, host, code)
}

func roomBy(t *testing.T, client *http.Client, host, code string) (wire.Document, bool) {
	t.Helper()
	var room wire.Document
	reply, err := client.Get("http://" + host + "/api/rooms/" + code)
	if err != nil {
		return room, false
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return room, false
	}
	if err := json.NewDecoder(reply.Body).Decode(&room); err != nil {
		t.Fatal(err)
	}
	return room, true
}

// awaitRoom polls the room until is returns true.
func awaitRoom(t *testing.T, host, code, what string, is func(wire.Document) bool) wire.Document {
	t.Helper()
	var newest wire.Document
	eventually(t, what, func() bool {
		r, ok := room(t, host, code)
		newest = r
		return ok && is(r)
	})
	return newest
}

func logOf(r wire.Document) string {
	var text strings.Builder
	for _, note := range r.Log {
		text.WriteString(note.String() + "\n")
	}
	return text.String()
}

// relay stands in front of a real server and delays its replies by an amount that depends on the
// client's address, because loopback has no distances. The server's own time is part of that: on a
// busy machine it may take as long as the way of a far player.
type relay struct {
	addr   netip.AddrPort
	server netip.AddrPort
	delays map[netip.Addr]time.Duration
}

// startRelay listens on addr. Each client keeps its address towards the server, so that the
// server's limits by address apply as on the internet.
func startRelay(t *testing.T, r relay) {
	t.Helper()
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(r.addr))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	t.Cleanup(func() { cancel(); conn.Close(); work.Wait() })
	work.Go(func() {
		buf := make([]byte, 65535)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			packet, came := bytes.Clone(buf[:n]), time.Now()
			work.Go(func() { r.pass(ctx, conn, packet, from, came) })
		}
	})
}

func (r relay) pass(ctx context.Context, back *net.UDPConn, packet []byte, from netip.AddrPort, came time.Time) {
	dialer := net.Dialer{LocalAddr: &net.UDPAddr{IP: from.Addr().Unmap().AsSlice()}}
	up, err := dialer.DialContext(ctx, "udp4", r.server.String())
	if err != nil {
		return
	}
	defer up.Close()
	up.SetDeadline(time.Now().Add(900 * time.Millisecond))
	if _, err := up.Write(packet); err != nil {
		return
	}
	reply := make([]byte, 65535)
	n, err := up.Read(reply)
	if err != nil {
		return
	}
	select {
	case <-time.After(time.Until(came.Add(r.delays[from.Addr().Unmap()]))):
		back.WriteToUDPAddrPort(reply[:n], from)
	case <-ctx.Done():
	}
}

// rconPassword is the administrator's password.
const rconPassword = "e2e"

// openArena runs a real OpenArena server on loopback that registers with no master.
func openArena(t *testing.T, addr netip.AddrPort, name, arenaMap string, seats, bots int) {
	t.Helper()
	start(t, name, openArenaCommand(t, addr, name, arenaMap, seats, bots))
}

func openArenaCommand(t *testing.T, addr netip.AddrPort, name, arenaMap string, seats, bots int) *exec.Cmd {
	t.Helper()
	const program = "/usr/lib/ioquake3/ioq3ded"
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("the end-to-end tests need %s: bash .ci/install", program)
	}
	args := []string{
		"+set", "com_basegame", "baseoa", "+set", "fs_basepath", "/usr/lib/openarena-server",
		"+set", "fs_homepath", t.TempDir(), "+set", "com_homepath", "home",
		"+set", "com_legacyprotocol", "71", "+set", "com_protocol", "71", "+set", "cl_motd", "0", "+set", "ttycon", "0",
		"+set", "dedicated", "1", "+set", "net_enabled", "1", "+set", "net_ip", addr.Addr().String(),
		"+set", "net_port", fmt.Sprint(addr.Port()), "+set", "sv_master1", "", "+set", "sv_master2", "",
		"+set", "rconPassword", rconPassword, "+set", "sv_hostname", name, "+set", "com_hunkMegs", "64", "+set", "bot_enable", "1",
		"+set", "sv_maxclients", fmt.Sprint(seats), "+map", arenaMap,
	}
	for _, bot := range []string{"sarge", "jenna", "gargoyle", "kyonshi"}[:bots] {
		args = append(args, "+addbot", bot, "3")
	}
	return exec.Command(program, args...)
}

// writeFile writes a file for the test.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// readFile returns what a program wrote, or nothing yet.
func readFile(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
