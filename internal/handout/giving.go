package handout

import (
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	// atOnce bounds the programs given at the same time, since each may fill the line that the group measures over.
	atOnce = 16
	// minRate is how fast a visitor must read, in bytes a second: 31 MB in ten minutes, over the slowest line that
	// can play. grace is how long a line may stall.
	minRate = 50_000
	grace   = 20 * time.Second
	// piece is how much is written at a time, in bytes.
	piece = 32 << 10
)

// shares bounds the programs that one network is given at the same time, by prefix length in IPv4 and IPv6. So no
// network takes all of them.
var shares = [...]struct{ four, six, most int }{{32, 64, 2}, {24, 48, 4}, {16, 32, 8}}

// givings counts the programs being given. Its zero value is ready.
type givings struct {
	mu  sync.Mutex // guards the fields below
	all int
	by  map[netip.Prefix]int
}

// begin counts a program being given to an address. If there are too many, done is nil, and isOwn reports whether the
// visitor's own network has them.
func (g *givings) begin(to netip.Addr) (done func(), isOwn bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	networks := networksOf(to)
	for i, network := range networks {
		if g.by[network] >= shares[i].most {
			return nil, true
		}
	}
	if g.all >= atOnce {
		return nil, false
	}
	if g.by == nil {
		g.by = map[netip.Prefix]int{}
	}
	g.count(networks, 1)
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.count(networks, -1)
	}, false
}

func (g *givings) count(networks []netip.Prefix, n int) {
	g.all += n
	for _, network := range networks {
		if g.by[network] += n; g.by[network] == 0 {
			delete(g.by, network)
		}
	}
}

// networksOf returns the networks that an address counts for. There are none on the host's own network, where everyone
// may have the program at once, nor for a tunnel's end on this machine, which stands for many.
func networksOf(a netip.Addr) (networks []netip.Prefix) {
	a = a.Unmap().WithZone("")
	if !a.IsValid() || a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() {
		return nil
	}
	for _, share := range shares {
		bits := share.four
		if a.Is6() {
			bits = share.six
		}
		network, _ := a.Prefix(bits) // cannot fail: the lengths are valid
		networks = append(networks, network)
	}
	return networks
}

// visitorAt returns the address that a request comes from, according to the host.
func visitorAt(r *http.Request) netip.Addr {
	at, _ := netip.ParseAddrPort(r.RemoteAddr) // a test's request has none
	return at.Addr()
}

// steady is an answer that ends when its reader stays below minRate for more than grace in total. A reader who stalls
// would keep the program from others.
type steady struct {
	http.ResponseWriter
	line *http.ResponseController
	due  time.Time // the next piece's deadline
}

func steadily(w http.ResponseWriter) *steady {
	return &steady{w, http.NewResponseController(w), time.Now().Add(grace)}
}

func (s *steady) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *steady) Write(b []byte) (n int, err error) {
	for err == nil && n < len(b) {
		part := b[n:min(len(b), n+piece)]
		if latest := time.Now().Add(grace); s.due.After(latest) { // a fast start earns no more than grace
			s.due = latest
		}
		s.due = s.due.Add(time.Duration(len(part)) * time.Second / minRate)
		s.line.SetWriteDeadline(s.due) // fails only for a test's recorder, which is never late
		var written int
		written, err = s.ResponseWriter.Write(part)
		n += written
	}
	return n, err
}
