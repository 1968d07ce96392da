package venue

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"muster/discovery/hostport"
	"muster/host/wire"
)

// ReadAt says when the sources of the built-in places were read. Nobody has asked the machines for it.
const ReadAt = "2026-11-28"

// placesTable has the machines of providers that come with the program. All are documented for
// measurements by anybody, or offered as hosts for tests; the machines of a city stand together, and the
// one that is measured is the first.
//
//go:embed places.csv
var placesTable string

// Kind is why anybody may time a machine.
type Kind string

// These are the kinds. Machines that are merely used for it are not in the table.
const (
	// Documented machines are for measurements from anywhere, as their provider says.
	Documented Kind = "documented"
	// Offered machines are there so that people try a network before they rent in it.
	Offered Kind = "offered"
)

// Machine is a provider's machine in a city, which anybody may time.
type Machine struct {
	City, Country string
	Lat, Lon      float64
	Offer         wire.Offer
	Kind          Kind
	// URL is asked by HTTPS, TCP by connecting, and UDP by a datagram that it returns. Each may be empty.
	URL, TCP, UDP string
	// Source says where that stands, and Seen when somebody last saw it work or wrote it, as 2006-01-02.
	Source, Seen string
}

// Table returns all machines of the built-in table, by country and city.
func Table() []Machine {
	rows, err := csv.NewReader(strings.NewReader(placesTable)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("venue: places.csv: %v", err)) // TestTable reads it
	}
	var machines []Machine
	for _, row := range rows[1:] {
		m := Machine{
			City: row[0], Country: row[1], Offer: wire.Offer{Provider: row[4], Region: row[5]}, Kind: Kind(row[6]),
			URL: row[7], TCP: row[8], UDP: row[9], Source: row[10], Seen: row[11],
		}
		m.Lat, _ = strconv.ParseFloat(row[2], 64)
		m.Lon, _ = strconv.ParseFloat(row[3], 64)
		machines = append(machines, m)
	}
	return machines
}

// Builtin returns the built-in places: a city each, with its providers. Programs ask a machine by TCP, or
// by UDP if it answers nothing else.
func Builtin() wire.Venues {
	var places wire.Venues
	for _, m := range Table() {
		if last := len(places) - 1; last >= 0 && places[last].Name == m.City && places[last].Country == m.Country {
			places[last].Offers = append(places[last].Offers, m.Offer)
			continue
		}
		v := wire.Venue{
			Name: m.City, Country: m.Country, Lat: m.Lat, Lon: m.Lon, URL: m.URL, Protocol: "tcp", Offers: []wire.Offer{m.Offer},
		}
		at := m.TCP
		if at == "" {
			at, v.Protocol = m.UDP, "beacon"
		}
		addr, _ := hostport.Parse(at)
		v.Addr = hostport.At(addr)
		places = append(places, v)
	}
	return places
}
