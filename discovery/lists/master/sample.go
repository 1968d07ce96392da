package master

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/hostport"
)

const (
	// perAddress is how many servers of a list may be at one address (IPv6: in one /64,
	// which is one customer's). The largest honest ones have some thirty.
	perAddress = 32
	// customerBits is the prefix length of one customer in IPv6.
	customerBits = 64
	// maxKept is how many entries are held while a list is read. Excess is cut at
	// once, and seldom.
	maxKept = 2 * discovery.MaxServers
)

// CutError is a warning: a list is longer than any honest one, and was cut so that all
// servers in it keep a fair share.
type CutError struct {
	// List is the master or file, empty if it is all of them together.
	List string
	// Addresses is how many addresses had more than 32 servers; 32 were taken of each.
	// Example is one of them.
	Addresses int
	Example   string
	// Networks reports that over [discovery.MaxServers] were left, and each network has
	// its share.
	Networks bool
}

func (e *CutError) Error() string {
	var parts []string
	if e.Addresses > 0 {
		whose := fmt.Sprintf("at %d addresses, such as %s", e.Addresses, e.Example)
		if e.Addresses == 1 {
			whose = "at " + e.Example
		}
		parts = append(parts, fmt.Sprintf("more than %d servers %s: only %d there are asked", perAddress, whose, perAddress))
	}
	if e.Networks {
		parts = append(parts, fmt.Sprintf("over %d servers in all: each network has a fair share of them", discovery.MaxServers))
	}
	if e.List == "" {
		return "master: the lists together have " + strings.Join(parts, ", and ")
	}
	return "master: " + e.List + " lists " + strings.Join(parts, ", and ")
}

// The levels that share out a list, from the coarsest.
const (
	bySource  = iota // the master or file: none crowds out another
	byBlock          // IPv4 /16, IPv6 /32
	byNetwork        // IPv4 /24, IPv6 /48
	byAddress        // IPv6 /64
	byServer
	levels
)

// place is the share that an entry counts towards, level by level. Equal numbers mean
// the same thing. They look random, so that their order prefers nobody.
type place [levels]uint64

// compare orders places level by level.
func (p *place) compare(q *place) int {
	for level := range p {
		if p[level] != q[level] {
			return cmp.Compare(p[level], q[level])
		}
	}
	return 0
}

// isBeside reports whether two places are in one group at a level: they share all
// coarser levels.
func (p *place) isBeside(q *place, level int) bool {
	for l := range level {
		if p[l] != q[l] {
			return false
		}
	}
	return true
}

// Families of addresses, above the bits of their prefixes.
const (
	familyV4   = 1 << 40
	familyName = 2 << 40
)

func placeOf(source int, addr netip.AddrPort) place {
	ip := addr.Addr()
	bytes := ip.As16()
	p := place{bySource: uint64(source)}
	if ip.Is4() {
		v4 := uint64(binary.BigEndian.Uint32(bytes[12:]))
		p[byBlock], p[byNetwork], p[byAddress], p[byServer] = familyV4|v4>>16, v4>>8, v4, uint64(addr.Port())
	} else {
		high, low := binary.BigEndian.Uint64(bytes[:8]), binary.BigEndian.Uint64(bytes[8:])
		p[byBlock], p[byNetwork], p[byAddress], p[byServer] = high>>32, high>>16, high, scramble(low)+uint64(addr.Port())
	}
	return p.scrambled()
}

// placeOfName returns the place of a server with a host name. A domain counts like a
// network of addresses.
func placeOfName(host string, port uint16) place {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	domain := strings.Join(labels[max(0, len(labels)-2):], ".")
	return place{byBlock: familyName, byNetwork: number(domain), byAddress: number(host), byServer: uint64(port)}.scrambled()
}

func (p place) scrambled() place {
	for i := range p {
		p[i] = scramble(p[i])
	}
	return p
}

// scramble is a permutation of the numbers without any visible order (the finalizer of
// SplitMix64).
func scramble(n uint64) uint64 {
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

func number(text string) (n uint64) {
	for _, c := range []byte(text) {
		n = scramble(n + uint64(c) + 1)
	}
	return n
}

// key identifies an entry.
type key interface {
	comparable
	// host is its address or name.
	host() string
}

// sample is a list of bounded length that is filled from a stream of any length: each
// entry once, in the order of the stream. The choice does not depend on that order, nor
// on how often an entry comes.
//
// It is the same 32 of each address. If these are more than [discovery.MaxServers], the
// sources take turns. Each source gives one entry of each of its blocks in turn, and so
// on down to the addresses.
//
// That works in bounded memory, because more entries never move an entry's turn
// forward: once out, it stays out.
type sample[K key, T any] struct {
	entries []sampled[K, T]
	index   map[K]int
	// full are the addresses with too many servers.
	full     map[[byServer]uint64]full
	networks bool // there were too many in all
}

// sampled is an entry of a sample.
type sampled[K key, T any] struct {
	key   K
	value T
	place place
	rank  int
	// free lifts the bound for its address.
	free, out bool
}

// full is an address with too many servers: those from a certain place on are out.
type full struct {
	from uint64
	name string
}

// add takes an entry, unless it is known. It returns a pointer to the entry's value, or
// nil if it is out. The pointer is valid until the next call.
func (s *sample[K, T]) add(key K, at place, free bool) *T {
	if i, known := s.index[key]; known {
		return &s.entries[i].value
	}
	if f, is := s.full[[byServer]uint64(at[:byServer])]; is && !free && at[byServer] >= f.from {
		return nil
	}
	if len(s.entries) == maxKept {
		s.cut()
	}
	if s.index == nil {
		s.index, s.full = make(map[K]int), make(map[[byServer]uint64]full)
	}
	s.index[key] = len(s.entries)
	if n := len(s.entries); n == cap(s.entries) { // append would copy long lists more often
		s.entries = slices.Grow(s.entries, min(max(n, 1), maxKept-n))
	}
	s.entries = append(s.entries, sampled[K, T]{key: key, place: at, free: free})
	return &s.entries[len(s.entries)-1].value
}

func (s *sample[K, T]) all() []T {
	s.cut()
	values := make([]T, 0, len(s.entries))
	for i := range s.entries {
		values = append(values, s.entries[i].value)
	}
	return values
}

// warnings returns the cuts, after all entries.
func (s *sample[K, T]) warnings(list string) []error {
	if len(s.full) == 0 && !s.networks {
		return nil
	}
	e := &CutError{List: list, Addresses: len(s.full), Networks: s.networks}
	for _, f := range s.full {
		if e.Example == "" || f.name < e.Example {
			e.Example = f.name
		}
	}
	return []error{e}
}

// cut drops the excess.
func (s *sample[K, T]) cut() {
	turns := make([]*sampled[K, T], len(s.entries))
	for i := range s.entries {
		turns[i] = &s.entries[i]
		turns[i].rank = 0
	}
	slices.SortFunc(turns, func(a, b *sampled[K, T]) int { return a.place.compare(&b.place) })
	rankInGroups(turns, byServer)
	turns = slices.DeleteFunc(turns, func(e *sampled[K, T]) bool {
		e.out = e.rank >= perAddress && !e.free
		if e.out {
			address := [byServer]uint64(e.place[:byServer])
			if f, known := s.full[address]; !known || e.place[byServer] < f.from {
				s.full[address] = full{e.place[byServer], e.key.host()}
			}
		}
		return e.out
	})
	if len(turns) > discovery.MaxServers {
		s.networks = true
		spare := make([]*sampled[K, T], len(turns))
		for level := byAddress; level >= bySource; level-- {
			sortByRank(turns, spare, level)
			rankInGroups(turns, level)
		}
		for _, e := range turns[discovery.MaxServers:] {
			e.out = true
		}
	}
	before := len(s.entries)
	s.entries = slices.DeleteFunc(s.entries, func(e sampled[K, T]) bool { return e.out })
	if len(s.entries) < before {
		clear(s.index)
		for i := range s.entries {
			s.index[s.entries[i].key] = i
		}
	}
}

// rankInGroups numbers the entries of each group at a level, in their order. Entries of
// a group must be adjacent.
func rankInGroups[K key, T any](turns []*sampled[K, T], level int) {
	for i, e := range turns {
		e.rank = 0
		if i > 0 && turns[i-1].place.isBeside(&e.place, level) {
			e.rank = turns[i-1].rank + 1
		}
	}
}

// sortByRank orders the entries of each group at a level. The first entries of all
// parts of the group come first, then the second ones, and so on. The parts of a group
// are in the order of their places, and each part in the order of its ranks. So
// counting the ranks is enough.
func sortByRank[K key, T any](turns, spare []*sampled[K, T], level int) {
	var from []int // the next index of each rank
	for start, end := 0, 0; start < len(turns); start = end {
		from = from[:0]
		for end = start; end < len(turns) && turns[start].place.isBeside(&turns[end].place, level); end++ {
			for rank := turns[end].rank; rank >= len(from); {
				from = append(from, 0)
			}
			from[turns[end].rank]++
		}
		at := start
		for rank, n := range from {
			from[rank], at = at, at+n
		}
		for _, e := range turns[start:end] {
			spare[from[e.rank]] = e
			from[e.rank]++
		}
	}
	copy(turns, spare)
}

// isFree reports whether any number of servers may be at an address. That is so on the
// reader's own networks, with their fleets and LAN parties.
func isFree(addr netip.Addr) bool { return discovery.ReachOf(addr) != discovery.InternetReach }

// union joins servers of several sources without repeats, in the order of their first
// mention.
type union struct {
	sample[named, discovery.Server]
	led map[netip.AddrPort]netip.Addr // where names lead
}

// named is a server and a source that names it. A server that several sources name
// counts towards the share of each. So no source displaces servers by filling its
// share.
type named struct {
	source int
	addr   netip.AddrPort
}

func (n named) host() string {
	if hostport.IsName(n.addr.Addr()) {
		return hostport.Host(n.addr.Addr())
	}
	return customer(n.addr.Addr())
}

// customer returns an address, or the IPv6 network of one customer.
func customer(addr netip.Addr) string {
	if addr.Is4() {
		return addr.String()
	}
	return netip.PrefixFrom(addr, customerBits).Masked().String()
}

// lead notes where a name leads, before its server is added.
func (u *union) lead(name netip.AddrPort, to netip.Addr) {
	if u.led == nil {
		u.led = make(map[netip.AddrPort]netip.Addr)
	}
	u.led[name] = to
}

// add takes a server, or merges a second mention into the first. A name counts towards the share of the
// address that it leads to.
func (u *union) add(source int, s discovery.Server) {
	s.Addr = discovery.Canonical(s.Addr)
	at := s.Addr
	if led, is := u.led[at]; is {
		at = netip.AddrPortFrom(led, at.Port())
	}
	if known := u.sample.add(named{source, s.Addr}, placeOf(source, at), isFree(at.Addr())); known != nil {
		merge(known, s)
	}
}

func (u *union) list() (servers []discovery.Server) {
	all := u.all()
	index := make(map[netip.AddrPort]int, len(all))
	for _, s := range all {
		i, known := index[s.Addr]
		if !known {
			index[s.Addr] = len(servers)
			servers = append(servers, s)
			continue
		}
		merge(&servers[i], s)
	}
	return servers
}

// merge fills in what another mention knows about a server.
func merge(s *discovery.Server, other discovery.Server) {
	s.Addr = other.Addr
	s.Country = cmp.Or(s.Country, other.Country)
	s.ASN = cmp.Or(s.ASN, other.ASN)
}
