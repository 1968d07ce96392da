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

// Filter is what criteria make of a list of servers before anybody measures: it
// may serve for many a [Filter.Select] while measurements come in.
type Filter struct {
	servers  Servers
	criteria Criteria
	barred   map[netip.Addr]bool
	ranges   []netip.Prefix
	vetoed   map[netip.AddrPort]bool
	crowded  map[netip.Addr]bool
	// causes is what the list and each server's own words speak against it, noted by
	// the first Select. pingLimits are those of the servers that let in only some
	// RTTs; tight ones would be full with the group, nil if that does not matter.
	causes     []causes
	pingLimits map[int]pingLimits
	tight      []bool
}

// NewFilter is the filter of some criteria. It keeps the servers; whoever puts a new
// [discovery.Info] among them calls [Filter.Update].
func NewFilter(servers Servers, criteria Criteria) *Filter {
	if !slices.Contains(Rules(), criteria.By) {
		criteria.By = Mean
	}
	f := &Filter{
		servers: servers, criteria: criteria,
		barred: make(map[netip.Addr]bool),
		vetoed: make(map[netip.AddrPort]bool),
	}
	for _, p := range criteria.Blacklist { // long ones are of single addresses
		if p = p.Masked(); p.IsSingleIP() {
			f.barred[p.Addr()] = true
		} else {
			f.ranges = append(f.ranges, p)
		}
	}
	for _, veto := range criteria.Vetoes {
		f.vetoed[veto.Server] = true
	}
	if criteria.PerAddress > 0 {
		f.crowded = crowdedAddresses(servers.List, criteria.PerAddress)
	}
	return f
}

// note judges all servers, unless that was done before.
func (f *Filter) note() {
	if f.causes != nil {
		return
	}
	f.causes, f.pingLimits = make([]causes, len(f.servers.List)), make(map[int]pingLimits)
	if f.criteria.Seats > 0 && f.criteria.Spare > 0 {
		f.tight = make([]bool, len(f.servers.List))
	}
	for server := range f.causes {
		f.Update(server)
	}
}

// Update judges one server anew, after its Info changed.
func (f *Filter) Update(server int) {
	if f.causes == nil {
		return
	}
	info := f.servers.Infos[server]
	f.causes[server] = f.judge(server, info)
	if f.tight != nil {
		f.tight[server] = info != nil && f.criteria.free(info) == f.criteria.Seats
	}
	if info != nil && (info.MinPing > 0 || info.MaxPing > 0) {
		f.pingLimits[server] = pingLimitsOf(info)
	} else {
		delete(f.pingLimits, server)
	}
}

// Bars reports whether a server is ruled out whatever the players measure, going by
// what is known of it, and whether the criteria ask what it has not told yet.
func (f *Filter) Bars(server int) (barred, unknown bool) {
	c := f.judge(server, f.servers.Infos[server])
	return c&^(1<<Unknown) != 0, c.has(Unknown)
}

// judge is what speaks against a server that says this of itself, or nothing.
func (f *Filter) judge(server int, info *discovery.Info) causes {
	c := f.byAddress(f.servers.List[server].Addr)
	if info != nil {
		return c | f.byInfo(info)
	}
	if f.asks() {
		c.add(Unknown)
	}
	return c
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

// asks reports whether only what a server says of itself can fulfil the criteria.
func (f *Filter) asks() bool {
	w := &f.criteria
	return w.Seats > 0 || w.Map != "" || w.Mode != "" || w.Version != "" || w.NoPassword
}

func (f *Filter) byAddress(addr netip.AddrPort) (c causes) {
	ip := addr.Addr()
	if fakeIPs.Contains(ip) || f.crowded[ip] {
		c.add(Hygiene)
	}
	if f.barred[ip] || f.inRange(ip) {
		c.add(Blacklisted)
	}
	if f.vetoed[addr] {
		c.add(Vetoed)
	}
	return c
}

func (f *Filter) inRange(ip netip.Addr) bool {
	for _, p := range f.ranges {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

func (f *Filter) byInfo(info *discovery.Info) (c causes) {
	w := &f.criteria
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
func (c *Criteria) free(info *discovery.Info) int {
	if c.BotsGiveWay {
		return max(0, info.MaxPlayers-max(0, info.Players-info.Bots))
	}
	return info.Free()
}

// differs tells a server's word that is not the wanted one.
func differs(want, have string) bool { return want != "" && !strings.EqualFold(want, have) }

func (v *Veto) hitsMap(info *discovery.Info) bool {
	return v.Map != "" && info != nil && strings.EqualFold(v.Map, info.Map)
}

// pingLimits are the RTTs that a server lets in; 0 is no limit.
type pingLimits struct{ least, most cell }

func pingLimitsOf(info *discovery.Info) (d pingLimits) {
	if info.MinPing > 0 {
		d.least = cellOf(discovery.Answered, info.MinPing)
	}
	if info.MaxPing > 0 {
		d.most = cellOf(discovery.Answered, info.MaxPing)
	}
	return d
}

// shuts tells an RTT that the server does not let in.
func (d pingLimits) shuts(c cell) bool {
	return c.answered() && (c < d.least || d.most != 0 && c > d.most)
}
