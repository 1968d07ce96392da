//go:build linux

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The machines are network namespaces on a bridge in one more, the switch. It drops the packets of
// a cut:
//
//	players (peers, pages, haproxy) ─┐             ┌─ host1, host2, host3 (muster serve)
//	                                 ├── switch ───┤
//	                                 │   nftables  └─ nats1, nats2, nats3 (nats-server)
const (
	hostPort    = "7777"
	natsPort    = "4222"
	routePort   = "6222"
	monitorPort = "8222"
	// At the first port haproxy leads to hosts that say they are ready, and breaks connections to
	// others. At the second it leads to any that takes connections.
	readyPort = "8001"
	anyPort   = "8002"
)

// lab is all machines, and the programs on them.
type lab struct {
	t        *testing.T
	dir      string
	prefix   string
	machines Machines
	sync     bool // NATS servers sync always
	addrs    map[string]string
	programs map[string]*program
	began    time.Time

	mu      sync.Mutex // guards the fields below
	history []Event
}

// program is a program that faults kill and start again.
type program struct {
	lab  *lab
	name string
	args []string
	log  *os.File

	mu   sync.Mutex // one fault at a time; guards the fields below
	cmd  *exec.Cmd
	done chan struct{}
	over bool
}

// restartPause is the wait before a program that ended by itself is started again, as systemd does.
const restartPause = time.Second

var labs atomic.Int64

// newLab builds a scenario's machines, and starts all programs.
func newLab(t *testing.T, binary string, s scenario) *lab {
	t.Helper()
	l := &lab{
		t: t, dir: t.TempDir(), prefix: fmt.Sprintf("mf%d-%d-", os.Getpid(), labs.Add(1)),
		machines: s.machines(), sync: s.Sync, addrs: map[string]string{Players: "10.77.0.1"}, programs: map[string]*program{}, began: time.Now(),
	}
	if *faultsKeep != "" {
		l.dir = *faultsKeep
	}
	l.run("ip", "netns", "add", l.prefix+"switch")
	t.Cleanup(func() { exec.Command("ip", "netns", "del", l.prefix+"switch").Run() })
	l.inside("switch", "ip", "link", "add", "bridge", "type", "bridge")
	l.inside("switch", "ip", "link", "set", "bridge", "up")
	l.inside("switch", "nft", "add table bridge cuts")
	for i, name := range l.machines.Hosts {
		l.addrs[name] = fmt.Sprintf("10.77.0.%d", 11+i)
	}
	for i, name := range l.machines.NATS {
		l.addrs[name] = fmt.Sprintf("10.77.0.%d", 21+i)
	}
	for _, name := range slices.Concat([]string{Players}, l.machines.Hosts, l.machines.NATS) {
		l.plug(name)
	}
	var urls []string
	for _, name := range l.machines.NATS {
		urls = append(urls, "nats://"+net.JoinHostPort(l.addrs[name], natsPort))
		l.start(name, "nats-server", "-c", l.natsConfig(name))
	}
	if s.NATS > 0 {
		l.await("NATS has a leader", func() bool { return l.leader("") != "" })
	}
	for _, name := range l.machines.Hosts {
		args := []string{"serve", "--listen", net.JoinHostPort(l.addrs[name], hostPort), "--trusted-proxy", l.addrs[Players],
			"--public-url", "http://" + net.JoinHostPort(l.addrs[Players], readyPort)}
		if s.NATS > 0 {
			args = append(args, "--node", name, "--nats", strings.Join(urls, ","))
		} else {
			args = append(args, "--store", filepath.Join(l.dir, name+".rooms"))
		}
		l.start(name, binary, args...)
	}
	l.start(Players, "haproxy", "-db", "-f", l.proxyConfig())
	for _, port := range []string{readyPort, anyPort} {
		l.await("the proxy leads to a host", func() bool {
			reply, err := l.client().Get("http://" + net.JoinHostPort(l.addrs[Players], port) + "/healthz")
			if err != nil {
				return false
			}
			reply.Body.Close()
			return reply.StatusCode == http.StatusOK
		})
	}
	return l
}

// plug makes a machine and its line to the switch.
func (l *lab) plug(name string) {
	ns, end := l.prefix+name, "to-"+name
	l.run("ip", "netns", "add", ns)
	l.t.Cleanup(func() { exec.Command("ip", "netns", "del", ns).Run() })
	l.run("ip", "-n", ns, "link", "add", "eth0", "type", "veth", "peer", "name", end, "netns", l.prefix+"switch")
	l.run("ip", "-n", ns, "addr", "add", l.addrs[name]+"/24", "dev", "eth0")
	l.run("ip", "-n", ns, "link", "set", "eth0", "up")
	l.run("ip", "-n", ns, "link", "set", "lo", "up")
	l.inside("switch", "ip", "link", "set", end, "master", "bridge", "up")
}

func (l *lab) run(name string, args ...string) {
	l.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		l.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func (l *lab) inside(machine string, args ...string) {
	l.t.Helper()
	l.run("ip", append([]string{"netns", "exec", l.prefix + machine}, args...)...)
}

// await polls until is reports true, because the programs are other processes.
func (l *lab) await(what string, is func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			for name := range l.programs {
				l.t.Logf("%s printed:\n%s", name, l.printed(name))
			}
			l.t.Fatalf("not within a minute: %s", what)
		}
	}
}

// printed returns the end of a program's output.
func (l *lab) printed(name string) string {
	text, _ := os.ReadFile(filepath.Join(l.dir, name+".log"))
	return string(text[max(0, len(text)-4000):])
}

func (l *lab) write(name, text string) string {
	l.t.Helper()
	file := filepath.Join(l.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return file
}

func (l *lab) natsConfig(name string) string {
	var routes []string
	for _, other := range l.machines.NATS {
		routes = append(routes, "nats://"+net.JoinHostPort(l.addrs[other], routePort))
	}
	at, sync := l.addrs[name], "2m" // as it is without a line
	if l.sync {
		sync = "always"
	}
	return l.write(name+".conf", fmt.Sprintf(`server_name: %s
listen: "%s:%s"
http: "%s:%s"
jetstream { store_dir: %q, max_file_store: 2GB, sync_interval: %s }
cluster { name: rooms, listen: "%s:%s", routes: [%s] }
`, name, at, natsPort, at, monitorPort, filepath.Join(l.dir, name), sync, at, routePort, strings.Join(routes, ", ")))
}

func (l *lab) proxyConfig() string {
	var ready, all strings.Builder
	for _, name := range l.machines.Hosts {
		fmt.Fprintf(&ready, "  server %s %s:%s\n", name, l.addrs[name], hostPort)
		fmt.Fprintf(&all, "  server %s %s:%s\n", name, l.addrs[name], hostPort)
	}
	return l.write("haproxy.cfg", fmt.Sprintf(`global
  maxconn 9000
defaults
  mode http
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout tunnel 1h
  timeout check 1s
  option redispatch
  retries 2
frontend ready
  bind %[1]s:%[2]s
  default_backend ready
backend ready
  balance roundrobin
  option httpchk GET /readyz
  default-server check inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
%[4]sfrontend any
  bind %[1]s:%[3]s
  default_backend any
backend any
  balance roundrobin
  default-server check inter 500ms fall 2 rise 1
%[5]s`, l.addrs[Players], readyPort, anyPort, ready.String(), all.String()))
}

// start starts a program on its machine, until the test ends.
func (l *lab) start(name, path string, args ...string) {
	l.t.Helper()
	file, err := exec.LookPath(path)
	if err != nil {
		file, err = exec.LookPath(filepath.Join(goPath(), "bin", path))
	}
	if err != nil {
		l.t.Fatalf("%v: bash .ci/install", err)
	}
	p := &program{lab: l, name: name, args: append([]string{"netns", "exec", l.prefix + name, file}, args...)}
	if p.log, err = os.OpenFile(filepath.Join(l.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.programs[name] = p
	p.mu.Lock()
	p.up()
	p.mu.Unlock()
	l.t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over = true
		p.cmd.Process.Signal(syscall.SIGCONT)
		p.cmd.Process.Kill()
		<-p.done
		p.log.Close()
		if l.t.Failed() && name != Players { // the proxy tells of every fault
			l.t.Logf("%s printed:\n%s", name, l.printed(name))
		}
	})
}

func goPath() string {
	out, _ := exec.Command("go", "env", "GOPATH").Output()
	return strings.TrimSpace(string(out))
}

func (p *program) up() {
	p.cmd = exec.Command("ip", p.args...)
	home := filepath.Join(p.lab.dir, p.name+".home")
	p.cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	done := make(chan struct{})
	p.done = done
	if err := p.cmd.Start(); err != nil {
		p.lab.t.Errorf("%s: %v", p.name, err)
		close(done)
		return
	}
	go func(cmd *exec.Cmd) {
		cmd.Wait()
		close(done)
		time.Sleep(restartPause)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.cmd == cmd && !p.over { // it ended by itself
			p.up()
		}
	}(p.cmd)
}

// tell records an event.
func (l *lab) tell(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.At = time.Since(l.began)
	l.history = append(l.history, e)
}

// events returns the events so far.
func (l *lab) events() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.history)
}

// longestGoodbye is how long a program may take to shut down. A host should take 5 seconds, and
// NATS servers hand their leaderships on first.
const longestGoodbye = 20 * time.Second

// strike causes a fault, and returns when it is over.
func (l *lab) strike(f Fault) {
	on := slices.Clone(f.On)
	for i, name := range on {
		if name == Leader {
			if on[i] = l.leader("muster-rooms"); on[i] == "" {
				on[i] = l.machines.NATS[0]
			}
		}
	}
	for _, name := range on {
		if p := l.programs[name]; f.Do != Cut {
			p.mu.Lock()
			defer p.mu.Unlock()
		}
	}
	l.tell(Event{Kind: Struck, Who: strings.Join(on, " "), Text: f.String()})
	switch f.Do {
	case Kill, Term:
		for _, name := range on {
			p := l.programs[name]
			if f.Do == Kill {
				p.cmd.Process.Kill()
				<-p.done
				continue
			}
			asked := time.Now()
			p.cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-p.done:
			case <-time.After(longestGoodbye):
				p.cmd.Process.Signal(syscall.SIGQUIT) // it prints what it waits for
				time.Sleep(time.Second)
				l.t.Errorf("%s has not ended after %v", name, longestGoodbye)
				p.cmd.Process.Kill()
				<-p.done
			}
			l.tell(Event{Kind: "ended", Who: name, Text: time.Since(asked).String()})
		}
		time.Sleep(f.For)
		for _, name := range on {
			l.programs[name].up()
		}
	case Stop:
		for _, name := range on {
			l.programs[name].cmd.Process.Signal(syscall.SIGSTOP)
		}
		time.Sleep(f.For)
		for _, name := range on {
			l.programs[name].cmd.Process.Signal(syscall.SIGCONT)
		}
	case Flip, Tear, Empty:
		l.damage(l.programs[on[0]], f)
	case Cut:
		l.cut("add", f)
		time.Sleep(f.For)
		l.cut("delete", f)
	}
	l.tell(Event{Kind: Healed, Who: strings.Join(on, " "), Text: f.String()})
}

// cut adds or deletes a rule by which the switch drops packets. Two cuts may share a pair of
// machines, so each names its own.
func (l *lab) cut(verb string, f Fault) {
	var script strings.Builder
	chain := fmt.Sprintf("at%d", f.At.Nanoseconds())
	if verb == "delete" {
		fmt.Fprintf(&script, "flush chain bridge cuts %s\ndelete chain bridge cuts %s\n", chain, chain)
	} else {
		fmt.Fprintf(&script, "add chain bridge cuts %s { type filter hook forward priority 0; }\n", chain)
		for _, a := range f.On {
			for _, b := range f.From {
				fmt.Fprintf(&script, "add rule bridge cuts %s ip saddr %s ip daddr %s drop\n", chain, l.addrs[a], l.addrs[b])
				fmt.Fprintf(&script, "add rule bridge cuts %s ip saddr %s ip daddr %s drop\n", chain, l.addrs[b], l.addrs[a])
			}
		}
	}
	if out, err := exec.Command("ip", "netns", "exec", l.prefix+"switch", "nft", script.String()).CombinedOutput(); err != nil {
		l.t.Errorf("nft: %v\n%s", err, out)
	}
}

// leader returns the NATS server that leads a stream with such a name, or all of JetStream if the
// name is empty.
func (l *lab) leader(stream string) string {
	for _, name := range l.machines.NATS {
		client := l.client()
		client.Timeout = time.Second
		reply, err := client.Get("http://" + net.JoinHostPort(l.addrs[name], monitorPort) + "/jsz?accounts=true&streams=true")
		if err != nil {
			continue
		}
		var told struct {
			Meta struct {
				Leader string `json:"leader"`
			} `json:"meta_cluster"`
			Accounts []struct {
				Streams []struct {
					Name    string `json:"name"`
					Cluster struct {
						Leader string `json:"leader"`
					} `json:"cluster"`
				} `json:"stream_detail"`
			} `json:"account_details"`
		}
		text, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if err != nil || json.Unmarshal(text, &told) != nil {
			continue
		}
		if stream == "" {
			return told.Meta.Leader
		}
		for _, account := range told.Accounts {
			for _, s := range account.Streams {
				if strings.HasPrefix(s.Name, stream) && s.Cluster.Leader != "" {
					return s.Cluster.Leader
				}
			}
		}
	}
	return ""
}

// client sends requests from the players' machine, over a new connection each time.
func (l *lab) client() *http.Client {
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: true}}
}

// dial opens a connection from the players' machine.
func (l *lab) dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	done := make(chan struct{})
	go func() { // its thread has changed namespaces, and ends with it
		defer close(done)
		runtime.LockOSThread()
		var file *os.File
		if file, err = os.Open("/run/netns/" + l.prefix + Players); err != nil {
			return
		}
		defer file.Close()
		if err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err == nil {
			conn, err = (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, network, address)
		}
	}()
	<-done
	return conn, err
}
