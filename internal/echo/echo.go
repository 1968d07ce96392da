// Package echo answers as a beacon does, on sockets, within bounds that hold whatever
// comes: so many answers a second to one network, so many in all, and the same memory.
//
//	question ──▶ is it one? ──▶ room in its network's bucket? ──▶ room in all? ──▶ answer
//	                │ no                  │ no                        │ no
//	                ▼                     ▼                           ▼
//	                           nothing, which is no longer
//
// A flood from one network empties that network's bucket alone, and the others are answered
// as before. Of one that comes from everywhere under forged names nobody can tell the
// others: what is left of the bound of all is shared by chance.
package echo

import (
	"context"
	"errors"
	"hash/maphash"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"muster/discovery/protocol/beacon"
)

// What a field of Bounds that is 0 means.
const (
	// DefaultEach is what one network is answered a second: ten rooms' players behind one
	// address ask at once, three times each.
	DefaultEach = 20
	// DefaultAll is what all are answered a second: 8 Mbit/s, of 64 bytes and their headers.
	DefaultAll = 10_000
)

const (
	// burst is for how long a bucket that was left alone answers at once.
	burst = 3 * time.Second
	// slots is how many buckets there are: networks that share one by chance share its
	// answers. They take 128 KiB.
	slots = 1 << 14
	// largest is more than a datagram that is read has.
	largest = 2048
	// household6 is how many bits of an IPv6 address are a household's network, which is
	// counted as one; of IPv4 it is the whole address.
	household6 = 56
	// mostFailures of a socket in a row are no errors about single datagrams any more.
	mostFailures = 1000
)

// Bounds are the answers a second to one network, and in all.
type Bounds struct{ Each, All int }

// Beacon answers. Its counts may be read while it does.
type Beacon struct {
	name   string
	bounds Bounds
	began  time.Time
	all    bucket
	around []bucket // by network
	seed   maphash.Seed

	// Answered and HeldBack count questions, and Strange what was none.
	Answered, HeldBack, Strange atomic.Uint64
}

// New is a beacon that calls its place by a name.
func New(name string, b Bounds) *Beacon {
	if b.Each <= 0 {
		b.Each = DefaultEach
	}
	if b.All <= 0 {
		b.All = DefaultAll
	}
	return &Beacon{name: beacon.Name(name), bounds: b, began: time.Now().Add(-burst), around: make([]bucket, slots), seed: maphash.MakeSeed()}
}

// Serve answers on a socket until ctx ends or the socket fails, and closes it. One Beacon is
// for one socket.
func (b *Beacon) Serve(ctx context.Context, conn *net.UDPConn) error {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer conn.Close()
	question, answer := make([]byte, largest), make([]byte, 0, beacon.QuestionLen)
	failures := 0
	for {
		n, from, err := conn.ReadFromUDPAddrPort(question)
		switch failures++; {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			failures = 0
		case errors.Is(err, net.ErrClosed), failures > mostFailures:
			return err
		default:
			continue // an ICMP error about an answer, or a datagram that is too long
		}
		answer = beacon.AppendAnswer(answer[:0], question[:n], b.name)
		switch {
		case len(answer) == 0:
			b.Strange.Add(1)
		case !b.allows(from.Addr(), time.Since(b.began)):
			b.HeldBack.Add(1)
		default:
			if _, err := conn.WriteToUDPAddrPort(answer, from); err == nil {
				b.Answered.Add(1)
			}
		}
	}
}

// allows reports whether a network may have one more answer.
func (b *Beacon) allows(from netip.Addr, now time.Duration) bool {
	from = from.Unmap().WithZone("")
	if from.Is6() {
		if network, err := from.Prefix(household6); err == nil {
			from = network.Addr()
		}
	}
	return b.around[maphash.Comparable(b.seed, from)%slots].take(now, b.bounds.Each) && b.all.take(now, b.bounds.All)
}

// bucket is up to when the answers that it may give are given, on the beacon's clock.
type bucket time.Duration

// take takes an answer out, if there is one left of so many a second.
func (b *bucket) take(now time.Duration, rate int) bool {
	given := max(time.Duration(*b), now-burst) + time.Second/time.Duration(rate)
	if given > now {
		return false
	}
	*b = bucket(given)
	return true
}
