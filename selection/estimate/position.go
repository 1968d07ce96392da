package estimate

import (
	"math"

	"muster/discovery/countries"
)

// position is a centre of population, if one is known.
type position struct {
	countries.Place
	known bool
}

// positionOf returns a country's position.
func positionOf(country string) position {
	at, known := countries.Centre(country)
	return position{at, known}
}

// kmTo returns the distance in km between a person at one position and a person at another, or at the
// same, and whether both positions are known.
func (a position) kmTo(b position) (km float64, known bool) {
	if !a.known || !b.known {
		return 0, false
	}
	apart := countries.GreatCircle(a.Lat, a.Lon, b.Lat, b.Lon)
	return math.Sqrt(apart*apart + a.KM*a.KM + b.KM*b.KM), true
}
