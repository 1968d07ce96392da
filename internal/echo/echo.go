// Package echo answers as a beacon does, on sockets: Muster's own questions, and the connectivity checks of browsers. It
// bounds the answers a second to one network, the answers to all, and its memory, even under a flood.
//
//	question ──▶ is it one? ──▶ room in its      ──▶ has a check  ──▶ room in the bucket ──▶ answer
//	                │           network's bucket?    its sum?         of all?
//	                │ no           │ no                 │ no             │ no
//	                ▼              ▼                    ▼                ▼
//	                                     no answer
//
// What is cheap comes first: the sums of a check and its answer cost more than all else together. A network that floods
// with checks costs none, because its bucket is empty. The bucket is charged after the check has proved genuine: rubbish
// under another's address takes no answers from them.
//
// A flood from one network empties only that network's bucket; the others get their answers as before. Many networks
// that flood together empty the bucket of all by half. From there on each network gets fewer, and those that ask most by
// far fewer: the others do not notice. A flood under forged addresses from everywhere cannot be told from genuine
// questions, so chance shares what is left.
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
	// slots is how many buckets there are of either kind. A network has one of each: while 1,000 flood, one of 280 others
	// shares both with them. All take 256 KiB.
	slots = 1 << 14
	// largest exceeds any datagram that counts as a question.
	largest = 2048
	// queue is how many bytes of datagrams may wait for the beacon. In a flood on a busy machine more would be lost with
	// less; with more the asker would take the wait for distance.
	queue = 2 << 20
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
	checks *checks
	plain  []byte // the answer to a question of Muster's own

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
	return &Beacon{name: beacon.Name(name), bounds: b, began: time.Now().Add(-burst), around: make([]bucket, 2*slots),
		seed: maphash.MakeSeed(), checks: newChecks(), plain: make([]byte, 0, beacon.QuestionLen)}
}

// Serve answers on a socket until ctx ends or the socket fails, then closes it. One Beacon serves one socket.
func (b *Beacon) Serve(ctx context.Context, conn *net.UDPConn) error {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer conn.Close()
	_ = conn.SetReadBuffer(queue) // the system's own is less, and does
	questions, answers := newBatch(conn, largest), newBatch(conn, 0)
	failures := 0
	for {
		n, err := questions.read()
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
		k, now := 0, time.Since(b.began)
		for _, q := range questions.messages[:n] {
			answer := b.answer(q.Buffers[0][:q.N], q.Addr.(*net.UDPAddr).AddrPort(), now)
			if len(answer) == 0 {
				continue
			}
			a := &answers.messages[k]
			a.Addr, a.Buffers[0] = q.Addr, append(a.Buffers[0][:0], answer...)
			k++
		}
		b.Answered.Add(uint64(answers.write(k)))
	}
}

// answer returns the answer to a datagram, which is valid until the next call, and counts it if there is none.
func (b *Beacon) answer(question []byte, from netip.AddrPort, now time.Duration) (answer []byte) {
	b.plain = beacon.AppendAnswer(b.plain[:0], question, b.name)
	isCheck := len(b.plain) == 0 && b.checks.reads(question)
	if len(b.plain) == 0 && !isCheck {
		b.Strange.Add(1)
		return nil
	}
	of := b.network(from.Addr())
	switch {
	case !of.hasRoom(now, b.each(of, now)): // before the check costs two sums
		b.HeldBack.Add(1)
	case isCheck && !b.checks.isGenuine():
		b.Strange.Add(1)
	case !b.take(of, now):
		b.HeldBack.Add(1)
	case isCheck:
		return b.checks.answers(from)
	default:
		return b.plain
	}
	return nil
}

func (b *Beacon) network(from netip.Addr) account {
	from = from.Unmap().WithZone("")
	if from.Is6() {
		if network, err := from.Prefix(household6); err == nil {
			from = network.Addr()
		}
	}
	sum := maphash.Comparable(b.seed, from)
	return account{&b.around[sum%slots], &b.around[slots+sum>>32%slots]}
}

// take takes one more answer for a network, if all networks' bucket has one for it, too.
func (b *Beacon) take(of account, now time.Duration) bool {
	of.take(now, b.each(of, now))
	given := b.all.after(now, b.bounds.All)
	if given > now {
		return false
	}
	b.all = bucket(given)
	return true
}

// each is how many answers a second a network gets at the moment. While all networks' bucket is half empty it is half of
// the usual, and an eighth for those whose own is half empty, too: so those that ask most do not empty the rest.
func (b *Beacon) each(of account, now time.Duration) int {
	half := now - burst/2
	switch isScarce := b.all.after(now, b.bounds.All) > half; {
	case isScarce && of.after(now, b.bounds.Each) > half:
		return max(1, b.bounds.Each/8)
	case isScarce:
		return max(1, b.bounds.Each/2)
	}
	return b.bounds.Each
}

// bucket is when the answers given so far would be used up at the allowed rate, on the beacon's clock.
type bucket time.Duration

// after returns what the bucket would be after one more answer, at this rate a second.
func (b bucket) after(now time.Duration, rate int) time.Duration {
	return max(time.Duration(b), now-burst) + time.Second/time.Duration(rate)
}

// account is a network's: two buckets, each shared by chance with other networks. Others can only have taken from a
// bucket, so the one with more answers left counts.
type account [2]*bucket

func (a account) after(now time.Duration, rate int) time.Duration {
	return min(a[0].after(now, rate), a[1].after(now, rate))
}

// hasRoom reports whether the network may have one more answer.
func (a account) hasRoom(now time.Duration, rate int) bool { return a.after(now, rate) <= now }

// take takes an answer.
func (a account) take(now time.Duration, rate int) {
	given := a.after(now, rate)
	for _, b := range a {
		*b = max(*b, bucket(given))
	}
}
