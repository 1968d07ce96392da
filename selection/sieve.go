package selection

import (
	"net/netip"
	"slices"
	"strings"

	"muster/discovery"
)

// fakeIPs is the link-local range that Steam uses for servers behind its
// relays: nobody can send them a datagram.
var fakeIPs = netip.MustParsePrefix("169.254.0.0/16")

// Sieve is what a wish makes of a list of servers before anybody measures: it
// may serve for many a [Sieve.Select] while measurements come in.
type Sieve struct {
	servers Servers
	wish    Wish
	// causes holds what the list and the server's own words speak against it.
	causes []causes
	// doors holds the servers that let in only some RTTs.
	doors   map[int]door
	barred  map[netip.Addr]bool
	ranges  []netip.Prefix
	vetoed  map[netip.AddrPort]bool
	crowded map[netip.Addr]bool
	// tight servers would be full with the group; nil if that does not matter.
	tight []bool
}

// NewSieve is the sieve of a wish. It keeps the servers' slices; whoever puts a
// new [discovery.Info] into them calls [Sieve.Update].
func NewSieve(servers Servers, wish Wish) *Sieve {
	if !slices.Contains(Rules(), wish.By) {
		wish.By = Mean
	}
	s := &Sieve{
		servers: servers, wish: wish,
		causes: make([]causes, len(servers.List)),
		doors:  make(map[int]door),
		barred: make(map[netip.Addr]bool),
		vetoed: make(map[netip.AddrPort]bool),
	}
	s.bar(wish.Blacklist)
	for _, veto := range wish.Vetoes {
		s.vetoed[veto.Server] = true
	}
	if wish.PerAddress > 0 {
		s.crowded = crowdedAddresses(servers.List, wish.PerAddress)
	}
	if wish.Seats > 0 && wish.Spare > 0 {
		s.tight = make([]bool, len(servers.List))
	}
	for server := range servers.List {
		s.Update(server)
	}
	return s
}

// bar keeps single addresses apart from ranges: long lists are of the former.
func (s *Sieve) bar(blacklist []netip.Prefix) {
	for _, p := range blacklist {
		if p = p.Masked(); p.IsSingleIP() {
			s.barred[p.Addr()] = true
		} else {
			s.ranges = append(s.ranges, p)
		}
	}
}

// Update judges one server anew, after its Info changed.
func (s *Sieve) Update(server int) {
	c := s.byAddress(s.servers.List[server].Addr)
	delete(s.doors, server)
	if info := s.servers.info(server); info != nil {
		c |= s.byInfo(info)
		if s.tight != nil {
			s.tight[server] = s.wish.free(info) == s.wish.Seats
		}
		if info.MinPing > 0 || info.MaxPing > 0 {
			s.doors[server] = doorOf(info)
		}
	} else if s.asks() {
		c.add(Unknown)
	}
	s.causes[server] = c
}

// Bars tells whether a server is ruled out whatever the players measure, going by
// what is known of it, and whether the wish asks what it has not told yet.
func (s *Sieve) Bars(server int) (barred, unknown bool) {
	c := s.causes[server]
	return c&^(1<<Unknown) != 0, c.has(Unknown)
}

// crowdedAddresses are those that list more servers than one address may.
func crowdedAddresses(list []discovery.Server, limit int) map[netip.Addr]bool {
	counts := make(map[netip.Addr]int, len(list))
	crowded := make(map[netip.Addr]bool)
	for _, server := range list {
		addr := server.Addr.Addr()
		if counts[addr]++; counts[addr] > limit {
			crowded[addr] = true
		}
	}
	return crowded
}

// asks tells a wish that only what a server says of itself can fulfil.
func (s *Sieve) asks() bool {
	w := &s.wish
	return w.Seats > 0 || w.Map != "" || w.Mode != "" || w.Version != "" || w.NoPassword
}

func (s *Sieve) byAddress(addr netip.AddrPort) (c causes) {
	ip := addr.Addr()
	if fakeIPs.Contains(ip) || s.crowded[ip] {
		c.add(Hygiene)
	}
	if s.barred[ip] || s.inRange(ip) {
		c.add(Blacklisted)
	}
	if s.vetoed[addr] {
		c.add(Vetoed)
	}
	return c
}

func (s *Sieve) inRange(ip netip.Addr) bool {
	for _, p := range s.ranges {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

func (s *Sieve) byInfo(info *discovery.Info) (c causes) {
	w := &s.wish
	if overfull(info) {
		c.add(Hygiene)
	}
	if w.Seats > 0 && w.free(info) < w.Seats {
		c.add(Full)
	}
	if differs(w.Map, info.Map) || differs(w.Mode, info.Mode) {
		c.add(Filtered)
	}
	if w.NoPassword && info.Password {
		c.add(Passworded)
	}
	if differs(w.Version, info.Version) {
		c.add(WrongVersion)
	}
	for i := range w.Vetoes {
		if w.Vetoes[i].hitsMap(info) {
			c.add(Vetoed)
		}
	}
	return c
}

// overfull is a server that claims more players than it has seats.
func overfull(info *discovery.Info) bool {
	return info.MaxPlayers > 0 && info.Players > info.MaxPlayers
}

// free is how many seats the group may count on.
func (w *Wish) free(info *discovery.Info) int {
	if w.BotsGiveWay {
		return max(0, info.MaxPlayers-max(0, info.Players-info.Bots))
	}
	return info.Free()
}

// differs tells a server's word that is not the wanted one.
func differs(want, have string) bool { return want != "" && !strings.EqualFold(want, have) }

func (v *Veto) hitsMap(info *discovery.Info) bool {
	return v.Map != "" && info != nil && strings.EqualFold(v.Map, info.Map)
}

// door is what RTTs a server lets in; 0 is no limit.
type door struct{ least, most cell }

func doorOf(info *discovery.Info) (d door) {
	if info.MinPing > 0 {
		d.least = cellOf(discovery.Answered, info.MinPing)
	}
	if info.MaxPing > 0 {
		d.most = cellOf(discovery.Answered, info.MaxPing)
	}
	return d
}

// shuts tells an RTT that the server does not let in.
func (d door) shuts(c cell) bool {
	return c.answered() && (c < d.least || d.most != 0 && c > d.most)
}
