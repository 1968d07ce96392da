// Package delayed measures how exactly a line of peer/delayed holds packets.
package delayed

import (
	"encoding/binary"
	"flag"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"muster/discovery/sentence"
	"muster/peer/delayed"
)

var (
	lasting = flag.Duration("delayed-for", 2*time.Second, "how long a game lasts")
	held    = flag.Duration("delayed-by", 60*time.Millisecond, "what the line adds to a round trip")
)

// TestJitter sends 60 packets a second each way, and compares when the kernel has them at the other
// end with when they were due. It does the same without the line, to know the share of its own ends.
//
//	go -C bench test ./delayed -run TestJitter -v -delayed-for 5m
func TestJitter(t *testing.T) {
	server, game := open(t), open(t)
	_, _, ends := play(t, game, server, addrOf(server), 0)
	line, err := delayed.Open(addrOf(server), func(s sentence.Sentence) { t.Error("it tells of", s.Key) })
	if err != nil {
		t.Fatal(err)
	}
	line.SetDelay(*held)
	all, sent, share := play(t, game, server, line.Addr(), *held/2)
	at := func(share float64) time.Duration { return all[int(share*float64(len(all)-1))] }
	t.Logf("%d packets held %v: late by p50 %v, p99 %v, at most %v; %.1f %% of a core, and %.1f %% for the ends",
		len(all), *held/2, at(.5), at(.99), at(1), share-ends, ends)
	if len(all) != sent {
		t.Errorf("of %d packets %d came", sent, len(all))
	}
	if all[0] < 0 {
		t.Errorf("one came %v early", -all[0])
	}
	if *lasting >= time.Minute && (at(.5) > 200*time.Microsecond || at(.99) > time.Millisecond || share-ends > 10) {
		t.Error("that is not exact enough")
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

// play returns how late each packet between game and server was, in order, how many were sent, and
// how much of a core this program used meanwhile, in percent.
func play(t *testing.T, game, server *net.UDPConn, to netip.AddrPort, due time.Duration) (all []time.Duration, sent int, share float64) {
	_, _ = game.SetReadDeadline(time.Time{}), server.SetReadDeadline(time.Time{})
	say(t, game, to)
	_, back := hear(t, server) // the game, as the server sees it
	before := used(t)
	over := time.Now().Add(*lasting)
	late := make(chan []time.Duration, 2)
	go func() { late <- lateness(t, server, over, due) }()
	go func() { late <- lateness(t, game, over, due) }()
	for next := time.Now(); next.Before(over); next = next.Add(time.Second / 60) {
		time.Sleep(time.Until(next))
		say(t, game, to)
		time.Sleep(3 * time.Millisecond) // the server's frames are not the game's
		say(t, server, back)
		sent += 2
	}
	share = 100 * (used(t) - before).Seconds() / lasting.Seconds()
	all = append(<-late, <-late...)
	slices.Sort(all)
	return all, sent, share
}

// open opens a socket whose packets the kernel stamps on arrival.
func open(t *testing.T) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func addrOf(conn *net.UDPConn) netip.AddrPort { return conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// say sends the time.
func say(t *testing.T, conn *net.UDPConn, to netip.AddrPort) {
	b := binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixNano()))
	if _, err := conn.WriteToUDPAddrPort(append(b, make([]byte, 100)...), to); err != nil {
		t.Error(err)
	}
}

// hear returns how long a packet was under way, and its sender.
func hear(t *testing.T, conn *net.UDPConn) (time.Duration, netip.AddrPort) {
	b, control := make([]byte, 1500), make([]byte, 128)
	_, n, _, from, err := conn.ReadMsgUDPAddrPort(b, control)
	if err != nil {
		return -1, from
	}
	messages, err := syscall.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) == 0 {
		t.Error("a packet without a stamp", err)
		return -1, from
	}
	stamp := *(*unix.Timespec)(unsafe.Pointer(&messages[0].Data[0]))
	return time.Duration(stamp.Nano() - int64(binary.BigEndian.Uint64(b))), from
}

// lateness returns how late packets come until a second after the end.
func lateness(t *testing.T, conn *net.UDPConn, over time.Time, due time.Duration) (all []time.Duration) {
	_ = conn.SetReadDeadline(over.Add(time.Second))
	for {
		took, _ := hear(t, conn)
		if took < 0 {
			return all
		}
		all = append(all, took-due)
	}
}

// used returns the processor's time that this program has used.
func used(t *testing.T) time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
