package countries

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"sync"
)

// Way is what usually lies between people of one country and servers of another, in ms. MS is the RTT.
// Off is the standard deviation of a player's mean over the country's servers from it: nobody knows
// where in their own country the player is, and networks take detours. Spread is that of the servers from
// their mean, because they stand in different parts of their country.
type Way struct{ MS, Off, Spread float64 }

const (
	// An RTT is base, in ms, and perKm for each km of the way. Its standard deviation from that is offBase
	// and offPerKm for each km. They are fitted to round trips between 233 cities of 82 countries
	// (WonderProxy, July 2020), each known by its country alone:
	//
	//	go test ./discovery/countries -run Fit -v -fit-matrix FILE -fit-places FILE
	base, perKm, offBase, offPerKm = 12, 0.012, 9, 0.0023
	// landSlack is how much longer than the great circle a way over land is. Places that are at most
	// direct km apart have one between them. Others go by some of the nearHubs hubs around them.
	landSlack, direct, nearHubs = 1.5, 2000, 4
)

// hub is a place where cables end.
type hub struct {
	name string
	at   Place
}

// network has the hubs, and the km of the shortest way between each two.
type network struct {
	hubs []hub
	km   [][]float64
}

var laid = sync.OnceValue(func() network {
	var n network
	index := map[string]int{}
	for row := range rows(cableTable) {
		if len(row) == 3 {
			at := numbers(row[1:])
			index[row[0]] = len(n.hubs)
			n.hubs = append(n.hubs, hub{row[0], Place{Lat: at[0], Lon: at[1]}})
		}
	}
	for i := range n.hubs {
		n.km = append(n.km, slices.Repeat([]float64{math.Inf(1)}, len(n.hubs)))
		n.km[i][i] = 0
	}
	for row := range rows(cableTable) {
		if len(row) == 4 {
			i, j := index[row[0]], index[row[2]]
			n.km[i][j] = numbers(row[3:])[0] * apart(n.hubs[i].at, n.hubs[j].at)
			n.km[j][i] = n.km[i][j]
		}
	}
	for k := range n.hubs { // Floyd and Warshall
		for i := range n.hubs {
			for j := range n.hubs {
				n.km[i][j] = min(n.km[i][j], n.km[i][k]+n.km[k][j])
			}
		}
	}
	return n
})

func apart(a, b Place) float64 { return GreatCircle(a.Lat, a.Lon, b.Lat, b.Lon) }

// landing is a hub near a place, and the km over land to it.
type landing struct {
	hub int
	km  float64
}

func (n network) landings(at Place) []landing {
	all := make([]landing, len(n.hubs))
	for i, h := range n.hubs {
		all[i] = landing{i, landSlack * apart(at, h.at)}
	}
	slices.SortFunc(all, func(a, b landing) int { return cmp.Compare(a.km, b.km) })
	return all[:nearHubs]
}

// way returns the km of the shortest way between people of two places.
func (n network) way(a, b Place, near, far []landing) float64 {
	shortest := math.Inf(1)
	if km := math.Sqrt(apart(a, b)*apart(a, b) + a.KM*a.KM + b.KM*b.KM); km < direct {
		shortest = landSlack * km
	}
	for _, x := range near {
		for _, y := range far {
			shortest = min(shortest, x.km+n.km[x.hub][y.hub]+y.km)
		}
	}
	return shortest
}

// Ways returns the ways from a country to others, in their order. A way is the zero value if one of the
// two is not known.
func Ways(from string, to []string) []Way {
	n, parts := laid(), Parts(from)
	near := make([][]landing, len(parts))
	for i, p := range parts {
		near[i] = n.landings(p.Place)
	}
	ways := make([]Way, len(to))
	for i, country := range to {
		others := Parts(country)
		if parts == nil || others == nil {
			continue
		}
		far := make([][]landing, len(others))
		for k, q := range others {
			far[k] = n.landings(q.Place)
		}
		mean, squares, within := 0.0, 0.0, 0.0 // over where the player is, and within: over servers
		for at, p := range parts {
			own, ownSquares := 0.0, 0.0
			for k, q := range others {
				ms := base + perKm*n.way(p.Place, q.Place, near[at], far[k])
				own, ownSquares = own+q.Share*ms, ownSquares+q.Share*ms*ms
			}
			mean, squares = mean+p.Share*own, squares+p.Share*own*own
			within += p.Share * max(0, ownSquares-own*own)
		}
		off := offBase + offPerKm*(mean-base)/perKm
		ways[i] = Way{mean, math.Sqrt(off*off + max(0, squares-mean*mean)), math.Sqrt(within)}
	}
	return ways
}

// cableTable has hubs, with their degrees north and east, and then cables, with their slack.
//
//go:embed cables.txt
var cableTable string
