package prober

import (
	"net/netip"
	"sync"
	"time"
)

// arrival is when a datagram came, on the prober's monotonic clock.
type arrival struct {
	kernel time.Duration // when the kernel took it, where that is known
	read   time.Duration // when the reader had it
}

// since is the time from a query to the arrival. A kernel time before the query
// is a broken stamp: the reader's time is late, but true.
func (a arrival) since(sent time.Duration) time.Duration {
	if a.kernel < sent {
		return a.read - sent
	}
	return a.kernel - sent
}

// maxAge is the longest that a datagram can have waited for its reader.
const maxAge = 10 * time.Second

// age is how long a datagram waited between the kernel's stamp and the reading
// of the clock (both in nanoseconds of the real-time clock, stamp 0: none).
//
// Only this short difference is taken on the clock that may be set; everything
// else is monotonic. So a clock step matters only within it, where it shows as
// a negative or absurd age, and then the stamp is not believed.
func age(now, stamp int64) time.Duration {
	age := time.Duration(now - stamp)
	if stamp == 0 || age < 0 || age > maxAge {
		return 0
	}
	return age
}

// datagram is what a reader hands over.
type datagram struct {
	// peer sent it; of an ICMP error, it is whom we had asked.
	peer netip.AddrPort
	at   arrival
	// refused: it is an ICMP error, and body is what that quotes of our query.
	refused bool
	body    []byte
}

// usualBody has room for what game servers send; the few larger bodies are not
// reused.
const usualBody = 2048

// datagrams is where datagrams are taken from and given back.
type datagrams struct{ pool sync.Pool }

func (s *datagrams) take(body []byte) *datagram {
	d, ok := s.pool.Get().(*datagram)
	if !ok {
		d = &datagram{body: make([]byte, 0, usualBody)}
	}
	d.body = append(d.body[:0], body...)
	return d
}

func (s *datagrams) give(d *datagram) {
	if cap(d.body) == usualBody {
		s.pool.Put(d)
	}
}
