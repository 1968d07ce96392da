package netfab

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Net is a fabric of real packets between network namespaces. It needs root, and
// ip(8).
type Net struct {
	began time.Time
	wake  chan struct{}
	// alarm is a timer of the kernel. A timer of Go's may be a millisecond late in an idle process.
	alarm *os.File
	work  sync.WaitGroup
	stop  chan struct{}

	mu       sync.Mutex // guards the fields below
	fabric   *Fabric
	machines []*Machine
}

// Machine is a network namespace with one interface, which leads into the fabric.
type Machine struct {
	// Namespace is its name for ip(8).
	Namespace string
	number    int
	tun       *os.File
	addrs     []netip.Prefix
}

// Missing returns an error with what a [Net] needs and this process lacks, or nil.
func Missing() error {
	_, noIP := exec.LookPath("ip")
	_, noTUN := os.Stat("/dev/net/tun")
	var noRoot error
	if os.Geteuid() != 0 {
		noRoot = errors.New("not root")
	}
	if err := errors.Join(noRoot, noIP, noTUN); err != nil {
		return fmt.Errorf("network namespaces need root, ip(8) and TUN: %w", err)
	}
	return nil
}

// Start drives a fabric in real time until it is closed.
func Start(f *Fabric) *Net {
	n := &Net{began: time.Now(), wake: make(chan struct{}, 1), stop: make(chan struct{}), fabric: f}
	if fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err == nil {
		n.alarm = os.NewFile(uintptr(fd), "timer")
		n.work.Go(n.ring)
	}
	n.work.Go(n.deliver)
	return n
}

// ring wakes the delivery when the alarm goes off.
func (n *Net) ring() {
	count := make([]byte, 8)
	for {
		if _, err := n.alarm.Read(count); err != nil {
			return // it was closed
		}
		n.wakeUp()
	}
}

// setAlarm sets the alarm to go off after some time. Packets are late without it, by a millisecond at most.
func (n *Net) setAlarm(after time.Duration) {
	raw, err := n.alarm.SyscallConn()
	if err != nil {
		return
	}
	once := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, after.Nanoseconds()))} // 0 would turn it off
	_ = raw.Control(func(fd uintptr) { _ = unix.TimerfdSettime(int(fd), 0, &once, nil) })
}

func (n *Net) wakeUp() {
	select {
	case n.wake <- struct{}{}:
	default: // it is awake
	}
}

// device is the interface's name in each namespace.
const device = "fab0"

// Add makes a machine at a site. All addresses of a prefix are its own. The name must be unused on
// this system.
func (n *Net) Add(site int, name string, prefixes ...netip.Prefix) (*Machine, error) {
	m := &Machine{Namespace: name, addrs: prefixes}
	if err := ip("netns", "add", name); err != nil {
		return nil, err
	}
	if err := m.plug(); err != nil {
		return nil, errors.Join(err, m.remove())
	}
	n.mu.Lock()
	m.number = n.fabric.AddMachine(site, prefixes...)
	n.machines = append(n.machines, m)
	n.mu.Unlock()
	n.work.Go(func() { n.read(m) })
	return m, nil
}

// plug makes the interface inside the namespace.
func (m *Machine) plug() error {
	err := m.Inside(func() (err error) {
		m.tun, err = openTUN(device)
		return err
	})
	if err != nil {
		return fmt.Errorf("netfab: %s: %w", m.Namespace, err)
	}
	for _, link := range []string{"lo", device} {
		if err := ip("-n", m.Namespace, "link", "set", link, "up"); err != nil {
			return err
		}
	}
	return m.address("add", m.addrs)
}

// address adds or deletes addresses, and the default routes of their families.
func (m *Machine) address(verb string, prefixes []netip.Prefix) error {
	var errs []error
	for _, p := range prefixes {
		args := []string{"-n", m.Namespace, "addr", verb, p.String(), "dev", device}
		if p.Addr().Is6() {
			args = append(args, "nodad")
		}
		if !p.IsSingleIP() {
			args = []string{"-n", m.Namespace, "route", verb, "local", p.String(), "dev", "lo"}
		}
		errs = append(errs, ip(args...))
		if verb == "add" {
			errs = append(errs, ip("-n", m.Namespace, family(p), "route", "replace", "default", "dev", device))
		}
	}
	return errors.Join(errs...)
}

func family(p netip.Prefix) string {
	if p.Addr().Is6() {
		return "-6"
	}
	return "-4"
}

// Renumber gives a machine other addresses.
func (n *Net) Renumber(m *Machine, prefixes ...netip.Prefix) error {
	n.mu.Lock()
	n.fabric.Renumber(m.number, prefixes...)
	n.mu.Unlock()
	old := m.addrs
	m.addrs = prefixes
	return errors.Join(m.address("del", old), m.address("add", prefixes))
}

// Change changes the fabric while nothing else uses it.
func (n *Net) Change(change func(f *Fabric, now time.Duration)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(n.fabric, time.Since(n.began))
}

// Close removes the machines. Programs on them lose their network.
func (n *Net) Close() error {
	close(n.stop)
	_ = n.alarm.Close()
	n.mu.Lock()
	machines := n.machines
	n.mu.Unlock()
	var errs []error
	for _, m := range machines {
		errs = append(errs, m.remove())
	}
	n.work.Wait()
	return errors.Join(errs...)
}

func (m *Machine) remove() error {
	var err error
	if m.tun != nil {
		err = m.tun.Close()
	}
	return errors.Join(err, ip("netns", "del", m.Namespace))
}

// Inside runs do on a thread that sees the machine's network. Sockets that do opens by itself,
// without further goroutines, stay on the machine.
func (m *Machine) Inside(do func() error) error {
	result := make(chan error)
	go func() { // its thread has changed namespaces, and ends with it
		runtime.LockOSThread()
		result <- func() error {
			namespace, err := os.Open("/run/netns/" + m.Namespace)
			if err != nil {
				return err
			}
			defer func() { _ = namespace.Close() }()
			if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
				return err
			}
			return do()
		}()
	}()
	return <-result
}

// Command returns a command for a program on the machine.
func (m *Machine) Command(program string, args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", m.Namespace, program}, args...)...)
}

// longestPacket is what IP allows, in bytes.
const longestPacket = 65535

// read reads the packets that a machine sends.
func (n *Net) read(m *Machine) {
	buf := make([]byte, longestPacket)
	for {
		length, err := m.tun.Read(buf)
		if err != nil {
			return // it was closed
		}
		packet := append([]byte(nil), buf[:length]...)
		n.Change(func(f *Fabric, now time.Duration) { f.Send(m.number, packet, now) })
		n.wakeUp()
	}
}

// deliver hands over each packet when it is due.
func (n *Net) deliver() {
	for {
		var due []Delivery
		wait := time.Hour // until wake ends it
		n.Change(func(f *Fabric, now time.Duration) {
			for d, ok := f.Due(now); ok; d, ok = f.Due(now) {
				due = append(due, d)
			}
			if at, ok := f.Next(); ok {
				wait = at - now
			}
		})
		for _, d := range due {
			n.mu.Lock()
			to := n.machines[d.Machine]
			n.mu.Unlock()
			_, _ = to.tun.Write(d.Packet) // a machine that is gone receives nothing
		}
		n.setAlarm(wait)
		select {
		case <-n.wake:
		case <-time.After(wait):
		case <-n.stop:
			return
		}
	}
}

// openTUN makes an interface for IP packets in the thread's namespace. Closing it removes it.
func openTUN(name string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/net/tun: %w", err)
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("interface %s: %w", name, err), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "tun "+name), nil // pollable only now that it has an interface
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
