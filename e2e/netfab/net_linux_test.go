package netfab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"
)

// start starts a fabric of real packets. If the system does not allow that, it skips the test, but
// in CI it fails it.
func start(t *testing.T, f *Fabric) *Net {
	t.Helper()
	n := Start(f)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := Missing(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return n
}

func add(t *testing.T, n *Net, site int, name string, list ...string) *Machine {
	t.Helper()
	m, err := n.Add(site, fmt.Sprintf("netfab-%s-%d", name, os.Getpid()), prefixes(list...)...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// listen opens a UDP socket on a machine.
func listen(t *testing.T, m *Machine, addr netip.AddrPort) (conn *net.UDPConn) {
	t.Helper()
	err := m.Inside(func() (err error) {
		conn, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(addr))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return conn
}

// dial connects from a machine.
func dial(m *Machine, network string, to netip.AddrPort) (conn net.Conn, err error) {
	err = m.Inside(func() (err error) {
		conn, err = net.DialTimeout(network, to.String(), time.Minute)
		return err
	})
	if err == nil {
		conn.SetDeadline(time.Now().Add(time.Minute))
	}
	return conn, err
}

// household returns ann's machine behind a router, and servers.
func household(t *testing.T, home Site) (n *Net, site int, ann, servers *Machine) {
	t.Helper()
	f := New(1, apart(20*ms))
	site, far := f.AddSite(home), f.AddSite(Site{Name: "far"})
	n = start(t, f)
	ann = add(t, n, site, "ann", "10.0.0.2/32", "2001:db8:1::2/128")
	servers = add(t, n, far, "servers", "198.18.0.0/24", "2001:db8:2::5/128")
	return n, site, ann, servers
}

// TestRealDatagrams checks that a datagram reaches a server with the router's address, that its
// answer comes back, and that a closed port refuses. The kernels find every checksum right.
func TestRealDatagrams(t *testing.T) {
	for _, mapping := range []Mapping{PerEndpoint, PerFlow, Symmetric} {
		t.Run(fmt.Sprint(mapping), func(t *testing.T) {
			_, _, ann, servers := household(t, Site{Name: "home", NAT: &NAT{Public: public, Mapping: mapping}})
			for _, at := range []string{"198.18.0.77:27960", "[2001:db8:2::5]:27960"} {
				addr := netip.MustParseAddrPort(at)
				conn := listen(t, servers, addr)
				asked, err := dial(ann, "udp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer asked.Close()
				began := time.Now()
				asked.Write([]byte("getinfo"))
				buf := make([]byte, 100)
				length, from, err := conn.ReadFromUDPAddrPort(buf)
				if err != nil || string(buf[:length]) != "getinfo" || addr.Addr().Is4() && from.Addr().Unmap() != public {
					t.Fatalf("the server read %q from %v, %v", buf[:length], from, err)
				}
				conn.WriteToUDPAddrPort([]byte("infoResponse"), from)
				if length, err = asked.Read(buf); err != nil || string(buf[:length]) != "infoResponse" {
					t.Fatalf("ann read %q, %v", buf[:length], err)
				}
				if took := time.Since(began); took < 40*ms {
					t.Errorf("there and back took %v, want 40ms and more", took)
				}
				conn.Close()
				asked.Write([]byte("getinfo"))
				if _, err := asked.Read(buf); !errors.Is(err, syscall.ECONNREFUSED) {
					t.Errorf("a closed port: %v, want refused", err)
				}
			}
		})
	}
}

// TestRealConnection sends a megabyte by TCP over a poor line. It loses, doubles and reorders
// packets, is slow, has a smaller MTU than the machines' own, and is down for a while.
func TestRealConnection(t *testing.T) {
	faulty := Line{Delay: 2 * ms, Jitter: ms, Loss: 0.01, Burst: 2, Duplicate: 0.02, Reorder: 0.02, Rate: 4 << 20, Queue: 64 << 10, MTU: 1300}
	n, site, ann, servers := household(t, Site{Name: "home", NAT: &NAT{Public: public, Mapping: Symmetric}, Up: faulty, Down: faulty})
	var listener net.Listener
	at := netip.MustParseAddrPort("198.18.0.1:7777")
	err := servers.Inside(func() (err error) {
		listener, err = net.Listen("tcp", at.String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	got := make(chan []byte, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		all, _ := io.ReadAll(conn)
		got <- all
	}()
	conn, err := dial(ann, "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	if _, err := conn.Write(want[:len(want)/2]); err != nil {
		t.Fatal(err)
	}
	n.Change(func(f *Fabric, now time.Duration) { f.Cut(site, now+300*ms) })
	if _, err := conn.Write(want[len(want)/2:]); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if all := <-got; !bytes.Equal(all, want) {
		t.Errorf("%d bytes came, want %d, the same", len(all), len(want))
	}
	n.Change(func(f *Fabric, _ time.Duration) {
		if c := f.Counts(site); c.Up.Lost == 0 || c.Down.Entered == 0 {
			t.Errorf("counts %+v: nothing was lost", c)
		}
	})
}

// TestRealRenumber checks that a machine is reached at its new address.
func TestRealRenumber(t *testing.T) {
	n, _, ann, servers := household(t, Site{Name: "home"})
	if err := n.Renumber(servers, prefixes("198.18.9.1/32")...); err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort("198.18.9.1:5")
	conn := listen(t, servers, at)
	asked, err := dial(ann, "udp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer asked.Close()
	asked.Write([]byte("x"))
	if _, _, err := conn.ReadFromUDPAddrPort(make([]byte, 9)); err != nil {
		t.Error(err)
	}
}
