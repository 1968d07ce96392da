package browse

import (
	"cmp"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/report"
	"muster/selection"
)

// Column is what the table is sorted by.
type Column string

const (
	ByPing    Column = "ping"
	ByPlayers Column = "players" // bots are none
	ByFree    Column = "free"    // seats
	ByName    Column = "name"
	ByMap     Column = "map"
	ByMode    Column = "mode"
	ByCountry Column = "country"
)

// Columns returns all that a table can be sorted by.
func Columns() []Column {
	return []Column{ByPing, ByPlayers, ByFree, ByName, ByMap, ByMode, ByCountry}
}

// Wish is which servers a player wants to see, and in which order.
type Wish struct {
	selection.Criteria
	NotFull, NotEmpty bool
	// NameContains is a part of their names, and Country its two letters; empty is any.
	NameContains, Country string
	Sort                  Column
}

// compare orders two servers: the nearer first, the better filled, the alphabet. Ties
// break by ping, then by address.
func (c Column) compare(a, b report.Measurement) int {
	order := 0
	switch c {
	case ByPlayers:
		order = cmp.Compare(b.Players-b.Bots, a.Players-a.Bots)
	case ByFree:
		order = cmp.Compare(b.Info().Free(), a.Info().Free())
	case ByName:
		order = byText(a.Name, b.Name)
	case ByMap:
		order = byText(a.Map, b.Map)
	case ByMode:
		order = byText(a.Mode, b.Mode)
	case ByCountry:
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

// byRTT orders servers by ping.
func byRTT(a, b report.Measurement) int {
	return cmp.Or(cmp.Compare(a.RTT, b.RTT), discovery.CompareAddr(a.Server(), b.Server()))
}

// Keeps reports whether the player wants to see a server. What does not answer
// has no map and no seats: it stays in reports, and is not shown anyway.
func (w *Wish) Keeps(m *report.Measurement) bool {
	switch {
	case m.State != discovery.Answered:
		return true
	case !w.Asks(m.Info()),
		w.NameContains != "" && !strings.Contains(strings.ToLower(m.Name), strings.ToLower(w.NameContains)),
		w.Country != "" && !strings.EqualFold(w.Country, m.Country),
		w.NotFull && m.Players >= m.MaxPlayers && m.Players > 0 && !(m.AsListed && m.MaxPlayers == 0), // who counts no seats may have any
		w.NotEmpty && m.Players <= m.Bots:
		return false
	}
	return true
}

// Rank returns the servers that the player wants to see, in their order. The report gets
// the places of those for which the table has room.
func (w *Wish) Rank(r *report.Report, room Room) []report.Measurement {
	var places []int
	for i := range r.Servers {
		if m := &r.Servers[i]; m.State == discovery.Answered && w.Keeps(m) {
			places = append(places, i)
		}
	}
	slices.SortFunc(places, func(a, b int) int { return w.Sort.compare(r.Servers[a], r.Servers[b]) })
	shown := room.For(len(places))
	ranked := make([]report.Measurement, len(places))
	for place, i := range places {
		if place < shown {
			r.Servers[i].Rank = place + 1
		}
		ranked[place] = r.Servers[i]
	}
	return ranked
}
