package prober

import (
	"net/netip"
	"testing"
)

// The kernel stamps a datagram after it was sent and before it is read.
func TestSocketsKernelStamp(t *testing.T) {
	s, err := openSockets(netip.MustParseAddr("127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	sent, err := s.send([]byte("to myself"), s.addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	d := <-s.received()
	if d.at.kernel < sent || d.at.kernel >= d.at.read {
		t.Errorf("sent at %v, stamped at %v, read at %v", sent, d.at.kernel, d.at.read)
	}
}

// A sock_extended_err as the kernel lays it out: errno, origin, type, code.
func TestIsPortUnreachable(t *testing.T) {
	tests := []struct {
		name               string
		errno              byte
		origin, kind, code byte
		want               bool
	}{
		{"port unreachable", 111, 2, 3, 3, true},
		{"protocol unreachable", 92, 2, 3, 2, true},
		{"host unreachable may pass", 113, 2, 3, 1, false},
		{"filtered may pass", 113, 2, 3, 13, false},
		{"time exceeded", 113, 2, 11, 0, false},
		{"IPv6 port unreachable", 111, 3, 1, 4, true},
		{"IPv6 no route", 101, 3, 1, 0, false},
		{"an error of this machine", 111, 1, 3, 3, false},
		{"no error", 0, 2, 3, 3, false},
	}
	for _, test := range tests {
		data := make([]byte, 16)
		data[0], data[3] = test.errno, test.errno // whichever end is first
		data[4], data[5], data[6] = test.origin, test.kind, test.code
		if got := isPortUnreachable(data); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func TestStampIgnoresRubbish(t *testing.T) {
	for _, control := range [][]byte{nil, {1}, make([]byte, 15), make([]byte, 16), make([]byte, 64)} {
		if got := stamp(control); got != 0 {
			t.Errorf("%d bytes of control messages hold the stamp %d", len(control), got)
		}
	}
}
