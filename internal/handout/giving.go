package handout

import (
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	// atOnce is how many programs are given at the same time: each may take all of the
	// line that the group measures by.
	atOnce = 16
	// leastRate is how fast a visitor has to take one, in bytes a second: 31 MB in ten
	// minutes, over the slowest line that plays. grace is for how long a line may stall.
	leastRate = 50_000
	grace     = 20 * time.Second
	// piece is how much is given at a time, in bytes.
	piece = 32 << 10
)

// shares are how many programs each network is given at the same time, by the length of
// its prefix in IPv4 and IPv6: nobody's network takes all of them.
var shares = [...]struct{ four, six, most int }{{32, 64, 2}, {24, 48, 4}, {16, 32, 8}}

// givings counts the programs that are being given. Its zero value is ready.
type givings struct {
	mu  sync.Mutex // guards following
	all int
	by  map[netip.Prefix]int
}

// begin counts a program that is given to an address, unless there are too many: then done
// is nil, and isOwn whether its own network has them.
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

// networksOf are the networks that an address counts for. Everybody on one's own network
// may have the program at once, and a tunnel's end on this machine stands for many.
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
		network, _ := a.Prefix(bits) // the lengths are right
		networks = append(networks, network)
	}
	return networks
}

// visitorAt is the address that a request comes from, as the host says.
func visitorAt(r *http.Request) netip.Addr {
	at, _ := netip.ParseAddrPort(r.RemoteAddr) // a test's has none
	return at.Addr()
}

// steady is an answer that ends when its reader takes less than leastRate for longer than
// grace, in all: whoever reads nothing keeps the program from others.
type steady struct {
	http.ResponseWriter
	line *http.ResponseController
	due  time.Time // of what comes next
}

func steadily(w http.ResponseWriter) *steady {
	return &steady{w, http.NewResponseController(w), time.Now().Add(grace)}
}

func (s *steady) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *steady) Write(b []byte) (n int, err error) {
	for err == nil && n < len(b) {
		part := b[n:min(len(b), n+piece)]
		if latest := time.Now().Add(grace); s.due.After(latest) { // haste earns no more than that
			s.due = latest
		}
		s.due = s.due.Add(time.Duration(len(part)) * time.Second / leastRate)
		s.line.SetWriteDeadline(s.due) // or it is a test's, and never late
		var written int
		written, err = s.ResponseWriter.Write(part)
		n += written
	}
	return n, err
}
