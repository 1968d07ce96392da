package home

import (
	"net"
	"testing"
)

// TestListenElsewhere checks that Home opens although another program has its port.
func TestListenElsewhere(t *testing.T) {
	first, err := Listen("0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	_, port, err := net.SplitHostPort(first.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	second, err := Listen(port)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if at := second.Addr().(*net.TCPAddr); !at.IP.IsLoopback() || at.String() == first.Addr().String() {
		t.Errorf("the second is at %v, the first at %v", at, first.Addr())
	}
}
