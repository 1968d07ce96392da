package doctor

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"muster/discovery/lists/master"
	"muster/discovery/names"
	"muster/internal/game"
	"muster/internal/hint"
)

const (
	// reachTime bounds the looks at names and lists together.
	reachTime = 8 * time.Second
	// someLists are enough games to ask for a list: no outage of a single master makes this machine look bad.
	someLists = 3
)

// reached is what came of looking up names and asking for lists.
type reached struct {
	// isTried says that something was asked.
	isTried bool
	// found is a host whose name was looked up with success. lost is a host whose name was not
	// found, and nameErr says why.
	found, lost string
	nameErr     error
	servers     int
	listErr     error
}

// reach asks some lists at once, as a search does, and notes which names it looks up for that.
func reach(ctx context.Context, lists []master.Query, lookup names.Lookup) (r reached) {
	if len(lists) == 0 {
		return r
	}
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	var mu sync.Mutex // guards r during the looks
	noted := func(ctx context.Context, host string) ([]netip.Addr, error) {
		addrs, err := lookup(ctx, host)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			r.found = host
		} else {
			r.lost, r.nameErr = host, err
		}
		return addrs, err
	}
	var sources []master.Source
	for _, q := range lists {
		sources = append(sources, q)
	}
	listing, err := master.Client{Lookup: noted}.Fetch(ctx, sources...)
	r.isTried, r.servers, r.listErr = true, len(listing.Servers), err
	return r
}

// listed are games whose masters have answered for many years.
var listed = []string{"openarena", "xonotic", "warsow"}

// listsOf returns the masters of a few games: of those on this machine, and else of others.
func listsOf(games game.Table, here []game.Game) (lists []master.Query) {
	for _, id := range listed {
		if g, err := games.Find(id); err == nil {
			here = append(here, g)
		}
	}
	asked := 0
	for _, g := range here {
		if queries, err := g.Queries(); err == nil && asked < someLists {
			lists = append(lists, queries...)
			asked++
		}
	}
	return lists
}

// reach judges whether this machine finds names and gets lists of servers.
func (d *diagnosis) reach(r reached) {
	switch {
	case !r.isTried:
		return
	case r.found == "" && r.lost != "":
		d.warn("names", "is this machine on the internet, and does its name server (DNS) answer?", "%s: %v", r.lost, nameless(r.nameErr))
		d.warn("lists", "", "not known without names")
		return
	case r.found != "":
		d.ok("names", "%s has an address", r.found)
	}
	if r.listErr != nil {
		d.warn("lists", "does a firewall let UDP through? A list in a file does without: --servers FILE", "no list of servers comes: %s",
			hint.Plain(r.listErr))
		return
	}
	d.ok("lists", "%d servers came", r.servers)
}

// nameless returns why a name was not found, without the name.
func nameless(err error) error {
	if dns, is := errors.AsType[*net.DNSError](err); is {
		return master.LookupReason(dns)
	}
	return hint.Reason(err)
}
