package cli

import (
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/discovery/geo"
	"muster/internal/hint"
	"muster/internal/input"
	"muster/internal/listing"
	"muster/internal/sim"
)

// Worlds of any list: in the one nothing but distance counts, in the other packets
// take the cables of the named worlds.
const (
	distance = "distance"
	cables   = "cables"
)

// worlds are the flags that say what is looked at, and from where.
type worlds struct {
	in      io.Reader // standard input
	data    []string
	world   string
	matrix  string
	servers string
	places  []string
	// draw so many hosts of the matrix, that lie so.
	draw   int
	spread sim.Spread
	// fresh: each run has a world of its own.
	fresh bool
	// labels are what plans are told of places, see [worlds.labelled], and mislabelled
	// the share of the networks, of so many bits, of which they are told wrong ones.
	labels      string
	mislabelled float64
	networkBits int
}

// Hosts that are drawn unless it is said how many, in all or for a group.
const (
	usuallyDrawn = 5
	groupDrawn   = 4
)

func (w *worlds) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&w.data, "data", nil, "measurements of one place, `FILE.csv`, - is standard input (repeatable)")
	bindWord(cmd, &w.world, "world", "", []string{"et2007", "css2007", "night2005", distance, cables}, "a synthetic internet")
	flags.StringVar(&w.matrix, "matrix", "", "round trips measured between hosts, `FILE` with a row a host, in ms: servers and players sit there")
	flags.StringVar(&w.servers, "servers", "", "with --matrix, --world distance or cables, the servers, `FILE` (default: a list like css2007's)")
	flags.StringSliceVar(&w.places, "place", nil, "look from `PLACE,...`; with --matrix from hosts, by number (default: the world's own)")
	flags.Var(value{"[near:|far:]N", "", w.setDraw}, "draw", "with --matrix, draw so many hosts for each run, near or far from each other, `[near:|far:]N` (default 5; of a --group 4)")
	flags.BoolVar(&w.fresh, "new-worlds", false, "each run in another world (with --matrix always)")
	flags.StringVar(&w.labels, "labels", ownLabels, "countries and ASes that plans are told: world (by which it was made), tables (in Muster), none, or those of a list, `WORD|FILE`")
	flags.Var(value{"SHARE[/BITS]", "", w.setMislabelled}, "mislabel", "tell plans the country and AS of another server for this share of the /24 networks, or of those of other BITS, `SHARE[/BITS]`")
	completeWords(cmd, "place", sim.KnownPlaces())
}

func (w *worlds) setDraw(text string) error {
	number, spread := text, sim.Anywhere
	if word, rest, ok := strings.Cut(text, ":"); ok {
		number, spread = rest, sim.Spread(word)
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || spread != sim.Anywhere && spread != sim.Near && spread != sim.Far {
		return fmt.Errorf("%q is no number of hosts such as 8, near:8 or far:2", text)
	}
	w.draw, w.spread = n, spread
	return nil
}

// Words for --labels.
const (
	ownLabels   = "world"
	tableLabels = "tables"
	noLabels    = "none"
)

// The bits of the networks that are mislabelled as one, and of the largest and
// smallest that there can be.
const (
	usualNetwork                    = 24
	largestNetwork, smallestNetwork = 8, 32
)

func (w *worlds) setMislabelled(text string) error {
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
	w.mislabelled, w.networkBits = f, n
	return nil
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
		return hint.With(usagef("simulate what?"), "say --data FILE.csv, --world et2007, or --matrix FILE")
	case sources > 1:
		return usagef("--data, --world and --matrix exclude each other")
	case len(w.data) > 0 && len(w.places) > 0:
		return usagef("--place is for a --world or a --matrix")
	case len(w.data) > 0 && w.fresh:
		return usagef("--new-worlds: measurements are of one world")
	case w.servers != "" && w.matrix == "" && w.world != distance && w.world != cables:
		return hint.With(usagef("--servers: where do they stand?"), "say --matrix FILE, or --world distance for cities of their countries")
	case w.draw > 0 && (w.matrix == "" || len(w.places) > 0):
		return usagef("--draw is for a --matrix without --place")
	}
	return nil
}

// varies reports whether each run is in another world.
func (w *worlds) varies() bool { return w.fresh || w.matrix != "" }

// areDrawn reports whether other hosts of the matrix are the places in each world.
func (w *worlds) areDrawn() bool { return w.matrix != "" && len(w.places) == 0 }

// scene reads the files. A group has players where others have places.
func (w *worlds) scene(group bool) (sim.Scene, error) {
	scene, err := w.made(group)
	if err != nil {
		return nil, err
	}
	return w.labelled(scene)
}

// labelled has plans told what --labels and --mislabel say of places.
func (w *worlds) labelled(scene sim.Scene) (sim.Scene, error) {
	switch w.labels {
	case ownLabels:
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
		servers, err := readServers(w.labels, w.in)
		if err != nil {
			return nil, err
		}
		scene = scene.Labelled(sim.LabelledLike(servers))
	}
	if w.mislabelled > 0 {
		scene = scene.Labelled(sim.Mislabelled(w.mislabelled, w.networkBits))
	}
	return scene, nil
}

// made is what is looked at, with the labels by which it was made.
func (w *worlds) made(group bool) (sim.Scene, error) {
	switch {
	case len(w.data) > 0:
		return w.measured()
	case w.matrix != "":
		return w.onMatrix(group)
	case w.world == distance, w.world == cables:
		return w.byDistance()
	}
	return w.synthetic()
}

func (w *worlds) measured() (sim.Scene, error) {
	var vantages []*sim.Vantage
	for _, file := range w.data {
		v, err := readVantage(file, w.in)
		if err != nil {
			return nil, err
		}
		vantages = append(vantages, v)
	}
	return func(uint64) ([]*sim.Vantage, error) { return vantages, nil }, nil
}

func (w *worlds) synthetic() (sim.Scene, error) {
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
		return sim.Generate(spec).Vantages(), nil
	}, nil
}

func (w *worlds) byDistance() (sim.Scene, error) {
	names := w.places
	if len(names) == 0 {
		names = []string{"AU", "JP", "TW", "CH", "DE", "UK", "US-W", "BR", "ZA"}
	}
	places, err := sim.NamedPlaces(names...)
	if err != nil {
		return nil, usageError(err)
	}
	list, err := w.list()
	world := sim.DistanceWorld
	if w.world == cables {
		world = sim.CableWorld
	}
	return func(seed uint64) ([]*sim.Vantage, error) {
		return world(list(seed), places, seed).Vantages(), nil
	}, err
}

func (w *worlds) onMatrix(group bool) (sim.Scene, error) {
	m, err := readMatrix(w.matrix, w.in)
	if err != nil {
		return nil, err
	}
	var fixed []int // the places, from 0
	for _, text := range w.places {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > len(m) {
			return nil, usagef("--place %s: the matrix has hosts 1 to %d", text, len(m))
		}
		fixed = append(fixed, n-1)
	}
	draw := w.draw
	switch {
	case draw == 0 && group:
		draw = groupDrawn
	case draw == 0:
		draw = usuallyDrawn
	case draw > len(m):
		return nil, usagef("--draw %d: %s has %d hosts", draw, w.matrix, len(m))
	}
	list, err := w.list()
	return func(seed uint64) ([]*sim.Vantage, error) {
		if !w.areDrawn() {
			return m.World(list(seed), fixed, seed).Vantages(), nil
		}
		world := m.World(list(seed), m.Draw(draw, w.spread, seed), seed)
		for i := range world.Places {
			// Others come with every run: what counts is that they are drawn.
			world.Places[i].Name, _, _ = strings.Cut(filepath.Base(w.matrix), ".")
			if group {
				world.Places[i].Name = fmt.Sprintf("player %d", i+1)
			}
		}
		return world.Vantages(), nil
	}, err
}

// list is the server list of each seed's world: that of the file in all of them.
func (w *worlds) list() (func(seed uint64) []discovery.Server, error) {
	if w.servers == "" {
		return sim.ListLike2007, nil
	}
	servers, err := readServers(w.servers, w.in)
	return func(uint64) []discovery.Server { return servers }, err
}

// readServers reads a list whose servers have addresses, not only names, and
// looks up in the tables in the binary where they are if the list does not say.
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
	return servers, listing.Annotate(servers, geo.Options{})
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
		return nil, hint.With(fmt.Errorf("%s: %s", name, hint.Plain(err.Error())), "a matrix has a row and a column for each host, and no titles: what a ping from the one to the other takes, in ms")
	}
	return m, nil
}
