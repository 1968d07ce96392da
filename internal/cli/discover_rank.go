package cli

import (
	"cmp"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/report"
)

// column is what the table is sorted by.
type column string

const (
	byPing    column = "ping"
	byPlayers column = "players" // bots are none
	byFree    column = "free"    // seats
	byName    column = "name"
	byMap     column = "map"
	byMode    column = "mode"
	byCountry column = "country"
)

func columns() []column {
	return []column{byPing, byPlayers, byFree, byName, byMap, byMode, byCountry}
}

// compare orders two servers: the nearer first, the better filled, the alphabet. Ties
// break by ping, then by address.
func (c column) compare(a, b report.Measurement) int {
	order := 0
	switch c {
	case byPlayers:
		order = cmp.Compare(b.Players-b.Bots, a.Players-a.Bots)
	case byFree:
		order = cmp.Compare(b.Info().Free(), a.Info().Free())
	case byName:
		order = byText(a.Name, b.Name)
	case byMap:
		order = byText(a.Map, b.Map)
	case byMode:
		order = byText(a.Mode, b.Mode)
	case byCountry:
		order = byText(a.Country, b.Country)
	}
	return cmp.Or(order, byRTT(a, b))
}

// byText is the alphabet, without case; who has no text comes last.
func byText(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return strings.Compare(strings.ToLower(a), strings.ToLower(b))
}

// keeps reports whether the player wants to see a server. What does not answer
// has no map and no seats: it stays in reports, and is not shown anyway.
func (d *discover) keeps(m *report.Measurement) bool {
	switch {
	case m.State != discovery.Answered:
		return true
	case !d.want.Asks(m.Info()),
		d.nameContains != "" && !strings.Contains(strings.ToLower(m.Name), strings.ToLower(d.nameContains)),
		d.country != "" && !strings.EqualFold(d.country, m.Country),
		d.notFull && m.Players >= m.MaxPlayers && m.Players > 0 && !(m.AsListed && m.MaxPlayers == 0), // who counts no seats may have any
		d.notEmpty && m.Players <= m.Bots:
		return false
	}
	return true
}

// rank are the servers that the player wants to see, in their order. Those that the table
// has room for are marked in the report with their place there.
func (d *discover) rank(r *report.Report) []report.Measurement {
	var places []int
	for i := range r.Servers {
		if m := &r.Servers[i]; m.State == discovery.Answered && d.keeps(m) {
			places = append(places, i)
		}
	}
	slices.SortFunc(places, func(a, b int) int { return d.sort.compare(r.Servers[a], r.Servers[b]) })
	shown := d.shown(len(places))
	ranked := make([]report.Measurement, len(places))
	for place, i := range places {
		if place < shown {
			r.Servers[i].Rank = place + 1
		}
		ranked[place] = r.Servers[i]
	}
	return ranked
}
