package netfab

import (
	"container/list"
	"net/netip"
	"time"
)

// Mapping is how a router maps the packets of machines behind it.
type Mapping uint8

const (
	// PerEndpoint has one mapping for each inner address and port, and anybody may answer (RFC
	// 4787's endpoint-independent mapping and filtering).
	PerEndpoint Mapping = iota
	// PerFlow has a mapping for each partner, all with the inner port, and only the partner may
	// answer. Routers on Linux do so.
	PerFlow
	// Symmetric has a mapping and a public port for each partner.
	Symmetric
)

// Full is a router's behaviour when its table is full.
type Full uint8

const (
	// Evict drops the mapping that was idle longest.
	Evict Full = iota
	// Refuse drops packets that would need a new one.
	Refuse
)

// NAT is a router that translates IPv4 addresses.
type NAT struct {
	Public  netip.Addr
	Mapping Mapping
	// Room is how many mappings the router holds for everything except TCP, 0 without limit.
	Room int
	Full Full
	// Idle is the time without a packet from inside after which such a mapping ends. 0 is two
	// minutes, the least that RFC 4787 allows.
	Idle time.Duration
}

const (
	standardIdle = 2 * time.Minute
	// tcpIdle is for connections (RFC 5382).
	tcpIdle = 2*time.Hour + 4*time.Minute
	// firstSymmetric is the first port of symmetric mappings, and lastPort is the last of all.
	firstSymmetric = 20000
	lastPort       = 65535
)

// router is a NAT with its table.
type router struct {
	NAT
	outward map[inner]*list.Element
	inward  map[outer]*list.Element
	idle    list.List // of *mapping that Room limits, longest idle first
	next    uint16    // port of a symmetric mapping

	refused, evicted int
}

// inner and outer are the keys of a mapping. The partner is zero if any partner will do.
type inner struct {
	proto         byte
	machine, with netip.AddrPort
}

type outer struct {
	proto byte
	port  uint16
	with  netip.AddrPort
}

type mapping struct {
	inner inner
	outer outer
	used  time.Duration
}

func newRouter(n NAT) *router {
	if n.Idle == 0 {
		n.Idle = standardIdle
	}
	return &router{NAT: n, outward: map[inner]*list.Element{}, inward: map[outer]*list.Element{}, next: firstSymmetric}
}

// out translates a packet from a machine, and reports whether it may pass.
func (r *router) out(b []byte, now time.Duration) bool {
	h, ok := parse(b)
	if !ok || h.is6 || !h.whole { // it translates IPv4
		return false
	}
	if quoted, isError := h.quoted(b); isError {
		return r.outError(h, b, quoted, now)
	}
	if _, ok := h.portAt(b, source); !ok {
		return false
	}
	m := r.mapOut(r.key(h, b), now)
	if m == nil {
		return false
	}
	h.rewrite(b, source, netip.AddrPortFrom(r.Public, m.outer.port))
	return true
}

// in translates a packet from the internet, and reports whether it may pass.
func (r *router) in(b []byte, now time.Duration) bool {
	h, ok := parse(b)
	if !ok || h.is6 || !h.whole { // it translates IPv4
		return false
	}
	if quoted, isError := h.quoted(b); isError {
		return r.inError(h, b, quoted, now)
	}
	if _, ok := h.portAt(b, destination); !ok {
		return false
	}
	m := r.find(h.proto, h.port(b, destination), netip.AddrPortFrom(h.src, h.port(b, source)), now)
	if m == nil {
		return false
	}
	h.rewrite(b, destination, m.inner.machine)
	return true
}

func (r *router) key(h header, b []byte) inner {
	key := inner{proto: h.proto, machine: netip.AddrPortFrom(h.src, h.port(b, source))}
	if r.Mapping != PerEndpoint {
		key.with = netip.AddrPortFrom(h.dst, h.port(b, destination))
	}
	return key
}

// mapOut returns the mapping for a machine's packet, a new one if needed, or nil if there is no
// room.
func (r *router) mapOut(key inner, now time.Duration) *mapping {
	r.expire(now)
	if e := r.outward[key]; e != nil {
		m := e.Value.(*mapping)
		if isFresh(m, now, r.Idle) {
			m.used = now
			if key.proto != protoTCP {
				r.idle.MoveToBack(e)
			}
			return m
		}
		r.forget(e)
	}
	if key.proto != protoTCP && r.Room > 0 && r.idle.Len() >= r.Room {
		if r.Full == Refuse {
			r.refused++
			return nil
		}
		r.evicted++
		r.forget(r.idle.Front())
	}
	public, ok := r.choosePort(key)
	if !ok {
		r.refused++
		return nil
	}
	m := &mapping{inner: key, outer: public, used: now}
	e := &list.Element{Value: m}
	if key.proto != protoTCP {
		e = r.idle.PushBack(m)
	}
	r.outward[m.inner], r.inward[m.outer] = e, e
	return m
}

// choosePort finds a public port: the machine's own if it is free, or the next one.
func (r *router) choosePort(key inner) (outer, bool) {
	port := key.machine.Port()
	if r.Mapping == Symmetric {
		port = r.next
		r.next = after(r.next)
	}
	for range lastPort {
		o := outer{key.proto, port, key.with}
		if r.inward[o] == nil {
			return o, true
		}
		port = after(port)
	}
	return outer{}, false
}

func after(port uint16) uint16 {
	if port == lastPort {
		return firstSymmetric
	}
	return port + 1
}

// find returns the mapping to a public port for a partner's packet, or nil.
func (r *router) find(proto byte, port uint16, with netip.AddrPort, now time.Duration) *mapping {
	if r.Mapping == PerEndpoint {
		with = netip.AddrPort{}
	}
	e := r.inward[outer{proto, port, with}]
	if e == nil || !isFresh(e.Value.(*mapping), now, r.Idle) {
		return nil
	}
	return e.Value.(*mapping)
}

func isFresh(m *mapping, now, idle time.Duration) bool {
	if m.inner.proto == protoTCP {
		idle = tcpIdle
	}
	return now-m.used <= idle
}

// expire removes mappings that were idle too long.
func (r *router) expire(now time.Duration) {
	for e := r.idle.Front(); e != nil && !isFresh(e.Value.(*mapping), now, r.Idle); e = r.idle.Front() {
		r.forget(e)
	}
}

func (r *router) forget(e *list.Element) {
	m := e.Value.(*mapping)
	delete(r.outward, m.inner)
	delete(r.inward, m.outer)
	if m.inner.proto != protoTCP {
		r.idle.Remove(e)
	}
}

// These ICMP messages quote the packet that they are about (RFC 792).
const (
	sourceQuench     = 4
	timeExceeded     = 11
	parameterProblem = 12
)

// quoted returns the offset of the packet that an ICMP error is about.
func (h header) quoted(b []byte) (at int, isError bool) {
	if h.proto != protoICMP || len(b) < h.body+icmpLen {
		return 0, false
	}
	switch b[h.body] {
	case unreachable, sourceQuench, timeExceeded, parameterProblem:
		return h.body + icmpLen, true
	}
	return 0, false
}

// outError translates an ICMP error from a machine about a packet that it received.
func (r *router) outError(h header, b []byte, at int, now time.Duration) bool {
	q, ok := parse(b[at:])
	if !ok || q.is6 {
		return false
	}
	quote := b[at:]
	key := inner{proto: q.proto, machine: netip.AddrPortFrom(q.dst, q.port(quote, destination))}
	if r.Mapping != PerEndpoint {
		key.with = netip.AddrPortFrom(q.src, q.port(quote, source))
	}
	e := r.outward[key]
	if e == nil || !isFresh(e.Value.(*mapping), now, r.Idle) {
		return false
	}
	q.rewrite(quote, destination, netip.AddrPortFrom(r.Public, e.Value.(*mapping).outer.port))
	h.rewrite(b, source, netip.AddrPortFrom(r.Public, 0))
	sign(b[h.body:])
	return true
}

// inError translates an ICMP error about a packet that a machine sent.
func (r *router) inError(h header, b []byte, at int, now time.Duration) bool {
	q, ok := parse(b[at:])
	if !ok || q.is6 {
		return false
	}
	quote := b[at:]
	m := r.find(q.proto, q.port(quote, source), netip.AddrPortFrom(q.dst, q.port(quote, destination)), now)
	if m == nil {
		return false
	}
	q.rewrite(quote, source, m.inner.machine)
	h.rewrite(b, destination, netip.AddrPortFrom(m.inner.machine.Addr(), 0))
	sign(b[h.body:])
	return true
}

// sign computes the checksum of an ICMP message.
func sign(icmp []byte) {
	icmp[2], icmp[3] = 0, 0
	sum := sum16(icmp, 0)
	icmp[2], icmp[3] = byte(sum>>8), byte(sum)
}
