package selection

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/report"
)

// Merge joins what several players measured, one report each, into one list in
// the order of addresses and a table with the players in the order of their
// reports. Lists may differ: a server that stands in no report of a player is
// unprobed by them. What servers say of themselves is taken from the report
// that was started last. Reports without a player's name, or two of one player,
// are an error.
func Merge(reports []report.Report) (Servers, *Table, error) {
	players, err := authors(reports)
	if err != nil {
		return Servers{}, nil, err
	}
	m := merger{rows: make(map[netip.AddrPort]int)}
	m.servers.Infos = make(map[int]*discovery.Info)
	for _, r := range latestFirst(reports) {
		m.learn(r)
	}
	m.sort()
	table := NewTable(players, len(m.servers.List))
	for player, r := range reports {
		for _, measured := range r.Servers {
			row := m.rows[discovery.Canonical(measured.Addr)]
			table.Set(player, row, measured.State, time.Duration(measured.RTT))
		}
	}
	return m.servers, table, nil
}

// authors are the players who wrote the reports.
func authors(reports []report.Report) ([]string, error) {
	if len(reports) == 0 {
		return nil, errors.New("selection: no report to choose from")
	}
	var players []string
	for i, report := range reports {
		switch {
		case report.Peer == "":
			return nil, fmt.Errorf("selection: report %d does not name its player", i+1)
		case slices.Contains(players, report.Peer):
			return nil, fmt.Errorf("selection: two reports are by %q, rename one of them", report.Peer)
		}
		players = append(players, report.Peer)
	}
	return players, nil
}

// latestFirst are the reports in the order of trust in what their servers said.
func latestFirst(reports []report.Report) []report.Report {
	sorted := slices.Clone(reports)
	slices.SortFunc(sorted, func(a, b report.Report) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.Peer, b.Peer))
	})
	return sorted
}

// merger gathers the servers of several reports.
type merger struct {
	servers Servers
	rows    map[netip.AddrPort]int
}

// learn adds a report's servers, and what earlier ones did not tell of theirs.
func (m *merger) learn(r report.Report) {
	for _, measured := range r.Servers {
		server := measured.Server()
		server.Addr = discovery.Canonical(server.Addr)
		row, known := m.rows[server.Addr]
		if !known {
			row = len(m.servers.List)
			m.rows[server.Addr] = row
			m.servers.List = append(m.servers.List, server)
		}
		listed := &m.servers.List[row]
		listed.Country = cmp.Or(listed.Country, server.Country)
		listed.ASN = cmp.Or(listed.ASN, server.ASN)
		// an Info that says nothing is of a server that answered without telling
		if info := measured.Info(); m.servers.Infos[row] == nil && info != nil && *info != (discovery.Info{}) {
			m.servers.Infos[row] = info
		}
	}
}

// sort puts the servers in the order of addresses.
func (m *merger) sort() {
	infos := make(map[netip.AddrPort]*discovery.Info, len(m.rows))
	for addr, row := range m.rows {
		infos[addr] = m.servers.Infos[row]
	}
	clear(m.servers.Infos)
	slices.SortFunc(m.servers.List, discovery.CompareAddr)
	for row, server := range m.servers.List {
		m.rows[server.Addr] = row
		if info := infos[server.Addr]; info != nil {
			m.servers.Infos[row] = info
		}
	}
}
