package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
)

// Generate makes the world of a spec. The same spec is the same world.
//
// The round trip between a place and a server is the shortest route over the cables, times an
// inflation that belongs to the place and the server's AS, now and then by a wrong hub, plus the
// lines at both ends.
func Generate(spec Spec) *World {
	if len(spec.Mix) == 0 {
		spec.Mix = mixCSS()
	}
	rng := rand.New(rand.NewPCG(spec.Seed, 0x6d7573746572))
	b := &builder{spec: spec, rng: rng, registrar: newRegistrar(spec.Mix, rng), network: newNetwork(spec, rng)}
	for i := range b.network {
		b.populate(i)
	}
	b.shuffle()
	w := &World{Seed: spec.Seed, Places: spec.Places, Servers: b.servers, jitter: spec.Jitter}
	w.floor = b.floors()
	return w
}

// builder is a world while it is built.
type builder struct {
	spec      Spec
	rng       *rand.Rand
	registrar *registrar
	network   []as
	blocks    []slash16
	servers   []Server
	sites     []site // by server
}

// site is the true location of a server.
type site struct{ as, block, metro int }

// maxShared is the most servers at one address.
const maxShared = 16

func (b *builder) populate(index int) {
	a := &b.network[index]
	first := len(b.blocks)
	silent, left := false, 0
	var last Server
	for n := range a.servers {
		if n == 0 || left == 0 || b.rng.Float64() >= a.kind.again {
			last = b.newHost(index, first)
			silent, left = b.rng.Float64() < b.spec.Silent, maxShared
		} else {
			port := last.Addr.Port() + 1
			last.Addr = netip.AddrPortFrom(last.Addr.Addr(), port)
			b.sites = append(b.sites, b.sites[len(b.sites)-1])
		}
		left--
		s := last
		b.furnish(&s, silent)
		b.servers = append(b.servers, s)
	}
}

// newHost returns a server at an address of its own in one of the AS's blocks, which begin at
// first.
func (b *builder) newHost(index, first int) Server {
	a := &b.network[index]
	at := b.pickBlock(index, first)
	block := &b.blocks[at]
	net := &block.subnets[b.pickSubnet(a, block)]
	octet := net.host(b.rng)
	block.hosts++
	access := net.access
	if a.kind == isp {
		access = b.access(a.kind)
	}
	b.sites = append(b.sites, site{as: index, block: at, metro: net.metro})
	return Server{
		Server: discovery.Server{
			Addr:    netip.AddrPortFrom(address(block.prefix, net.octet, octet), 27960),
			Country: net.country, ASN: a.number,
		},
		Lat: net.lat, Lon: net.lon, Access: milliseconds(access),
	}
}

func (b *builder) pickBlock(index, first int) int {
	a := &b.network[index]
	if a.servers < pi && first < len(b.blocks) {
		return first
	}
	total := 0
	for i := first; i < len(b.blocks); i++ {
		total += b.blocks[i].hosts
	}
	n := restaurant(func(i int) int { return b.blocks[first+i].hosts }, len(b.blocks)-first, total, a.kind.blocks, b.rng)
	if first+n < len(b.blocks) && b.blocks[first+n].hosts < maxBlockHosts {
		return first + n
	}
	block := slash16{as: index, home: a.site(b.rng)}
	if a.servers < pi {
		prefix, octet := b.registrar.pi(a.country)
		block.prefix = prefix
		block.subnets = []subnet{b.newSubnet(a, &block, octet)}
	} else {
		block.prefix = b.registrar.block(a.country)
	}
	b.blocks = append(b.blocks, block)
	return len(b.blocks) - 1
}

// maxBlockHosts is the most used addresses of a /16.
const maxBlockHosts = 20000

func (b *builder) pickSubnet(a *as, block *slash16) int {
	if a.servers < pi {
		return 0
	}
	n := restaurant(func(i int) int { return block.subnets[i].hosts }, len(block.subnets), block.hosts, a.kind.subnets, b.rng)
	if n < len(block.subnets) && !block.subnets[n].full() {
		return n
	}
	if octet, ok := block.vacant(b.rng); ok {
		block.subnets = append(block.subnets, b.newSubnet(a, block, octet))
		return len(block.subnets) - 1
	}
	return slices.IndexFunc(block.subnets, func(n subnet) bool { return !n.full() })
}

// vacant returns a third octet that no /24 has yet.
func (s *slash16) vacant(rng *rand.Rand) (octet byte, ok bool) {
	if len(s.subnets) == 256 {
		return 0, false
	}
	octet = byte(rng.IntN(256))
	for slices.ContainsFunc(s.subnets, func(n subnet) bool { return n.octet == octet }) {
		octet++
	}
	return octet, true
}

// scatter is how far a server stands from its city's centre, in degrees.
const scatter = 0.15

func (b *builder) newSubnet(a *as, block *slash16, octet byte) subnet {
	m := block.home
	if b.rng.Float64() >= a.kind.purity {
		m = a.site(b.rng)
	}
	return subnet{
		octet: octet, metro: m, country: b.located(metros[m].country),
		lat: metros[m].lat + scatter*b.rng.NormFloat64(), lon: metros[m].lon + scatter*b.rng.NormFloat64(),
		access: b.access(a.kind),
	}
}

// located returns the country that the database gives for a true one.
func (b *builder) located(country string) string {
	if b.rng.Float64() >= b.spec.Misplaced {
		return country
	}
	return b.spec.Mix[weighted(weightsOf(b.spec.Mix), b.rng)].Country
}

// access draws the delay that a line adds to the round trip, in ms. Short ones are likelier.
func (b *builder) access(k kind) float64 {
	return k.accessMin * math.Pow(k.accessMax/k.accessMin, b.rng.Float64())
}

// shuffle puts the servers in the order of the master's list, which is random (ATNAC 2006, §III).
func (b *builder) shuffle() {
	b.rng.Shuffle(len(b.servers), func(i, j int) {
		b.servers[i], b.servers[j] = b.servers[j], b.servers[i]
		b.sites[i], b.sites[j] = b.sites[j], b.sites[i]
	})
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

var (
	quakeMaps = []string{"q3dm17", "q3dm6", "q3dm7", "q3tourney2", "q3tourney4", "q3ctf1", "q3ctf4", "pro-q3dm6",
		"pro-q3tourney4", "ztn3tourney1", "oa_dm1", "oa_ctf2", "am_galmevish2", "ps37ctf", "wrackdm17"}
	// quakeModes are g_gametype: free for all, tournament, team deathmatch, capture the flag.
	quakeModes = []string{"0", "0", "0", "1", "3", "4", "4"}
	clans      = []string{"<OM>", "[RDW]", "|ICE|", "^1Red^7Eye", "-=GoD=-", "TFC", "pro-g", "#quake", "Jolt", "NGZ",
		"Barrysworld", "Clanbase", "Wireplay", "GameArena", "Multiplay", "eSports"}
	kinds = []string{"FFA", "CTF", "InstaGib", "OSP 1v1", "CPMA", "TDM", "Noobs welcome", "RailArena", "Freeze Tag",
		"Excessive+", "DM17 24/7", "Ladder"}
	seats = []int{8, 10, 12, 14, 16, 16, 16, 20, 24, 32}
)

// furnish gives a server its name, its game and its players, and its faults.
func (b *builder) furnish(s *Server, silent bool) {
	rng, spec := b.rng, &b.spec
	number := len(b.servers)
	s.Silent = silent
	s.Refusing = !silent && rng.Float64() < spec.Refusing
	s.Limited = rng.Float64() < spec.Limited
	s.Loss = spec.Loss * min(8, rng.ExpFloat64())
	s.Info.Name = fmt.Sprintf("%s %s [%s] #%d", pick(clans, rng), pick(kinds, rng), s.Country, number)
	s.Info.Map = pick(orDefault(spec.Maps, quakeMaps), rng)
	s.Info.Mode = pick(orDefault(spec.Modes, quakeModes), rng)
	s.Info.Version = "ioq3 1.36 linux-x86_64"
	s.Info.MaxPlayers = pick(seats, rng)
	s.Info.Players = players(s.Info.MaxPlayers, spec, rng)
	if s.Info.Players == 0 && rng.Float64() < 0.15 {
		s.Info.Bots = min(4, s.Info.MaxPlayers)
		s.Info.Players = s.Info.Bots
	}
	s.Info.Password = rng.Float64() < spec.Password
}

// players draws how many seats are taken: all, none, or rather few.
func players(seats int, spec *Spec, rng *rand.Rand) int {
	switch at := rng.Float64(); {
	case at < spec.Full:
		return seats
	case at < spec.Full+spec.Empty || seats < 2:
		return 0
	}
	share := rng.Float64()
	return 1 + int(share*share*float64(seats-1))
}

func pick[T any](from []T, rng *rand.Rand) T { return from[rng.IntN(len(from))] }

func orDefault(words, fallback []string) []string {
	if len(words) == 0 {
		return fallback
	}
	return words
}

// Some packet pairs meet a full queue on the way.
const (
	spikeShare = 0.015
	spikeMin   = 20 * time.Millisecond
	spikeSpan  = 130 * time.Millisecond
	// jitterSpread is the standard deviation of the jitter's logarithm.
	jitterSpread = 0.7
)

// Sample returns the n-th packet pair between a place and a server: its RTT, and whether it got
// lost, as all pairs to a silent or refusing server do. The same n is always the same packet pair.
// The RTT is the floor plus lognormal jitter, with a rare spike.
func (w *World) Sample(place, server int, n uint64) (rtt time.Duration, lost bool) {
	s := &w.Servers[server]
	var draw rand.PCG
	draw.Seed(w.Seed^n*0x9e3779b97f4a7c15, uint64(place)<<32|uint64(server))
	rng := rand.New(&draw)
	if s.Silent || s.Refusing || rng.Float64() < s.Loss {
		return 0, true
	}
	rtt = w.RTT(place, server)
	rtt += time.Duration(float64(w.jitter) * math.Exp(jitterSpread*rng.NormFloat64()))
	if rng.Float64() < spikeShare {
		rtt += spikeMin + time.Duration(rng.Float64()*float64(spikeSpan))
	}
	return rtt, false
}
