// Package echo answers as a beacon does, on sockets. It bounds the answers a second to one network, the answers to all,
// and its memory, even under a flood.
//
//	question ──▶ is it one? ──▶ room in its network's bucket? ──▶ room in all? ──▶ answer
//	                │ no                  │ no                        │ no
//	                ▼                     ▼                           ▼
//	                           no answer
//
// A flood from one network empties only that network's bucket; the others get their answers as before. A flood under
// forged addresses from everywhere cannot be told from genuine questions, so chance shares what is left of the bound of
// all.
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

// These values apply where a field of Bounds is 0.
const (
	// DefaultEach is how many answers a second one network gets. The players of ten rooms may ask
	// at once from behind one address, and each asks three times.
	DefaultEach = 20
	// DefaultAll is how many answers a second all networks get: 8 Mbit/s, of 64 bytes and their headers.
	DefaultAll = 10_000
)

const (
	// burst is how much time's worth of answers an idle bucket gives at once.
	burst = 3 * time.Second
	// slots is how many buckets there are. Networks that share one by chance share its answers. All take 128 KiB.
	slots = 1 << 14
	// largest exceeds any datagram that counts as a question.
	largest = 2048
	// household6 is how many bits of an IPv6 address identify a household's network, which counts as one. IPv4 uses the
	// whole address.
	household6 = 56
	// maxFailures in a row are no longer errors about single datagrams: the socket is broken.
	maxFailures = 1000
)

// Bounds are how many answers a second one network gets, and all networks together.
type Bounds struct{ Each, All int }

// Beacon answers. Its counts may be read meanwhile.
type Beacon struct {
	name   string
	bounds Bounds
	began  time.Time
	all    bucket
	around []bucket // by network
	seed   maphash.Seed

	// Answered and HeldBack count questions. Strange counts everything else.
	Answered, HeldBack, Strange atomic.Uint64
}

// New returns a beacon that calls its place by a name.
func New(name string, b Bounds) *Beacon {
	if b.Each <= 0 {
		b.Each = DefaultEach
	}
	if b.All <= 0 {
		b.All = DefaultAll
	}
	return &Beacon{name: beacon.Name(name), bounds: b, began: time.Now().Add(-burst), around: make([]bucket, slots), seed: maphash.MakeSeed()}
}

// Serve answers on a socket until ctx ends or the socket fails, then closes it. One Beacon serves one socket.
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
		case errors.Is(err, net.ErrClosed), failures > maxFailures:
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

// bucket is when the answers given so far would be used up at the allowed rate, on the beacon's clock.
type bucket time.Duration

// take takes an answer out of the bucket, if one is left at this rate a second.
func (b *bucket) take(now time.Duration, rate int) bool {
	given := max(time.Duration(*b), now-burst) + time.Second/time.Duration(rate)
	if given > now {
		return false
	}
	*b = bucket(given)
	return true
}
