//go:build linux

package program_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// network is machines that reach one another and nothing else. Each is a network namespace, and its name is that of the
// namespace. The router's ports are what the others are plugged into.
type network struct {
	t        *testing.T
	router   string
	machines int
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{t: t}
	n.router = n.namespace("router")
	n.in(n.router, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")
	return n
}

// namespace creates a machine.
func (n *network) namespace(kind string) string {
	n.t.Helper()
	n.machines++
	name := fmt.Sprintf("muster-%s-%d-%d-%d", kind, os.Getpid(), time.Now().UnixNano()%1e6, n.machines)
	n.run("ip", "netns", "add", name)
	n.t.Cleanup(func() { n.run("ip", "netns", "del", name) })
	n.in(name, "ip", "link", "set", "lo", "up")
	return name
}

// plug connects a machine's card to a port of the router.
func (n *network) plug(machine, card, port, addr string) {
	n.t.Helper()
	n.in(n.router, "ip", "link", "add", port, "type", "veth", "peer", "name", card, "netns", machine)
	n.in(machine, "ip", "addr", "add", addr, "dev", card)
	n.in(machine, "ip", "link", "set", card, "up")
}

func (n *network) run(name string, args ...string) {
	n.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		n.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// in runs a program on a machine to its end.
func (n *network) in(machine, name string, args ...string) {
	n.t.Helper()
	n.run("ip", append([]string{"netns", "exec", machine, name}, args...)...)
}

// start runs a program on a machine until the test ends, and types lines.
func (n *network) start(machine, name, typed string, cmd *exec.Cmd) *process {
	n.t.Helper()
	wrapped := exec.Command("ip", append([]string{"netns", "exec", machine}, cmd.Args...)...)
	wrapped.Env, wrapped.Stdin = cmd.Env, strings.NewReader(typed)
	return start(n.t, name, wrapped)
}

// client returns a client that connects from a machine. It asks a host that may be frozen again and again.
func client(machine string) *http.Client {
	return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (conn net.Conn, err error) {
			done := make(chan struct{})
			go func() { // its thread has changed namespaces, and ends with it
				defer close(done)
				runtime.LockOSThread()
				if err = enter(machine); err == nil {
					conn, err = new(net.Dialer).DialContext(ctx, network, address)
				}
			}()
			<-done
			return conn, err
		},
	}}
}

// enter moves the current thread into a machine's network namespace.
func enter(machine string) error {
	file, err := os.Open("/run/netns/" + machine)
	if err != nil {
		return err
	}
	defer file.Close()
	return unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
}
