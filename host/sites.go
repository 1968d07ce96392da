package host

import (
	"net/http"
	"net/netip"
	"slices"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// Origin is what a player's connection tells of the address that game servers
// see: those behind one address are a site, and measure as one. The zero value
// tells nothing, and its player is a site alone. It is shown to nobody.
type Origin struct {
	Addr netip.Addr `json:"addr,omitzero"`
	// Home: in the host's own network, and so behind the host's public address.
	Home bool `json:"home,omitempty"`
	// Near is the connection's own address, for the servers on networks that the
	// host shares with the player; invalid if it may be anybody's.
	Near netip.Addr `json:"near,omitzero"`
}

// remote is who connects.
type remote struct {
	addr netip.Addr
	// forwards: it says that it speaks for others, and is no proxy of ours.
	forwards bool
}

func (h *Host) remote(r *http.Request) remote {
	c := remote{addr: h.asker(r)}
	if socket, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		c.forwards = c.addr == socket.Addr().Unmap() && r.Header.Get("X-Forwarded-For") != ""
	}
	return c
}

// origin is where a player's probes come from.
func (h *Host) origin(c remote, probes wire.Probes) Origin {
	if c.forwards {
		return Origin{}
	}
	o := originOf(c.addr, probes, h.config.Home != nil && h.config.Home(c.addr))
	o.Near = nearOf(c.addr, probes)
	return o
}

// originOf judges an address that a player comes from. A public one is what
// servers see. A private one says so little that a wrong guess is likely (a VPN,
// a tunnel, a container), and a wrong guess gives players the RTTs of others: it
// counts only at home, in the network through which the host itself gets out.
// Loopback may be anybody who comes through a tunnel, but for the host's own
// player, whose program says so.
func originOf(from netip.Addr, probes wire.Probes, home bool) Origin {
	switch {
	case probes == wire.ProbesElsewhere || !from.IsValid():
		return Origin{}
	case from.IsLoopback():
		if probes != wire.ProbesAtHost {
			return Origin{}
		}
		home = true
	case !home && discovery.ReachOf(from) != discovery.InternetReach:
		return Origin{}
	}
	return Origin{Addr: from, Home: home}
}

// homeKey stands for the host's public address, which nobody here knows.
var homeKey = netip.IPv4Unspecified()

// sites groups members by the public address they share. One private address
// that several players come from is a gateway's or a proxy's: behind it they may
// sit anywhere.
func (r *Room) sites(of []*Member) [][]*Member {
	came := map[Origin]int{}
	for _, m := range r.Members {
		came[m.Origin]++
	}
	keys := make([]netip.Addr, len(of))
	for i, m := range of {
		switch {
		case m.Apart || m.Origin.Home && came[m.Origin] > 1:
		case m.Origin.Home:
			keys[i] = homeKey
		default:
			keys[i] = m.Origin.Addr
		}
	}
	var sites [][]*Member
	for _, site := range selection.NATGroups(keys) {
		var members []*Member
		for _, i := range site {
			members = append(members, of[i])
		}
		sites = append(sites, members)
	}
	return sites
}

// siteOf are the members behind a member's address, the member too.
func (r *Room) siteOf(m *Member) []*Member {
	for _, site := range r.sites(r.Members) {
		if slices.Contains(site, m) {
			return site
		}
	}
	return []*Member{m}
}

// pooled is what the players of a site found together, by server: the lowest
// RTT, and lost only what was lost for all who asked.
func pooled(site []*Member, servers int) []discovery.Result {
	pool := make([]discovery.Result, servers)
	for _, m := range site {
		for server := range m.Results {
			if result := &m.Results[server]; better(result, &pool[server]) {
				pool[server] = *result
			}
		}
	}
	return pool
}

func better(a, b *discovery.Result) bool {
	if a.State == discovery.Answered && b.State == discovery.Answered {
		return a.RTT < b.RTT
	}
	return a.State == discovery.Answered || b.State == discovery.Unprobed
}

// knowledge is what a member knows of the servers: its own answers and second
// looks, and where there are none, what its site has found.
type knowledge struct {
	*Member
	pool []discovery.Result // nil for who is alone
}

func (k knowledge) at(server int) discovery.Result {
	own := k.Results[server]
	if k.pool == nil || own.State == discovery.Answered {
		return own
	}
	if _, looked := k.Quality[server]; looked {
		return own
	}
	return k.pool[server]
}

// knowledge is what members know.
func (r *Room) knowledge(of []*Member) []knowledge {
	knows := make([]knowledge, len(of))
	for i, m := range of {
		knows[i].Member = m
	}
	for _, site := range r.sites(r.Members) {
		if len(site) == 1 || !slices.ContainsFunc(site, func(m *Member) bool { return slices.Contains(of, m) }) {
			continue
		}
		pool := pooled(site, len(r.Servers))
		for i, m := range of {
			if slices.Contains(site, m) {
				knows[i].pool = pool
			}
		}
	}
	return knows
}

// hasMeasured: there is anything to choose from for a member.
func (r *Room) hasMeasured(m *Member) bool {
	return m.Probed > 0 || slices.ContainsFunc(r.siteOf(m), func(mate *Member) bool { return mate.Probed > 0 })
}

// locate notes where a member's new connection comes from.
func (r *Room) locate(m *Member, from Origin) {
	r.release(m)
	if m.Origin != from {
		m.Origin, m.Apart = from, false
	}
	if r.Stage == wire.Measuring && m.Probed == 0 && len(r.siteOf(m)) > 1 {
		m.Shares = true
	}
}

// isElsewhere tells that a member's second look contradicts most of what was
// taken over from its site: an address can be shared by homes far from each
// other, by a VPN or a carrier.
func (r *Room) isElsewhere(m *Member, seen []wire.Finalist) bool {
	site := r.siteOf(m)
	if len(site) == 1 {
		return false
	}
	pool := pooled(site, len(r.Servers))
	borrowed, wrong := 0, 0
	for _, s := range seen {
		others := pool[s.Server].RTT.Seconds() * 1000
		if len(s.RTTs) > 0 && m.Results[s.Server].State != discovery.Answered && others > 0 {
			borrowed++
			wrong += count(farApart(slices.Min(s.RTTs), others))
		}
	}
	return 2*wrong > borrowed
}

// farApart tells RTTs in ms that no line of a home makes.
func farApart(a, b float64) bool { return max(a, b) > 20+1.5*min(a, b) }

// progress is how many servers each member knows of, and how many answered.
func (r *Room) progress() map[*Member]progress {
	all := map[*Member]progress{}
	for _, site := range r.sites(r.Members) {
		p := progress{site[0].Probed, site[0].Answered}
		if len(site) > 1 {
			p = progressOf(pooled(site, len(r.Servers)))
		}
		for _, m := range site {
			all[m] = p
		}
	}
	return all
}

type progress struct{ probed, answered int }

func progressOf(pool []discovery.Result) (p progress) {
	for i := range pool {
		p.probed += count(pool[i].State != discovery.Unprobed)
		p.answered += count(pool[i].State == discovery.Answered)
	}
	return p
}
