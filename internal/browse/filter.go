package browse

import (
	"cmp"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/report"
	"muster/selection"
)

// Column names what a table is sorted by.
type Column string

const (
	ByPing    Column = "ping"
	ByPlayers Column = "players" // without bots
	ByFree    Column = "free"    // free seats
	ByName    Column = "name"
	ByMap     Column = "map"
	ByMode    Column = "mode"
	ByCountry Column = "country"
)

// Columns returns everything that can sort a table.
func Columns() []Column {
	return []Column{ByPing, ByPlayers, ByFree, ByName, ByMap, ByMode, ByCountry}
}

// Filter says what servers a player wants to see, and how to sort them.
type Filter struct {
	selection.Criteria
	NotFull, NotEmpty bool
	// NameContains is a part of the name, and Country a two-letter code. Empty matches any.
	NameContains, Country string
	Sort                  Column
}

// compare orders two servers by ping, by players or seats (more first), or by the alphabet. Ties break by ping, then by
// address.
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
	return cmp.Or(order, cmp.Compare(a.RTT, b.RTT), discovery.CompareAddr(a.Server(), b.Server()))
}

// byText compares alphabetically, without case. An empty text comes last.
func byText(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return strings.Compare(strings.ToLower(a), strings.ToLower(b))
}

// Keeps reports whether the player wants to see a server. A server that does not answer has no map and no seats; it
// stays in reports, and tables do not show it anyway.
func (f *Filter) Keeps(m *report.Measurement) bool {
	switch {
	case m.State != discovery.Answered:
		return true
	case !f.Asks(m.Info()),
		f.NameContains != "" && !strings.Contains(strings.ToLower(m.Name), strings.ToLower(f.NameContains)),
		f.Country != "" && !strings.EqualFold(f.Country, m.Country),
		f.NotFull && m.MaxPlayers > 0 && m.Players >= m.MaxPlayers, // without a number of seats it may have free ones
		f.NotEmpty && m.Players <= m.Bots:
		return false
	}
	return true
}

// Rank returns the servers that the player wants to see, in their order. In the report it numbers the ones that fit the
// table.
func (f *Filter) Rank(r *report.Report, room Room) []report.Measurement {
	var places []int
	for i := range r.Servers {
		if m := &r.Servers[i]; m.State == discovery.Answered && f.Keeps(m) {
			places = append(places, i)
		}
	}
	slices.SortFunc(places, func(a, b int) int { return f.Sort.compare(r.Servers[a], r.Servers[b]) })
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
