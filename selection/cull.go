package selection

import (
	"net/netip"
	"strings"

	"muster/discovery"
)

// fakeIPs is the link-local range that Steam uses for servers behind its
// relays: nobody can send them a datagram.
var fakeIPs = netip.MustParsePrefix("169.254.0.0/16")

// judge knows what speaks against a server, rules and limits apart.
type judge struct {
	servers Servers
	wish    Wish
	view    *view
	barred  map[netip.Addr]bool
	ranges  []netip.Prefix
	vetoed  map[netip.AddrPort]bool
	crowded map[netip.Addr]bool
	players int32
}

func newJudge(servers Servers, wish Wish, view *view) *judge {
	j := &judge{servers: servers, wish: wish, view: view, players: view.players()}
	for _, p := range wish.Blacklist {
		if p = p.Masked(); !p.IsSingleIP() {
			j.ranges = append(j.ranges, p)
			continue
		}
		if j.barred == nil {
			j.barred = make(map[netip.Addr]bool, len(wish.Blacklist))
		}
		j.barred[p.Addr()] = true
	}
	for _, veto := range wish.Vetoes {
		if j.vetoed == nil {
			j.vetoed = make(map[netip.AddrPort]bool, len(wish.Vetoes))
		}
		j.vetoed[veto.Server] = true
	}
	if wish.PerAddress > 0 {
		j.crowded = crowdedAddresses(servers.List, wish.PerAddress)
	}
	return j
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

// causes is everything that speaks against a server.
func (j *judge) causes(server int, s sums) causes {
	c := j.byAddress(j.servers.List[server].Addr)
	switch {
	case s.failed > 0:
		c.add(Unreachable)
	case s.answered < max(1, j.players):
		c.add(Unmeasured)
	}
	info := j.servers.info(server)
	if info == nil {
		if j.asks() {
			c.add(Unknown)
		}
		return c
	}
	return c | j.byInfo(info) | j.byPing(server, s, info)
}

// asks tells a wish that only what a server says of itself can fulfil.
func (j *judge) asks() bool {
	w := &j.wish
	return w.Seats > 0 || w.Map != "" || w.Mode != "" || w.Version != "" || w.NoPassword
}

func (j *judge) byAddress(addr netip.AddrPort) (c causes) {
	ip := addr.Addr()
	if fakeIPs.Contains(ip) || j.crowded[ip] {
		c.add(Hygiene)
	}
	if j.barred[ip] || j.inRange(ip) {
		c.add(Blacklisted)
	}
	if j.vetoed[addr] {
		c.add(Vetoed)
	}
	return c
}

func (j *judge) inRange(ip netip.Addr) bool {
	for _, p := range j.ranges {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

func (j *judge) byInfo(info *discovery.Info) (c causes) {
	w := &j.wish
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

// byPing looks for players whom the server itself would not let in.
func (j *judge) byPing(server int, s sums, info *discovery.Info) (c causes) {
	d := doorOf(info)
	if d.shuts(s.worst) || d.least != 0 && j.view.any(server, d.shuts) {
		c.add(PingLimits)
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
