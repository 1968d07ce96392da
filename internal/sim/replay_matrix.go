package sim

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/discovery"
)

// Matrix holds measured round trips between hosts, in milliseconds, such as
// PlanetLab's.
type Matrix [][]float64

// ReadMatrix reads a square matrix: a row a line, values in milliseconds
// separated by tabs or blanks.
func ReadMatrix(r io.Reader) (Matrix, error) {
	var m Matrix
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		row := make([]float64, len(fields))
		for i, field := range fields {
			ms, err := strconv.ParseFloat(field, 64)
			if err != nil || !(ms >= 0 && ms < math.MaxInt32) {
				return nil, fmt.Errorf("sim: row %d of the matrix: %q is no time in milliseconds", len(m)+1, field)
			}
			row[i] = ms
		}
		m = append(m, row)
	}
	for i, row := range m {
		if len(row) != len(m) {
			return nil, fmt.Errorf("sim: row %d of the matrix has %d values, want %d", i+1, len(row), len(m))
		}
	}
	return m, lines.Err()
}

// Transplant puts the servers of a list on the hosts of a matrix and looks at
// them from some of the hosts. What shares a prefix, an AS or a country tends to
// stand on the same host or on hosts near each other; which ones is random. So
// the list is real, and the RTTs are, but not that this server has that RTT.
func (m Matrix) Transplant(list []discovery.Server, from []int, silentShare float64, seed uint64) []*Vantage {
	t := &transplant{m: m, rng: rand.New(rand.NewPCG(seed, 0x6d6174)), sizes: make(map[string]int), hosts: make(map[any]int), pools: make(map[string][]int)}
	for _, s := range list {
		t.sizes[s.Country]++
	}
	vantages := make([]*Vantage, len(from))
	for i, client := range from {
		vantages[i] = &Vantage{Name: fmt.Sprintf("host %d", client), Servers: list, RTT: make([]time.Duration, len(list))}
	}
	for i, s := range list {
		host, dead := t.place(s), t.rng.Float64() < silentShare
		access := 0.4 * math.Pow(20, t.rng.Float64())
		for v, client := range from {
			vantages[v].RTT[i] = milliseconds(m[client][host] + access)
			if dead {
				vantages[v].RTT[i] = silent
			}
		}
	}
	return vantages
}

// transplant remembers on which host each network stands.
type transplant struct {
	m     Matrix
	rng   *rand.Rand
	sizes map[string]int // servers of each country
	hosts map[any]int
	pools map[string][]int // hosts of each country
}

// How likely it is that a network stands where the larger one does that it
// belongs to.
const (
	cellStays  = 0.75 // a /16 with its AS
	blockStays = 0.95 // a /24 with its /16
)

func (t *transplant) place(s discovery.Server) int {
	type cell struct {
		country string
		asn     uint32
	}
	prefix := func(bits int) netip.Prefix { p, _ := s.Addr.Addr().Prefix(bits); return p }
	home := t.host(cell{s.Country, s.ASN}, s.Country, -1, 0)
	block := t.host([2]any{cell{s.Country, s.ASN}, prefix(16)}, s.Country, home, cellStays)
	return t.host(prefix(24), s.Country, block, blockStays)
}

// host is where a network stands: with the larger one, or elsewhere in the
// country.
func (t *transplant) host(network any, country string, larger int, stays float64) int {
	at, ok := t.hosts[network]
	if !ok {
		at = larger
		if t.rng.Float64() >= stays {
			at = pick(t.pool(country), t.rng)
		}
		t.hosts[network] = at
	}
	return at
}

// pool is a host and those that are nearest to it, the more the larger the
// country is.
func (t *transplant) pool(country string) []int {
	pool, ok := t.pools[country]
	if !ok {
		anchor := t.rng.IntN(len(t.m))
		pool = make([]int, len(t.m))
		for i := range pool {
			pool[i] = i
		}
		slices.SortStableFunc(pool, func(a, b int) int { return cmp.Compare(t.m[anchor][a], t.m[anchor][b]) })
		pool = pool[:min(len(pool), 1+int(2*math.Log2(float64(1+t.sizes[country]))))]
		t.pools[country] = pool
	}
	return pool
}
