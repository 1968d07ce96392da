package cli

import (
	"fmt"
	"io"
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
	in      io.Reader // standard input
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
	flags.StringArrayVar(&w.data, "data", nil, "measurements of one place, `FILE.csv`, - is standard input (repeatable)")
	bindWord(cmd, &w.world, "world", "", []string{"et2007", "css2007", "night2005", distance}, "a synthetic internet")
	flags.StringVar(&w.matrix, "matrix", "", "round trips measured between hosts, `FILE` with a row a host, in ms: servers and players sit there")
	flags.StringVar(&w.servers, "servers", "", "with --matrix or --world distance, the servers, `FILE` (default: a list like css2007's)")
	flags.StringSliceVar(&w.places, "place", nil, "look from `PLACE,...`; with --matrix from hosts, by number (default: the world's own)")
	flags.Var(&w.draw, "draw", "with --matrix, draw so many hosts for each run, near or far from each other, `[near:|far:]N` (default 5; of a --group 4)")
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

// drawn says whether other hosts of the matrix are the places in each world.
func (w *worlds) drawn() bool { return w.matrix != "" && len(w.places) == 0 }

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
		v, err := readVantage(file, w.in)
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
	m, err := readMatrix(w.matrix, w.in)
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
		if !w.drawn() {
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
	servers, err := readServers(w.servers, w.in)
	return func(uint64) []discovery.Server { return servers }, err
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
