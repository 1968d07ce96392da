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

// Merge joins the reports of several players, one each, into one list in the order of addresses and
// a table with the players in the order of their reports. Lists may differ: a server missing in a
// player's report is unprobed by that player. A server's facts come from the report that was
// started last. Reports without a player's name, or two of one player, are an error.
func Merge(reports []report.Report) (Servers, *Table, error) {
	players, err := authors(reports)
	if err != nil {
		return Servers{}, nil, err
	}
	newestFirst := slices.SortedFunc(slices.Values(reports), func(a, b report.Report) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.Peer, b.Peer))
	})
	listed, infos := make(map[netip.AddrPort]*discovery.Server), make(map[netip.AddrPort]*discovery.Info)
	for _, r := range newestFirst {
		for _, measured := range r.Servers {
			server := measured.Server()
			server.Addr = discovery.Canonical(server.Addr)
			if s := listed[server.Addr]; s != nil {
				s.Country, s.ASN = cmp.Or(s.Country, server.Country), cmp.Or(s.ASN, server.ASN)
			} else {
				listed[server.Addr] = &server
			}
			// an empty Info belongs to a server that answered without telling anything
			if info := measured.Info(); infos[server.Addr] == nil && info != nil && *info != (discovery.Info{}) {
				infos[server.Addr] = info
			}
		}
	}
	servers, places := Servers{Infos: make(map[int]*discovery.Info)}, make(map[netip.AddrPort]int)
	for _, server := range listed {
		servers.List = append(servers.List, *server)
	}
	slices.SortFunc(servers.List, discovery.CompareAddr)
	for place, server := range servers.List {
		places[server.Addr] = place
		if info := infos[server.Addr]; info != nil {
			servers.Infos[place] = info
		}
	}
	table := NewTable(players, len(servers.List))
	for player, r := range reports {
		for _, measured := range r.Servers {
			table.Set(player, places[discovery.Canonical(measured.Addr.AddrPort)], measured.State, time.Duration(measured.RTT))
		}
	}
	return servers, table, nil
}

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

// NATGroups groups players by the public address that they query from. Game servers that limit
// their answers count by that address, and take a whole household or LAN party for one client.
// Ioquake3 lets an address ask ten times, then once a second. DarkPlaces lets it ask once a second
// at all. The groups hold indexes into the addresses in ascending order, and are in the order of
// their first players. A player with an unknown address is a group alone.
func NATGroups(players []netip.Addr) [][]int {
	var groups [][]int
	at := map[netip.Addr]int{}
	for i, addr := range players {
		key := publicOf(addr)
		n, known := at[key]
		if !known || !key.IsValid() {
			n = len(groups)
			at[key] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], i)
	}
	return groups
}

// oneCustomer is the prefix of IPv6 that providers give to one customer.
const oneCustomer = 64

// publicOf returns the address or prefix that a server counts by: for an IPv6 address its /64,
// which most servers count as one.
func publicOf(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() && !a.IsLoopback() {
		return netip.PrefixFrom(a, oneCustomer).Masked().Addr()
	}
	return a
}
