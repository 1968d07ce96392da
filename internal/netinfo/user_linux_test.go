package netinfo

import (
	"net"
	"net/netip"
	"os"
	"testing"
)

// TestUIDOf reads tables as the kernel of a little-endian machine writes them.
func TestUIDOf(t *testing.T) {
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	const four = head +
		"   0: 0100007F:1E61 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0000000000000000 100 0 0 10 0\n" +
		"   1: 0100007F:1E61 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0000000000000000 20 4 30 10 -1\n" +
		"   2: 0100007F:C350 0100007F:1E61 01 00000000:00000000 00:00000000 00000000  1001        0 3 1 0000000000000000 20 4 30 10 -1\n" +
		"   3: 0100007F:C351 0100007F:1E61 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0000000000000000 20 4 30 10 -1\n"
	const six = head +
		"   0: 00000000000000000000000001000000:C350 00000000000000000000000001000000:1E61 01 00000000:00000000 " +
		"00:00000000 00000000  1002        0 4 1 0000000000000000 20 4 30 10 -1\n" +
		"   1: 0000000000000000FFFF00000100007F:C352 0000000000000000FFFF00000100007F:1E61 01 00000000:00000000 " +
		"00:00000000 00000000  1003        0 5 1 0000000000000000 20 4 30 10 -1\n"
	for _, c := range []struct {
		table, client, server string
		uid                   int
		ok                    bool
	}{
		{four, "127.0.0.1:50000", "127.0.0.1:7777", 1001, true},
		{four, "[::ffff:127.0.0.1]:50000", "[::ffff:127.0.0.1]:7777", 1001, true},
		{four, "127.0.0.1:50001", "127.0.0.1:7777", 0, false}, // its opener has closed it
		{four, "127.0.0.1:50002", "127.0.0.1:7777", 0, false},
		{four, "127.0.0.1:50000", "127.0.0.1:7778", 0, false},
		{six, "[::1]:50000", "[::1]:7777", 1002, true},
		{six, "127.0.0.1:50002", "127.0.0.1:7777", 1003, true},
		{"nonsense\n1: : : 01 x\n0: 01:01 0:0 01 0 0 0 x\n", "127.0.0.1:50000", "127.0.0.1:7777", 0, false},
	} {
		uid, ok := uidOf(c.table, netip.MustParseAddrPort(c.client), netip.MustParseAddrPort(c.server))
		if uid != c.uid || ok != c.ok {
			t.Errorf("%s to %s is %d's, %v; want %d, %v", c.client, c.server, uid, ok, c.uid, c.ok)
		}
	}
}

// TestIsOwnUser checks that this program's connection to itself is the user's, and that a closed one is nobody's.
func TestIsOwnUser(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", at)
		if err != nil {
			t.Log(err) // this machine has no IPv6
			continue
		}
		defer listener.Close()
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		server, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		if !IsOwnUser(server.RemoteAddr(), server.LocalAddr()) {
			t.Errorf("uid %d is not the user", os.Getuid())
		}
		from := server.RemoteAddr()
		client.Close()
		server.Read(make([]byte, 1)) // wait for its end
		if IsOwnUser(from, server.LocalAddr()) {
			t.Error("a connection that is closed is the user's")
		}
	}
}
