package cli

import (
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"strings"

	"muster/discovery"
	"muster/internal/sim"
)

// readServers reads a list whose servers have addresses, not only names, and
// looks up in the tables in the binary where they are if the list does not say.
func readServers(file string, in io.Reader) ([]discovery.Server, error) {
	entries, err := readList(file, in)
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

func readVantage(file string, in io.Reader) (*sim.Vantage, error) {
	name := fileName(file)
	f, err := open(file, in)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, reason(err))
	}
	defer f.Close()
	v, err := sim.ReadVantage(name, f)
	switch {
	case err != nil:
		return nil, hinted(err, "a data file is CSV with the header addr,country,asn,rtt_ms")
	case len(v.Servers) == 0:
		return nil, fmt.Errorf("%s lists no server", name)
	}
	v.Name = strings.TrimSuffix(filepath.Base(name), ".gz")
	return v, nil
}

func readMatrix(file string, in io.Reader) (sim.Matrix, error) {
	name := fileName(file)
	f, err := open(file, in)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, reason(err))
	}
	defer f.Close()
	m, err := sim.ReadMatrix(f)
	if err != nil {
		return nil, hinted(fmt.Errorf("%s: %s", name, withoutPackage(err.Error())), "a matrix has a row and a column for each host, and no titles: what a ping from the one to the other takes, in ms")
	}
	return m, nil
}
