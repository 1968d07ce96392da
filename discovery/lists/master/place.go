package master

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"muster/discovery"
	"muster/discovery/lists/address"
	"muster/discovery/lists/weblist"
)

// isFake reports whether Steam gave an address to a server behind its relays
// (169.254.0.0/16). Such addresses lead nowhere by themselves.
func isFake(addr netip.Addr) bool { return addr.Is4() && addr.IsLinkLocalUnicast() }

// RelayedError is a warning: servers are left out because they are reached only through
// Steam's relays.
type RelayedError struct {
	List    string
	Servers int
}

func (e *RelayedError) Error() string {
	if e.Servers == 1 {
		return fmt.Sprintf("master: %s lists a server that only Steam's relays reach: nobody can measure it", e.List)
	}
	return fmt.Sprintf("master: %s lists %d servers that only Steam's relays reach: nobody can measure them", e.List, e.Servers)
}

// NamesError is a warning: some of a list's host names are unknown.
type NamesError struct {
	List    string
	Names   int
	Example string
	Err     error
}

func (e *NamesError) Error() string {
	if e.Names == 1 {
		return fmt.Sprintf("master: %s: cannot find %s: %v", e.List, e.Example, reason(e.Err))
	}
	return fmt.Sprintf("master: %s: cannot find %d of its names, such as %s: %v", e.List, e.Names, e.Example, reason(e.Err))
}

func (e *NamesError) Unwrap() error { return e.Err }

// place turns the rows of some time into servers, and looks up their names.
func (c Client) place(ctx context.Context, l WebList, rows []weblist.Row, from time.Time) (Listing, error) {
	first, _ := url.Parse(l.URLs[0]) // checked before
	local := isLocalURL(first)
	entries := make([]Entry, len(rows))
	for i, row := range rows {
		at, _ := address.One(row.Address) // checked before
		entries[i].Host, entries[i].Port = at.Host, at.Port
	}
	hosts := c.lookUpAll(ctx, entries, l.Port)
	if err := ctx.Err(); err != nil {
		return Listing{}, fmt.Errorf("master: %w", err)
	}
	var all union
	var listing Listing
	relayed := &RelayedError{List: l.name()}
	unknown := &NamesError{List: l.name()}
	named := make(map[string]bool)
	said := make(map[netip.AddrPort]int) // the row with the server's Info
	for i, e := range entries {
		host := hosts[toLookUp{e.Host, e.Port}]
		switch {
		case host.err != nil:
			if !named[e.Host] {
				named[e.Host] = true
				unknown.Names++
				unknown.Example, unknown.Err = cmp.Or(unknown.Example, e.Host), cmp.Or(unknown.Err, host.err)
			}
			continue
		case isFake(host.led):
			relayed.Servers++
			continue
		case !local && discovery.ReachOf(host.led) != discovery.InternetReach, host.at.Port() == 0:
			continue // a name that leads into the reader's own network
		}
		at := host.at
		host.lead(&all)
		all.add(0, discovery.Server{Addr: at})
		if _, known := said[at]; !known && rows[i].Info != (discovery.Info{}) {
			said[at] = i
		}
	}
	listing.Servers, listing.Led = all.list(), all.led
	if len(said) > 0 {
		listing.Said = saidOf(listing.Servers, rows, said, from)
	}
	listing.Warnings = all.warnings(l.name())
	if relayed.Servers > 0 {
		listing.Warnings = append(listing.Warnings, relayed)
	}
	if unknown.Names > 0 {
		listing.Warnings = append(listing.Warnings, unknown)
	}
	if len(listing.Servers) == 0 {
		switch {
		case relayed.Servers > 0:
			return listing, relayed
		case unknown.Names > 0:
			return listing, unknown
		}
		return listing, ErrEmpty
	}
	return listing, nil
}

// saidOf returns the rows' Infos of the servers that are left of a list. Equal texts
// share memory: maps, modes and versions are few.
func saidOf(servers []discovery.Server, rows []weblist.Row, row map[netip.AddrPort]int, from time.Time) discovery.Said {
	texts := make(map[string]string)
	infos := make([]discovery.Info, 0, len(row))
	said := discovery.Said{At: from, Infos: make(map[netip.AddrPort]*discovery.Info, len(row))}
	for _, s := range servers {
		at, is := row[s.Addr]
		if !is || len(infos) == cap(infos) {
			continue
		}
		info := rows[at].Info
		for _, text := range []*string{&info.Name, &info.Map, &info.Mode, &info.Version} {
			if _, known := texts[*text]; !known {
				texts[*text] = *text
			}
			*text = texts[*text]
		}
		info.AsListed = true
		infos = append(infos, info)
		said.Infos[s.Addr] = &infos[len(infos)-1]
	}
	return said
}
