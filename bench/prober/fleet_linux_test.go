// Package prober measures how exact the prober is, and what it costs, against a fleet in a process of its own.
package prober

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The benchmarks measure against a fleet in a separate process, so that its processor
// time and its memory do not count as the prober's. That process is this test binary,
// started with roleEnv set. It speaks enough Quake 3 for the prober and for QStat.
const roleEnv = "MUSTER_PROBER_BENCH"

func TestMain(m *testing.M) {
	role, arg, _ := strings.Cut(os.Getenv(roleEnv), " ")
	switch role {
	case "fleet":
		runFleet(arg)
	case "talkers":
		runTalkers()
	case "hog":
		go func() { io.Copy(io.Discard, os.Stdin); os.Exit(0) }()
		for n := uint64(1); n != 0; n++ { // some centuries
		}
	default:
		os.Exit(m.Run())
	}
}

// companion starts this binary in a role and ends it with the benchmark.
func companion(b *testing.B, role string) *bufio.Reader {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	return bufio.NewReader(out)
}

// startFleet returns the port on which all of 127.0.0.0/8 answers. Shares are in
// percent: of dead servers, of lost packets.
func startFleet(b *testing.B, dead, loss int) uint16 {
	b.Helper()
	line, err := companion(b, fmt.Sprintf("fleet %d,%d", dead, loss)).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	port, err := strconv.ParseUint(strings.TrimSpace(line), 10, 16)
	if err != nil {
		b.Fatal(err)
	}
	return uint16(port)
}

func fleetServer(i int, port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, byte(16 + i>>16), byte(i >> 8), byte(i)}), port)
}

// truth returns the RTT of a server, 20 to 180 ms, and a number that decides on its
// death. It is a function of the address alone.
func truth(ip [4]byte) (rtt time.Duration, lot uint32) {
	h := binary.BigEndian.Uint32(ip[:]) * 2654435761
	h ^= h >> 15
	h *= 2246822519
	h ^= h >> 13
	return 20*time.Millisecond + time.Duration(h%160_000)*time.Microsecond, h / 160_000 % 100
}

// order is a reply that is due.
type order struct {
	due, came int64 // nanoseconds of the real-time clock
	client    unix.RawSockaddrInet4
	server    [4]byte
	status    bool // getstatus, else getinfo
	challenge [32]byte
	length    int
}

// fleet answers as every 127.a.b.c from one socket on one thread. IP_PKTINFO tells the
// address that a query was for, and makes the reply come from there.
type fleet struct {
	fd         int
	dead, loss int
	orders     []order // a heap, the next due first
	in, out    [2048]byte
	control    [128]byte
}

func runFleet(arg string) {
	f := &fleet{orders: make([]order, 0, 1<<17)}
	fmt.Sscanf(arg, "%d,%d", &f.dead, &f.loss)
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	go func() { io.Copy(io.Discard, os.Stdin); os.Exit(0) }()
	f.open()
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	priority := int32(5)
	unix.RawSyscall(unix.SYS_SCHED_SETSCHEDULER, 0, unix.SCHED_FIFO, uintptr(unsafe.Pointer(&priority)))
	for {
		f.wait()
		for f.receive() {
		}
		for len(f.orders) > 0 && f.orders[0].due <= wall() {
			f.reply(f.pop())
		}
	}
}

func (f *fleet) open() {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		panic(err)
	}
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<20)
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 4<<20)
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
	if err := unix.Bind(fd, &unix.SockaddrInet4{}); err != nil {
		panic(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		panic(err)
	}
	f.fd = fd
	fmt.Println(name.(*unix.SockaddrInet4).Port)
}

func wall() int64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_REALTIME, &ts)
	return ts.Nano()
}

// wait sleeps until a query comes or a reply is due. It makes a raw system call,
// because an ordinary one would give the thread's place in Go's scheduler to others.
func (f *fleet) wait() {
	left := int64(time.Second)
	if len(f.orders) > 0 {
		left = max(0, f.orders[0].due-wall())
	}
	ts := unix.NsecToTimespec(left)
	poll := unix.PollFd{Fd: int32(f.fd), Events: unix.POLLIN}
	unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
}

// message describes buffers to recvmsg and sendmsg.
func message(peer *unix.RawSockaddrInet4, iov *unix.Iovec, control []byte) unix.Msghdr {
	m := unix.Msghdr{Name: (*byte)(unsafe.Pointer(peer)), Namelen: unix.SizeofSockaddrInet4, Iov: iov, Control: &control[0]}
	m.SetIovlen(1)
	m.SetControllen(len(control))
	return m
}

// receive takes one query, if there is one.
func (f *fleet) receive() bool {
	var o order
	iov := unix.Iovec{Base: &f.in[0]}
	iov.SetLen(len(f.in))
	m := message(&o.client, &iov, f.control[:])
	n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(f.fd), uintptr(unsafe.Pointer(&m)), 0)
	if errno != 0 {
		return false
	}
	o.came = wall()
	for control := f.control[:m.Controllen]; len(control) > 0; {
		header, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			break
		}
		switch {
		case header.Level == unix.SOL_SOCKET && header.Type == unix.SO_TIMESTAMPNS:
			o.came = (*unix.Timespec)(unsafe.Pointer(&data[0])).Nano()
		case header.Level == unix.IPPROTO_IP && header.Type == unix.IP_PKTINFO:
			o.server = [4]byte(data[8:12]) // ipi_addr
		}
		control = rest
	}
	f.accept(o, f.in[:n])
	return true
}

func (f *fleet) accept(o order, query []byte) {
	const head = len("\xff\xff\xff\xffgetinfo")
	rtt, lot := truth(o.server)
	if len(query) < head || int(lot) < f.dead || rand.IntN(100) < f.loss {
		return
	}
	o.status = string(query[4:head]) == "getstat"
	for _, c := range query[head:] {
		if c > ' ' && o.length < len(o.challenge) {
			o.challenge[o.length] = c
			o.length++
		}
	}
	if o.status {
		o.length = 0
	}
	o.due = o.came + int64(rtt)
	f.push(o)
}

// reply adds to a server's answer when the query came and how long it was held, both in
// nanoseconds.
func (f *fleet) reply(o order) {
	b := append(f.out[:0], "\xff\xff\xff\xffinfoResponse\n"...)
	if o.status {
		b = append(f.out[:0], "\xff\xff\xff\xffstatusResponse\n"...)
	}
	b = append(b, `\hostname\arena\mapname\oa_dm1\clients\3\g_humanplayers\2\sv_maxclients\16\gametype\0\protocol\71`...)
	b = append(append(b, `\challenge\`...), o.challenge[:o.length]...)
	b = strconv.AppendInt(append(b, `\came\`...), o.came, 10)
	b = strconv.AppendInt(append(b, `\held\`...), wall()-o.came, 10)
	if o.status {
		b = append(b, "\n"...)
	}
	control := f.control[:unix.CmsgSpace(unix.SizeofInet4Pktinfo)]
	clear(control)
	header := (*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
	header.Level, header.Type = unix.IPPROTO_IP, unix.IP_PKTINFO
	header.SetLen(unix.CmsgLen(unix.SizeofInet4Pktinfo))
	copy(control[unix.CmsgLen(0)+4:], o.server[:]) // ipi_spec_dst
	iov := unix.Iovec{Base: &b[0]}
	iov.SetLen(len(b))
	m := message(&o.client, &iov, control)
	unix.RawSyscall(unix.SYS_SENDMSG, uintptr(f.fd), uintptr(unsafe.Pointer(&m)), 0)
}

func (f *fleet) push(o order) {
	f.orders = append(f.orders, o)
	h := f.orders
	for i := len(h) - 1; i > 0 && h[(i-1)/2].due > h[i].due; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

func (f *fleet) pop() order {
	h := f.orders
	top, last := h[0], len(h)-1
	h[0] = h[last]
	f.orders = h[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if h[child].due < h[least].due {
				least = child
			}
		}
		if least == i {
			return top
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
