// Package freeport chooses ports for programs that tests start. Between the choice and the program's listening nobody gets
// such a port by chance: systems assign others.
package freeport

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
)

// The ports are above those of well-known services, and below those that Linux, macOS and Windows assign to sockets that
// ask for any.
const first, last = 10_000, 20_000

// chosen counts the ports that this process has chosen, so that none is given away twice.
var chosen atomic.Int64

// TCP returns a loopback address whose port is free. It never returns one twice.
func TCP(t testing.TB) string {
	t.Helper()
	return choose(t, func(at string) error {
		listener, err := net.Listen("tcp", at)
		if err == nil {
			err = listener.Close()
		}
		return err
	})
}

// UDP returns a loopback address whose port is free on all of the machine's addresses. It never returns one twice.
func UDP(t testing.TB) string {
	t.Helper()
	return choose(t, func(at string) error {
		_, port, err := net.SplitHostPort(at)
		if err != nil {
			return err
		}
		conn, err := net.ListenPacket("udp", ":"+port)
		if err == nil {
			err = conn.Close()
		}
		return err
	})
}

func choose(t testing.TB, try func(at string) error) (at string) {
	t.Helper()
	var err error
	begin := int64(os.Getpid()) * 97 // test programs that run at once begin at different ports
	for range last - first {
		at = fmt.Sprintf("127.0.0.1:%d", first+(begin+chosen.Add(1))%(last-first))
		if err = try(at); err == nil {
			return at
		}
	}
	t.Fatalf("no port is free: %v", err)
	return ""
}
