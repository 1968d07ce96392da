package coordinate_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/countries"
	"muster/discovery/plan/topology"
	"muster/selection"
	"muster/selection/coordinate"
	"muster/selection/memory"
)

// The remembered world has some networks of two servers each in every country.
const rememberedCountries, rememberedNetworks, inNetwork, bestNetwork = 12, 1200, 2, 77

// rememberedWorld returns a list, and each player's true RTT to each network in ms. A country is near
// some players and far from others, and so are its networks. The best network has so many neighbours
// in every country.
func rememberedWorld(players, neighbours int) (list []discovery.Server, truth [][rememberedNetworks]float64) {
	truth = make([][rememberedNetworks]float64, players)
	for n := range rememberedNetworks {
		addr := [4]byte{30, byte(n >> 8), byte(n), 0}
		for i := range inNetwork {
			addr[3] = byte(i + 1)
			country := string(rune('A'+n%rememberedCountries)) + "A"
			list = append(list, discovery.Server{Addr: netip.AddrPortFrom(netip.AddrFrom4(addr), 27960), Country: country, ASN: uint32(100 + n)})
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range rememberedNetworks {
		for player := range truth {
			truth[player][n] = 60 + 40*float64((n%rememberedCountries+3*player)%5) + 20*rng.Float64()
			if n/rememberedCountries/neighbours == bestNetwork/rememberedCountries/neighbours {
				truth[player][n] = 50 + 5*rng.Float64()
			}
		}
	}
	for player := range truth {
		truth[player][bestNetwork] = 44
	}
	return list, truth
}

// rememberedSession is a search of players who remember networks.
type rememberedSession struct {
	*coordinate.Planner
	tree  *topology.Tree
	truth [][rememberedNetworks]float64
	// reaches says whom a network answers; nil is everybody.
	reaches func(player, n int) bool
}

func newRememberedSession(players, neighbours int, remembered func(player, n int, ms float64) float64, changes ...func(*memory.Cell)) *rememberedSession {
	list, truth := rememberedWorld(players, neighbours)
	now, tree, options := time.Unix(0, 0).UTC(), topology.New(list), coordinate.Options{}
	for player := range truth {
		var cells []memory.Cell
		for n, ms := range truth[player] {
			s := list[n*inNetwork]
			part := memory.Part{Country: s.Country, ASN: s.ASN, Prefix: topology.Prefix24.Prefix(s.Addr.Addr())}
			cell := memory.Cell{Part: part, MS: remembered(player, n, ms), Count: inNetwork, Seen: now}
			for _, change := range changes {
				change(&cell)
			}
			if cell.MS > 0 {
				cells = append(cells, cell)
			}
		}
		options.Remembered = append(options.Remembered, memory.Forecasts(tree, now, cells))
	}
	var names []string
	for player := range truth {
		names = append(names, fmt.Sprint("player ", player))
	}
	table := selection.NewTable(names, len(list))
	return &rememberedSession{coordinate.New(tree, selection.Servers{}, table, selection.Criteria{By: selection.Mean}, options), tree, truth, nil}
}

func (s *rememberedSession) networkOf(server int) int { return int(s.tree.List()[server].ASN) - 100 }

// round answers the next questions, and returns the networks that each player was asked for.
func (s *rememberedSession) round() (asked []map[int]bool) {
	for range s.truth {
		asked = append(asked, map[int]bool{})
	}
	for _, b := range s.Next() {
		for _, server := range b.Servers {
			n := s.networkOf(server)
			asked[b.Player][n] = true
			result := discovery.Result{Server: server, State: discovery.Lost}
			if s.reaches == nil || s.reaches(b.Player, n) {
				result.State, result.RTT = discovery.Answered, time.Duration(s.truth[b.Player][n]*1e6)
			}
			s.Observe(b.Player, result)
		}
	}
	return asked
}

// TestRememberedFirst checks that everybody is first asked about the networks that are the best by
// what is remembered.
func TestRememberedFirst(t *testing.T) {
	s := newRememberedSession(4, 1, func(_, _ int, ms float64) float64 { return ms })
	asked := s.round()
	mean := func(n int) (sum float64) {
		for player := range s.truth {
			sum += s.truth[player][n]
		}
		return sum
	}
	best := make([]int, rememberedNetworks)
	for n := range best {
		best[n] = n
	}
	slices.SortFunc(best, func(a, b int) int { return cmp.Compare(mean(a), mean(b)) })
	for player := range asked {
		for place, n := range best[:12] {
			if !asked[player][n] {
				t.Errorf("player %d is not asked about the network in place %d", player, place+1)
			}
		}
	}
}

// TestShorter checks that a player whose way alone has become shorter than remembered, so that the best
// network seemed worse than others, is soon asked about it before all others. Other ways have moved, too.
func TestShorter(t *testing.T) {
	s := newRememberedSession(4, 5, func(player, n int, ms float64) float64 {
		switch {
		case player == 2 && n == bestNetwork:
			return ms + 45
		case player == 2 && n%10 == 0:
			return ms - 30
		}
		return ms
	})
	var asked [4]bool
	for range 3 {
		for player, networks := range s.round() {
			asked[player] = asked[player] || networks[bestNetwork]
		}
	}
	if !asked[2] || asked[0] && asked[1] && asked[3] {
		t.Errorf("asked about the network: %v", asked)
	}
}

// TestHeldUp checks that an RTT far above what is remembered of the network does not hide it: a full queue
// may have held it up.
func TestHeldUp(t *testing.T) {
	s := newRememberedSession(4, 1, func(_, _ int, ms float64) float64 { return ms })
	s.reaches = func(_, n int) bool { return n != bestNetwork } // no other address there answers
	for player := range s.truth {
		ms := s.truth[player][bestNetwork]
		if player == 1 {
			ms += 100
		}
		s.Observe(player, discovery.Result{Server: bestNetwork * inNetwork, State: discovery.Answered, RTT: time.Duration(ms * 1e6)})
	}
	for !s.Progress().Done {
		s.round()
	}
	if !slices.ContainsFunc(s.Hidden(4), func(server int) bool { return s.networkOf(server) == bestNetwork }) {
		t.Error("the best network is not measured again")
	}
}

// TestMoved checks the chance that a way is not the remembered one: by age, by the tests of all ways, and by
// those in the country.
func TestMoved(t *testing.T) {
	const day = 24 * time.Hour
	for _, test := range []struct {
		age                  time.Duration
		held, failed         int
		heldHere, failedHere int
		want                 float64
	}{
		{0, 0, 0, 0, 0, .02},
		{600 * day, 0, 0, 0, 0, .19},
		{0, 80, 0, 0, 0, .004},
		{0, 70, 10, 0, 0, .10},
		{0, 70, 10, 4, 0, .05},
		{0, 70, 10, 0, 4, .55},
	} {
		got := coordinate.Moved(test.age, test.held, test.failed, test.heldHere, test.failedHere)
		if math.Abs(got-test.want) > .005 {
			t.Errorf("%+v: %.3f", test, got)
		}
	}
}

// TestRemembered checks that a search with memories of every network asks few servers and finds the
// best network, even if one player remembers it as far, or a fifth of the others as near.
func TestRemembered(t *testing.T) {
	for name, tt := range map[string]struct {
		remembered func(player, n int, ms float64) float64
		most       float64 // questions a player
	}{
		"right": {func(_, _ int, ms float64) float64 { return ms }, 125},
		"far for one player": {func(player, n int, ms float64) float64 {
			return ms * map[bool]float64{true: 3, false: 1}[player == 2 && n == bestNetwork]
		}, 140},
		"a fifth near for a player": {func(player, n int, ms float64) float64 {
			return ms * map[bool]float64{true: .3, false: 1}[player == 1 && n%5 == 0]
		}, 300},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRememberedSession(4, 1, tt.remembered)
			for !s.Progress().Done {
				s.round()
			}
			progress := s.Progress()
			if n := s.networkOf(progress.Best); n != bestNetwork {
				t.Errorf("network %d with %.1f ms was found, the best is %d", n, progress.Score, bestNetwork)
			}
			if progress.Probes > tt.most {
				t.Errorf("%.0f questions a player, want %.0f", progress.Probes, tt.most)
			}
		})
	}
}

// TestUnseen checks that of the parts that nobody remembers those may win that are in a near country: ASes before /16s
// of known ASes, which mostly stand with these.
func TestUnseen(t *testing.T) {
	var list []discovery.Server
	var cells []memory.Cell
	now := time.Unix(0, 0).UTC()
	for i, of := range []struct {
		country, prefix string
		asn             uint32
		ms              float64 // 0 if nobody remembers it
	}{
		{"DE", "20.1.1", 7, 80}, {"DE", "20.1.2", 7, 81}, {"DE", "20.2.1", 7, 0}, {"DE", "20.3.1", 8, 0}, {"DE", "20.4.1", 9, 82},
		{"JP", "30.1.1", 10, 300}, {"JP", "30.2.1", 10, 0}, {"JP", "30.3.1", 11, 0},
	} {
		addr := netip.MustParseAddr(of.prefix + ".1")
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, 27960), Country: of.country, ASN: of.asn})
		if of.ms > 0 {
			part := memory.Part{Country: of.country, ASN: of.asn, Prefix: topology.Prefix24.Prefix(list[i].Addr.Addr())}
			cells = append(cells, memory.Cell{Part: part, MS: of.ms, Count: 1, Seen: now})
		}
	}
	tree := topology.New(list)
	remembered := memory.Forecasts(tree, now, cells)
	p := coordinate.New(tree, selection.Servers{}, selection.NewTable([]string{"ann", "bob"}, len(list)), selection.Criteria{By: selection.Minimax},
		coordinate.Options{Remembered: [][]memory.Forecast{remembered, remembered}})
	for player := range 2 {
		p.Observe(player, discovery.Result{Server: 0, State: discovery.Answered, RTT: 80 * time.Millisecond})
	}
	if got := p.Unseen(); !slices.Equal(got, []int{3, 2}) {
		t.Errorf("servers in parts that may win: %v, want 3, 2", got)
	}
}

// TestStrays checks that with memories a part which stands elsewhere than its surroundings for one player is predicted
// from the country for the others.
func TestStrays(t *testing.T) {
	var list []discovery.Server
	for i, prefix := range []string{"20.1.0", "20.1.1", "20.1.2", "20.2.0", "30.1.0"} {
		addr := netip.MustParseAddr(prefix + ".1")
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, 27960), Country: "DE", ASN: uint32(7 + i/4)})
	}
	tree := topology.New(list)
	for _, test := range []struct {
		first    float64
		remember bool
		want     float64
	}{{150, true, 150}, {170, true, 150}, {60, true, 132}, {240, true, 132}, {60, false, 150}} {
		// both measured the first three at 150 ms, and the last, of another AS, at 80
		if got := coordinate.PredictBeside(tree, []float64{150, 150, 150, 0, 80}, 3, test.first, test.remember); math.Abs(got-test.want) > 1 {
			t.Errorf("the first player has %v ms: the second is predicted to have %.1f, want %v", test.first, got, test.want)
		}
	}
}

// TestRememberedByMany checks that groups of which only some players are asked about a server in one
// round complete what they begin, and ask as few servers as small groups.
func TestRememberedByMany(t *testing.T) {
	for _, players := range []int{6, 8, 16} {
		s := newRememberedSession(players, 1, func(_, _ int, ms float64) float64 { return ms })
		for !s.Progress().Done {
			s.round()
		}
		progress := s.Progress()
		if progress.Best < 0 || s.networkOf(progress.Best) != bestNetwork || progress.Probes > 125 {
			t.Errorf("%d players find %+v", players, progress)
		}
	}
}

// TestNewcomer checks that a search asks more if a player remembers nothing: nobody knows where that
// player is near.
func TestNewcomer(t *testing.T) {
	s := newRememberedSession(4, 1, func(player, _ int, ms float64) float64 { return ms * float64(min(player, 1)) })
	for !s.Progress().Done {
		s.round()
	}
	if progress := s.Progress(); s.networkOf(progress.Best) != bestNetwork || progress.Probes < 200 {
		t.Errorf("found is %+v, want 200 questions a player", progress)
	}
}

// TestOldMemories checks that a search asks more the older its forecasts are, although all come true:
// it does not ask about what has become nearer.
func TestOldMemories(t *testing.T) {
	for _, test := range []struct {
		days        time.Duration
		least, most float64
	}{{7, 0, 125}, {90, 120, 135}, {600, 200, 310}} {
		s := newRememberedSession(4, 1, func(_, _ int, ms float64) float64 { return ms }, func(c *memory.Cell) {
			c.Seen = c.Seen.Add(-test.days * 24 * time.Hour)
		})
		for !s.Progress().Done {
			s.round()
		}
		if n := s.Progress().Probes; n < test.least || n > test.most {
			t.Errorf("%.0f questions a player with forecasts of %d days ago, want %.0f to %.0f", n, test.days, test.least, test.most)
		}
	}
}

// TestRememberedInVain checks that a search goes on, as without memories, if some player reaches
// nothing in any of the networks that should be the best.
func TestRememberedInVain(t *testing.T) {
	s := newRememberedSession(4, 1, func(_, _ int, ms float64) float64 { return ms })
	isReached := func(n int) bool { // the far ones
		mean := 0.0
		for player := range s.truth {
			mean += s.truth[player][n] / float64(len(s.truth))
		}
		return mean > 150
	}
	s.reaches = func(player, n int) bool { return player != 1 || isReached(n) }
	for !s.Progress().Done {
		s.round()
	}
	if best := s.Progress().Best; best < 0 || !isReached(s.networkOf(best)) {
		t.Errorf("found is %+v", s.Progress())
	}
}

// TestRememberedASes checks that forecasts for whole ASes, as a host has them, save as many questions as
// those for /24s if they come true. Far off, they save few, however vague they are.
func TestRememberedASes(t *testing.T) {
	questions := func(off float64) float64 {
		s := newRememberedSession(4, 1, func(_, _ int, ms float64) float64 { return ms + off }, func(c *memory.Cell) {
			c.Prefix, c.Spread = netip.Prefix{}, off
		})
		for !s.Progress().Done {
			s.round()
		}
		return s.Progress().Probes
	}
	if n := questions(0); n > 125 {
		t.Errorf("%.0f questions a player with right forecasts, want 125", n)
	}
	if n := questions(50); n < 300 {
		t.Errorf("%.0f questions a player with forecasts that are 50 ms off, want 300", n)
	}
}

// TestGuided checks that a search in which the players' countries are known begins with the countries that
// may have the best server, asks for less than half of the servers, and finds as good a one. Where the host is
// wrong about the players it asks for as many as any other.
func TestGuided(t *testing.T) {
	to := []string{"DE", "FR", "NL", "PL", "SE", "GB", "ES", "IT", "AT", "CZ", "DK", "NO", "FI", "RO", "BG", "GR", "TR", "UA", "PT", "IE", "CH", "BE",
		"HU", "SK", "LT", "LV", "EE", "HR", "RS", "SI", "EG", "IN", "SG", "JP", "KR", "AU", "NZ", "BR", "CL", "PE", "CO", "ZA", "KE", "TH", "VN",
		"ID", "MY", "PH", "TW", "HK", "AE", "SA", "KZ", "US", "CA", "MX"}
	players := []string{"FR", "DE", "PL"}
	var list []discovery.Server
	truth := make([][]float64, len(players))
	rng := rand.New(rand.NewPCG(3, 4))
	for player, from := range players {
		for _, w := range countries.Ways(from, to) {
			for range 40 {
				truth[player] = append(truth[player], max(1, w.MS+w.Off/2*rng.NormFloat64()))
			}
		}
	}
	for server := range truth[0] {
		addr := netip.AddrFrom4([4]byte{30, byte(server >> 8), byte(server), 1})
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, 27960), Country: to[server/40], ASN: uint32(100 + server)})
	}
	tree := topology.New(list)
	score := func(server int) (sum float64) {
		for player := range players {
			sum += truth[player][server] / float64(len(players))
		}
		return sum
	}
	best := score(0)
	for server := range list {
		best = min(best, score(server))
	}
	for name, tt := range map[string]struct {
		places      []string
		first       map[string]bool // whether everybody is asked about a country at once
		least, most float64
	}{
		"where the host believes": {players, map[string]bool{"DE": true, "NL": true, "NZ": false, "CL": false}, 0, 301},
		"elsewhere":               {[]string{"NZ", "AU", "NZ"}, map[string]bool{"NZ": true}, 301, 651},
		"somewhere":               {nil, map[string]bool{"DE": true, "NZ": true}, 301, 651},
	} {
		o := coordinate.Options{Enough: -1}
		for _, from := range tt.places {
			o.Remembered = append(o.Remembered, memory.Guess(tree, from))
		}
		p := coordinate.New(tree, selection.Servers{}, selection.NewTable(players, len(list)), selection.Criteria{By: selection.Mean}, o)
		for round := 0; !p.Progress().Done; round++ {
			asked := map[string]int{}
			for _, b := range p.Next() {
				for _, server := range b.Servers {
					asked[list[server].Country]++
					p.Observe(b.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: time.Duration(truth[b.Player][server] * 1e6)})
				}
			}
			for country, is := range tt.first {
				if round == 0 && (asked[country] > 0) != is {
					t.Errorf("%s: %d questions about %s in the first round", name, asked[country], country)
				}
			}
		}
		progress := p.Progress()
		if progress.Probes < tt.least || progress.Probes > tt.most || score(progress.Best) > best+4 {
			t.Errorf("%s: %.0f servers were asked, and the best found has %.1f ms, not %.1f", name, progress.Probes, score(progress.Best), best)
		}
	}
}
