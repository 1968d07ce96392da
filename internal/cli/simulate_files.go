package cli

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"

	"muster/discovery"
	"muster/internal/sim"
)

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
