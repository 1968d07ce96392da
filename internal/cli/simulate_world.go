package cli

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/internal/sim"
)

// distance is the world of a list in which nothing but distance counts.
const distance = "distance"

// worlds are the flags that say what is looked at, and from where.
type worlds struct {
	data    []string
	world   string
	matrix  string
	servers string
	places  []string
	draw    drawing
	// fresh: each run has a world of its own.
	fresh bool
}

func (w *worlds) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&w.data, "data", nil, "measurements of one place, `FILE.csv` (repeatable)")
	bindWord(cmd, &w.world, "world", "", []string{"et2007", "css2007", "night2005", distance}, "a synthetic internet")
	flags.StringVar(&w.matrix, "matrix", "", "round trips measured between hosts, `FILE` with a row a host, in ms: servers and players sit there")
	flags.StringVar(&w.servers, "servers", "", "with --matrix or --world distance, the servers, `FILE` (default: a list like css2007's)")
	flags.StringSliceVar(&w.places, "place", nil, "look from `PLACE,...`; with --matrix from hosts, by number (default: the world's own)")
	flags.Var(&w.draw, "draw", "with --matrix, draw `[near:|far:]N` hosts for each run, near or far from each other (default 5; of a --group 4)")
	flags.BoolVar(&w.fresh, "new-worlds", false, "each run in another world (with --matrix always)")
	completeWords(cmd, "place", sim.KnownPlaces())
}

// check refuses flags that make no sense together.
func (w *worlds) check() error {
	sources := 0
	for _, given := range []bool{len(w.data) > 0, w.world != "", w.matrix != ""} {
		if given {
			sources++
		}
	}
	switch {
	case sources == 0:
		return hinted(usagef("simulate what?"), "say --data FILE.csv, --world et2007, or --matrix FILE")
	case sources > 1:
		return usagef("--data, --world and --matrix exclude each other")
	case len(w.data) > 0 && len(w.places) > 0:
		return usagef("--place is for a --world or a --matrix")
	case len(w.data) > 0 && w.fresh:
		return usagef("--new-worlds: measurements are of one world")
	case w.servers != "" && w.matrix == "" && w.world != distance:
		return hinted(usagef("--servers: where do they stand?"), "say --matrix FILE, or --world distance for cities of their countries")
	case w.draw.n > 0 && (w.matrix == "" || len(w.places) > 0):
		return usagef("--draw is for a --matrix without --place")
	}
	return nil
}

// varies says whether each run is in another world.
func (w *worlds) varies() bool { return w.fresh || w.matrix != "" }

// scene makes what is looked at: the same world for the same seed.
type scene func(seed uint64) ([]*sim.Vantage, error)

// scene reads the files. A group has players where others have places.
func (w *worlds) scene(group bool) (scene, error) {
	switch {
	case len(w.data) > 0:
		return w.measured()
	case w.matrix != "":
		return w.onMatrix(group)
	case w.world == distance:
		return w.byDistance()
	}
	return w.synthetic()
}

func (w *worlds) measured() (scene, error) {
	var vantages []*sim.Vantage
	for _, file := range w.data {
		v, err := readVantage(file)
		if err != nil {
			return nil, err
		}
		vantages = append(vantages, v)
	}
	return func(uint64) ([]*sim.Vantage, error) { return vantages, nil }, nil
}

func (w *worlds) synthetic() (scene, error) {
	var places []sim.Place
	if len(w.places) > 0 {
		named, err := sim.NamedPlaces(w.places...)
		if err != nil {
			return nil, usageError(err)
		}
		places = named
	}
	return func(seed uint64) ([]*sim.Vantage, error) {
		spec, err := sim.NamedSpec(w.world, seed)
		if err != nil {
			return nil, usageError(err)
		}
		if places != nil {
			spec.Places = places
		}
		return views(sim.Generate(spec)), nil
	}, nil
}

func (w *worlds) byDistance() (scene, error) {
	names := w.places
	if len(names) == 0 {
		names = []string{"AU", "JP", "TW", "CH", "DE", "UK", "US-W", "BR", "ZA"}
	}
	places, err := sim.NamedPlaces(names...)
	if err != nil {
		return nil, usageError(err)
	}
	list, err := w.list()
	return func(seed uint64) ([]*sim.Vantage, error) {
		return views(sim.DistanceWorld(list(seed), places, seed)), nil
	}, err
}

func (w *worlds) onMatrix(group bool) (scene, error) {
	m, err := readMatrix(w.matrix)
	if err != nil {
		return nil, err
	}
	fixed, err := hosts(w.places, len(m))
	if err != nil {
		return nil, err
	}
	draw := w.draw
	switch {
	case draw.n == 0 && group:
		draw.n = 4
	case draw.n == 0:
		draw.n = 5
	case draw.n > len(m):
		return nil, usagef("--draw %d: %s has %d hosts", draw.n, w.matrix, len(m))
	}
	list, err := w.list()
	return func(seed uint64) ([]*sim.Vantage, error) {
		if len(fixed) > 0 {
			return views(m.World(list(seed), fixed, seed)), nil
		}
		world := m.World(list(seed), m.Draw(draw.n, draw.spread, seed), seed)
		for i := range world.Places {
			// Others come with every run: what counts is that they are drawn.
			world.Places[i].Name = stem(w.matrix)
			if group {
				world.Places[i].Name = fmt.Sprintf("player %d", i+1)
			}
		}
		return views(world), nil
	}, err
}

// views are a world's vantages.
func views(world *sim.World) []*sim.Vantage {
	vantages := make([]*sim.Vantage, len(world.Places))
	for place := range vantages {
		vantages[place] = world.Vantage(place)
	}
	return vantages
}

// list is the server list of each seed's world: that of the file in all of them.
func (w *worlds) list() (func(seed uint64) []discovery.Server, error) {
	if w.servers == "" {
		return func(seed uint64) []discovery.Server {
			spec, _ := sim.NamedSpec("css2007", seed) // known
			spec.Places = nil
			return sim.Generate(spec).List()
		}, nil
	}
	servers, err := readServers(w.servers)
	return func(uint64) []discovery.Server { return servers }, err
}

// readServers reads a list whose servers have addresses, not only names, and
// looks up in the tables in the binary where they are if the list does not say.
func readServers(file string) ([]discovery.Server, error) {
	entries, err := readList(file, nil)
	if err != nil {
		return nil, err
	}
	var servers []discovery.Server
	seen := make(map[netip.AddrPort]bool)
	for _, e := range entries {
		ip, err := netip.ParseAddr(e.Host)
		if err != nil {
			return nil, hinted(fmt.Errorf("%s:%d: %s is a name", e.File, e.Line, e.Host), "a simulation asks nobody: put its address")
		}
		addr := discovery.Canonical(netip.AddrPortFrom(ip, e.Port))
		if !seen[addr] {
			seen[addr] = true
			servers = append(servers, discovery.Server{Addr: addr, Country: e.Country, ASN: e.ASN})
		}
	}
	return servers, (&locating{}).annotate(servers)
}

func readVantage(file string) (*sim.Vantage, error) {
	f, err := open(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", file, reason(err))
	}
	defer f.Close()
	v, err := sim.ReadVantage(strings.TrimSuffix(filepath.Base(file), ".gz"), f)
	switch {
	case err != nil:
		return nil, hinted(err, "a data file is CSV with the header addr,country,asn,rtt_ms")
	case len(v.Servers) == 0:
		return nil, fmt.Errorf("%s lists no server", file)
	}
	return v, nil
}

func readMatrix(file string) (sim.Matrix, error) {
	f, err := open(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", file, reason(err))
	}
	defer f.Close()
	m, err := sim.ReadMatrix(f)
	if err != nil {
		return nil, hinted(fmt.Errorf("%s: %s", file, withoutPackage(err.Error())), "a matrix has a row and a column for each host, and no titles: what a ping from the one to the other takes, in ms")
	}
	return m, nil
}

// hosts are the indices of hosts by number, from 1, of which there are so many.
func hosts(numbers []string, of int) ([]int, error) {
	var indices []int
	for _, text := range numbers {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > of {
			return nil, usagef("--place %s: the matrix has hosts 1 to %d", text, of)
		}
		indices = append(indices, n-1)
	}
	return indices, nil
}

// stem is a file's name without folder and ending.
func stem(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return name
}

// drawing is a flag that says how many hosts are drawn, and how they lie.
type drawing struct {
	n      int
	spread sim.Spread
}

func (d *drawing) String() string {
	switch {
	case d.n == 0:
		return ""
	case d.spread == sim.Anywhere:
		return strconv.Itoa(d.n)
	}
	return fmt.Sprintf("%s:%d", d.spread, d.n)
}

func (d *drawing) Set(text string) error {
	number, spread := text, sim.Anywhere
	if word, rest, ok := strings.Cut(text, ":"); ok {
		number, spread = rest, sim.Spread(word)
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || spread != sim.Anywhere && spread != sim.Near && spread != sim.Far {
		return fmt.Errorf("%q is no number of hosts such as 8, near:8 or far:2", text)
	}
	d.n, d.spread = n, spread
	return nil
}

func (d *drawing) Type() string { return "[near:|far:]N" }
