package master

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/regions"
)

// Regions is a list of a game's regions, each at its endpoint's address. The names come
// from the table, because an endpoint says nothing about itself.
type Regions struct {
	// Game is the list's name in errors.
	Game  string
	Table regions.Table
}

func (l Regions) name() string { return "the regions of " + l.Game }

// fetch looks up the endpoints. A region that the game measures itself has its key.
func (l Regions) fetch(ctx context.Context, c Client) (Listing, error) {
	var entries []Entry
	for i, r := range l.Table.List {
		e := Entry{File: l.name(), Line: i + 1, Country: r.Country}
		if l.Table.IsPasted() {
			e.Host, e.Port = r.Key().Addr().String(), r.Key().Port()
		} else {
			host, port, _ := r.Endpoint() // the table is checked
			e.Host, e.Port = strings.ToLower(host), port
		}
		entries = append(entries, e)
	}
	hosts := c.lookUpAll(ctx, entries, 0)
	listing, err := c.resolved(ctx, entries, hosts)
	listing.Said = discovery.Said{At: time.Now(), Infos: map[netip.AddrPort]*discovery.Info{}}
	for i, e := range entries {
		if host := hosts[toLookUp{e.Host, e.Port}]; host.err == nil && listing.Said.Infos[host.at] == nil {
			listing.Said.Infos[host.at] = &discovery.Info{Name: l.Table.List[i].Name, AsListed: true}
		}
	}
	return listing, err
}
