// Package worlds makes the groups that measurements search for, on worlds of several kinds.
package worlds

import (
	"compress/gzip"
	"net/netip"
	"os"

	"muster/discovery"
	"muster/internal/listing"
	"muster/internal/sim"
)

// Kind is a kind of worlds: css2007, et2007, night2000 (the demo's), distance, matrix, with the files
// of Matrix and Servers, and cities, with that of Cities, too.
type Kind struct {
	Name string
	// Matrix has round trips between hosts, gzipped.
	Matrix string
	// Cities says where the hosts are: see [ReadCityMatrix].
	Cities string
	// Servers has the list of servers that stand on the hosts, gzipped. Without, it is one like css2007's.
	Servers string
}

// Groups returns what makes a named group, such as musst or world-16, on a kind's worlds, by seed.
func (k Kind) Groups(group string) (func(seed uint64) (*sim.Group, error), error) {
	if k.Name != "matrix" && k.Name != "cities" {
		return func(seed uint64) (*sim.Group, error) { return sim.GroupWorld(k.Name, group, seed) }, nil
	}
	m, err := Matrix(k.Matrix)
	if err != nil {
		return nil, err
	}
	list, err := k.List()
	if k.Name == "matrix" || err != nil {
		return func(seed uint64) (*sim.Group, error) { return m.OnMatrix(list(seed), group, seed) }, err
	}
	cities, err := Cities(m, k.Cities)
	return func(seed uint64) (*sim.Group, error) {
		players, err := sim.GroupPlaces(group, seed)
		if err != nil {
			return nil, err
		}
		return cities.World(m, list(seed), players, seed).Everybody()
	}, err
}

// Cities reads where the hosts of a matrix are.
func Cities(m sim.Matrix, file string) (CityMatrix, error) {
	f, err := os.Open(file)
	if err != nil {
		return CityMatrix{}, err
	}
	defer f.Close()
	return ReadCityMatrix(m, f)
}

// List returns the list of servers that stand on the hosts of each seed's world.
func (k Kind) List() (func(seed uint64) []discovery.Server, error) {
	if k.Servers == "" {
		return sim.ListLike2007, nil
	}
	list, err := servers(k.Servers)
	return func(uint64) []discovery.Server { return list }, err
}

// Matrix reads a gzipped file of round trips between hosts.
func Matrix(file string) (sim.Matrix, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return sim.ReadMatrix(text)
}

// servers reads a list, each server once.
func servers(file string) (list []discovery.Server, err error) {
	entries, _, err := listing.ReadFile(file, nil)
	if err != nil {
		return nil, err
	}
	seen := map[netip.AddrPort]bool{}
	for _, e := range entries {
		ip, err := netip.ParseAddr(e.Host)
		if err != nil {
			return nil, err
		}
		if addr := netip.AddrPortFrom(ip, e.Port); !seen[addr] {
			seen[addr] = true
			list = append(list, discovery.Server{Addr: addr, Country: e.Country, ASN: e.ASN})
		}
	}
	return list, nil
}
