package sim

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"muster/discovery/countries"
)

// cable joins two metros. A slack of 1.15 is a well-laid cable. More stands for detours and shared
// capacity in the traffic of 2005.
type cable struct {
	a, b  string
	slack float64
}

// cables are the long links of about 2005. Most traffic between Europe and East Asia or Australia
// went through the United States. The way by Suez was narrow, and that through Siberia did not
// exist.
var cables = [...]cable{
	{"New York", "London", 1.12}, {"New York", "Paris", 1.15}, {"Washington", "Amsterdam", 1.2},
	{"Boston", "Dublin", 1.3}, {"New York", "Copenhagen", 1.25},
	{"Seattle", "Tokyo", 1.25}, {"Los Angeles", "Tokyo", 1.2}, {"San Jose", "Tokyo", 1.25},
	{"Los Angeles", "Taipei", 1.25}, {"San Jose", "Taipei", 1.25}, {"Seattle", "Seoul", 1.3},
	{"Los Angeles", "Shanghai", 1.35}, {"Los Angeles", "Hong Kong", 1.2}, {"Los Angeles", "Manila", 1.3},
	{"Los Angeles", "Sydney", 1.36}, {"Los Angeles", "Auckland", 1.36}, {"Los Angeles", "Honolulu", 1.15},
	{"Honolulu", "Sydney", 1.4}, {"Auckland", "Sydney", 1.15}, {"Tokyo", "Sydney", 1.5}, {"Perth", "Singapore", 1.3},
	{"Perth", "Jakarta", 1.5},
	{"Tokyo", "Osaka", 1.2}, {"Tokyo", "Seoul", 1.3}, {"Tokyo", "Taipei", 1.25}, {"Tokyo", "Hong Kong", 1.25},
	{"Tokyo", "Shanghai", 1.4}, {"Hong Kong", "Taipei", 1.3}, {"Hong Kong", "Manila", 1.3},
	{"Hong Kong", "Singapore", 1.2}, {"Hong Kong", "Guangzhou", 1.5}, {"Seoul", "Beijing", 1.6},
	{"Singapore", "Jakarta", 1.3}, {"Singapore", "Taipei", 1.3},
	{"Singapore", "Chennai", 1.5}, {"Singapore", "Mumbai", 1.6}, {"Chennai", "Colombo", 1.5},
	{"Mumbai", "Karachi", 1.8}, {"Mumbai", "Dubai", 1.5}, {"Dubai", "Cairo", 1.6}, {"Cairo", "Marseille", 1.4},
	{"Cairo", "Palermo", 1.4}, {"Tel Aviv", "Palermo", 1.3}, {"Tel Aviv", "Nicosia", 1.3}, {"Beirut", "Nicosia", 1.4},
	{"Amman", "Cairo", 1.5}, {"Istanbul", "Tehran", 1.6}, {"Nicosia", "Athens", 1.3}, {"Dhaka", "Singapore", 1.5}, {"Delhi", "Dhaka", 2},
	{"Novosibirsk", "Almaty", 1.4}, {"Moscow", "Almaty", 1.4},
	{"Casablanca", "Marseille", 1.3}, {"Tunis", "Marseille", 1.3}, {"Cape Town", "Lisbon", 1.4},
	{"Lagos", "Lisbon", 1.4}, {"Johannesburg", "Cape Town", 1.3}, {"Port Louis", "Cape Town", 1.4},
	{"Port Louis", "Mumbai", 1.4}, {"Nairobi", "London", 2.5}, {"Cape Town", "New York", 1.6},
	{"Miami", "Sao Paulo", 1.3}, {"New York", "Rio de Janeiro", 1.35}, {"Miami", "Fortaleza", 1.3},
	{"Fortaleza", "Rio de Janeiro", 1.2}, {"Miami", "Bogota", 1.2}, {"Miami", "Caracas", 1.2},
	{"Miami", "Panama City", 1.2}, {"Panama City", "Lima", 1.2}, {"Lima", "Santiago", 1.2},
	{"Santiago", "Buenos Aires", 1.3}, {"Miami", "San Juan", 1.2}, {"San Juan", "Santo Domingo", 1.3},
	{"Miami", "Santo Domingo", 1.3}, {"Monterrey", "Dallas", 1.3}, {"Mexico City", "Monterrey", 1.3}, {"Miami", "Guatemala City", 1.3},
	{"London", "Reykjavik", 1.4}, {"Umea", "Stockholm", 1.3}, {"Tromso", "Oslo", 1.3}, {"Oulu", "Helsinki", 1.3},
	{"Stockholm", "Helsinki", 1.2}, {"Copenhagen", "Hamburg", 1.2}, {"Moscow", "Stockholm", 1.3},
	{"Moscow", "Frankfurt", 1.3}, {"Yekaterinburg", "Moscow", 1.3}, {"Novosibirsk", "Yekaterinburg", 1.3},
	{"Vladivostok", "Novosibirsk", 1.4}, {"Istanbul", "Frankfurt", 1.3}, {"Athens", "Milan", 1.3},
	{"Lisbon", "Madrid", 1.3}, {"Madrid", "Paris", 1.25}, {"Valletta", "Palermo", 1.3}, {"Dublin", "London", 1.2},
	{"Bucharest", "Frankfurt", 1.3}, {"Kyiv", "Frankfurt", 1.3}, {"Sofia", "Vienna", 1.3}, {"Warsaw", "Frankfurt", 1.2},
	{"London", "Amsterdam", 1.2}, {"London", "Paris", 1.2},
	{"New York", "Chicago", 1.15}, {"Chicago", "Denver", 1.15}, {"Denver", "San Jose", 1.2},
	{"Chicago", "Seattle", 1.15}, {"Washington", "Atlanta", 1.2}, {"Atlanta", "Dallas", 1.2},
	{"Dallas", "Los Angeles", 1.2}, {"Atlanta", "Miami", 1.2}, {"Chicago", "Dallas", 1.2}, {"Dallas", "Denver", 1.25},
	{"Toronto", "Chicago", 1.2}, {"Toronto", "Montreal", 1.2}, {"Calgary", "Chicago", 1.3}, {"Perth", "Adelaide", 1.2},
	{"Johannesburg", "Nairobi", 1.8},
}

// The rest of the graph joins each metro by land to the nearest of its region.
const (
	landNeighbours = 4
	landSlack      = 1.35
	// There was almost no cable across Africa.
	africanNeighbours = 1
)

// routes is the graph of cables between the metros.
type routes struct {
	region []Region
	km     [][]float64 // of the direct cable, +Inf without one
}

// laid returns the graph that all worlds share.
var laid = sync.OnceValue(newRoutes)

func newRoutes() *routes {
	r := &routes{region: CityRegions(), km: make([][]float64, len(metros))}
	for i := range r.km {
		r.km[i] = make([]float64, len(metros))
		for j := range r.km[i] {
			r.km[i][j] = math.Inf(1)
		}
	}
	for i := range metros {
		for _, j := range r.nearestInRegion(i) {
			r.join(i, j, landSlack)
		}
	}
	for _, c := range cables {
		r.join(metroIndex(c.a), metroIndex(c.b), c.slack)
	}
	return r
}

func (r *routes) join(i, j int, slack float64) {
	km := slack * countries.GreatCircle(metros[i].lat, metros[i].lon, metros[j].lat, metros[j].lon)
	r.km[i][j] = min(r.km[i][j], km)
	r.km[j][i] = r.km[i][j]
}

func (r *routes) nearestInRegion(i int) []int {
	var peers []int
	for j := range metros {
		if j != i && r.region[j] == r.region[i] {
			peers = append(peers, j)
		}
	}
	slices.SortStableFunc(peers, func(a, b int) int {
		m := metros[i]
		return cmp.Compare(countries.GreatCircle(m.lat, m.lon, metros[a].lat, metros[a].lon),
			countries.GreatCircle(m.lat, m.lon, metros[b].lat, metros[b].lon))
	})
	most := landNeighbours
	if r.region[i] == africa {
		most = africanNeighbours
	}
	return peers[:min(most, len(peers))]
}

// distancesFrom returns the length in km of the shortest route to each metro (Dijkstra; the graph is small
// enough for a linear search of the next node).
func (r *routes) distancesFrom(start int) []float64 {
	km := make([]float64, len(metros))
	done := make([]bool, len(metros))
	for i := range km {
		km[i] = math.Inf(1)
	}
	km[start] = 0
	for range metros {
		at := -1
		for i := range km {
			if !done[i] && (at < 0 || km[i] < km[at]) {
				at = i
			}
		}
		done[at] = true
		for j, cable := range r.km[at] {
			km[j] = min(km[j], km[at]+cable)
		}
	}
	return km
}

// nearest returns the metro nearest to a point, and how many km away it is.
func nearest(lat, lon float64) (at int, km float64) {
	km = math.Inf(1)
	for i, m := range metros {
		if d := countries.GreatCircle(lat, lon, m.lat, m.lon); d < km {
			at, km = i, d
		}
	}
	return at, km
}

func metroIndex(name string) int {
	return slices.IndexFunc(metros[:], func(m metro) bool { return m.name == name })
}

func CityRegions() []Region {
	out := make([]Region, len(metros))
	for i, m := range metros {
		out[i] = regionOf[m.country]
	}
	return out
}
