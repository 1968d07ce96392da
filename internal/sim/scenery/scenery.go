// Package scenery reads and makes the worlds for a simulation: measurements of places, round trips
// between hosts, and synthetic internets, with right and wrong labels.
package scenery

import (
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/geo"
	"muster/internal/hint"
	"muster/internal/input"
	"muster/internal/listing"
	"muster/internal/sim"
)

// These worlds take any list. In one only distance counts. In the other packets take the cables of
// the named worlds.
const (
	distance = "distance"
	cables   = "cables"
)

// Names returns the names of all worlds.
func Names() []string { return []string{"et2007", "css2007", "night2005", distance, cables} }

// Source says which world to simulate, and from which places.
type Source struct {
	// In is standard input, for files with the name -.
	In io.Reader
	// Data are files of measurements, World is the name of a synthetic internet, and Matrix is a
	// file of round trips between hosts. Exactly one of the three is set.
	Data          []string
	World, Matrix string
	// Servers is a file with a list of servers, and Places are the players' places.
	Servers string
	Places  []string
	// Fresh gives each run a world of its own.
	Fresh bool
	// Labels says what plans are told of servers' places: a word, or a file.
	Labels string

	draw   int // hosts of the matrix, 0 the usual number
	spread sim.Spread
	// mislabelled is the share of the networks of networkBits bits that get wrong labels.
	mislabelled float64
	networkBits int
}

// These many hosts are drawn by default, in all or for a group.
const (
	usuallyDrawn = 5
	groupDrawn   = 4
)

// SetDraw reads how many hosts of the matrix to draw, such as 8, near:8 or far:2.
func (s *Source) SetDraw(text string) error {
	number, spread := text, sim.Anywhere
	if word, rest, ok := strings.Cut(text, ":"); ok {
		number, spread = rest, sim.Spread(word)
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || spread != sim.Anywhere && spread != sim.Near && spread != sim.Far {
		return fmt.Errorf("%q is no number of hosts such as 8, near:8 or far:2", text)
	}
	s.draw, s.spread = n, spread
	return nil
}

// These are the words for labels: those that the world was made with, those of the tables, and
// none.
const (
	OwnLabels   = "world"
	tableLabels = "tables"
	noLabels    = "none"
)

// These are the bits of the networks that are mislabelled as one, and the bounds for them.
const (
	usualNetwork                    = 24
	largestNetwork, smallestNetwork = 8, 32
)

// SetMislabelled reads the share of the networks that get wrong labels, such as 10% or
// 0.1/16.
func (s *Source) SetMislabelled(text string) error {
	share, bits, given := strings.Cut(text, "/")
	number, percent := strings.CutSuffix(share, "%")
	f, err := strconv.ParseFloat(number, 64)
	if percent {
		f /= 100
	}
	n := usualNetwork
	if given && err == nil {
		n, err = strconv.Atoi(bits)
	}
	if err != nil || !(f >= 0 && f <= 1) || n < largestNetwork || n > smallestNetwork {
		return fmt.Errorf("%q is no share of networks such as 10%% or 0.1/16", text)
	}
	s.mislabelled, s.networkBits = f, n
	return nil
}

// Check refuses sources that contradict each other.
func (s *Source) Check() error {
	sources := 0
	for _, given := range []bool{len(s.Data) > 0, s.World != "", s.Matrix != ""} {
		if given {
			sources++
		}
	}
	switch {
	case sources == 0:
		return hint.With(hint.Usagef("simulate what?"), "say --data FILE.csv, --world et2007, or --matrix FILE")
	case sources > 1:
		return hint.Usagef("--data, --world and --matrix exclude each other")
	case len(s.Data) > 0 && len(s.Places) > 0:
		return hint.Usagef("--place is for a --world or a --matrix")
	case len(s.Data) > 0 && s.Fresh:
		return hint.Usagef("--new-worlds: measurements are of one world")
	case s.Servers != "" && s.Matrix == "" && s.World != distance && s.World != cables:
		return hint.With(hint.Usagef("--servers: where do they stand?"), "say --matrix FILE, or --world distance for cities of their countries")
	case s.draw > 0 && (s.Matrix == "" || len(s.Places) > 0):
		return hint.Usagef("--draw is for a --matrix without --place")
	}
	return nil
}

// Varies reports whether each run is in another world.
func (s *Source) Varies() bool { return s.Fresh || s.Matrix != "" }

// AreDrawn reports whether each world draws other hosts of the matrix as its places.
func (s *Source) AreDrawn() bool { return s.Matrix != "" && len(s.Places) == 0 }

// Scene reads the files. With group, players sit at the places.
func (s *Source) Scene(group bool) (sim.Scene, error) {
	scene, err := s.made(group)
	if err != nil {
		return nil, err
	}
	return s.labelled(scene)
}

// labelled tells plans the places by the labels.
func (s *Source) labelled(scene sim.Scene) (sim.Scene, error) {
	switch s.Labels {
	case OwnLabels:
	case noLabels:
		scene = scene.Labelled(sim.Unlabelled)
	case tableLabels:
		locator, err := geo.Open(geo.Options{})
		if err != nil {
			return nil, err
		}
		scene = scene.Labelled(func(list []discovery.Server, seed uint64) []discovery.Server {
			list = sim.Unlabelled(list, seed)
			locator.Annotate(list)
			return list
		})
	default:
		servers, err := readServers(s.Labels, s.In)
		if err != nil {
			return nil, err
		}
		scene = scene.Labelled(sim.LabelledLike(servers))
	}
	if s.mislabelled > 0 {
		scene = scene.Labelled(sim.Mislabelled(s.mislabelled, s.networkBits))
	}
	return scene, nil
}

func (s *Source) made(group bool) (sim.Scene, error) {
	switch {
	case len(s.Data) > 0:
		return s.measured()
	case s.Matrix != "":
		return s.onMatrix(group)
	case s.World == distance, s.World == cables:
		return s.byDistance()
	}
	return s.synthetic()
}

func (s *Source) measured() (sim.Scene, error) {
	var vantages []*sim.Vantage
	for _, file := range s.Data {
		v, err := readVantage(file, s.In)
		if err != nil {
			return nil, err
		}
		vantages = append(vantages, v)
	}
	return func(uint64) ([]*sim.Vantage, error) { return vantages, nil }, nil
}

func (s *Source) synthetic() (sim.Scene, error) {
	var places []sim.Place
	if len(s.Places) > 0 {
		named, err := sim.NamedPlaces(s.Places...)
		if err != nil {
			return nil, hint.Usage(err)
		}
		places = named
	}
	return func(seed uint64) ([]*sim.Vantage, error) {
		spec, err := sim.NamedSpec(s.World, seed)
		if err != nil {
			return nil, hint.Usage(err)
		}
		if places != nil {
			spec.Places = places
		}
		return sim.Generate(spec).Vantages(), nil
	}, nil
}

func (s *Source) byDistance() (sim.Scene, error) {
	names := s.Places
	if len(names) == 0 {
		names = []string{"AU", "JP", "TW", "CH", "DE", "UK", "US-W", "BR", "ZA"}
	}
	places, err := sim.NamedPlaces(names...)
	if err != nil {
		return nil, hint.Usage(err)
	}
	list, err := s.list()
	world := sim.DistanceWorld
	if s.World == cables {
		world = sim.CableWorld
	}
	return func(seed uint64) ([]*sim.Vantage, error) {
		return world(list(seed), places, seed).Vantages(), nil
	}, err
}

func (s *Source) onMatrix(group bool) (sim.Scene, error) {
	m, err := readMatrix(s.Matrix, s.In)
	if err != nil {
		return nil, err
	}
	var fixed []int // the places, from 0
	for _, text := range s.Places {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > len(m) {
			return nil, hint.Usagef("--place %s: the matrix has hosts 1 to %d", text, len(m))
		}
		fixed = append(fixed, n-1)
	}
	draw := s.draw
	switch {
	case draw == 0 && group:
		draw = groupDrawn
	case draw == 0:
		draw = usuallyDrawn
	case draw > len(m):
		return nil, hint.Usagef("--draw %d: %s has %d hosts", draw, s.Matrix, len(m))
	}
	list, err := s.list()
	return func(seed uint64) ([]*sim.Vantage, error) {
		if !s.AreDrawn() {
			return m.World(list(seed), fixed, seed).Vantages(), nil
		}
		world := m.World(list(seed), m.Draw(draw, s.spread, seed), seed)
		for i := range world.Places {
			// Every run draws other hosts, so the name only says that they are drawn.
			world.Places[i].Name, _, _ = strings.Cut(filepath.Base(s.Matrix), ".")
			if group {
				world.Places[i].Name = fmt.Sprintf("player %d", i+1)
			}
		}
		return world.Vantages(), nil
	}, err
}

// list returns the server list of each seed's world, which is the file's in all of them.
func (s *Source) list() (func(seed uint64) []discovery.Server, error) {
	if s.Servers == "" {
		return sim.ListLike2007, nil
	}
	servers, err := readServers(s.Servers, s.In)
	return func(uint64) []discovery.Server { return servers }, err
}

// readServers reads a list of servers with addresses, not only names. It looks up their places in
// the tables in the binary if the list does not tell them.
func readServers(file string, in io.Reader) ([]discovery.Server, error) {
	entries, _, err := listing.ReadFile(file, in)
	if err != nil {
		return nil, err
	}
	var servers []discovery.Server
	seen := make(map[netip.AddrPort]bool)
	for _, e := range entries {
		ip, err := netip.ParseAddr(e.Host)
		if err != nil {
			return nil, hint.With(fmt.Errorf("%s:%d: %s is a name", e.File, e.Line, e.Host), "a simulation asks nobody: put its address")
		}
		addr := discovery.Canonical(netip.AddrPortFrom(ip, e.Port))
		if !seen[addr] {
			seen[addr] = true
			servers = append(servers, discovery.Server{Addr: addr, Country: e.Country, ASN: e.ASN})
		}
	}
	return servers, listing.Annotate(servers, nil, geo.Options{})
}

func readVantage(file string, in io.Reader) (*sim.Vantage, error) {
	name := input.Name(file)
	f, err := input.Open(file, in)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	defer f.Close()
	v, err := sim.ReadVantage(name, f)
	switch {
	case err != nil:
		return nil, hint.With(err, "a data file is CSV with the header addr,country,asn,rtt_ms")
	case len(v.Servers) == 0:
		return nil, fmt.Errorf("%s lists no server", name)
	}
	v.Name = strings.TrimSuffix(filepath.Base(name), ".gz")
	return v, nil
}

func readMatrix(file string, in io.Reader) (sim.Matrix, error) {
	name := input.Name(file)
	f, err := input.Open(file, in)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	defer f.Close()
	m, err := sim.ReadMatrix(f)
	if err != nil {
		return nil, hint.With(fmt.Errorf("%s: %s", name, hint.Plain(err)),
			"a matrix has a row and a column for each host, and no titles: what a ping from the one to the other takes, in ms")
	}
	return m, nil
}
