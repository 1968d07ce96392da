package master_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"muster/discovery/lists/master"
)

// Linux reports ICMP's refusal to a connected socket: no need to wait.
func TestFetchFromAClosedPort(t *testing.T) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	at := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	conn.Close()
	_, err = master.Client{}.Fetch(t.Context(), ask(at, "a"))
	want := "master: no master answers: " + at.String() + ": connection refused"
	if !errors.Is(err, syscall.ECONNREFUSED) || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}
